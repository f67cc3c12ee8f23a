import { randomUUID } from 'node:crypto'

import type { Storage } from '../../platform/storage/storage.ts'
import type { Sql } from '../../platform/db/client.ts'
import { hasReceived, receiveUpload, type ReceivedFile } from '../db/upload.ts'
import { isOutcomeUnknown, unitOfWork } from '../../platform/db/unit-of-work.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { MEDIA_TYPE_BYTES, mediaTypeOf } from '../../platform/domain/media-type.ts'
import type { Quotas } from '../domain/quota.ts'
import {
  takeFile,
  type UploadedFileDeps,
  type UploadRules,
} from '../../platform/http/uploaded-file.ts'

export interface ReceiveDeps extends UploadedFileDeps {
  sql: Sql
  storage: Storage
  quotas: Quotas
}

/** The bytes that a link with this id was made for. */
export interface Incoming extends Pick<UploadRules, 'request' | 'maxBytes'> {
  id: string
}

/**
 * Takes the bytes of an upload into the store under a name of its own, then records them: two PUTs at once cannot mix,
 * and a cut one changes nothing. The file that they replace is removed, unless an open task holds it. Throws 400
 * body_required or checksum_mismatch, 408, 410, 413, 429 quota_exceeded, 503.
 */
export const receive = async (deps: ReceiveDeps, { id, ...incoming }: Incoming): Promise<void> => {
  const rules = { ...incoming, headBytes: MEDIA_TYPE_BYTES, emptyCode: 'body_required' } as const
  await takeFile(deps, rules, async ({ path, head, ...file }) => {
    const storageKey = `uploads/${id}/${file.sha256}.${randomUUID()}`
    await deps.storage.putFile(storageKey, path).catch((error: unknown) => {
      throw errors.unavailable(error)
    })
    const stored = { id, storageKey, contentType: mediaTypeOf(head), ...file }
    const replaced = await record(deps, stored).catch(async (error: unknown) => {
      // When the commit is in doubt the row may name the file.
      if (!isOutcomeUnknown(error)) await deps.storage.remove(storageKey).catch(() => {})
      throw error
    })
    // What a store keeps for now goes with the upload.
    if (replaced !== null) await deps.storage.remove(replaced).catch(() => {})
  })
}

/** Records the file; returns the key of the file it replaces, when that is to be removed. */
const record = ({ sql, quotas }: ReceiveDeps, file: ReceivedFile): Promise<string | null> =>
  unitOfWork(
    { sql },
    async (sql) => {
      const received = await receiveUpload(sql, file, quotas.owner)
      if (!received)
        throw apiError(
          'file_gone',
          'The upload has been removed, or the credential that its link was made with has ended; ask for a new link.',
        )
      return received.replacedKey
    },
    { wasCommitted: () => hasReceived(sql, file) },
  )
