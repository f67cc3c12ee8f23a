import { createHash } from 'node:crypto'

import type { StartOptions } from '../db/shared/outbox.ts'
import type { TaskFacts } from './task.ts'

/** Queue of everything that takes CPU; the workflow's own queue with this ending. */
export const mediaQueue = (taskQueue: string): string => `${taskQueue}-media`

/** Temporal refuses a summary of more than 400 bytes, and a character may have four. */
const SUMMARY_CHARACTERS = 100

/** 1 goes first, 5 last. */
export const NORMAL_PRIORITY = 3
/** Of what may wait: off-peak tasks, archives that are read anew. */
export const LOW_PRIORITY = 5

/** What the start of every workflow says of it, for operators and for the order of work. */
export const startOptions = (
  { kind, owner, summary }: Pick<TaskFacts, 'kind' | 'owner' | 'summary'>,
  { status, priorityKey }: { status: string; priorityKey: number },
): StartOptions => ({
  summary: [...summary].slice(0, SUMMARY_CHARACTERS).join(''),
  searchAttributes: { KilnOwner: owner, KilnKind: kind, KilnStatus: status },
  priorityKey,
  fairnessKey: fairnessKey(owner),
})

/** Keys are limited to 64 bytes and stand in histories, so the owner goes in as a digest. */
const fairnessKey = (owner: string): string =>
  createHash('sha256').update(owner).digest('hex').slice(0, 32)
