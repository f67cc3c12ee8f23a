import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow'
import { workflowInfo } from '@temporalio/workflow'

/**
 * A move is one short transaction; it is tried until PostgreSQL is back, and the store, from which what a task leaves is
 * removed. Every wait is a timer of the server, so that a workflow task never lasts longer than one attempt: it has 10 s,
 * and a worker that stands still for 4 s loses none (docs/decisions.md). A wait in the worker also keeps one of its 40
 * places, and so many tasks that a caller cancels while the store is away would keep them all.
 */
export const transitionOptions: LocalActivityOptions = {
  startToCloseTimeout: '5 seconds',
  localRetryThreshold: '1 millisecond',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
  },
}

/**
 * One attempt of a webhook, tried once: the rows say whether and when there is another. It has the time of the longest
 * attempt, and some for the rows.
 */
export const sendOptions = (summary: string): ActivityOptions => ({
  summary,
  startToCloseTimeout: '20 seconds',
  heartbeatTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
})

/** One batch of removals; hourly, so a failing store is simply tried again. */
export const purgeOptions: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 5 },
}

/**
 * Work on many tasks, a turn of some seconds at a time, on a queue of its own. Its attempts have no limit: the row says
 * what was done, so that an outage, however long, loses nothing. Of the rest the longest step copies an upload.
 */
export const bulkOptions = (summary: string): ActivityOptions => ({
  summary,
  taskQueue: `${workflowInfo().taskQueue}-bulk`,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '500 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
  },
})
