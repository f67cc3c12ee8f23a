import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import { isFull, isOutage } from '../../src/platform/storage/storage.ts'
import { cleanReason } from '../../src/engines/domain/engine-reason.ts'
import {
  countFailure,
  findTaskState,
  recordEngineError,
  recordProgress,
} from '../../src/tasks/db/task.ts'
import { releaseProbe } from '../../src/tasks/db/breaker.ts'
import { claimTask, putBack } from '../../src/tasks/db/task-transition.ts'
import type { ClaimedTask } from '../../src/tasks/db/task-transition.ts'
import { ADMISSION } from '../../src/platform/db/change-notification.ts'
import { isUnavailable } from '../../src/platform/db/sqlstate.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { TASK_ERRORS, TaskError } from '../../src/tasks/domain/task-error.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { VideoError } from '../../src/tasks/domain/video/video-error.ts'
import { PutBackError } from './breaker.ts'
import type { RenderDependencies } from './dependencies.ts'
import { countOutages, describeEnd, withHeartbeat } from '../platform/heartbeat.ts'
import { finishTask, type FencedTask, type Rendered } from './results.ts'
import { cleanUpAttempts, type AttemptOptions, type TaskStanding } from '../tasks/task.ts'

/** One attempt at a task: what it may use and how it reports on itself. */
export interface RenderAttempt {
  /** Aborted when the task is cancelled, the worker stops or the deadline passes. */
  signal: AbortSignal
  /** Folder of this attempt alone, removed at its end. */
  scratchDir: string
  /** Sets what the next heartbeat says, which operators see, and records the progress for readers of the task. */
  report(step: string, percent: number, upstreamId?: string): void
  /** Says in the next heartbeats what holds the step up, until the next report. */
  reportStall(reason: string): void
  /** True when nobody waits for the task any more: it was cancelled, or its deadline has passed. */
  isOver(): boolean
}

/**
 * An error of the engine itself, as opposed to one of the input or of the store. Its message is what operators may read
 * in the task, once it is cleaned. As the cause of the error that ends a task it does the same.
 */
export class EngineError extends Error {
  override name = 'EngineError'
  /** The caller may read it, too. */
  readonly isShown: boolean

  constructor(
    message: string,
    { isShown = false, ...options }: ErrorOptions & { isShown?: boolean | undefined } = {},
  ) {
    super(message, options)
    this.isShown = isShown
  }
}

/** Engine and store errors that are retried before the task fails. */
const MAX_FAILURES = 3

/**
 * Attempts of one run that no outage has ended, those that ended with their worker included: a task that kills its worker
 * each time must end. Fences do not count them: they go on over all runs, and an outage takes many.
 */
const MAX_ATTEMPTS = 10

/**
 * Claims a task, runs the work of one attempt at it, and ends the task with the results. The attempt has heartbeats, a
 * scratch folder, and a deadline counted from the first claim. Returns how the task stands then: a task that may not
 * begin now waits, and a task that had ended stays as it is. Only this function separates permanent errors from errors
 * that are worth another attempt.
 */
