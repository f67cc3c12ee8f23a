import type { WorkflowHandle } from '@temporalio/client'

import type { CoreActivities, MediaActivities } from '../../activities/index.ts'
import type { QueuedVideoTask, StoredVideoAttempt } from '../../activities/video-task.ts'
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
  untilDetails,
  untilHeartbeat,
} from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of the video task's workflow. */
export interface VideoScenario extends Circumstances {
  /** Absent: the task is admitted at once. */
  enqueue?: CoreActivities['enqueueVideoTask']
  render: MediaActivities['renderVideoTask']
  complete?: CoreActivities['completeVideoTask']
  /** Until it looks for its slot by itself; absent: so late that no busy machine does. */
  pollSeconds?: number
}

export const ADMITTED: QueuedVideoTask = { state: 'queueing', isAdmitted: true, offPeakMs: null }
export const WAITING: QueuedVideoTask = { ...ADMITTED, isAdmitted: false }

export const RENDERED: StoredVideoAttempt = {
  fence: 1,
  results: [],
  creation: { seconds: 1, fps: 24, width: 64, height: 36 },
}
export const storedVideo = (): Promise<StoredVideoAttempt> =>
  Promise.resolve({ ...RENDERED, fence: attempt() })

const untilQueueing = (handle: WorkflowHandle) => untilDetails(handle, /^\*\*Queueing/)

export const admit = inOrder(untilQueueing, (handle) => handle.signal('admitted', { id: '1' }))

const admitFor = (offPeakMs: number) => inTurn({ ...ADMITTED, offPeakMs })

export const VIDEO_SCENARIOS = {
  completed: { render: storedVideo },
  'admitted-later': { enqueue: inTurn(WAITING), render: storedVideo, act: admit },
  // Its signal was lost: it finds the slot when it looks.
  'admitted-unsignalled': {
    enqueue: inTurn(WAITING, ADMITTED),
    render: storedVideo,
    pollSeconds: 1,
  },
  // Nobody gave it a slot: it is rendered only once one was given.
  'admitted-by-mistake': {
    enqueue: inTurn(WAITING, ADMITTED),
    render: inTurn<StoredVideoAttempt | undefined>(undefined, RENDERED),
    complete: inTurn('queueing', 'success'),
    act: admit,
  },
  'off-peak-completed': { enqueue: admitFor(PATIENCE_MS), render: storedVideo },
  'overdue-while-queueing': {
    enqueue: inTurn({ ...WAITING, offPeakMs: 100 }),
    render: storedVideo,
  },
  'overdue-while-rendering': { enqueue: admitFor(1000), render: untilCancelled },
  'bad-input': { render: fails('ImageFormatInvalid') },
  'engine-failed': { render: failsThreeTimes },
  'worker-lost': {
    render: silentAtFirst(() => Promise.resolve({ ...RENDERED, fence: 2 })),
    heartbeatSeconds: 1,
  },
  'ended-before-queued': { enqueue: inTurn({ ...WAITING, state: 'failed' }), render: storedVideo },
  'ended-before-render': { render: () => Promise.resolve(undefined) },
  'cancelled-while-queueing': {
    enqueue: inTurn(WAITING),
    render: storedVideo,
    act: inOrder(untilQueueing, askToCancel),
  },
  'failed-by-operator-while-rendering': {
    render: untilCancelled,
    act: inOrder(untilHeartbeat, askToCancel),
  },
  'cancelled-by-operator': { render: untilCancelled, act: inOrder(untilHeartbeat, cancel) },
  superseded: {
    enqueue: inTurn(ADMITTED, { ...ADMITTED, state: 'processing' }),
    render: storedVideo,
    // At the first call another attempt has claimed the task.
    complete: inTurn('processing', 'success'),
  },
  'start-timed-out': {
    enqueue: inTurn(WAITING),
    render: storedVideo,
    findDeadline: deadlines({ start: [10, 0] }),
  },
  'deadline-exceeded': { render: untilCancelled, findDeadline: deadlines({ end: [1000, 0] }) },
} satisfies Record<string, VideoScenario>

/** The activities of video tasks as the scenario of each run has them. */
export const makeVideoActivities = (runs: Runs<VideoScenario>) => {
  const core = {
    async enqueueVideoTask(taskId, timing) {
      const scenario = recordCall(runs, taskId, 'enqueue')
      return (await scenario.enqueue?.(taskId, timing)) ?? ADMITTED
    },
    async completeVideoTask(taskId, rendered) {
      const scenario = recordCall(runs, taskId, 'complete', rendered)
      if (scenario.complete) return await scenario.complete(taskId, rendered)
      return rendered ? 'success' : 'failed'
    },
    async failVideoTask(taskId, reason) {
      recordCall(runs, taskId, 'fail', reason)
      return 'failed'
    },
  } satisfies Partial<CoreActivities>
  const media = {
    renderVideoTask: (taskId, timing) => getRun(runs, taskId).scenario.render(taskId, timing),
  } satisfies Partial<MediaActivities>
  return { core, media }
}
