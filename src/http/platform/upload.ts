import type { Storage } from '../../adapters/storage/storage.ts'
import type { Sql } from '../../db/client.ts'
import { withinDeadline } from '../../db/client.ts'
import { receiveUpload } from '../../db/shared/upload.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import { MEDIA_TYPE_BYTES, mediaTypeOf } from '../../domain/shared/media-type.ts'
import { takeFile } from './uploaded-file.ts'
import type { UploadedFileDeps, UploadRules } from './uploaded-file.ts'

export interface ReceiveDeps extends UploadedFileDeps {
  sql: Sql
  storage: Storage
}

interface Incoming extends Pick<UploadRules, 'request' | 'maxBytes'> {
  id: string
}

/**
 * Takes the bytes of an upload into the store under a name that holds their digest, then records them: two PUTs at once
 * cannot mix, and a cut one changes nothing. Throws 400 body_required or checksum_mismatch, 408, 410, 413, 503.
 */
export const receive = async (deps: ReceiveDeps, { id, ...incoming }: Incoming): Promise<void> => {
  const rules = { ...incoming, headBytes: MEDIA_TYPE_BYTES, emptyCode: 'body_required' } as const
  await takeFile(deps, rules, async ({ path, head, ...file }) => {
    const storageKey = `uploads/${id}/${file.sha256}`
    await deps.storage.putFile(storageKey, path).catch((error: unknown) => {
      throw errors.unavailable(error)
    })
    const record = { id, storageKey, contentType: mediaTypeOf(head), ...file }
    const stored = await withinDeadline(receiveUpload(deps.sql, record))
    if (!stored) throw apiError('file_gone', 'The upload has been removed; ask for a new link.')
  })
}