export const runAttempt = async <Kind extends string>(
  deps: RenderDependencies,
  { taskId, family, admission, timing, workersLost = 0 }: AttemptOptions & { family: TaskFamily },
  work: (task: ClaimedTask<Kind>, attempt: RenderAttempt) => Promise<Rendered>,
): Promise<TaskStanding> => {
  const context = Context.current()
  const outages = countOutages()
  const claim = { id: taskId, family, admission }
  const task = await unitOfWork(deps, (sql) => claimTask<Kind>(sql, claim), { of: taskId }).catch(
    (error: unknown) => {
      if (isUnavailable(error)) context.heartbeat({ outages: outages + 1 })
      throw retryLater(deps, error, taskId)
    },
  )
  if (!task)
    return await describeUnclaimed(deps, taskId).catch((error: unknown) => {
      throw retryLater(deps, error, taskId)
    })
  const remainingMs = Math.max(0, Math.round((timing.deadlineSeconds - task.age) * 1000))
  const deadline = AbortSignal.timeout(remainingMs)
  const over = new AbortController()
  const signal = AbortSignal.any([context.cancellationSignal, deadline, over.signal])
  const lookAgain = (): void =>
    void isOurs(deps, task).then(
      (is) => is || over.abort(),
      () => {},
    )
  const scratchDir = join(deps.scratchDir, `${task.id}-${task.fence}`)
  const counted = outages > 0 ? { outages } : {}
  let details: object = { step: 'starting', percent: 0 }
  const progress = makeProgressRecorder(deps, task)
  const report: RenderAttempt['report'] = (step, percent, upstreamId) => {
    progress.record(percent)
    const upstream = upstreamId === undefined ? {} : { upstream_id: upstreamId }
    details = { step, percent: Math.round(percent), ...upstream }
  }
  const reportStall = (reason: string): void => {
    details = { ...details, reason }
  }
  const isOver = (): boolean =>
    deadline.aborted || over.signal.aborted || context.cancellationDetails?.cancelRequested === true
  const { maxAttempts = MAX_ATTEMPTS } = deps
  // Beats follow the clock, not the steps: each is a call that the server writes down, and a short render needs none.
  const beatMs = Math.min(BEAT_MS, (timing.heartbeatSeconds * 1000) / 4)
  return await withHeartbeat({ beatMs, details: () => ({ ...details, ...counted }) }, async () => {
    try {
      deps.changes?.on(task.id, lookAgain)
      if (remainingMs === 0) throw new TaskError('timeout')
      await mkdir(scratchDir, { recursive: true })
      if (workersLost + context.info.attempt - outages > maxAttempts)
        throw new TaskError('engine_failed', `The task was tried ${maxAttempts} times.`)
      const rendered = await work(task, { signal, scratchDir, report, reportStall, isOver })
        // No part of an attempt runs on after its end.
        .finally(progress.flush)
      report('storing', 100)
      const { cancellationSignal } = context
      // Whoever waits for PostgreSQL waits beyond the deadline: the work is done.
      return await finishTask(deps, { family, task, signal: cancellationSignal }, rendered)
    } catch (given) {
      if (over.signal.aborted) return await describeUnclaimed(deps, task.id)
      const error = deadline.aborted ? new TaskError('timeout') : given
      const failure =
        error instanceof PutBackError && !context.cancellationSignal.aborted
          ? await putBackAs(deps, task, error)
          : await classify(deps, task, error)
      if (!(failure instanceof Error)) return failure
      // The next attempt reads the last heartbeat.
      if (failure instanceof ApplicationFailure && failure.type === UNAVAILABLE)
        context.heartbeat({ ...details, outages: outages + 1 })
      throw failure
    } finally {
      deps.changes?.off(task.id, lookAgain)
      if (task.isProbe) await releaseProbe(deps.sql, task.id).catch(() => {})
      await rm(scratchDir, { recursive: true, force: true }).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'the folder of an attempt was not removed'),
      )
    }
  })
}

/** Often enough for a bar that moves, seldom enough to cost nothing. */
const RECORD_MS = 1000

/** Writes progress to the row, at most once a second. It is only for show, so a failed write is ignored. */
const makeProgressRecorder = (
  { sql, log, notifyChange }: RenderDependencies,
  { id, fence }: FencedTask,
) => {
  let recordedAt = -Infinity
  let writing = Promise.resolve()
  const write = async (percent: number): Promise<void> => {
    try {
      if (await recordProgress(sql, { id, fence, percent })) notifyChange(id)
    } catch (error) {
      log.debug({ task_id: id, err: error }, 'progress was not noted')
    }
  }
  return {
    record(percent: number): void {
      if (percent === 0 || percent >= 100 || Date.now() - recordedAt < RECORD_MS) return
      recordedAt = Date.now()
      writing = write(percent)
    },
    flush: () => writing,
  }
}

