import { endBroken } from '../../src/engines/db/device-error.ts'
import {
  deletePlacement,
  endPlacement,
  holdInstance,
  listPlacements,
  REST_SECONDS,
} from '../../src/engines/db/placement.ts'
import type { RunFailure } from '../../src/engines/domain/template/run-end.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import type { Host } from '../../src/engines/host.ts'
import { SilentError } from '../../src/engines/origin.ts'
import { OutboundError } from '../../src/platform/outbound/error.ts'
import { OVER, rank } from './place.ts'
import type { Chosen, HostTask } from './place.ts'
import { EngineError, keepReason } from './render-attempt.ts'

/** Why a task goes elsewhere: an end of its run, or what this worker sees of the instance. */
type PlacementEnd =
  | RunFailure
  | 'unreachable'
  /** The instance does not know the prompt any more. */
  | 'lost'
  /** Its events had stopped, and this service interrupted it. */
  | 'stalled'
  /** It runs on although it was interrupted: only a restart helps. */
  | 'zombie'
  /** It waited behind a prompt that does not move. */
  | 'moved'
  /** It takes no more now. */
  | 'busy'
  /** Nothing of the request has reached it. */
  | 'unsent'
  | 'output_gone'
  /** Its engine says that another attempt would fail, too. */
  | 'final'

/** A placement that brought no result. */
export class PlacementError extends Error {
  override name = 'PlacementError'
  readonly end: PlacementEnd
  /** Members of the body that were rejected, with the rule of each, for the caller. */
  readonly advice: string | undefined

  constructor(end: PlacementEnd, detail: string, advice?: string) {
    super(detail)
    this.end = end
    this.advice = advice
  }
}

/** Ends that are the task's own attempt. All others are the fleet's, and are bounded by the number of placements. */
const COUNTED = new Set('out_of_memory input_missing failed broken'.split(' '))
/** Ends that an operator must mend. */
const OPERATORS = new Set('broken broken_device crashed zombie unable too_large'.split(' '))
/** Ends that leave no trace: the instance knows nothing of the placement. */
const TRACELESS = new Set('busy unsent'.split(' '))
/** Ends after which it is certain that nothing was made. */
const UNMADE = new Set('busy unsent rejected unable too_large'.split(' '))
/** Ends that show nothing of the task, and that its engine fails. A caller who sends what cannot be rendered stops nobody. */
const FLEETS = new Set('broken_device zombie unreachable unsent lost moved'.split(' '))

/**
 * Ends a placement without a result, and does what its end asks for.
 * @throws EngineError of an end that is an attempt; TaskError of a task that is not placed again
 */
export const leave = async <On extends Host>(
  given: HostTask<On>,
  { id, instance }: Chosen<On>,
  { end: found, message: detail, advice }: PlacementError,
): Promise<void> => {
  const { deps, task, scope } = given
  const { sql, fleet, log, breaker } = deps
  const { name, showsErrors: isShown } = instance
  const instances = found === 'broken' ? await listBroken(given, name) : [name]
  const end = await (found === 'broken'
    ? unitOfWork(deps, (sql) => endBroken(sql, { id, task, instances, detail }))
    : endPlacement(sql, { id, task, state: found, detail, rejection: advice }))
  if (end === undefined) throw new Error(OVER)
  fleet.notifier.notify()
  log[OPERATORS.has(end) ? 'error' : 'warn'](
    { task_id: task.id, instance: name, placement: id, end, detail },
    'a placement brought no result',
  )
  const reason = new EngineError(detail, { isShown })
  if (COUNTED.has(end) || end === 'rejected') await keepReason(deps, task, reason)
  if (end === 'zombie') await holdInstance(sql, { name, restSeconds: null, reason: detail })
  // What it said of its queue is a second old: the task would be placed there again, until its placements are used up.
  if (end === 'unreachable' || end === 'unsent') {
    instance.doubt(detail)
    await instance.probe(performance.now())
  }
  if (TRACELESS.has(end)) await deletePlacement(sql, id)
  if (end === 'unable') instance.forget(given.template.name, detail)
  if (end === 'out_of_memory') {
    await holdInstance(sql, { name, restSeconds: REST_SECONDS, reason: detail })
    await instance.freeMemory().catch(() => undefined)
    // Says so when none is left that could have memory enough.
    await rank(given)
  }
  if (FLEETS.has(end)) {
    // While none responds tasks wait for one, which is no failure of what they have in common.
    if (fleet.instances.some((one) => one.state() === 'up')) await breaker?.fail(scope, task.id)
  } else if (end !== 'busy') await breaker?.succeed(scope)
  if (end === 'crashed') {
    log.error({ task_id: task.id, instances, detail }, 'a task has broken two instances in a row')
    throw new TaskError('engine_crashed')
  }
  if (given.resubmits === false && !UNMADE.has(end))
    throw new TaskError('engine_failed', 'It was sent to its engine, which takes nothing twice.')
  if (end === 'final')
    throw new TaskError('engine_failed', 'The engine rejected the task.', { cause: reason })
  if (COUNTED.has(end)) throw reason
}

/** Lists the instances that a task has broken in a row, the named one being the last. Ends that are the fleet's do not count. */
const listBroken = async ({ deps, task }: HostTask, name: string): Promise<string[]> => {
  const placements = await listPlacements(deps.sql, task.id)
  const last = placements.findLast(({ state }) => COUNTED.has(state))
  return last?.state === 'broken' && last.instance !== name ? [last.instance, name] : [name]
}

/** Throws the error of a file that could not be fetched: it is fetched again, or its placement has brought no result. */
export const rejectFile = (error: unknown): never => {
  if (!(error instanceof OutboundError)) throw error
  if (error.kind === 'too_large' || error.kind === 'address_refused')
    throw new PlacementError('failed', error.message)
  if (error.status === undefined || error.status >= 500) throw new SilentError(error.message)
  throw new PlacementError('output_gone', error.message)
}
