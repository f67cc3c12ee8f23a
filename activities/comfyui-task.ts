import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { SilentError } from '../src/adapters/comfyui/client.ts'
import type { Instance } from '../src/adapters/comfyui/instance.ts'
import { OutboundError } from '../src/adapters/outbound/error.ts'
import {
  endPlacement,
  holdInstance,
  insertPlacement,
  listInstances,
  listPlacements,
  recordRun,
} from '../src/db/task/placement.ts'
import type { ClaimedTask } from '../src/db/task/task-transition.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { TaskError } from '../src/domain/task/task-error.ts'
import { fillTemplate } from '../src/domain/template/fill.ts'
import { readRejection, readRunEnd } from '../src/domain/template/run-end.ts'
import type { RunFailure } from '../src/domain/template/run-end.ts'
import type { Template } from '../src/domain/template/template.ts'
import type { Values } from '../src/domain/template/values.ts'
import { failpoint } from '../src/process/failpoint.ts'
import { checkMarker, folderOf } from './comfyui-keeper.ts'
import type { ComfyDependencies } from './dependencies.ts'
import { EngineError } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import { cancelAtEnd, emptyFolder } from './upstream-task.ts'

/** A task for the fleet. */
export interface FleetTask<Made> {
  deps: ComfyDependencies
  task: ClaimedTask
  attempt: RenderAttempt
  template: Template
  values: Values
  /** By the names of marks. */
  files: Readonly<Record<string, { path: string; extension: string }>>
  /** Records the progress for those who read the task. */
  record?(percent: number): void
  /** Makes results of what an instance has made. Throws an EngineError when that is damaged. */
  copy(paths: readonly string[], dir: string): Promise<Made>
}

/** A task whose result is of no matter. */
type Task = FleetTask<unknown>

interface Chosen {
  id: string
  instance: Instance
  /** Nothing has been sent yet. */
  isNew: boolean
}

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