/** False once a task has ended, or another attempt has it. */
const isOurs = async ({ sql }: RenderDependencies, { id, fence }: FencedTask): Promise<boolean> => {
  const found = await findTaskState(sql, id)
  return found?.fence === fence && (found.state === 'running' || found.state === 'queued')
}

/** Describes a task that was not claimed. Repeated while the store is away: only then is what attempts have left removed. */
const describeUnclaimed = async (
  deps: RenderDependencies,
  taskId: string,
): Promise<TaskStanding> => {
  const found = await cleanUpAttempts(deps, taskId)
  // One that was put back may have left its slot to another.
  if (found.state === 'waiting') deps.notifyChange(ADMISSION)
  return found
}

/** Puts a task back that may not go on now. */
const putBackAs = async (
  deps: RenderDependencies,
  { id, fence }: FencedTask,
  { waitsOn }: PutBackError,
): Promise<TaskStanding | Error> =>
  await putBack(deps.sql, { id, fence, waitsOn })
    .then(() => describeUnclaimed(deps, id))
    .catch((error: unknown) => retryLater(deps, error, id))

const UNAVAILABLE = 'unavailable'

/** Often enough that an operator sees progress and a cancellation is heard within a second. */
const BEAT_MS = 1000

/**
 * Makes the failure that repeats an attempt. The driver's words may name hosts and values, so the log gets them and the
 * history does not.
 */
const retryLater = ({ log }: RenderDependencies, error: unknown, taskId: string): Error => {
  if (isUnavailable(error))
    return ApplicationFailure.retryable('PostgreSQL cannot be reached', UNAVAILABLE)
  log.warn({ task_id: taskId, err: error }, 'attempt failed')
  if (isOutage(error)) {
    const found = isFull(error) ? 'is full: make room' : 'cannot be reached'
    return ApplicationFailure.retryable(`the store ${found}`, UNAVAILABLE)
  }
  return ApplicationFailure.retryable(
    'the attempt failed; the log of the worker says why',
    'attempt_failed',
  )
}

const classify = async (
  deps: RenderDependencies,
  task: ClaimedTask,
  error: unknown,
): Promise<Error> => {
  if (error instanceof TaskError || error instanceof VideoError)
    return await keepReason(deps, task, error).then(
      () => ApplicationFailure.nonRetryable(error.message, error.code),
      (failure: unknown) => retryLater(deps, failure, task.id),
    )
  const context = Context.current()
  if (context.cancellationDetails?.cancelRequested) return new CancelledFailure('cancelled')
  // The worker stops, an operator wants it, or the server has given the attempt up. Another attempt goes on.
  if (context.cancellationSignal.aborted) {
    const isStopped = context.cancellationDetails?.workerShutdown === true
    return ApplicationFailure.retryable(
      describeEnd(),
      isStopped ? 'worker_stopped' : 'attempt_ended',
    )
  }
  const again = retryLater(deps, error, task.id)
  if (isUnavailable(error) || isOutage(error)) return again
  try {
    const code = error instanceof EngineError ? 'engine_failed' : 'internal_error'
    await keepReason(deps, task, error)
    const failures = (await countFailure(deps.sql, { ...task, code })) ?? 0
    return failures < MAX_FAILURES
      ? again
      : ApplicationFailure.nonRetryable(TASK_ERRORS[code], code)
  } catch (failure) {
    return retryLater(deps, failure, task.id)
  }
}

/** Keeps what an engine has said, where that is the error or its cause. */
export const keepReason = async (
  { sql }: Pick<RenderDependencies, 'sql'>,
  task: Pick<ClaimedTask, 'id' | 'fence' | 'settings'>,
  error: unknown,
): Promise<void> => {
  if (error instanceof EngineError) {
    const { message, isShown } = error
    const text = cleanReason(message, task.settings)
    await recordEngineError(sql, task, { text, isShown })
  } else if (error instanceof Error) await keepReason({ sql }, task, error.cause)
}
