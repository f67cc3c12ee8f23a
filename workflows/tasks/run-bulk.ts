import {
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'

import type { BulkTransitions } from '../../activities/tasks/bulk-life.ts'
import type { BulkActivities } from '../../activities/tasks/bulk.ts'
import { bulkOptions, transitionOptions } from '../platform/options.ts'
import { cancelRequested, showTaskEnd } from './task.ts'
import type { TaskEnd } from './task.ts'
import { makeChangeWait, type ChangeWait } from '../platform/wait.ts'

/** Input of the workflows of a batch and of an operation. */
export interface BulkInput {
  bulkId: string
}

/** The task that a batch watches has ended. Trigger `watched_task_ended` (0066) sends it. */
const taskEnded = defineSignal<[{ id: string }]>('taskEnded')

/** Makes the tasks of a batch in their order, and ends when the last of them has. */
export const runBatch = async (input: BulkInput): Promise<TaskEnd> => {
  const changes = makeChangeWait(cancelRequested, taskEnded)
  const issue = await prepare(input, 'count the requests')
  if (!issue) {
    await workThrough(input, changes, 'make the next tasks')
    await waitForTasks(input, changes)
  }
  return await finish(input, issue)
}

/** Acts on the tasks that an operation has found, one after another. */
export const runOperation = async (input: BulkInput): Promise<TaskEnd> => {
  const changes = makeChangeWait(cancelRequested)
  const issue = await prepare(input, 'list the tasks')
  if (!issue) await workThrough(input, changes, 'act on the next tasks')
  return await finish(input, issue)
}

const prepare = ({ bulkId }: BulkInput, summary: string) => {
  setCurrentDetails('**Preparing.** Nothing is changed yet.')
  return proxyActivities<BulkActivities>(bulkOptions(summary)).prepareBulk(bulkId)
}

/** Longest wait for a quota, which begins with seconds. */
const MAX_WAIT_MS = 60_000

/** A turn after another, until nothing is left or somebody has asked to stop. */
const workThrough = async (
  input: BulkInput,
  changes: ChangeWait,
  summary: string,
): Promise<void> => {
  const { workOnBulk } = proxyActivities<BulkActivities>(bulkOptions(summary))
  setCurrentDetails('**Working.** *Pending Activities* shows the place of the item.')
  let [factor, before] = [1, 0]
  for (;;) {
    changes.watch()
    const { isDone, waitMs, place = 0, total = 0 } = await workOnBulk(input.bulkId)
    if (isDone) return
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runBatch>(input)
    setCurrentDetails(`**Working.** ${place} of ${total} items are through.`)
    factor = place > before ? 1 : factor * 2
    before = place
    const pauseMs = Math.min(waitMs * factor, MAX_WAIT_MS)
    if (pauseMs > 0) await changes.wait(pauseMs, { summary: 'a quota of the owner is used up' })
  }
}

/**
 * Watches the last open task, and when that has ended the last open one before it. A cancelled batch cancels the tasks
 * that can be cancelled, and waits for the others.
 */
const waitForTasks = async (input: BulkInput, changes: ChangeWait): Promise<void> => {
  const { watchBatch } = proxyLocalActivities<BulkTransitions>(transitionOptions)
  let hasCancelled = false
  for (;;) {
    changes.watch()
    const { isWaiting, isCancelRequested, total } = await watchBatch(input.bulkId)
    if (!isWaiting) return
    setCurrentDetails(`**Waiting** for the last task of ${total} requests to end.`)
    if (isCancelRequested && !hasCancelled) {
      hasCancelled = true
      await cancelTasks(input)
      continue
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runBatch>(input)
    await changes.wait()
  }
}

const cancelTasks = async ({ bulkId }: BulkInput): Promise<void> => {
  const { cancelOpenTasks } = proxyActivities<BulkActivities>(bulkOptions('cancel the open tasks'))
  for (let at: number | null = 0; at !== null;) at = await cancelOpenTasks(bulkId, at)
}

const finish = async (
  { bulkId }: BulkInput,
  issue: Awaited<ReturnType<BulkActivities['prepareBulk']>>,
): Promise<TaskEnd> => {
  const { finishBulk } = proxyLocalActivities<BulkTransitions>(transitionOptions)
  return showTaskEnd(await finishBulk(bulkId, issue), issue?.code ?? 'nothing is left')
}
