import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { SilentError } from '../../src/engines/comfyui/client.ts'
import type { Instance } from '../../src/engines/comfyui/instance.ts'
import { ADMISSION } from '../../src/platform/db/change-notification.ts'
import { OutboundError } from '../../src/platform/outbound/error.ts'
import {
  endPlacement,
  holdInstance,
  listPlacements,
  recordRun,
} from '../../src/engines/db/placement.ts'
import { releaseTemplates } from '../../src/tasks/db/admission.ts'
import { fillTemplate } from '../../src/engines/domain/template/fill.ts'
import {
  folderOf,
  readRejection,
  readRunEnd,
  readRunSeconds,
} from '../../src/engines/domain/template/run-end.ts'
import type { RunFailure } from '../../src/engines/domain/template/run-end.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { checkMarker } from './comfyui-keeper.ts'
import { FLEET, listUploads, OVER, place, rank, TOO_LARGE } from './comfyui-place.ts'
import type { Chosen, FleetTask, MadeOutput, Task } from './comfyui-place.ts'
import { showPreview } from './preview.ts'
import { EngineError } from './render-attempt.ts'
import { cancelAtEnd, emptyFolder } from './upstream-task.ts'

/** Why a task goes elsewhere: an end of its run, or what this worker sees of the instance. */
type PlacementEnd =
  | RunFailure
  | 'unreachable'
  /** The instance does not know the prompt any more. */
  | 'lost'
  /** It runs on although it was interrupted: only a restart helps. */
  | 'zombie'
  /** It waited behind a prompt that does not move. */
  | 'moved'
  | 'output_gone'

/** A placement that brought no result. */
class PlacementError extends Error {
  override name = 'PlacementError'
  readonly end: PlacementEnd

  constructor(end: PlacementEnd, detail: string) {
    super(detail)
    this.end = end
  }
}

/** Ends that are the task's own attempt. All others are the fleet's, and are bounded by the number of placements. */
const COUNTED: ReadonlySet<string> = new Set(['out_of_memory', 'input_missing', 'failed'])
/** Ends that a restart of the instance alone mends. */
const QUARANTINED: ReadonlySet<string> = new Set(['broken', 'zombie'])
/** Ends that an operator must mend. */
const OPERATORS: ReadonlySet<string> = new Set([...QUARANTINED, 'unable', 'too_large'])

/** Ends that show nothing of the task, and that its engine fails. A caller who sends what cannot be rendered stops nobody. */
const BROKEN: ReadonlySet<string> = new Set([...QUARANTINED, 'unreachable', 'lost', 'moved'])

const REST_SECONDS = 30
/** Time in which a prompt whose response did not come may still show. */
const SHOW_MS = 30_000
/** Time that an interrupted prompt has to end. */
const INTERRUPT_MS = 60_000

/**
 * Has an instance of ComfyUI do a task: places it, unless an earlier attempt has, follows it to its end, and goes elsewhere
 * when it does not come. The id of a placement is ours and in the row before anything is sent, so that a worker that dies
 * anywhere leaves what the next one finds.
 */
export const runOnFleet = async <Made>(task: FleetTask<Made>): Promise<Made> => {
  const { deadline, given } = withDeadline(task)
  try {
    return await runWithin(given)
  } catch (error) {
    if (!deadline?.aborted || task.attempt.signal.aborted) throw error
    throw new TaskError('timeout', undefined, { cause: error })
  }
}

/** Ends an attempt at the deadline of its template, too. */
const withDeadline = <Made>(given: FleetTask<Made>) => {
  const { task, attempt, template } = given
  const { deadline_seconds: seconds } = template.limits
  if (seconds === undefined) return { given }
  const deadline = AbortSignal.timeout(Math.max(0, Math.round((seconds - task.age) * 1000)))
  const signal = AbortSignal.any([attempt.signal, deadline])
  const isOver = (): boolean => deadline.aborted || attempt.isOver()
  return { deadline, given: { ...given, attempt: { ...attempt, signal, isOver } } }
}

const runWithin = async <Made>(given: FleetTask<Made>): Promise<Made> => {
  let placed = await findOpen(given)
  for (;;) {
    const chosen = placed ?? (await place(given))
    placed = undefined
    const { instance, id } = chosen
    const stopTimer = given.deps.metrics?.placements.startTimer({
      comfyui_instance: instance.name,
    })
    try {
      const work = () => run(given, chosen)
      const made = await cancelAtEnd(given, work, () => instance.cancel(id))
      stopTimer?.({ end: 'done' })
      await given.deps.breaker?.succeed(FLEET)
      return made
    } catch (error) {
      if (!(error instanceof PlacementError)) throw error
      stopTimer?.({ end: error.end })
      await leave(given, chosen, error)
    }
  }
}

