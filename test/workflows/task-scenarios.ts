import { ApplicationFailure, Context } from '@temporalio/activity'

import type { CoreActivities } from '../../activities/index.ts'
import type { MediaActivities } from '../support/media.ts'
import type { TaskStanding } from '../../activities/tasks/task.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { getRun, recordCall, type Runs } from './runs.ts'
import {
  askToCancel,
  cancel,
  fails,
  failsThreeTimes,
  inOrder,
  untilCancelled,
  untilHeartbeat,
} from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of a task's workflow, of either family. */
export interface TaskScenario extends Circumstances {
  render: MediaActivities['renderImageTask']
  /** Absent: the task ends as its reason says. */
  fail?: CoreActivities['failTask']
}

const ends = (end: TaskStanding) => (): Promise<TaskStanding> => Promise.resolve(end)

export const done = ends({ state: 'done', reason: null })
export const putBack = ends({ state: 'waiting', reason: 'breaker:engine:local' })

/** Fails at first with its worker, and ends the task once the workflow has it rendered again. */
const worksOnceLost =
  (endWithWorker: () => Promise<never>): TaskScenario['render'] =>
  ({ workersLost }) =>
    workersLost === undefined ? endWithWorker() : done()

/** Says nothing until its worker ends. */
const silent = () => Context.current().cancelled

const stopped = () =>
  Promise.reject(ApplicationFailure.retryable('its worker has stopped', 'worker_stopped'))

export const TASK_SCENARIOS = {
  completed: { render: done },
  'put-back': { render: putBack },
  'bad-input': { render: fails('image_invalid') },
  'engine-failed': { render: failsThreeTimes },
  'timed-out': { render: fails('timeout') },
  'worker-lost': { render: worksOnceLost(silent), heartbeatSeconds: 1 },
  'worker-stopped': { render: worksOnceLost(stopped) },
  'ended-before-render': { render: ends({ state: 'failed', reason: 'start_timeout' }) },
  'cancelled-while-waiting': { render: done, noMediaWorker: true, act: askToCancel },
  'cancelled-while-rendering': {
    render: untilCancelled,
    act: inOrder(untilHeartbeat, askToCancel),
  },
  'cancelled-by-operator': { render: untilCancelled, act: inOrder(untilHeartbeat, cancel) },
  // The render has completed it meanwhile.
  'cancelled-too-late': {
    render: untilCancelled,
    act: inOrder(untilHeartbeat, cancel),
    fail: done,
  },
} satisfies Record<string, TaskScenario>

/** The activities of tasks as the scenario of each run has them. */
export const makeTaskActivities = (runs: Record<TaskFamily, Runs<TaskScenario>>) => {
  const core = {
    async failTask(task, reason) {
      const { fail } = recordCall(runs[task.family], task.taskId, 'fail', reason)
      if (fail) return await fail(task, reason)
      return { state: reason.code === 'cancelled' ? 'cancelled' : 'failed', reason: reason.code }
    },
  } satisfies Partial<CoreActivities>
  const media = {
    renderImageTask: (options) => getRun(runs.image, options.taskId).scenario.render(options),
    renderVideoTask: (options) => getRun(runs.video, options.taskId).scenario.render(options),
  } satisfies Partial<MediaActivities>
  return { core, media }
}
