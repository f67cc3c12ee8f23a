import { insertTaskResults } from '../src/db/task-file.ts'
import type { TaskResult } from '../src/db/task-file.ts'
import { findTaskState, moveImageTask } from '../src/db/image-task.ts'
import type { TaskState } from '../src/db/image-task.ts'
import type { ImageTaskStatus } from '../src/domain/image-task.ts'
import { TASK_FAULTS } from '../src/domain/task-fault.ts'
import type { TaskFaultCode } from '../src/domain/task-fault.ts'
import { failpoint } from '../src/failpoint.ts'
import type { CoreDependencies } from './dependencies.ts'

/** What an attempt made: the results are under the folder of its fence. */
export interface Rendered {
  fence: number
  results: TaskResult[]
}

/** The moves that end an image task. Run twice, the second finds the task moved and changes nothing. */
export const makeImageTaskMoves = (deps: CoreDependencies) => ({
  /**
   * Moves to COMPLETED with the results, if the attempt still holds the fence; without results, because the task had
   * ended, it moves nothing. Answers where the task then is: IN_PROGRESS when a newer attempt has claimed it.
   */
  async completeImageTask(taskId: string, rendered?: Rendered): Promise<ImageTaskStatus> {
    const moved = rendered !== undefined && (await complete(deps, taskId, rendered))
    return await settle(
      deps,
      taskId,
      moved ? { status: 'COMPLETED', fence: rendered.fence } : undefined,
    )
  },

  /**
   * Moves to FAILED with a code that the caller can act on. Answers where the task then is: one that was cancelled is
   * there already, one that was completed stays so.
   */
  async failImageTask(
    taskId: string,
    reason: { code: string; message?: string },
  ): Promise<ImageTaskStatus> {
    const code = isTaskFaultCode(reason.code) ? reason.code : 'internal_error'
    const message = reason.message ?? TASK_FAULTS[code]
    await deps.sql.begin(async (sql) => {
      await moveImageTask(sql, { id: taskId, to: 'FAILED', error: { code, message } })
      failpoint('move.before-commit')
    })
    failpoint('move.after-commit')
    return await settle(deps, taskId)
  },
})

const complete = async (
  { sql }: CoreDependencies,
  taskId: string,
  { fence, results }: Rendered,
): Promise<boolean> => {
  const moved = await sql.begin(async (sql) => {
    const done = await moveImageTask(sql, { id: taskId, to: 'COMPLETED', fence })
    if (done) await insertTaskResults(sql, taskId, results)
    failpoint('move.before-commit')
    return done
  })
  failpoint('move.after-commit')
  return moved
}

/**
 * Removes what attempts have left beside the results. It goes by the row, not by the move just made, which in a
 * repetition is none, and must not touch the files of a task that was completed. `known` is what the row holds when this
 * very move put it there.
 */
const settle = async (
  { sql, storage, log }: CoreDependencies,
  taskId: string,
  known?: TaskState,
): Promise<ImageTaskStatus> => {
  const { status, fence } = known ?? (await findTaskState(sql, taskId)) ?? GONE
  const folder = `results/${taskId}`
  try {
    if (status === 'FAILED') await storage.removePrefix(folder)
    if (status === 'COMPLETED' && fence > 1)
      for (const key of await storage.list(folder))
        if (!key.startsWith(`${folder}/${fence}/`)) await storage.removePrefix(attemptOf(key))
  } catch (error) {
    log.warn({ task_id: taskId, err: error }, 'files of older attempts were not removed')
  }
  return status
}

const GONE = { status: 'FAILED', fence: 0 } as const

/** `results/<task>/<fence>` of a key below it. */
const attemptOf = (key: string): string => key.split('/').slice(0, 3).join('/')

const isTaskFaultCode = (code: string): code is TaskFaultCode => code in TASK_FAULTS
