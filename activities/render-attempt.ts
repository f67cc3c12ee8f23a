import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import { countFailure } from '../src/db/task/task.ts'
import { isUnavailable } from '../src/db/sqlstate.ts'
import type { RenderTiming } from '../src/domain/task/render-timing.ts'
import { TASK_FAULTS, TaskFault } from '../src/domain/task/task-fault.ts'
import { VideoFault } from '../src/domain/video-task/video-fault.ts'
import type { MediaDependencies } from './dependencies.ts'
import { withHeartbeat } from './heartbeat.ts'

/** One attempt at a task: what it may use and how it tells of itself. */
export interface RenderAttempt {
  /** Aborted when the task is cancelled, the worker stops or the deadline passes. */
  signal: AbortSignal
  /** Folder of this attempt alone, removed at its end. */
  scratchDir: string
  /** Sets what the next heartbeat says; operators see it. */
  report(step: string, percent: number): void
}

export interface AttemptOptions extends RenderTiming {
  task: { id: string; fence: number; age: number }
}

/** A fault of the engine itself, as opposed to one of the input or of the store. */
export class EngineError extends Error {
  override name = 'EngineError'
}

/** Faults of engine or store that are tried again before the task fails. */
const MAX_FAILURES = 3

/**
 * Runs the work of one attempt with heartbeats, a deadline counted from the first claim, and a scratch folder. Here
 * alone permanent faults are told from those that are worth another attempt.
 */
export const runAttempt = async <T>(
  deps: MediaDependencies,
  options: AttemptOptions,
  work: (attempt: RenderAttempt) => Promise<T>,
): Promise<T> => {
  const deadline = AbortSignal.timeout(remainingMs(options))
  const signal = AbortSignal.any([Context.current().cancellationSignal, deadline])
  const scratchDir = join(deps.scratchDir, `${options.task.id}-${options.task.fence}`)
  let details = { step: 'starting', percent: 0 }
  const report: RenderAttempt['report'] = (step, percent) => {
    details = { step, percent: Math.round(percent) }
  }
  // Beats follow the clock, not the steps: each is a call that the server writes down, and a short render needs none.
  const beatMs = Math.min(BEAT_MS, (options.heartbeatSeconds * 1000) / 4)
  return await withHeartbeat({ beatMs, details: () => details }, async () => {
    try {
      if (remainingMs(options) === 0) throw new TaskFault('timeout')
      await mkdir(scratchDir, { recursive: true })
      return await work({ signal, scratchDir, report })
    } catch (error) {
      throw await classify(deps, options.task, deadline.aborted ? new TaskFault('timeout') : error)
    } finally {
      await rm(scratchDir, { recursive: true, force: true }).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'the folder of an attempt was not removed'),
      )
    }
  })
}

const remainingMs = ({ task, deadlineSeconds }: AttemptOptions): number =>
  Math.max(0, Math.round((deadlineSeconds - task.age) * 1000))

/** Often enough that an operator sees progress and a cancellation is heard within a second. */
const BEAT_MS = 1000

/**
 * Makes the failure that repeats an attempt. The driver's words may name hosts and values, so the log gets them and the
 * history does not.
 */
export const retryLater = ({ log }: MediaDependencies, error: unknown, taskId: string): Error => {
  if (isUnavailable(error))
    return ApplicationFailure.retryable('PostgreSQL cannot be reached', 'unavailable')
  log.warn({ task_id: taskId, err: error }, 'attempt failed')
  return ApplicationFailure.retryable(
    'the attempt failed; the log of the worker says why',
    'attempt_failed',
  )
}

const classify = async (
  deps: MediaDependencies,
  task: { id: string; fence: number },
  error: unknown,
): Promise<Error> => {
  if (error instanceof TaskFault || error instanceof VideoFault)
    return ApplicationFailure.nonRetryable(error.message, error.code)
  const context = Context.current()
  if (context.cancellationDetails?.cancelRequested) return new CancelledFailure('cancelled')
  // The worker stops, or the server has given the attempt up. Another attempt goes on.
  if (context.cancellationSignal.aborted)
    return ApplicationFailure.retryable('the attempt was ended by its worker', 'attempt_ended')
  const again = retryLater(deps, error, task.id)
  if (isUnavailable(error)) return again
  try {
    const failures = (await countFailure(deps.sql, task)) ?? 0
    return failures < MAX_FAILURES ? again : finalFailure(error)
  } catch (failure) {
    return retryLater(deps, failure, task.id)
  }
}

const finalFailure = (error: unknown): ApplicationFailure => {
  const code = error instanceof EngineError ? 'engine_failed' : 'internal_error'
  return ApplicationFailure.nonRetryable(TASK_FAULTS[code], code)
}
