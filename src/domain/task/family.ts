import { errors } from '../shared/errors.ts'
import {
  DELIVERED_STATUSES,
  IMAGE_TASK_TRANSITIONS,
  TERMINAL_STATUSES,
  type ImageTaskStatus,
} from '../image-task/image-task.ts'
import { toVideoError } from '../video-task/video-error.ts'
import {
  VIDEO_CANCELLABLE_STATES,
  VIDEO_DELIVERED_STATES,
  VIDEO_TASK_TRANSITIONS,
  VIDEO_TERMINAL_STATES,
  type VideoTaskState,
} from '../video-task/video-task.ts'
import { TASK_ERRORS, TaskError, type TaskErrorCode } from './task-error.ts'
import type { TaskFamily } from './task-scope.ts'

/** A word of the wire for a step of a task. Rows keep it; whatever both families share goes by `TaskState`. */
export type TaskStatus = ImageTaskStatus | VideoTaskState

/** Differences of a family of tasks from the other. */
export interface Family {
  /** Its words for the ends of a task. */
  words: Record<'done' | 'failed', TaskStatus>
  /** For each word, those it may be reached from. */
  transitions: Readonly<Partial<Record<TaskStatus, readonly TaskStatus[]>>>
  /** Words that are sent to the webhook URL. */
  delivered: readonly TaskStatus[]
  terminal: readonly TaskStatus[]
  /** Words of a task that its caller may cancel. */
  cancellable: readonly TaskStatus[]
  /** True where its tasks take a slot of their owner, and cost credits. */
  takesSlots: boolean
  /** Why a task has ended, in the words of the family. */
  toError(code: TaskErrorCode): { code: string; message: string }
  /** Response to whoever cancels a task that has this word. */
  cannotCancel(status: string, advice?: string): Error
}

export const FAMILIES: Record<TaskFamily, Family> = {
  image: {
    words: { done: 'COMPLETED', failed: 'FAILED' },
    transitions: IMAGE_TASK_TRANSITIONS,
    delivered: DELIVERED_STATUSES,
    terminal: TERMINAL_STATUSES,
    cancellable: IMAGE_TASK_TRANSITIONS.FAILED,
    takesSlots: false,
    toError: (code) => ({ code, message: TASK_ERRORS[code] }),
    cannotCancel: (status) => errors.cannotCancel(status),
  },
  video: {
    words: { done: 'success', failed: 'failed' },
    transitions: VIDEO_TASK_TRANSITIONS,
    delivered: VIDEO_DELIVERED_STATES,
    terminal: VIDEO_TERMINAL_STATES,
    cancellable: VIDEO_CANCELLABLE_STATES,
    takesSlots: true,
    toError(code) {
      const { code: own, message } = toVideoError(new TaskError(code), 'video')
      return { code: own, message }
    },
    cannotCancel: (status, advice) => errors.cannotCancelVideo(status, advice),
  },
}

/** The words of all families for an end. */
export const wordsFor = (end: 'done' | 'failed'): ReadonlySet<string> =>
  new Set(Object.values(FAMILIES).map(({ words }) => words[end]))
