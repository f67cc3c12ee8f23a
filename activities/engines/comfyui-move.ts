import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { deletePlacement, listPlacements, movePlacement } from '../../src/engines/db/placement.ts'
import type { Instance } from '../../src/engines/comfyui/instance.ts'
import type { Task } from './comfyui-place.ts'
import { assessAll, MAX_PLACEMENTS, MovedError, OVER, reserve } from './place.ts'
import type { Chosen } from './place.ts'

/** Strangers whose prompts come between must not use up the placements of a task. */
const MAX_MOVES = MAX_PLACEMENTS / 2

/**
 * Moves a prompt that waits in a queue to an instance that is idle. Of the tasks that would take that one, the first to
 * reserve it does. Then the prompt is taken out; the task goes on here until that is certain, so nothing renders twice.
 * @param waitedMs how long it waits
 * @throws MovedError when it was moved
 */
export const moveOn = async (
  given: Task,
  chosen: Chosen<Instance>,
  waitedMs: number,
): Promise<void> => {
  const { deps, task } = given
  const { sql, fleet } = deps
  const { instance, id } = chosen
  // Elsewhere it would have to load its models first.
  if (chosen.isLoaded && waitedMs < fleet.loadMs) return
  if (!fleet.instances.some((other) => other !== instance && isIdle(other))) return
  if ((await listPlacements(sql, task.id)).length >= MAX_MOVES) return
  const to = await findIdle(given, instance)
  const next = to && (await reserve(given, to, { depth: 1, isReserved: true }))
  if (!next) return
  const isOut = await instance.withdraw(id).catch(async (error: unknown) => {
    await deletePlacement(sql, next.id)
    throw error
  })
  if (!isOut) return await deletePlacement(sql, next.id)
  const move = { task, from: id, to: next.id }
  if (!(await unitOfWork(deps, (sql) => movePlacement(sql, move)))) throw new Error(OVER)
  const facts = { task_id: task.id, from: instance.name, to: next.instance.name }
  deps.log.info(facts, 'a prompt that waited was moved to an instance that is idle')
  throw new MovedError(next)
}

const isIdle = (instance: Instance): boolean =>
  instance.depth > 0 && instance.state() === 'up' && instance.countOthers([]) === 0

/** Finds an instance that would begin with the task at once, and is as likely as this one to end it. */
const findIdle = async (given: Task, from: Instance): Promise<Instance | undefined> => {
  const all = await assessAll(given)
  const needsMemory = all.some(({ ended }) => ended.includes('out_of_memory'))
  return all.find(
    ({ instance, lack, open, ended }) =>
      instance !== from &&
      isIdle(instance) &&
      lack === undefined &&
      open.length + ended.length === 0 &&
      !(needsMemory && instance.facts().vram < from.facts().vram),
  )?.instance
}
