import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import { StorageFault } from '../src/adapters/storage/storage.ts'
import { ZIP_HEAD_BYTES, beginsAsZip, hasEndRecord } from '../src/adapters/zip-form.ts'
import { acceptArchive, findArchivePlace, rejectArchive } from '../src/db/archive.ts'
import type { ArchivePlace, StoredArchive } from '../src/db/archive.ts'
import { isUnavailable } from '../src/db/sqlstate.ts'
import { CHECK_FAULTS } from '../src/domain/archive-check.ts'
import type { ArchiveFaultCode, CheckFaultCode } from '../src/domain/archive-check.ts'
import type { ArchiveState } from '../src/domain/version.ts'
import { failpoint } from '../src/failpoint.ts'
import type { MediaDependencies } from './dependencies.ts'

/** What has become of an archive, for the workflow's history. */
export interface CheckedArchive {
  archiveState: ArchiveState | 'gone'
}

/**
 * Makes the activity that checks the stored bytes of a version's archive: they are there, they are those that were
 * uploaded, and they begin and end as a zip does. A good archive goes to its final key and is accepted, a bad one is
 * rejected. Every other fault is one of the service, which the workflow tries again and which never flags.
 */
export const makeCheckArchive =
  (deps: MediaDependencies) =>
  async (versionId: string): Promise<CheckedArchive> => {
    const context = Context.current()
    const beat = setInterval(() => context.heartbeat(), BEAT_MS)
    try {
      return await checkUntilDecided(deps, versionId, context.cancellationSignal)
    } catch (error) {
      throw classify(deps, versionId, error)
    } finally {
      clearInterval(beat)
    }
  }

const BEAT_MS = 250

/** An upload may replace the one under check until one of them has been decided on. */
const checkUntilDecided = async (
  deps: MediaDependencies,
  versionId: string,
  signal: AbortSignal,
): Promise<CheckedArchive> => {
  for (;;) {
    const place = await findArchivePlace(deps.sql, versionId)
    if (!isUnderCheck(place)) return { archiveState: place?.archiveState ?? 'gone' }
    const { archive } = place
    const archiveState = await check(deps, { versionId, archive, signal }).catch(
      async (error: unknown) => {
        if (await wasReplaced(deps, versionId, archive)) return undefined
        throw error
      },
    )
    if (archiveState) return { archiveState }
  }
}

/** Also of a version that an operator has flagged or banned meanwhile, who could not activate it without its archive. */
const isUnderCheck = (
  place: ArchivePlace | undefined,
): place is ArchivePlace & { archive: StoredArchive } =>
  place?.archiveState === 'received' &&
  place.archive !== null &&
  place.status !== 'NodeVersionStatusDeleted'

const wasReplaced = async (
  { sql }: MediaDependencies,
  versionId: string,
  { storageKey }: StoredArchive,
): Promise<boolean> => {
  const place = await findArchivePlace(sql, versionId)
  return place?.archive?.storageKey !== storageKey
}

interface Check {
  versionId: string
  archive: StoredArchive
  signal: AbortSignal
}

/** Undefined when the archive was replaced before its verdict. */
const check = async (
  deps: MediaDependencies,
  { versionId, archive, signal }: Check,
): Promise<ArchiveState | undefined> => {
  const { sha256 } = archive
  const path = join(deps.scratchDir, randomUUID())
  try {
    await fetchArchive(deps, { archive, path, signal })
    const code = await findFault(path)
    if (code !== undefined) {
      const rejected = await deps.sql.begin((sql) =>
        rejectArchive(sql, { versionId, sha256, code }),
      )
      return rejected ? 'rejected' : undefined
    }
    // Named by its content: whoever checks it twice puts the same bytes there.
    const storageKey = `archives/${versionId}/${sha256}.zip`
    failpoint('check.before-store')
    await deps.storage.putFile(storageKey, path)
    failpoint('check.after-store')
    const accepted = await accept(deps, { versionId, sha256, storageKey })
    return accepted ? 'accepted' : undefined
  } finally {
    await rm(path, { force: true })
  }
}

const accept = async (
  { sql }: MediaDependencies,
  verdict: Parameters<typeof acceptArchive>[1],
): Promise<boolean> => {
  const accepted = await sql.begin(async (sql) => {
    const done = await acceptArchive(sql, verdict)
    failpoint('check.before-commit')
    return done
  })
  failpoint('check.after-commit')
  return accepted
}

/** A fault of the service, by its code. */
class CheckFault extends Error {
  override name = 'CheckFault'
  readonly code: CheckFaultCode

  constructor(code: CheckFaultCode, options?: ErrorOptions) {
    super(CHECK_FAULTS[code], options)
    this.code = code
  }
}

/** Puts the archive at a local path. Throws unless it is, byte for byte, what was uploaded. */
const fetchArchive = async (
  { storage }: MediaDependencies,
  { archive, path, signal }: Pick<Check, 'archive' | 'signal'> & { path: string },
): Promise<void> => {
  await storage.fetchToFile(archive.storageKey, path).catch((error: unknown) => {
    const isMissing = error instanceof StorageFault && error.code === 'not_found'
    throw isMissing ? new CheckFault('archive_missing', { cause: error }) : error
  })
  const digest = createHash('sha256')
  const { size } = await stat(path)
  await pipeline(createReadStream(path), digest, { signal })
  if (size !== archive.bytes || digest.digest('hex') !== archive.sha256)
    throw new CheckFault('archive_differs')
}

/** What is wrong with the archive itself; undefined for a good one. */
const findFault = async (path: string): Promise<ArchiveFaultCode | undefined> => {
  if (!beginsAsZip(await readHead(path))) return 'not_a_zip'
  return (await hasEndRecord(path)) ? undefined : 'truncated'
}

const readHead = async (path: string): Promise<Buffer> => {
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(ZIP_HEAD_BYTES), position: 0 })
    return buffer
  } finally {
    await file.close()
  }
}

/** What a driver says of a fault may name hosts and paths, so it goes into the log alone. */
const classify = ({ log }: MediaDependencies, versionId: string, error: unknown): Error => {
  const context = Context.current()
  if (context.cancellationDetails?.cancelRequested) return new CancelledFailure('cancelled')
  if (context.cancellationSignal.aborted)
    return ApplicationFailure.retryable('the attempt was ended by its worker', 'worker_lost')
  log.warn({ version_id: versionId, err: error }, 'a check could not run')
  const code = codeOf(error)
  return ApplicationFailure.retryable(CHECK_FAULTS[code], code)
}

const codeOf = (error: unknown): CheckFaultCode => {
  if (error instanceof CheckFault) return error.code
  if (isUnavailable(error)) return 'unavailable'
  // What the system says of a file: no space, no permission, a broken disk.
  return error instanceof Error && 'syscall' in error ? 'storage_failed' : 'internal_error'
}
