import { Context } from '@temporalio/activity'

/**
 * Runs work with a heartbeat every `beatMs` milliseconds, so that the server hears when the worker dies and the work
 * hears of its cancellation. `details` is what the operator sees of it.
 */
export const withHeartbeat = async <T>(
  { beatMs, details }: { beatMs: number; details?: () => unknown },
  work: () => Promise<T>,
): Promise<T> => {
  const context = Context.current()
  const timer = setInterval(() => context.heartbeat(details?.()), beatMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** How many attempts of this activity an outage of PostgreSQL or of a bucket has ended: the last heartbeat tells. */
export const countOutages = (): number =>
  (Context.current().info.heartbeatDetails as { outages?: number } | undefined)?.outages ?? 0
