import { insertTaskResults } from '../src/db/task/task-file.ts'
import type { TaskResult, Thumbnail } from '../src/db/task/task-file.ts'
import { endTask } from '../src/db/task/end-task.ts'
import type { ImageTaskStatus } from '../src/domain/image-task/image-task.ts'
import { findDeadline, type DeadlineName } from '../src/db/task/deadline.ts'
import { isTaskErrorCode, TASK_ERRORS } from '../src/domain/task/task-error.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { CoreDependencies } from './dependencies.ts'
import { cleanUpAttempts } from './results.ts'

/** Stored results of an attempt, under the folder of its fence. */
export interface StoredAttempt {
  fence: number
  results: TaskResult[]
  thumbnail?: Thumbnail
}

/** The moves that end an image task. The second of two runs finds the task moved and changes nothing. */
export const makeImageTaskTransitions = (deps: CoreDependencies) => ({
  /**
   * Moves to COMPLETED with the results, if the attempt still holds the fence; without results, because the task had
   * ended, it moves nothing. Returns the task's status: IN_PROGRESS when a newer attempt has claimed it.
   */
  async completeImageTask(taskId: string, rendered?: StoredAttempt): Promise<ImageTaskStatus> {
    const isTransitioned = rendered !== undefined && (await complete(deps, taskId, rendered))
    const known = isTransitioned ? { status: 'COMPLETED', fence: rendered.fence } : undefined
    return (await cleanUpAttempts(deps, taskId, known)) as ImageTaskStatus
  },

  /** Finds how long a task has until a deadline of its caller, in milliseconds; null: it has none, or has met it. */
  findDeadline: (id: string, until: DeadlineName): Promise<number | null> =>
    findDeadline(deps.sql, { id, until }),

  /**
   * Moves to FAILED with a code that the caller can act on. Returns the task's status: a cancelled task has failed
   * already, a completed one stays completed, one that has begun has met its deadline to begin.
   */
  async failImageTask(
    taskId: string,
    reason: { code: string; message?: string },
  ): Promise<ImageTaskStatus> {
    const code = isTaskErrorCode(reason.code) ? reason.code : 'internal_error'
    // The text of a failure that is not ours may hold anything.
    const message = (code === reason.code && reason.message) || TASK_ERRORS[code]
    await unitOfWork(
      deps,
      (sql, enqueue) => {
        const end = { id: taskId, family: 'image', to: 'failed', error: { code, message } } as const
        const from: ImageTaskStatus[] | undefined =
          code === 'start_timeout' ? ['CREATED'] : undefined
        return endTask(sql, { ...end, from }, { ...deps, enqueue })
      },
      { at: 'move', of: taskId },
    )
    return (await cleanUpAttempts(deps, taskId)) as ImageTaskStatus
  },
})

const complete = async (
  deps: CoreDependencies,
  taskId: string,
  rendered: StoredAttempt,
): Promise<boolean> =>
  await unitOfWork(
    deps,
    (sql, enqueue) => {
      const { fence } = rendered
      const record = () => insertTaskResults(sql, taskId, rendered)
      const end = { id: taskId, family: 'image', to: 'done', fence, record } as const
      return endTask(sql, end, { ...deps, enqueue })
    },
    { at: 'move', of: taskId },
  )