const run = async <Made>(given: FleetTask<Made>, chosen: Chosen): Promise<Made> => {
  for (;;) {
    const entry = await follow(given, chosen)
    // Files that could not be fetched are there when the instance responds again.
    chosen.isNew = false
    try {
      return await finish(given, chosen, entry)
    } catch (error) {
      if (!(error instanceof SilentError)) throw error
    }
    await sleep(PACE_MS, undefined, { signal: given.attempt.signal })
  }
}

const findOpen = async ({ deps: { sql, fleet }, task }: Task): Promise<Chosen | undefined> => {
  const placements = await listPlacements(sql, task.id)
  const open = placements.find(
    ({ id, state, instance }) => state === 'open' && task.upstreamId === `${instance}/${id}`,
  )
  const instance = fleet.instances.find(({ name }) => name === open?.instance)
  if (open && instance) return { id: open.id, instance, isNew: false }
  const detail = 'it is not configured any more'
  if (open) await endPlacement(sql, { id: open.id, task, state: 'unreachable', detail })
  return undefined
}

/** Small pictures take less time than this. */
const QUICK_MS = 2000
const QUICK_PACE_MS = 100
const PACE_MS = 1000

/** Waits for the end of a prompt, which it sends unless the instance has it. Returns the entry of the history. */
const follow = async (given: Task, chosen: Chosen): Promise<Record<string, unknown>> => {
  const { deps, attempt } = given
  const { instance, id } = chosen
  const { lostMs, clientId } = deps.fleet
  instance.events.listen(clientId)
  let isSent = chosen.isNew
  let isTaken = isSent && (await submit(given, chosen))
  const checkStall = makeStallCheck(given, chosen)
  let startedAt = performance.now()
  let since = startedAt
  let silentSince: number | undefined
  for (;;) {
    try {
      const { state, entry } = await instance.find(id, since)
      silentSince = undefined
      if (state === 'ended') return entry
      if (state !== 'absent') {
        isTaken = true
        await checkStall(state)
      } else if (isTaken) throw new PlacementError('lost', await explainLoss(given, chosen))
      else if (!isSent) {
        // An earlier attempt has died before it could send the prompt.
        isSent = true
        isTaken = await submit(given, chosen)
        startedAt = performance.now()
      } else if (performance.now() - startedAt >= Math.min(SHOW_MS, lostMs))
        throw new PlacementError('unreachable', 'no response to a prompt')
    } catch (error) {
      if (!(error instanceof SilentError)) throw error
      silentSince ??= performance.now()
      if (performance.now() - silentSince >= lostMs)
        throw new PlacementError('unreachable', error.message)
    }
    failpoint('upstream.between-polls')
    const paceMs = performance.now() - startedAt < QUICK_MS ? QUICK_PACE_MS : PACE_MS
    await sleep(paceMs, undefined, { signal: attempt.signal })
    since = performance.now() - paceMs / 2
  }
}

const explainLoss = async ({ deps }: Task, { instance }: Chosen): Promise<string> =>
  (await checkMarker(deps, instance)) ? 'it has restarted' : 'somebody has removed the prompt'

/** Makes the check of a prompt that has not ended: it reports how far that is, and interrupts it when it stands still. */
const makeStallCheck = ({ deps, task, attempt, template }: Task, { id, instance }: Chosen) => {
  const { stallMs } = deps.fleet
  let interruptedAt: number | undefined
  return async (state: 'running' | 'pending'): Promise<void> => {
    const percent = instance.events.percentOf(id, Object.keys(template.graph).length)
    attempt.report(`${state} on ${instance.name}`, percent, `${instance.name}/${id}`)
    const preview = instance.events.takePreview(id)
    if (preview) await showPreview(deps, task.id, preview)
    if (instance.stalledMs() < stallMs) return
    const waitedMs = performance.now() - (interruptedAt ?? Infinity)
    if (waitedMs >= Math.min(INTERRUPT_MS, stallMs))
      throw new PlacementError(
        'zombie',
        'it runs on although it was interrupted: it needs a restart',
      )
    if (interruptedAt === undefined) await instance.cancel(id)
    interruptedAt ??= performance.now()
    if (state === 'pending') throw new PlacementError('moved', 'the prompt before it does not move')
  }
}

