import { Context } from '@temporalio/activity'

/**
 * Runs work with a heartbeat every `beatMs` milliseconds, so that the server notices when the worker dies and the work
 * learns of its cancellation. `details` is what the operator sees of it.
 */
export const withHeartbeat = async <T>(
  { beatMs, details }: { beatMs: number; details?: () => unknown },
  work: () => Promise<T>,
): Promise<T> => {
  const context = Context.current()
  // oxlint-disable-next-line no-restricted-globals -- a beat is due whatever became of the last
  const timer = setInterval(() => context.heartbeat(details?.()), beatMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Says for whoever reads the failure what has ended an attempt that was not cancelled. */
export const describeEnd = (): string => {
  const { paused, reset } = Context.current().cancellationDetails ?? {}
  if (paused) return 'an operator has paused the activity'
  return reset ? 'an operator has reset the activity' : 'the attempt was ended by its worker'
}

/** Counts the attempts of this activity that an outage of PostgreSQL or a bucket has ended, by the last heartbeat. */
export const countOutages = (): number =>
  (Context.current().info.heartbeatDetails as { outages?: number } | undefined)?.outages ?? 0
