import { insertTaskResults } from '../src/db/task-file.ts'
import type { TaskResult } from '../src/db/task-file.ts'
import { moveImageTask } from '../src/db/image-task.ts'
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
export const makeImageTaskMoves = ({ sql, storage, log }: CoreDependencies) => {
  const sweep = async (taskId: string, keep: string | undefined): Promise<void> => {
    try {
      await sweepAttempts(taskId, keep)
    } catch (error) {
      log.warn({ task_id: taskId, err: error }, 'folders of older attempts were not removed')
    }
  }

  const sweepAttempts = async (taskId: string, keep: string | undefined): Promise<void> => {
    for (const key of await storage.list(`results/${taskId}`))
      if (keep === undefined || !key.startsWith(keep)) await storage.remove(key)
  }

  return {
    /** Moves to COMPLETED with the results, if the attempt still holds the fence. */
    async completeImageTask(taskId: string, { fence, results }: Rendered): Promise<void> {
      const moved = await sql.begin(async (sql) => {
        const done = await moveImageTask(sql, { id: taskId, to: 'COMPLETED', fence })
        if (done) await insertTaskResults(sql, taskId, results)
        failpoint('move.before-commit')
        return done
      })
      failpoint('move.after-commit')
      if (moved) await sweep(taskId, `results/${taskId}/${fence}/`)
    },

    /** Moves to FAILED with a code that the caller can act on. A cancelled task is there already. */
    async failImageTask(taskId: string, reason: { code: string; message?: string }): Promise<void> {
      const code = isTaskFaultCode(reason.code) ? reason.code : 'internal_error'
      const message = reason.message ?? TASK_FAULTS[code]
      await sql.begin(async (sql) => {
        await moveImageTask(sql, { id: taskId, to: 'FAILED', error: { code, message } })
        failpoint('move.before-commit')
      })
      failpoint('move.after-commit')
      await sweep(taskId, undefined)
    },
  }
}

const isTaskFaultCode = (code: string): code is TaskFaultCode => code in TASK_FAULTS
