import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'

import type {
  AttemptOptions,
  RenderActivities,
  TaskStanding,
  TaskTransitions,
} from '../../activities/tasks/task.ts'
import type { RenderTiming, VideoTiming } from '../../src/tasks/domain/render-timing.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { reasonOf } from '../platform/failure.ts'
import { transitionOptions } from '../platform/options.ts'

/** The API has moved the task to its end; whatever works on it is to stop. Carries the outbox row's id; a repetition changes nothing. */
export const cancelRequested = defineSignal<[{ id: string }]>('cancelRequested')

/** End of a job, and its reason, for an operator who looks at the workflow. */
export interface TaskEnd {
  status: string
  reason: string
  /** Sentence of the error that a task has failed with. */
  message?: string
}

export const showTaskEnd = (status: string, reason: string): TaskEnd => {
  setCurrentDetails(`**${status}**: ${reason}`)
  upsertSearchAttributes([{ key: { name: 'KilnStatus', type: 'KEYWORD' }, value: status }])
  return { status, reason }
}

export interface TaskInput<Timing extends RenderTiming = RenderTiming> {
  taskId: string
  /** Number of the admission that this run is of. */
  admission: number
  timing: Timing
  /** End of the name of its engine's queue. Absent: the local one. */
  engine?: string
}

/** Drives an image task to its end. Whichever that is, also a failure, the workflow completes. */
export const imageTask = (input: TaskInput): Promise<TaskEnd> =>
  driveTask('image', input, (attempt, options) =>
    proxyActivities<RenderActivities>(options).renderImageTask({ ...input, ...attempt }),
  )

/** Drives a video task to its end. Whichever that is, also a failure, the workflow completes. */
export const videoTask = (input: TaskInput<VideoTiming>): Promise<TaskEnd> =>
  driveTask('video', input, (attempt, options) =>
    proxyActivities<RenderActivities>(options).renderVideoTask({ ...input, ...attempt }),
  )

type Render = (
  attempt: Pick<AttemptOptions, 'workersLost'>,
  options: ActivityOptions,
) => Promise<TaskStanding>

/**
 * Renders an admitted task. The render ends the task with its results, or puts it back among the waiting tasks: then
 * this run ends, and the next admission starts another run. A task that has failed or was cancelled is ended here.
 */
const driveTask = async (
  family: TaskFamily,
  input: TaskInput,
  render: Render,
): Promise<TaskEnd> => {
  const { taskId } = input
  const { failTask } = proxyLocalActivities<TaskTransitions>(transitionOptions)
  const rendering = new CancellationScope()
  setHandler(cancelRequested, () => rendering.cancel())
  try {
    setCurrentDetails(
      '**Rendering.** Waits for a worker, then renders: *Pending Activities* shows the step and how far it is.',
    )
    return show(await renderUntilKept(input, rendering, render))
  } catch (error) {
    const reason = reasonOf(error, rendering)
    const end = await CancellationScope.nonCancellable(() => failTask({ taskId, family }, reason))
    return show(end, end.state === 'failed' ? reason.message : undefined)
  }
}

/**
 * Renders again what ended with its worker, ahead of all that wait: an attempt that Temporal repeats would keep its
 * priority and enter the queue at its end.
 */
const renderUntilKept = async (
  { timing, engine }: TaskInput,
  rendering: CancellationScope,
  render: Render,
): Promise<TaskStanding> => {
  for (let workersLost = 0; ; workersLost += 1) {
    const options = renderOptions(timing, engine)
    try {
      return await rendering.run(() =>
        workersLost === 0
          ? render({}, options)
          : render({ workersLost }, { ...options, priority: { priorityKey: FIRST } }),
      )
    } catch (error) {
      if (rendering.consideredCancelled || !endedWithWorker(error)) throw error
    }
  }
}

/** Priority before all that callers have. The turn of the account is that of the workflow. */
const FIRST = 1

/** Type of the failure of an attempt whose worker stops. */
const WORKER_STOPPED = 'worker_stopped'

const endedWithWorker = (error: unknown): boolean => {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT'
  return cause instanceof ApplicationFailure && cause.type === WORKER_STOPPED
}

const show = ({ state, reason }: TaskStanding, message?: string): TaskEnd => {
  const code = reason ?? ''
  setCurrentDetails(
    [`**${state}**${SENTENCES[state] ?? ''}`, code, message].filter(Boolean).join(': '),
  )
  upsertSearchAttributes([
    { key: { name: 'KilnStatus', type: 'KEYWORD' }, value: state },
    ...(code === ''
      ? []
      : [{ key: { name: 'KilnReason', type: 'KEYWORD' }, value: code } as const]),
  ])
  return { status: state, reason: code, ...(message !== undefined && { message }) }
}

const SENTENCES: Readonly<Record<string, string>> = {
  done: ': the results are stored',
  waiting: ': it may not begin now, and goes on in another run',
}

/** Time a render has after the deadline it checks itself, before the server ends the attempt. */
const DEADLINE_MARGIN_SECONDS = 60

/**
 * Rendering runs on the queue of the task's engine. It has no limit of attempts here: the row counts the attempts that
 * matter, so that an outage of PostgreSQL or of a bucket, however long, costs none.
 */
const renderOptions = (
  { heartbeatSeconds, deadlineSeconds }: RenderTiming,
  engine = 'local',
): ActivityOptions => ({
  summary: 'fetch the inputs, render, store the results',
  taskQueue: `${workflowInfo().taskQueue}-${engine === 'local' ? 'media' : engine}`,
  startToCloseTimeout: (deadlineSeconds + DEADLINE_MARGIN_SECONDS) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  // The second wait is a second. What ended with its worker is scheduled again by the workflow.
  retry: {
    nonRetryableErrorTypes: ['TemporalTimeout:Heartbeat', WORKER_STOPPED],
    initialInterval: '200 milliseconds',
    backoffCoefficient: 5,
    maximumInterval: '10 seconds',
  },
})
