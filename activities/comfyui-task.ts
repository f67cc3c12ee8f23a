import { randomUUID } from 'node:crypto'
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
import type { OutputFile, RunFailure } from '../src/domain/template/run-end.ts'
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

interface Chosen {
  id: string
  instance: Instance
  /** Nothing has been sent yet. */
  isNew: boolean
}

/** Why a task goes elsewhere. Those of a run come from the instance, the others are what this worker sees of it. */
type PlacementEnd =
  | RunFailure
  | 'unreachable'
  /** The instance does not know the prompt any more. */
  | 'lost'
  | 'stalled'
  /** It waited behind a prompt that does not move. */
  | 'moved'
  | 'output_gone'

/** A placement that brought no result. */
class PlacementError extends Error {
  override name = 'PlacementError'
  readonly end: PlacementEnd
  /** A restart alone mends the instance. */
  readonly isQuarantined: boolean

  constructor(end: PlacementEnd, detail: string, isQuarantined = end === 'broken') {
    super(detail)
    this.end = end
    this.isQuarantined = isQuarantined
  }
}

/** Ends that are the task's own attempt. All others are the fleet's, and are bounded by the number of placements. */
const COUNTED: ReadonlySet<PlacementEnd> = new Set(['out_of_memory', 'input_missing', 'failed'])

/** Ends that an operator must mend. */
const OPERATORS: ReadonlySet<PlacementEnd> = new Set(['broken', 'unable', 'too_large', 'stalled'])

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
    try {
      return await cancelAtEnd(
        given,
        () => follow(given, chosen),
        () => chosen.instance.cancel(chosen.id),
      )
    } catch (error) {
      if (!(error instanceof PlacementError)) throw error
      await leave(given, chosen, error)
    }
  }
}

const findOpen = async <Made>({
  deps: { sql, fleet },
  task,
}: FleetTask<Made>): Promise<Chosen | undefined> => {
  const placements = await listPlacements(sql, task.id)
  const open = placements.find(
    ({ id, state, instance }) => state === 'open' && task.upstreamId === `${instance}/${id}`,
  )
  const instance = fleet.instances.find(({ name }) => name === open?.instance)
  if (open && instance) return { id: open.id, instance, isNew: false }
  if (open)
    await endPlacement(sql, {
      id: open.id,
      task,
      state: 'unreachable',
      detail: 'it is not configured any more',
    })
  return undefined
}

const FIRST_WAIT_MS = 1000
const MOST_WAIT_MS = 15_000

