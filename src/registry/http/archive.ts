import { randomUUID } from 'node:crypto'

import { findArchivePlace, findUploadObstacle, recordArchive, startUpload } from '../db/archive.ts'
import type { ArchiveRecorded, UploadObstacle } from '../db/archive.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import type { Sql } from '../../platform/db/client.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { failpoint } from '../../platform/process/failpoint.ts'
import { signalArchiveUploaded } from '../temporal/version.ts'
import type { Jobs } from '../../platform/temporal/client.ts'
import type { Incoming, ReceiveDeps } from '../../tasks/http/upload.ts'
import { takeFile } from '../../platform/http/uploaded-file.ts'
import type {
  UploadedFile,
  UploadedFileDeps,
  UploadRules,
} from '../../platform/http/uploaded-file.ts'

interface ReceiveArchiveDeps extends ReceiveDeps {
  jobs: Pick<Jobs, 'dispatchNow'>
}

/**
 * Takes the archive of a version into the store, then records it with the signal that its workflow waits for. Only its
 * first bytes are looked at. Throws 400 archive_invalid or checksum_mismatch, 403 upload_expired or of bans, 408, 409
 * archive_exists, node_deleted or upload_closed, 413, 503.
 */
export const uploadArchive = async (
  deps: ReceiveArchiveDeps,
  { id: versionId, ...incoming }: Incoming,
): Promise<void> => {
  const decided = await withinDeadline(deps.sql, beginUpload(deps.sql, versionId))
  await takeArchive(deps, incoming, async (file) => {
    if (decided === undefined) await store(deps, versionId, file)
    else if (decided.sha256 !== file.sha256) throw errors.archiveExists(decided.isRejected)
  })
}

/** Takes the body of a request that is a zip, by its first bytes, and gives it to `use`. Throws 400, 408, 413, 503. */
export const takeArchive = async <T>(
  deps: UploadedFileDeps,
  incoming: Pick<UploadRules, 'request' | 'maxBytes'>,
  use: (file: UploadedFile) => Promise<T>,
): Promise<T> => {
  const rules = {
    ...incoming,
    headBytes: ZIP_HEAD_BYTES,
    validateHead: requireZip,
    emptyCode: 'archive_invalid',
  } as const
  return await takeFile(deps, rules, use)
}

/** Moves an archive into the store. Throws 503. */
export const storeArchive = async (
  { storage }: Pick<ReceiveDeps, 'storage'>,
  storageKey: string,
  { path }: Pick<UploadedFile, 'path'>,
): Promise<void> =>
  await storage.putFile(storageKey, path).catch((error: unknown) => {
    throw errors.unavailable(error)
  })

interface Decided {
  sha256: string
  isRejected: boolean
}

/** The archive that was decided on, which no other replaces; undefined while an upload may still come. */
const beginUpload = async (sql: Sql, versionId: string): Promise<Decided | undefined> => {
  const obstacle = await findUploadObstacle(sql, versionId)
  if (obstacle) throw makeRejection(obstacle)
  if (await startUpload(sql, versionId)) return undefined
  const place = await findArchivePlace(sql, versionId)
  if (!place?.archive || place.status === 'NodeVersionStatusDeleted') throw errors.uploadClosed()
  return { sha256: place.archive.sha256, isRejected: place.archiveState === 'rejected' }
}

const requireZip = (head: Buffer): void => {
  if (!beginsAsZip(head)) throw errors.archiveInvalid(head)
}

const store = async (
  deps: ReceiveArchiveDeps,
  versionId: string,
  file: UploadedFile,
): Promise<void> => {
  const { sha256, bytes } = file
  // A key of this upload alone: whichever of several is not recorded can be removed without looking at the others.
  const storageKey = `uploads/${versionId}/${sha256}.${randomUUID()}`
  await storeArchive(deps, storageKey, file)
  failpoint('archive.after-store')
  const received = await record(deps, { versionId, storageKey, sha256, bytes })
  const leftKey = received.result === 'received' ? received.replacedKey : storageKey
  // When the store fails to, the clean-up after the decision removes it.
  if (leftKey !== undefined) await deps.storage.remove(leftKey).catch(() => {})
  throwRejection(received)
}

const record = async (
  deps: ReceiveArchiveDeps,
  stored: { versionId: string; storageKey: string; sha256: string; bytes: number },
): Promise<ArchiveRecorded> => {
  const { versionId, storageKey } = stored
  const signal = signalArchiveUploaded(versionId)
  return await unitOfWork(
    deps,
    (sql, enqueue) => recordArchive(sql, { ...stored, signal }, enqueue),
    {
      at: 'archive',
      wasCommitted: async () =>
        (await findArchivePlace(deps.sql, versionId))?.archive?.storageKey === storageKey,
    },
  )
}

const throwRejection = (recorded: ArchiveRecorded): void => {
  const { result } = recorded
  if (result === 'link_ended') throw makeRejection(recorded.because)
  if (result === 'archive_exists') throw errors.archiveExists(recorded.isRejected)
  if (result === 'upload_expired') throw errors.uploadExpired('archive')
  // Its link was signed, so there was a version.
  if (result === 'upload_closed' || result === 'version_not_found') throw errors.uploadClosed()
}

const makeRejection = (obstacle: UploadObstacle): Error => {
  if (obstacle === 'revoked')
    return apiError(
      'upload_closed',
      'Whoever published the version may not publish it any more: another member publishes it again.',
    )
  return obstacle === 'version_blocked'
    ? apiError(obstacle, 'A platform admin has banned the version; it takes no archive any more.')
    : apiError(obstacle)
}

/** Number of first bytes that show a zip. */
const ZIP_HEAD_BYTES = 4

/** True when bytes begin as a zip does: with the header of a first entry or, in an empty zip, with the end record. */
const beginsAsZip = (head: Buffer): boolean =>
  BEGINNINGS.some((beginning) => head.subarray(0, ZIP_HEAD_BYTES).equals(beginning))

const BEGINNINGS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('PK\x05\x06', 'latin1')]
