import { endTask } from '../src/db/task/end-task.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { FAMILIES } from '../src/domain/task/family.ts'
import type { TaskFamily } from '../src/domain/shared/task-scope.ts'
import type { CoreDependencies } from './dependencies.ts'
import { cleanUpAttempts, type TaskEnd } from './results.ts'

/** The end of a task that its render does not make. The second of two runs finds the task moved and changes nothing. */
export const makeTaskTransitions = (deps: CoreDependencies) => ({
  /**
   * Fails a task with a code that its caller can act on, and refunds its credits. Returns how the task stands: a cancelled
   * task has failed already, and a completed one stays completed.
   */
  async failTask(
    { taskId: id, family }: { taskId: string; family: TaskFamily },
    { code, message }: { code: string; message?: string },
  ): Promise<TaskEnd> {
    const error = FAMILIES[family].toError(code, message)
    await unitOfWork(
      deps,
      (sql, enqueue) => endTask(sql, { id, family, to: 'failed', error }, { ...deps, enqueue }),
      { at: 'move', of: id },
    )
    return await cleanUpAttempts(deps, id)
  },
})
