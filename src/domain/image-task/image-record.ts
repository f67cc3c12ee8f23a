import type { ImageTaskRecord, ImageTaskStatus } from './image-task.ts'

/** Values from which a record is made. */
export interface ImageTaskFacts {
  id: string
  status: ImageTaskStatus
  error: { code: string; message: string } | null
  /** Names of the results, in order. */
  results: readonly string[]
}

/**
 * A task as callers see it.
 * @param sign makes the link to a file of the task
 */
export const makeImageRecord = (
  task: ImageTaskFacts,
  sign: (name: string) => string,
): ImageTaskRecord => ({
  task_id: task.id,
  status: task.status,
  generated: task.results.map(sign),
  ...(task.error === null ? {} : { error: task.error }),
})

/** The facts of a task as they were when it moved to a status. Results and error come only with its end. */
export const imageFactsAt = (task: ImageTaskFacts, status: ImageTaskStatus): ImageTaskFacts =>
  status === task.status ? task : { ...task, status, error: null, results: [] }
