import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow'
import { workflowInfo } from '@temporalio/workflow'

import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import type { EngineName } from '../src/domain/task/engine.ts'
import type { RenderTiming } from '../src/domain/task/render-timing.ts'

/** Time a render has after the deadline it checks itself, before the server ends the attempt. */
const DEADLINE_MARGIN_SECONDS = 60

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
 * Rendering runs on the queue of the task's engine. It has no limit of attempts here: the row counts those that matter,
 * so that an outage of PostgreSQL or of a bucket, however long, costs none.
 */
export const renderOptions = (
  { heartbeatSeconds, deadlineSeconds }: RenderTiming,
  engine: EngineName = 'local',
): ActivityOptions => ({
  summary: 'fetch the inputs, render, store the results',
  taskQueue: `${workflowInfo().taskQueue}-${engine === 'local' ? 'media' : engine}`,
  startToCloseTimeout: (deadlineSeconds + DEADLINE_MARGIN_SECONDS) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  // Mostly its worker was killed, and the heartbeat has cost time enough. The second wait is a second.
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 5,
    maximumInterval: '10 seconds',
  },
})

/**
 * One attempt of a webhook, tried once: the rows say whether and when there is another. Its time is that of the longest
 * attempt and some for the rows.
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

/** Durations and attempts of a version's checks, except those that its start gives. */
export const CHECK_TIMING: CheckTiming = {
  heartbeatSeconds: 5,
  // 256 MiB from a store that gives 1 MB a second.
  deadlineSeconds: 300,
  attempts: 5,
  retrySeconds: 1,
  maxRetrySeconds: 60,
}

/** A check of an archive runs on the media queue, which counts the attempts: an outage costs none. */
export const checkOptions = (
  summary: string,
  { heartbeatSeconds, deadlineSeconds, retrySeconds, maxRetrySeconds }: CheckTiming,
): ActivityOptions => ({
  summary,
  taskQueue: `${workflowInfo().taskQueue}-media`,
  startToCloseTimeout: deadlineSeconds * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: {
    initialInterval: retrySeconds * 1000,
    backoffCoefficient: 4,
    maximumInterval: maxRetrySeconds * 1000,
  },
})

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
