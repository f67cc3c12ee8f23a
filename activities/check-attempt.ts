import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import { isOutage } from '../src/adapters/storage/storage.ts'
import { isUnavailable } from '../src/db/sqlstate.ts'
import { CHECK_ERRORS } from '../src/domain/registry/archive-check.ts'
import type { CheckErrorCode } from '../src/domain/registry/archive-check.ts'
import type { MediaDependencies } from './dependencies.ts'
import { countOutages, withHeartbeat } from './heartbeat.ts'
import { CheckError } from './stored-archive.ts'

interface Check {
  versionId: string
  /** Most attempts. */
  attempts: number
}

const BEAT_MS = 250
/** Pause after an outage. */
const OUTAGE_MS = 2000

/**
 * Makes one attempt of work on a version's archive. After the last attempt the activity fails for good, and an operator
 * decides: what keeps it from running is an error of the service, which more attempts would only hide. An attempt that
 * an outage of PostgreSQL or of a bucket has ended does not count.
 */
export const runCheck = async <T>(
  { log }: Pick<MediaDependencies, 'log'>,
  { versionId, attempts }: Check,
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
      throw ApplicationFailure.retryable('the attempt was ended by its worker', 'worker_lost')
    // What a driver says of an error may name hosts and paths, so it goes into the log alone.
    log.warn({ version_id: versionId, err: error }, 'a check could not run')
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
