import {
  CancellationScope,
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow'

import type { CoreActivities, MediaActivities } from '../activities/index.ts'
import type { EngineName } from '../src/domain/task/engine.ts'
import type { VideoTiming } from '../src/domain/task/render-timing.ts'
import { keepDeadlines } from './deadline.ts'
import { reasonOf } from './failure.ts'
import { transitionOptions, renderOptions } from './options.ts'
import { cancelRequested, showTaskEnd } from './task.ts'
import type { TaskEnd } from './task.ts'

export interface VideoTaskInput {
  taskId: string
  timing: VideoTiming
  /** Absent: the local one. */
  engine?: EngineName
  /** Its caller has set some. */
  hasDeadlines?: true
}

/** The task has been given a slot of its owner. Carries the outbox row's id; a repetition changes nothing. */
const admitted = defineSignal<[{ id: string }]>('admitted')

/** Drives a video task from its creation to success or failed. Whichever it is, the workflow completes. */
export const videoTask = async ({
  taskId,
  timing,
  engine,
  hasDeadlines,
}: VideoTaskInput): Promise<TaskEnd> => {
  const transitions = proxyLocalActivities<CoreActivities>(transitionOptions)
  const { renderVideoTask } = proxyActivities<MediaActivities>(renderOptions(timing, engine))
  const work = new CancellationScope()
  let isAdmitted = false
  let isOverdue = false
  let deadline: Promise<void> | undefined
  setHandler(cancelRequested, () => work.cancel())
  setHandler(admitted, () => {
    isAdmitted = true
  })
  const deadlines = { work, fail: transitions.failVideoTask, ended: ENDED }
  const passed = hasDeadlines && keepDeadlines(taskId, deadlines)
  let pollMs = (timing.pollSeconds ?? 60) * 1000
  try {
    return await work.run(async () => {
      for (;;) {
        // The row shows a slot given before it is read, the signal one given later.
        isAdmitted = false
        const task = await transitions.enqueueVideoTask(taskId, timing)
        if (ENDED.has(task.state)) return showTaskEnd(task.state, 'had ended before its render')
        isAdmitted ||= task.isAdmitted
        deadline ??= endAfter(task.offPeakMs, work, () => {
          isOverdue = true
        })
        setCurrentDetails(QUEUEING)
        if (!isAdmitted) {
          const check = pollMs
          pollMs = Math.min(check * 2, MAX_POLL_MS)
          // The signal may have been lost: then the row shows the slot.
          if (!(await condition(() => isAdmitted, check))) continue
        }
        setCurrentDetails(RENDERING)
        const rendered = await renderVideoTask(taskId, timing)
        const state = await CancellationScope.nonCancellable(() =>
          transitions.completeVideoTask(taskId, rendered),
        )
        if (ENDED.has(state))
          return showTaskEnd(
            state,
            rendered ? 'the video is stored' : 'had ended before its render',
          )
        // An attempt that Temporal had given up has claimed the task since, or the signal came without a slot: whether
        // to wait or to render once more is asked of the row.
      }
    })
  } catch (error) {
    const own = isOverdue ? { code: 'SystemThrottling' } : undefined
    const reason = own ?? (passed && passed()) ?? reasonOf(error, work)
    const state = await CancellationScope.nonCancellable(() =>
      transitions.failVideoTask(taskId, reason),
    )
    return showTaskEnd(state, reason.code)
  }
}

const ENDED: ReadonlySet<string> = new Set(['success', 'failed'])

/** Seldom enough that two days in the queue fill no history. */
const MAX_POLL_MS = 3_600_000

const QUEUEING =
  '**Queueing.** Waits until one of the owner’s earlier tasks ends and leaves its slot.'
const RENDERING =
  '**Rendering.** Waits for a worker, then renders: *Pending Activities* shows the step and how far it is.'

/** Stops the work of an off-peak task at its deadline, whatever it is doing then. */
const endAfter = async (
  milliseconds: number | null,
  work: CancellationScope,
  onEnd: () => void,
): Promise<void> => {
  if (milliseconds === null) return
  try {
    await sleep(milliseconds)
  } catch {
    // The work was stopped for another reason.
    return
  }
  onEnd()
  work.cancel()
}
