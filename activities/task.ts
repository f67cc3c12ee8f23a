import { endTask } from '../src/db/task/end-task.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { FAMILIES } from '../src/domain/task/family.ts'
import type { RenderTiming, VideoTiming } from '../src/domain/task/render-timing.ts'
import type { TaskFamily } from '../src/domain/shared/task-scope.ts'
import type { CoreDependencies } from './tasks/dependencies.ts'
import { cleanUpAttempts, type TaskStanding } from './results.ts'

/** Names the attempt that a run of a task's workflow asks for. */
export interface AttemptOptions<Timing extends RenderTiming = RenderTiming> {
  taskId: string
  /** Number of the admission that the run has. */
  admission: number
  timing: Timing
}

/** Activities that render, whichever engine has the queue. */
export interface RenderActivities {
  renderImageTask(options: AttemptOptions): Promise<TaskStanding>
  renderVideoTask(options: AttemptOptions<VideoTiming>): Promise<TaskStanding>
}

export type TaskTransitions = ReturnType<typeof makeTaskTransitions>

/** The end of a task that its render does not make. The second of two runs finds the task moved and changes nothing. */
export const makeTaskTransitions = (deps: CoreDependencies) => ({
  /**
   * Fails a task with a code that its caller can act on, and refunds its credits. Returns how the task stands: a cancelled
   * task has failed already, and a completed one stays completed.
   */
  async failTask(
    { taskId: id, family }: { taskId: string; family: TaskFamily },
    { code, message }: { code: string; message?: string },
  ): Promise<TaskStanding> {
    const error = FAMILIES[family].toError(code, message)
    await unitOfWork(
      deps,
      (sql, enqueue) => endTask(sql, { id, family, to: 'failed', error }, { ...deps, enqueue }),
      { at: 'move', of: id },
    )
    return await cleanUpAttempts(deps, id)
  },
})
