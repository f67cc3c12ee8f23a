import {
  VIDEO_DELIVERED_STATES,
  VIDEO_TASK_TRANSITIONS,
  VIDEO_TERMINAL_STATES,
} from '../../domain/video-task/video-task.ts'
import type { VideoTaskState } from '../../domain/video-task/video-task.ts'
import type { Transaction } from '../client.ts'
import { transitionTask, type Transition, type TransitionTable } from '../task/task-transition.ts'

const TRANSITIONS: TransitionTable<VideoTaskState> = {
  family: 'video',
  from: VIDEO_TASK_TRANSITIONS,
  delivered: VIDEO_DELIVERED_STATES,
  terminal: VIDEO_TERMINAL_STATES,
}

/** Moves a video task with its event; false when the race was lost. Credits and slots are the caller's. */
export const transitionVideoTask = (
  sql: Transaction,
  transition: Transition<VideoTaskState>,
): Promise<boolean> => transitionTask(sql, TRANSITIONS, transition)