/** Waits until an instance can take the task, and gives it to that one. */
const place = async <Made>(given: FleetTask<Made>): Promise<Chosen> => {
  const { deps, task, attempt, template, files } = given
  const { fleet, sql } = deps
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MOST_WAIT_MS)) {
    const { notifications } = fleet.notifier
    attempt.signal.throwIfAborted()
    attempt.report('waiting for an instance', 0)
    if ((await listPlacements(sql, task.id)).length >= MOST_PLACEMENTS)
      throw new TaskError('engine_failed', `The task was placed ${MOST_PLACEMENTS} times.`)
    for (const instance of await rank(given, waitMs === FIRST_WAIT_MS)) {
      const id = randomUUID()
      const inputs = listUploads(template, files).map(({ filename }) => filename)
      const to = {
        id,
        task,
        instance: instance.name,
        template: template.name,
        inputs,
        depth: fleet.depth,
      }
      const isPlaced = await unitOfWork(deps, (sql) => insertPlacement(sql, to))
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
const rank = async <Made>(
  { deps: { sql, fleet, log }, task, template }: FleetTask<Made>,
  isReported: boolean,
): Promise<Instance[]> => {
  const since = performance.now() - 1000
  await Promise.all(fleet.instances.map((instance) => instance.probe(since)))
  const names = fleet.instances.map(({ name }) => name)
  const rows = new Map(
    (await listInstances(sql, { names, taskId: task.id })).map((row) => [row.name, row]),
  )
  const issues: string[] = []
  const seen = await Promise.all(
    fleet.instances.map(async (instance) => {
      const row = rows.get(instance.name)
      if (instance.state() !== 'up' || !row) return []
      const found = await instance.readClasses(template).catch(() => undefined)
      issues.push(...(found?.issues ?? []).map((issue) => `${instance.name}: ${issue}`))
      return found?.issues.length === 0 ? [{ instance, row }] : []
    }),
  )
  const able = seen.flat()
  if (able.length === 0 && isReported)
    log.error(
      { task_id: task.id, template: template.name, issues },
      'no instance of ComfyUI can run a template',
    )
  requireHope(able.map(({ row }) => row.ended))
  const isTooLarge = able.some(({ row }) => row.ended.includes('out_of_memory'))
  return able
    .filter(
      ({ row: { isFree, open, ended } }) =>
        isFree && open.length < fleet.depth && !FINAL.some(([end]) => ended.includes(end)),
    )
    .map(({ instance, row }) => ({
      instance,
      failed: row.ended.length,
      vram: isTooLarge ? instance.facts().vram : 0,
      // The models of its last template are loaded, which is worth a place in the queue.
      load:
        row.open.length +
        instance.countOthers(row.open) -
        (row.template === template.name ? 1.5 : 0),
    }))
    .toSorted(
      (a, b) => Math.sign(a.failed) - Math.sign(b.failed) || b.vram - a.vram || a.load - b.load,
    )
    .map(({ instance }) => instance)
}

/** Ends that would be the same on a second attempt there. */
const FINAL: readonly [end: PlacementEnd, message: string][] = [
  ['rejected', 'The service’s workflow does not take a value of this task.'],
  ['too_large', 'An input is larger than the machines take.'],
]

const requireHope = (ends: readonly (readonly string[])[]): void => {
  if (ends.length === 0) return
  for (const [end, message] of FINAL)
    if (ends.every((ended) => ended.includes(end)))
      throw new TaskError('upstream_rejected', message)
  // The memory of a single one may have been taken by another model, which is unloaded by now.
  const times = ends.flat().filter((end) => end === 'out_of_memory').length
  if (times > 1 && ends.every((ended) => ended.includes('out_of_memory')))
    throw new TaskError('engine_failed', 'The task is too large for the machines.')
}

/** Files that a template takes, under the names of their marks. */
const listUploads = (
  { marks }: Template,
  files: FleetTask<unknown>['files'],
): { name: string; filename: string; path: string }[] =>
  Object.entries(files)
    .filter(([name]) => marks.some((mark) => mark.name === name))
    .map(([name, { path, extension }]) => ({ name, filename: `${name}.${extension}`, path }))

const follow = async <Made>(given: FleetTask<Made>, chosen: Chosen): Promise<Made> => {
  const {
    deps: { fleet },
    attempt,
  } = given
  const { id, instance } = chosen
  const watch = makeWatch(given, chosen)
  instance.events.listen(fleet.clientId)
  if (chosen.isNew) watch.isTaken = await submit(given, chosen)
  const startedAt = performance.now()
  let since = startedAt
  let silentSince: number | undefined
  for (;;) {
    try {
      const found = await instance.find(id, since)
      silentSince = undefined
      if (found.state === 'ended')
        return await finish(given, chosen, found.entry, watch.isInterrupted())
      await watch.check(found.state)
    } catch (error) {
      if (!(error instanceof SilentError)) throw error
      silentSince ??= performance.now()
      if (performance.now() - silentSince >= fleet.lostMs)
        throw new PlacementError('unreachable', error.message)
    }
    failpoint('upstream.between-polls')
    const paceMs = performance.now() - startedAt < QUICK_MS ? QUICK_PACE_MS : PACE_MS
    await sleep(paceMs, undefined, { signal: attempt.signal })
    since = performance.now() - paceMs / 2
  }
}

/** Small pictures take less time than this. */
const QUICK_MS = 2000
const QUICK_PACE_MS = 100
const PACE_MS = 1000

/** Watches a prompt that has not ended. */
const makeWatch = <Made>(given: FleetTask<Made>, chosen: Chosen) => {
  const { deps, attempt } = given
  const { id, instance } = chosen
  const startedAt = performance.now()
  const { stallMs } = deps.fleet
  let interruptedAt: number | undefined
  const watch = {
    /** The instance is known to have it. */
    isTaken: false,
    isInterrupted: () => interruptedAt !== undefined,
    async check(state: 'running' | 'pending' | 'absent'): Promise<void> {
      const percent = instance.events.percentOf(id, Object.keys(given.template.graph).length)
      given.record?.(percent)
      if (state === 'absent') return await miss()
      watch.isTaken = true
      attempt.report(
        state === 'running' ? `rendering on ${instance.name}` : `queued on ${instance.name}`,
        percent,
        `${instance.name}/${id}`,
      )
      if (instance.stillMs() < stallMs) return
      if (state === 'pending') {
        await instance.cancel(id)
        throw new PlacementError('moved', 'the prompt before it does not move')
      }
      if (interruptedAt === undefined) {
        interruptedAt = performance.now()
        await instance.cancel(id)
      } else if (performance.now() - interruptedAt >= Math.min(INTERRUPT_MS, stallMs))
        throw new PlacementError(
          'stalled',
          'it runs on although it was interrupted: it needs a restart',
          true,
        )
    },
  }
  const miss = async (): Promise<void> => {
    if (watch.isTaken) {
      const isRestarted = await checkMarker(deps, instance)
      throw new PlacementError(
        'lost',
        isRestarted ? 'it has restarted' : 'somebody has removed the prompt',
      )
    }
    // An earlier attempt may have died before it could send the prompt.
    if (!chosen.isNew) watch.isTaken = await submit(given, chosen)
    else if (performance.now() - startedAt >= Math.min(SHOW_MS, deps.fleet.lostMs))
      throw new PlacementError('unreachable', 'no response to a prompt')
    chosen.isNew = true
  }
  return watch
}

/** Sends the files and the prompt. False: it may have been taken, but no response says so. */
const submit = async <Made>(given: FleetTask<Made>, { id, instance }: Chosen): Promise<boolean> => {
  const { attempt, template, values } = given
  const { client } = instance
  attempt.report(`sending to ${instance.name}`, 0, `${instance.name}/${id}`)
  const { signal } = attempt
  try {
    const files: Record<string, string> = {}
    for (const { name, filename, path } of listUploads(template, given.files)) {
      const to = { path, filename, subfolder: folderOf(id), type: 'input' }
      const { status, body } = await client.upload(to, signal)
      if (status === 413) throw new PlacementError('too_large', TOO_LARGE)
      if (typeof body['name'] !== 'string') throw new SilentError(`responded with status ${status}`)
      files[name] =
        `${typeof body['subfolder'] === 'string' ? body['subfolder'] : ''}/${body['name']}`
    }
    const { classes } = await instance.readClasses(template)
    const prompt = fillTemplate(template, { values, files, prefix: folderOf(id) }, classes)
    failpoint('upstream.before-submit')
    return await prompted(given, { id, instance, prompt })
  } catch (error) {
    if (error instanceof SilentError) throw new PlacementError('unreachable', error.message)
    throw error
  }
}

const TOO_LARGE = 'a file is larger than its --max-upload-size'

const prompted = async <Made>(
  { deps, template }: FleetTask<Made>,
  { id, instance, prompt }: { id: string; instance: Instance; prompt: object },
): Promise<boolean> => {
  const body = { prompt, prompt_id: id, client_id: deps.fleet.clientId }
  const response = await instance.client.post('/prompt', body).catch((error: unknown) => {
    if (!(error instanceof SilentError) || error.isUnsent) throw error
    failpoint('upstream.without-response')
  })
  if (!response) return false
  failpoint('upstream.after-response')
  const rejection = readRejection(response.status, response.body, fileNodesOf(template))
  // A part of the graph may have been taken.
  if (rejection && response.status === 200) await instance.cancel(id)
  if (rejection) throw new PlacementError(rejection.failure, rejection.detail)
  if (response.status !== 200) throw new SilentError(`responded with status ${response.status}`)
  return true
}

const fileNodesOf = ({ marks }: Template): string[] =>
  marks.filter(({ field }) => field?.type === 'file').map(({ node }) => node)

const finish = async <Made>(
  given: FleetTask<Made>,
  { id, instance }: Chosen,
  entry: Record<string, unknown>,
  isInterrupted: boolean,
): Promise<Made> => {
  const { deps, attempt, template } = given
  await recordRun(deps.sql, id)
  deps.fleet.notifier.notify()
  const end = readRunEnd(entry, { result: template.result, id })
  if (end.failure === 'interrupted' && isInterrupted)
    throw new PlacementError('stalled', end.detail)
  if (end.failure) throw new PlacementError(end.failure, end.detail)
  attempt.report('fetching the results', 100, `${instance.name}/${id}`)
  const dir = join(attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  const paths: string[] = []
  for (const [index, file] of end.files.entries()) {
    const path = join(dir, `made-${index + 1}`)
    await fetchFile(instance, file, path, attempt.signal)
    paths.push(path)
    failpoint('upstream.while-copying')
  }
  return await given.copy(paths, dir).catch((error: unknown) => {
    throw error instanceof EngineError ? new PlacementError('failed', error.message) : error
  })
}

const fetchFile = async (
  { client }: Instance,
  file: OutputFile,
  path: string,
  signal: AbortSignal,
): Promise<void> =>
  await client.fetch(file, path, signal).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error
    if (error.kind === 'too_large') throw new PlacementError('failed', error.message)
    if (error.status !== undefined && error.status < 500)
      throw new PlacementError('output_gone', error.message)
    throw new SilentError(error.message)
  })

/** Ends a placement without a result, and does what its end asks for. */
const leave = async <Made>(
  given: FleetTask<Made>,
  { id, instance }: Chosen,
  { end, message: detail, isQuarantined }: PlacementError,
): Promise<void> => {
  const {
    deps: { sql, fleet, log },
    task,
    template,
  } = given
  if (!(await endPlacement(sql, { id, task, state: end, detail }))) throw new Error(OVER)
  fleet.notifier.notify()
  const { name } = instance
  const facts = {
    task_id: task.id,
    instance: name,
    placement: id,
    template: template.name,
    end,
    detail,
  }
  log[OPERATORS.has(end) ? 'error' : 'warn'](facts, 'a placement on ComfyUI brought no result')
  if (isQuarantined) await holdInstance(sql, { name, restSeconds: null, reason: detail })
  if (end === 'unable') instance.forget(template.name, detail)
  if (end === 'out_of_memory') {
    await holdInstance(sql, { name, restSeconds: REST_SECONDS, reason: detail })
    await instance.client
      .post('/free', { unload_models: true, free_memory: true })
      .catch(() => undefined)
    // Says so when none is left that could have memory enough.
    await rank(given, false)
  }
  if (COUNTED.has(end)) throw new EngineError(`a placement on ComfyUI ended as ${end}`)
}
