import { errors } from '../../platform/domain/errors.ts'
import {
  DELIVERED_STATUSES,
  IMAGE_TASK_TRANSITIONS,
  TERMINAL_STATUSES,
  type ImageTaskStatus,
} from './image/image-task.ts'
import { isVideoErrorCode, toVideoError, VideoError } from './video/video-error.ts'
import {
  VIDEO_CANCELLABLE_STATES,
  VIDEO_DELIVERED_STATES,
  VIDEO_TASK_TRANSITIONS,
  VIDEO_TERMINAL_STATES,
  type VideoTaskState,
} from './video/video-task.ts'
import { isTaskErrorCode, TaskError } from './task-error.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'

/** A word of the wire for a step of a task. Rows keep it; whatever both families share goes by `TaskState`. */
export type TaskStatus = ImageTaskStatus | VideoTaskState

/** Differences of a family of tasks from the other. */
export interface Family {
  /** Its words for a new task, for one that an attempt has claimed, and for the ends. */
  words: Record<'created' | 'running' | 'done' | 'failed', TaskStatus>
  /** For each word, the words that it may be reached from. */
  transitions: Readonly<Partial<Record<TaskStatus, readonly TaskStatus[]>>>
  /** Words that are sent to the webhook URL. */
  delivered: readonly TaskStatus[]
  terminal: readonly TaskStatus[]
  /** Words of a task that its caller may cancel. */
  cancellable: readonly TaskStatus[]
  /** Words of a task that no attempt has claimed; the last is the word of an admitted task. */
  unbegun: readonly TaskStatus[]
  /** True where its tasks take a slot of their owner, and cost credits. */
  takesSlots: boolean
  /** Why a task has failed, in the words of the family. An unknown code is an internal error, whatever it says. */
  toError(code: string, message?: string): TaskFailure
  /** Response to whoever cancels or deletes a task that has this word. */
  cannotCancel(status: string, more?: { isCancelled?: boolean; advice?: string }): Error
}

/** The error that a failed task keeps, as its caller reads it. */
export interface TaskFailure {
  code: string
  message: string
}

const toTaskError = (code: string, message?: string): TaskError =>
  isTaskErrorCode(code) ? new TaskError(code, message) : new TaskError('internal_error')

const toFailure = ({ code, message }: TaskError | VideoError): TaskFailure => ({ code, message })

export const FAMILIES: Record<TaskFamily, Family> = {
  image: {
    words: { created: 'CREATED', running: 'IN_PROGRESS', done: 'COMPLETED', failed: 'FAILED' },
    transitions: IMAGE_TASK_TRANSITIONS,
    delivered: DELIVERED_STATUSES,
    terminal: TERMINAL_STATUSES,
    cancellable: IMAGE_TASK_TRANSITIONS.FAILED,
    unbegun: IMAGE_TASK_TRANSITIONS.IN_PROGRESS,
    takesSlots: false,
    toError: (code, message) => toFailure(toTaskError(code, message)),
    cannotCancel: (status, more) => errors.cannotCancel(status, more?.isCancelled),
  },
  video: {
    words: { created: 'created', running: 'processing', done: 'success', failed: 'failed' },
    transitions: VIDEO_TASK_TRANSITIONS,
    delivered: VIDEO_DELIVERED_STATES,
    terminal: VIDEO_TERMINAL_STATES,
    cancellable: VIDEO_CANCELLABLE_STATES,
    unbegun: VIDEO_CANCELLABLE_STATES,
    takesSlots: true,
    toError: (code, message) =>
      toFailure(
        isVideoErrorCode(code)
          ? new VideoError(code, message)
          : toVideoError(toTaskError(code, message), 'video'),
      ),
    cannotCancel: (status, more) => errors.cannotCancelVideo(status, more?.advice),
  },
}
