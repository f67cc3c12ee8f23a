import { ApplicationFailure, Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

import type { CoreActivities, MediaActivities } from '../../activities/index.ts'

/** What stands in for the activities in one run of the image task's workflow: small functions that do what a path needs. */
export interface Scenario {
  render: MediaActivities['renderImageTask']
  complete?: CoreActivities['completeImageTask']
  /** No media worker takes the task. */
  noMediaWorker?: boolean
  /** What happens to the workflow while it runs. */
  act?(handle: WorkflowHandle): Promise<unknown>
}

const attempt = (): number => Context.current().info.attempt

export const rendered = (): Promise<{ fence: number; results: [] }> =>
  Promise.resolve({ fence: attempt(), results: [] })

/** Heartbeats until it is cancelled. */
const untilCancelled = async (): Promise<undefined> => {
  const context = Context.current()
  const timer = setInterval(() => context.heartbeat({ step: 'rendering', percent: 50 }), 50)
  try {
    await context.cancelled
  } finally {
    clearInterval(timer)
  }
}

/** Says nothing at its first attempt until its worker ends. */
const silentAtFirst = async (): Promise<{ fence: number; results: [] }> => {
  if (attempt() === 1) await Context.current().cancelled
  return await rendered()
}

const fails = (code: string) => async (): Promise<never> => {
  throw ApplicationFailure.nonRetryable('what the caller is told', code)
}

const failsThreeTimes = async (): Promise<never> => {
  if (attempt() === 3) throw ApplicationFailure.nonRetryable('three times', 'engine_failed')
  throw ApplicationFailure.retryable('the attempt failed', 'attempt_failed')
}

const askToCancel = (handle: WorkflowHandle) => handle.signal('cancelRequested', { id: '1' })

const untilHeartbeat = async (handle: WorkflowHandle): Promise<void> => {
  for (;;) {
    const { raw } = await handle.describe()
    if (raw.pendingActivities?.[0]?.heartbeatDetails) return
  }
}

export const SCENARIOS = {
  completed: { render: rendered },
  'bad-input': { render: fails('image_invalid') },
  'engine-failed': { render: failsThreeTimes },
  'timed-out': { render: fails('timeout') },
  'worker-lost': { render: silentAtFirst },
  'ended-before-render': { render: () => Promise.resolve(undefined) },
  'cancelled-while-waiting': { render: rendered, noMediaWorker: true, act: askToCancel },
  'cancelled-while-rendering': {
    render: untilCancelled,
    act: async (handle) => {
      await untilHeartbeat(handle)
      await askToCancel(handle)
    },
  },
  'cancelled-by-operator': {
    render: untilCancelled,
    act: async (handle) => {
      await untilHeartbeat(handle)
      await handle.cancel()
    },
  },
  superseded: {
    render: rendered,
    complete: claimedByAnotherOnce(),
  },
} satisfies Record<string, Scenario>

/** Answers at the first call that another attempt has claimed the task. */
function claimedByAnotherOnce(): CoreActivities['completeImageTask'] {
  const seen = new Set<string>()
  return (taskId) => {
    const first = !seen.has(taskId)
    seen.add(taskId)
    return Promise.resolve(first ? 'IN_PROGRESS' : 'COMPLETED')
  }
}