/** Sends the files and the prompt. False: it may have been taken, but no response says so. */
const submit = async (given: Task, { id, instance }: Chosen): Promise<boolean> => {
  const { attempt, template, values } = given
  attempt.report(`sending to ${instance.name}`, 0, `${instance.name}/${id}`)
  try {
    const files: Record<string, string> = {}
    for (const { name, filename, path } of listUploads(given)) {
      const to = { path, filename, subfolder: folderOf(id), type: 'input' }
      const { status, body } = await instance.client.upload(to, attempt.signal)
      if (status === 413) throw new PlacementError('too_large', TOO_LARGE)
      const { name: stored, subfolder } = body
      if (typeof stored !== 'string') throw new SilentError(`responded with status ${status}`)
      files[name] = typeof subfolder === 'string' ? `${subfolder}/${stored}` : stored
    }
    const { classes } = await instance.readClasses(template)
    const prompt = fillTemplate(template, { values, files, prefix: folderOf(id) }, classes)
    failpoint('upstream.before-submit')
    return await sendPrompt(given, { id, instance, prompt })
  } catch (error) {
    throw error instanceof SilentError ? new PlacementError('unreachable', error.message) : error
  }
}

const sendPrompt = async (
  { deps, template: { marks } }: Task,
  { id, instance, prompt }: { id: string; instance: Instance; prompt: object },
): Promise<boolean> => {
  const body = { prompt, prompt_id: id, client_id: deps.fleet.clientId }
  const response = await instance.client.post('/prompt', body).catch((error: unknown) => {
    if (!(error instanceof SilentError) || error.isUnsent) throw error
    failpoint('upstream.no-response')
  })
  if (!response) return false
  failpoint('upstream.after-response')
  const fileNodes = marks.filter(({ field }) => field?.type === 'file').map(({ node }) => node)
  const rejection = readRejection(response.status, response.body, fileNodes)
  // A part of the graph may have been taken.
  if (rejection && response.status === 200) await instance.cancel(id)
  if (rejection) throw new PlacementError(rejection.failure, rejection.detail)
  if (response.status !== 200) throw new SilentError(`responded with status ${response.status}`)
  await deps.breaker?.succeed(FLEET, { onlyOpen: true })
  return true
}

/** Makes the result of a run that has ended. */
const finish = async <Made>(
  { deps, attempt, template, copy }: FleetTask<Made>,
  { id, instance }: Chosen,
  entry: Record<string, unknown>,
): Promise<Made> => {
  await recordRun(deps.sql, id)
  deps.fleet.notifier.notify()
  if (
    template.limits.at_once &&
    (await releaseTemplates(deps.sql, { [template.name]: 1 }, template.name))
  )
    deps.notifyChange(ADMISSION)
  const seconds = readRunSeconds(entry)
  if (seconds !== undefined) deps.metrics?.fleetRuns.observe({ template: template.name }, seconds)
  const end = readRunEnd(entry, { results: template.results, id })
  if (end.failure) throw new PlacementError(end.failure, end.detail)
  attempt.report('fetching the results', 100, `${instance.name}/${id}`)
  const dir = join(attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  const made: MadeOutput[] = []
  for (const [index, output] of end.outputs.entries()) {
    const path = join(dir, `made-${index + 1}`)
    await instance.client.fetch(output, path, attempt.signal).catch(rejectFile)
    made.push({ path, name: output.name, isText: 'text' in output })
    failpoint('upstream.while-copying')
  }
  return await copy(made, dir).catch((error: unknown) => {
    throw error instanceof EngineError ? new PlacementError('failed', error.message) : error
  })
}

const rejectFile = (error: unknown): never => {
  if (!(error instanceof OutboundError)) throw error
  if (error.kind === 'too_large') throw new PlacementError('failed', error.message)
  if (error.status === undefined || error.status >= 500) throw new SilentError(error.message)
  throw new PlacementError('output_gone', error.message)
}

/** Ends a placement without a result, and does what its end asks for. */
const leave = async (
  given: Task,
  { id, instance }: Chosen,
  { end, message: detail }: PlacementError,
): Promise<void> => {
  const {
    deps: { sql, fleet, log, breaker },
    task,
  } = given
  const { name, client } = instance
  if (!(await endPlacement(sql, { id, task, state: end, detail }))) throw new Error(OVER)
  fleet.notifier.notify()
  const facts = { task_id: task.id, instance: name, placement: id, end, detail }
  log[OPERATORS.has(end) ? 'error' : 'warn'](facts, 'a placement on ComfyUI brought no result')
  if (QUARANTINED.has(end)) await holdInstance(sql, { name, restSeconds: null, reason: detail })
  // What it said of its queue is a second old: the task would be placed there again, until its placements are used up.
  if (end === 'unreachable') instance.doubt()
  if (end === 'unable') instance.forget(given.template.name, detail)
  if (end === 'out_of_memory') {
    await holdInstance(sql, { name, restSeconds: REST_SECONDS, reason: detail })
    await client.post('/free', { unload_models: true, free_memory: true }).catch(() => undefined)
    // Says so when none is left that could have memory enough.
    await rank(given)
  }
  if (BROKEN.has(end)) await breaker?.fail(FLEET, task.id)
  else await breaker?.succeed(FLEET)
  if (COUNTED.has(end)) throw new EngineError(`a placement on ComfyUI ended as ${end}`)
}