const MOST_PLACEMENTS = 10
const OVER = 'the task has ended or is with a newer attempt'
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
export const runOnFleet = async <Made>(given: FleetTask<Made>): Promise<Made> => {
  let placed = await findOpen(given)
  for (;;) {
    const chosen = placed ?? (await place(given))
    placed = undefined
    const { instance, id } = chosen
    const stopTimer = given.deps.metrics?.placements.startTimer({ instance: instance.name })
    try {
      const work = () => run(given, chosen)
      const made = await cancelAtEnd(given, work, () => instance.cancel(id))
      stopTimer?.({ end: 'done' })
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

const FIRST_WAIT_MS = 1000
const MOST_WAIT_MS = 15_000

/** Waits until an instance can take the task, and gives it to that one. */
const place = async (given: Task): Promise<Chosen> => {
  const { deps, task, attempt, template } = given
  const { fleet, sql } = deps
  const inputs = listUploads(given).map(({ filename }) => filename)
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MOST_WAIT_MS)) {
    const { notifications } = fleet.notifier
    attempt.signal.throwIfAborted()
    attempt.report('waiting for an instance', 0)
    if ((await listPlacements(sql, task.id)).length >= MOST_PLACEMENTS)
      throw new TaskError('engine_failed', `The task was placed ${MOST_PLACEMENTS} times.`)
    for (const instance of await rank(given, waitMs === FIRST_WAIT_MS)) {
      const id = randomUUID()
      const at = { instance: instance.name, template: template.name, depth: fleet.depth }
      const isPlaced = await unitOfWork(deps, (sql) =>
        insertPlacement(sql, { id, task, inputs, ...at }),
      )
      if (isPlaced === undefined) throw new Error(OVER)
      if (!isPlaced) continue
      failpoint('comfyui.after-placement')
      return { id, instance, isNew: true }
    }
    await fleet.notifier.wait(waitMs, attempt.signal, notifications)
  }
}

/**
 * Lists the instances that could take the task now, the best first.
 * @throws TaskError when all that can run its template have shown that they cannot do it
 */
const rank = async (given: Task, isReported: boolean): Promise<Instance[]> => {
  const {
    deps: { sql, fleet, log },
    task,
    template,
  } = given
  const since = performance.now() - 1000
  const sizes = await Promise.all(listUploads(given).map(({ path }) => stat(path)))
  const bytes = Math.max(0, ...sizes.map(({ size }) => size))
  await Promise.all(fleet.instances.map((instance) => instance.probe(since)))
  const names = fleet.instances.map(({ name }) => name)
  const rows = await listInstances(sql, { names, taskId: task.id })
  const issues: string[] = []
  const read = async (instance: Instance) => {
    const row = rows.find(({ name }) => name === instance.name)
    if (instance.state() !== 'up' || !row) return []
    const found = await instance.readClasses(template).catch(() => undefined)
    issues.push(...(found?.issues ?? []).map((issue) => `${instance.name}: ${issue}`))
    const isTooLarge = bytes > instance.facts().maxUpload
    if (isTooLarge) issues.push(`${instance.name}: ${TOO_LARGE}`)
    const ended = isTooLarge ? ['too_large', ...row.ended] : row.ended
    return found?.issues.length === 0 ? [{ ...row, ended, instance }] : []
  }
  const able = (await Promise.all(fleet.instances.map(read))).flat()
  if (issues.length > 0 && isReported)
    log.error(
      { task_id: task.id, template: template.name, issues },
      'instances of ComfyUI cannot run a template',
    )
  requireHope(able.map(({ ended }) => ended))
  const needsMemory = able.some(({ ended }) => ended.includes('out_of_memory'))
  return able
    .filter(
      ({ isFree, open, ended }) =>
        isFree && open.length < fleet.depth && !ended.some((end) => end in FINAL),
    )
    .map(({ instance, ended, open, template: last }) => ({
      instance,
      failed: Math.sign(ended.length),
      vram: needsMemory ? instance.facts().vram : 0,
      // The models of its last template are loaded, which is worth a place in the queue.
      load: open.length + instance.countOthers(open) - (last === template.name ? 1.5 : 0),
    }))
    .toSorted((a, b) => a.failed - b.failed || b.vram - a.vram || a.load - b.load)
    .map(({ instance }) => instance)
}

const TOO_LARGE = 'a file is larger than its --max-upload-size'

/** Ends that would be the same on a second attempt there, with the message for a caller where all are so. */
const FINAL: Readonly<Record<string, string>> = {
  rejected: 'The service’s workflow does not take a value of this task.',
  too_large: 'An input is larger than the machines take.',
}

const requireHope = (ends: readonly (readonly string[])[]): void => {
  const isEverywhere = (end: string) =>
    ends.length > 0 && ends.every((ended) => ended.includes(end))
  const final = Object.keys(FINAL).find(isEverywhere)
  if (final !== undefined) throw new TaskError('upstream_rejected', FINAL[final])
  // The memory of a single one may have been taken by another model, which is unloaded by now.
  const times = ends.flat().filter((end) => end === 'out_of_memory').length
  if (times > 1 && isEverywhere('out_of_memory'))
    throw new TaskError('engine_failed', 'The task is too large for the machines.')
}

/** Files that the template takes, under the names of their marks. */
const listUploads = ({ template: { marks }, files }: Task) =>
  Object.entries(files)
    .filter(([name]) => marks.some((mark) => mark.name === name))
    .map(([name, { path, extension }]) => ({ name, filename: `${name}.${extension}`, path }))

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
const makeStallCheck = ({ deps, attempt, template, record }: Task, { id, instance }: Chosen) => {
  const { stallMs } = deps.fleet
  let interruptedAt: number | undefined
  return async (state: 'running' | 'pending'): Promise<void> => {
    const percent = instance.events.percentOf(id, Object.keys(template.graph).length)
    record?.(percent)
    attempt.report(`${state} on ${instance.name}`, percent, `${instance.name}/${id}`)
    if (instance.stillMs() < stallMs) return
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
  const end = readRunEnd(entry, { result: template.result, id })
  if (end.failure) throw new PlacementError(end.failure, end.detail)
  attempt.report('fetching the results', 100, `${instance.name}/${id}`)
  const dir = join(attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  const paths: string[] = []
  for (const [index, file] of end.files.entries()) {
    const path = join(dir, `made-${index + 1}`)
    await instance.client.fetch(file, path, attempt.signal).catch(rejectFile)
    paths.push(path)
    failpoint('upstream.while-copying')
  }
  return await copy(paths, dir).catch((error: unknown) => {
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
    deps: { sql, fleet, log },
    task,
  } = given
  const { name, client } = instance
  if (!(await endPlacement(sql, { id, task, state: end, detail }))) throw new Error(OVER)
  fleet.notifier.notify()
  const facts = { task_id: task.id, instance: name, placement: id, end, detail }
  log[OPERATORS.has(end) ? 'error' : 'warn'](facts, 'a placement on ComfyUI brought no result')
  if (QUARANTINED.has(end)) await holdInstance(sql, { name, restSeconds: null, reason: detail })
  if (end === 'unable') instance.forget(given.template.name, detail)
  if (end === 'out_of_memory') {
    await holdInstance(sql, { name, restSeconds: REST_SECONDS, reason: detail })
    await client.post('/free', { unload_models: true, free_memory: true }).catch(() => undefined)
    // Says so when none is left that could have memory enough.
    await rank(given, false)
  }
  if (COUNTED.has(end)) throw new EngineError(`a placement on ComfyUI ended as ${end}`)
}
