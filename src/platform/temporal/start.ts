import { createHash } from 'node:crypto'

import type { OutboxStart, StartOptions } from '../db/outbox.ts'

/** The queue of everything that takes CPU: the name of the workflow's own queue with this ending. */
export const mediaQueue = (taskQueue: string): string => `${taskQueue}-media`

/** The queues of what an upstream and a fleet of ComfyUI render: calls, and little work of the processor. */
export const upstreamQueue = (taskQueue: string): string => `${taskQueue}-vendor`
export const comfyuiQueue = (taskQueue: string): string => `${taskQueue}-comfyui`

/** The queue of an engine that ENGINES_HTTP names: one that stands still keeps the tasks of no other waiting. */
export const engineQueue = (taskQueue: string, engine: string): string =>
  `${taskQueue}-http-${engine}`

/** The queue of work on many tasks. A worker does a little of it at once, so that others feel nothing. */
export const bulkQueue = (taskQueue: string): string => `${taskQueue}-bulk`

/** Temporal rejects a summary of more than 400 bytes, and a character may have four. */
const SUMMARY_CHARACTERS = 100

/** 1 goes first, 5 last. */
export const NORMAL_PRIORITY = 3
/** For archives that are only checked: somebody waits for them, and yet they go behind every version. */
export const BELOW_NORMAL_PRIORITY = 4
/** For what may wait: off-peak tasks, and archives that are read again. */
export const LOW_PRIORITY = 5

/** Facts of a job for operators and for the order of work. */
export interface StartFacts {
  kind: string
  owner: string
  /** Account that it counts for in the fair order of work; absent: the owner. */
  account?: string
  /** An operator reads this first: "relight 1024×768 for alice". */
  summary: string
  /** Its page below /console. */
  page?: string
}

/** The options that every workflow starts with: facts for operators, and its place in the order of work. */
export const startOptions = (
  { kind, owner, account = owner, summary, page }: StartFacts,
  {
    status,
    priorityKey,
    priority = 0,
    engine,
    batch,
  }: {
    status: string
    priorityKey: number
    priority?: number
    engine?: string
    batch?: string | null | undefined
  },
): StartOptions => ({
  summary: [...summary].slice(0, SUMMARY_CHARACTERS).join(''),
  ...(page !== undefined && { page }),
  searchAttributes: {
    KilnOwner: owner,
    KilnKind: kind,
    KilnStatus: status,
    ...(engine !== undefined && { KilnEngine: engine }),
    ...(batch && { KilnBatch: batch }),
  },
  priorityKey,
  // A line of its own for each priority. `task_block` keeps all lines of an account to the turns of one.
  fairnessKey: fairnessKey(priority === 0 ? account : `${account} ${priority}`),
})

/**
 * Makes a start end the run that is open, also one that is just about to end. One step of Temporal does both: were they two, a
 * kill between them would leave a task without a workflow.
 */
export const endOpen = (start: OutboxStart): OutboxStart => ({
  ...start,
  kind: 'restart',
  options: { ...start.options, endsOpen: true },
})

/** A key may have 64 bytes and stands in histories, so it is a digest of the account. */
const fairnessKey = (account: string): string =>
  createHash('sha256').update(account).digest('hex').slice(0, 32)
