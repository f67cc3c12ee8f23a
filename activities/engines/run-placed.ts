import { endPlacement, listPlacements, recordWait } from '../../src/engines/db/placement.ts'
import type { Host } from '../../src/engines/host.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { leave, PlacementError } from './leave.ts'
import { MovedError, place } from './place.ts'
import type { Chosen, HostTask } from './place.ts'
import { cancelAtEnd } from './upstream-task.ts'

/** Follows a task at its placement to its end. Throws a PlacementError where it goes elsewhere. */
type Run<On extends Host, Given, Made> = (given: Given, chosen: Chosen<On>) => Promise<Made>

/** Places a task, unless an earlier attempt has, has it run there, and goes elsewhere where that brings no result. */
export const runPlaced = async <On extends Host, Given extends HostTask<On>, Made>(
  task: Given,
  run: Run<On, Given, Made>,
): Promise<Made> => {
  const { deadline, given } = withDeadline(task)
  try {
    return await runWithin(given, run)
  } catch (error) {
    if (!deadline?.aborted || task.attempt.signal.aborted) throw error
    throw new TaskError('timeout', undefined, { cause: error })
  }
}

/** Ends an attempt at the deadline of its template, too. */
const withDeadline = <Given extends HostTask>(given: Given) => {
  const { task, attempt, template } = given
  const { deadline_seconds: seconds } = template.limits
  if (seconds === undefined) return { given }
  const deadline = AbortSignal.timeout(Math.max(0, Math.round((seconds - task.age) * 1000)))
  const signal = AbortSignal.any([attempt.signal, deadline])
  const isOver = (): boolean => deadline.aborted || attempt.isOver()
  return { deadline, given: { ...given, attempt: { ...attempt, signal, isOver } } }
}

const runWithin = async <On extends Host, Given extends HostTask<On>, Made>(
  given: Given,
  run: Run<On, Given, Made>,
): Promise<Made> => {
  let placed = await findOpen<On>(given)
  for (;;) {
    const chosen = placed ?? (await place<On>(given))
    placed = undefined
    const { instance, id } = chosen
    const stopTimer = given.deps.metrics?.placements.startTimer({
      comfyui_instance: instance.name,
    })
    given.deps.fleet.followed?.add(id)
    try {
      const made = await cancelAtEnd(
        given,
        () => run(given, chosen),
        async () => {
          const facts = { task_id: given.task.id, instance: instance.name, placement: id }
          given.deps.log.info(facts, 'the work of a task that has ended is cancelled')
          await instance.cancel(id)
        },
      )
      stopTimer?.({ end: 'done' })
      await given.deps.breaker?.succeed(given.scope)
      return made
    } catch (error) {
      if (error instanceof MovedError) {
        stopTimer?.({ end: 'moved' })
        placed = error.to as Chosen<On>
        continue
      }
      if (!(error instanceof PlacementError)) throw error
      stopTimer?.({ end: error.end })
      await leave(given, chosen, error)
    } finally {
      given.deps.fleet.followed?.delete(id)
    }
  }
}

const findOpen = async <On extends Host>({
  deps: { sql, fleet },
  task,
}: HostTask<On>): Promise<Chosen<On> | undefined> => {
  const placements = await listPlacements(sql, task.id)
  const open = placements.find(
    ({ id, state, instance }) => state === 'open' && task.upstreamId === `${instance}/${id}`,
  )
  // Reserved for a move that an earlier attempt did not come to.
  for (const { id, state } of placements)
    if (state === 'open' && id !== open?.id)
      await endPlacement(sql, { id, task, state: 'moved', detail: 'it was not needed' })
  const instance = fleet.instances.find(({ name }) => name === open?.instance)
  if (open && instance) {
    await recordWait(sql, { ...task, reasons: null })
    return { id: open.id, instance, isNew: false, isInterrupted: open.isInterrupted }
  }
  const detail = 'it is not configured any more'
  if (open) await endPlacement(sql, { id: open.id, task, state: 'unreachable', detail })
  return undefined
}
