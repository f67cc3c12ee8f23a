import { insertTaskResults } from '../src/db/task/task-file.ts'
import type { TaskResult, Thumbnail } from '../src/db/task/task-file.ts'
import { moveImageTask } from '../src/db/image-task/image-task.ts'
import type { ImageTaskStatus } from '../src/domain/image-task/image-task.ts'
import { isTaskFaultCode, TASK_FAULTS } from '../src/domain/task/task-fault.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { CoreDependencies } from './dependencies.ts'
import { sweepAttempts } from './results.ts'

/** What an attempt made: the results are under the folder of its fence. */
export interface Rendered {
  fence: number
  results: TaskResult[]
  thumbnail?: Thumbnail
}

/** The moves that end an image task. The second of two runs finds the task moved and changes nothing. */
export const makeImageTaskMoves = (deps: CoreDependencies) => ({
  /**
   * Moves to COMPLETED with the results, if the attempt still holds the fence; without results, because the task had
   * ended, it moves nothing. Answers where the task then is: IN_PROGRESS when a newer attempt has claimed it.
   */
  async completeImageTask(taskId: string, rendered?: Rendered): Promise<ImageTaskStatus> {
    const moved = rendered !== undefined && (await complete(deps, taskId, rendered))
    const known = moved ? { status: 'COMPLETED', fence: rendered.fence } : undefined
    return (await sweepAttempts(deps, taskId, known)) as ImageTaskStatus
  },

  /**
   * Moves to FAILED with a code that the caller can act on. Answers where the task then is: a cancelled task has failed
   * already, a completed one stays completed.
   */
  async failImageTask(
    taskId: string,
    reason: { code: string; message?: string },
  ): Promise<ImageTaskStatus> {
    const code = isTaskFaultCode(reason.code) ? reason.code : 'internal_error'
    // The text of a failure that is not ours may hold anything.
    const message = (code === reason.code && reason.message) || TASK_FAULTS[code]
    await unitOfWork(
      deps,
      (sql) => moveImageTask(sql, { id: taskId, to: 'FAILED', error: { code, message } }),
      { at: 'move', of: taskId },
    )
    return (await sweepAttempts(deps, taskId)) as ImageTaskStatus
  },
})

const complete = async (
  deps: CoreDependencies,
  taskId: string,
  rendered: Rendered,
): Promise<boolean> =>
  await unitOfWork(
    deps,
    async (sql) => {
      const done = await moveImageTask(sql, { id: taskId, to: 'COMPLETED', fence: rendered.fence })
      if (done) await insertTaskResults(sql, taskId, rendered)
      return done
    },
    { at: 'move', of: taskId },
  )
