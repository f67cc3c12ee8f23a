import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import { digestFile } from '../../src/platform/storage/measure.ts'
import { StorageError, isOutage } from '../../src/platform/storage/storage.ts'
import type { ArchivePlace, StoredArchive } from '../../src/registry/db/archive.ts'
import { isUnavailable } from '../../src/platform/db/sqlstate.ts'
import { CHECK_ERRORS } from '../../src/registry/domain/archive-check.ts'
import type { CheckErrorCode } from '../../src/registry/domain/archive-check.ts'
import type { InspectDependencies } from './dependencies.ts'
import { countOutages, describeEnd, withHeartbeat } from '../platform/heartbeat.ts'
import { addLicense, type InspectedWithLicense } from './read-license.ts'

interface Check {
  /** Whose archive it is, for the log. */
  of: { version_id: string } | { check_id: string }
  /** Most attempts. */
  attempts: number
}

const BEAT_MS = 250
/** Pause after an outage. */
const OUTAGE_MS = 2000

/**
 * Makes one attempt of work on an archive. After the last attempt the activity fails for good, and an operator
 * decides: what keeps it from running is an error of the service, which more attempts would only hide. An attempt that
 * an outage of PostgreSQL or of a bucket has ended does not count.
 */
export const runCheck = async <T>(
  { log }: Pick<InspectDependencies, 'log'>,
  { of, attempts }: Check,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const context = Context.current()
  const outages = countOutages()
  const attemptsLeft = attempts - (context.info.attempt - outages)
  // The worker of the last one was killed, or stood still.
  if (attemptsLeft < 0)
    throw ApplicationFailure.nonRetryable(CHECK_ERRORS.worker_lost, 'worker_lost')
  return await withHeartbeat({ beatMs: BEAT_MS, details: () => ({ outages }) }, () =>
    work(context.cancellationSignal),
  ).catch((error: unknown) => {
    if (context.cancellationDetails?.cancelRequested) throw new CancelledFailure('cancelled')
    if (context.cancellationSignal.aborted)
      throw ApplicationFailure.retryable(describeEnd(), 'worker_lost')
    // What a driver says of an error may name hosts and paths, so it goes into the log alone.
    log.warn({ ...of, err: error }, 'a check could not run')
    const type = codeOf(error)
    const message = CHECK_ERRORS[type]
    if (!isUnavailable(error) && !isOutage(error))
      throw ApplicationFailure.create({ message, type, nonRetryable: attemptsLeft === 0 })
    context.heartbeat({ outages: outages + 1 })
    throw ApplicationFailure.create({ message, type, nextRetryDelay: OUTAGE_MS })
  })
}

const codeOf = (error: unknown): CheckErrorCode => {
  if (error instanceof CheckError) return error.code
  if (isUnavailable(error)) return 'unavailable'
  // An error of the file system: no space, no permission, a broken disk.
  const isStorage = isOutage(error) || (error instanceof Error && 'syscall' in error)
  return isStorage ? 'storage_failed' : 'internal_error'
}

/** An error of the service, by its code. */
class CheckError extends Error {
  override name = 'CheckError'
  readonly code: CheckErrorCode

  constructor(code: CheckErrorCode, options?: ErrorOptions) {
    super(CHECK_ERRORS[code], options)
    this.code = code
  }
}

/** A version whose archive has arrived. */
export type ArchivedPlace = ArchivePlace & { archive: StoredArchive }

/** Input of reading an archive. */
export type Readable = Pick<ArchivedPlace, 'archive' | 'dependencies' | 'license'> & {
  nodeId?: string | undefined
}

/**
 * Reads a local copy of a stored archive, hands both to `use`, and removes the copy. Throws unless it is, byte for byte,
 * what was uploaded.
 */
export const inspectStored = async <T>(
  { storage, scratchDir, inspector, findLicenseId }: InspectDependencies,
  { archive, nodeId, dependencies, license }: Readable,
  signal: AbortSignal,
  use: (found: InspectedWithLicense, path: string) => Promise<T>,
): Promise<T> => {
  const path = join(scratchDir, randomUUID())
  try {
    await storage.fetchToFile(archive.storageKey, path).catch((error: unknown) => {
      const isMissing = error instanceof StorageError && error.code === 'not_found'
      throw isMissing ? new CheckError('archive_missing', { cause: error }) : error
    })
    const { bytes, sha256 } = await digestFile(path, signal)
    if (bytes !== archive.bytes || sha256 !== archive.sha256)
      throw new CheckError('archive_differs')
    const found = await inspector.inspect({ path, nodeId, dependencies, signal })
    return await use(await addLicense(found, { path, license, findLicenseId }), path)
  } finally {
    await rm(path, { force: true })
  }
}
