import type { CoreActivities, MediaActivities } from '../../activities/index.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { getRun, recordCall, type Runs } from './runs.ts'
import {
  askToCancel,
  attempt,
  cancel,
  deadlines,
  fails,
  failsThreeTimes,
  inOrder,
  inTurn,
  silentAtFirst,
  untilCancelled,
  untilHeartbeat,
} from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of the image task's workflow: small functions that do what a path needs. */
export interface ImageScenario extends Circumstances {
  render: MediaActivities['renderImageTask']
  complete?: CoreActivities['completeImageTask']
}

export const rendered = (): Promise<{ fence: number; results: [] }> =>
  Promise.resolve({ fence: attempt(), results: [] })

export const IMAGE_SCENARIOS = {
  completed: { render: rendered },
  'bad-input': { render: fails('image_invalid') },
  'engine-failed': { render: failsThreeTimes },
  'timed-out': { render: fails('timeout') },
  'worker-lost': {
    render: silentAtFirst(() => Promise.resolve({ fence: 2, results: [] })),
    heartbeatSeconds: 1,
  },
  'ended-before-render': { render: () => Promise.resolve(undefined) },
  'cancelled-while-waiting': { render: rendered, noMediaWorker: true, act: askToCancel },
  'cancelled-while-rendering': {
    render: untilCancelled,
    act: inOrder(untilHeartbeat, askToCancel),
  },
  'cancelled-by-operator': { render: untilCancelled, act: inOrder(untilHeartbeat, cancel) },
  superseded: {
    render: rendered,
    // At the first call another attempt has claimed the task.
    complete: inTurn('IN_PROGRESS', 'COMPLETED'),
  },
  'deadlines-met': {
    render: rendered,
    findDeadline: deadlines({ start: [PATIENCE_MS], end: [PATIENCE_MS] }),
  },
  'start-timed-out': {
    render: rendered,
    noMediaWorker: true,
    findDeadline: deadlines({ start: [10, 0] }),
  },
  'deadline-exceeded': { render: untilCancelled, findDeadline: deadlines({ end: [1000, 0] }) },
} satisfies Record<string, ImageScenario>

/** The activities of image tasks as the scenario of each run has them. */
export const makeImageActivities = (runs: Runs<ImageScenario>) => {
  const core = {
    async completeImageTask(taskId, rendered) {
      const scenario = recordCall(runs, taskId, 'complete', rendered)
      if (scenario.complete) return await scenario.complete(taskId, rendered)
      return rendered ? 'COMPLETED' : 'FAILED'
    },
    async failImageTask(taskId, reason) {
      recordCall(runs, taskId, 'fail', reason)
      return 'FAILED'
    },
  } satisfies Partial<CoreActivities>
  const media = {
    renderImageTask: (taskId, timing) => getRun(runs, taskId).scenario.render(taskId, timing),
  } satisfies Partial<MediaActivities>
  return { core, media }
}
