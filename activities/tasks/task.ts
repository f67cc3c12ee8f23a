import { isOutage } from '../../src/platform/storage/storage.ts'
import { endTask } from '../../src/tasks/db/end-task.ts'
import { purgeDeleted } from '../../src/tasks/db/task-deletion.ts'
import { listFetchedInputs } from '../../src/tasks/db/task-file.ts'
import { findTaskState, type FencedState } from '../../src/tasks/db/task.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { FAMILIES } from '../../src/tasks/domain/family.ts'
import type { RenderTiming, VideoTiming } from '../../src/tasks/domain/render-timing.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'
import type { CoreDependencies } from './dependencies.ts'

/** State of a task, and why it has failed or waits. */
export type TaskStanding = Omit<FencedState, 'fence'>

/** Names the attempt that a run of a task's workflow asks for. */
export interface AttemptOptions<Timing extends RenderTiming = RenderTiming> {
  taskId: string
  /** Number of the admission that the run has. */
  admission: number
  timing: Timing
  /** Attempts of the run that have ended with their worker, each of them an activity of its own. */
  workersLost?: number
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

/**
 * Removes what attempts have left beside the results of an ended task, and what they fetched, which only they read.
 * Returns how the task stands. It reads the row, because a repetition makes no transition, and the files of a
 * completed task must stay. Throws while the store is away, so that it is repeated. `known` is the content of the row
 * when the caller has just written it.
 */
export const cleanUpAttempts = async (
  { sql, storage, log }: CommonDependencies,
  taskId: string,
  known?: FencedState,
): Promise<TaskStanding> => {
  const { state, reason, fence } = known ?? (await findTaskState(sql, taskId)) ?? GONE
  const [isDone, isFailed] = [state === 'done', state === 'failed' || state === 'cancelled']
  const folder = `results/${taskId}`
  try {
    if (isFailed) await storage.removePrefix(folder)
    if (isDone && fence > 1)
      for (const key of await storage.list(folder))
        if (!key.startsWith(`${folder}/${fence}/`)) await storage.removePrefix(attemptOf(key))
    if (isFailed || isDone) {
      const { fetched, isDeleted } = await listFetchedInputs(sql, taskId)
      for (const key of fetched) await storage.remove(key)
      if (isDeleted) await purgeDeleted({ sql, storage }, taskId)
    }
  } catch (error) {
    // The transition is made and enqueued; only its repetition, once the store is back, removes what is left.
    if (isOutage(error)) throw error
    log.warn({ task_id: taskId, err: error }, 'files of older attempts were not removed')
  }
  return { state, reason }
}

const GONE = { state: 'failed', reason: null, fence: 0 } as const

/** `results/<task>/<fence>` of a key below it. */
const attemptOf = (key: string): string => key.split('/').slice(0, 3).join('/')
