import { createHash, randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { IncomingMessage } from 'node:http'

import type { Storage } from '../adapters/storage/storage.ts'
import type { Sql } from '../db/client.ts'
import { withinDeadline } from '../db/client.ts'
import { receiveUpload } from '../db/upload.ts'
import { apiError, errors } from '../domain/errors.ts'
import { MEDIA_TYPE_BYTES, mediaTypeOf } from '../domain/media-type.ts'
import { failpoint } from '../failpoint.ts'
import type { UploadBudget } from './body/budget.ts'
import { hasBody } from './body/media-type.ts'
import { USUAL_PACE } from './body/pace.ts'
import { openBodySource, tooLarge } from './body/source.ts'

export interface ReceiveDeps {
  sql: Sql
  storage: Storage
  budget: UploadBudget
  scratchDir: string
}

/** Time for the bytes of one upload. */
const DEADLINE_MS = 300_000

interface Incoming {
  id: string
  request: { incoming: IncomingMessage; accept(): void }
  maxBytes: number
}

/**
 * Takes the bytes of an upload into the store under a name that holds their digest, then records them: two PUTs at once
 * cannot mix, and a cut one changes nothing. Throws 400 body_required or checksum_mismatch, 408, 410, 413, 503.
 */
export const receive = async (
  deps: ReceiveDeps,
  { id, request, maxBytes }: Incoming,
): Promise<void> => {
  const { incoming } = request
  if (!hasBody(incoming.headers)) throw apiError('body_required')
  const declared = Number(incoming.headers['content-length'] ?? maxBytes)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const reservation = deps.budget.reserve(declared)
  const path = join(deps.scratchDir, randomUUID())
  try {
    request.accept()
    const file = await writeBody(incoming, path, maxBytes)
    checkDigest(incoming, file.sha256)
    const storageKey = `uploads/${id}/${file.sha256}`
    await deps.storage.putFile(storageKey, path).catch((error: unknown) => {
      throw errors.unavailable(error)
    })
    const stored = await withinDeadline(receiveUpload(deps.sql, { id, storageKey, ...file }))
    if (!stored) throw apiError('file_gone', 'The upload has been removed; ask for a new link.')
  } finally {
    reservation.release()
    await rm(path, { force: true })
  }
}

const writeBody = async (
  incoming: IncomingMessage,
  path: string,
  maxBytes: number,
): Promise<{ bytes: number; sha256: string; contentType: string }> => {
  const source = openBodySource(incoming, { maxBytes, deadlineMs: DEADLINE_MS, pace: USUAL_PACE })
  const file = await open(path, 'wx')
  const digest = createHash('sha256')
  let head = Buffer.alloc(0)
  try {
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      if (head.length < MEDIA_TYPE_BYTES)
        head = Buffer.concat([head, chunk.subarray(0, MEDIA_TYPE_BYTES)])
      digest.update(chunk)
      await file.write(chunk)
      failpoint('upload.mid-body')
    }
  } finally {
    source.close()
    await file.close()
  }
  if (source.received() === 0) throw apiError('body_required')
  return { bytes: source.received(), sha256: digest.digest('hex'), contentType: mediaTypeOf(head) }
}

/** SHA-256 of the request's Repr-Digest, Content-Digest (RFC 9530) or Digest header, when one was sent. */
const SHA256 = /sha-256=:?([A-Za-z0-9+/]{43}=)/i

const checkDigest = ({ headers }: IncomingMessage, sha256: string): void => {
  for (const name of ['repr-digest', 'content-digest', 'digest']) {
    const given = SHA256.exec(String(headers[name] ?? ''))?.[1]
    if (given !== undefined && Buffer.from(given, 'base64').toString('hex') !== sha256)
      throw apiError('checksum_mismatch', `The bytes do not have the digest of the ${name} header.`)
  }
}
