import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'

import {
  insertPlacement,
  listInstances,
  listPlacements,
  recordWait,
} from '../../src/engines/db/placement.ts'
import type { InstanceRow } from '../../src/engines/db/placement.ts'
import type { ClaimedTask } from '../../src/tasks/db/task-transition.ts'
import { hasRoom } from '../../src/engines/db/template.ts'
import type { Template } from '../../src/engines/domain/template/template.ts'
import type { Host } from '../../src/engines/host.ts'
import { describeSilence } from '../../src/engines/silence.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { FULL, NO_INSTANCE } from '../../src/tasks/domain/waits-for.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { PutBackError } from './breaker.ts'
import type { Hosts, RenderDependencies } from './dependencies.ts'
import type { RenderAttempt } from './render-attempt.ts'

export interface HostTask<On extends Host = Host> {
  deps: RenderDependencies & { fleet: Hosts<On> }
  task: ClaimedTask
  attempt: RenderAttempt
  template: Pick<Template, 'name' | 'version' | 'limits'>
  /** The template has changed since the task was made. */
  isEarlier?: boolean
  /** Scope of the breaker of all hosts together. */
  scope: string
  /** False: a task that was sent and brought no result ends. */
  resubmits?: boolean
  /** Setting that names the hosts. */
  setting: string
  /** Files that are sent. */
  uploads: readonly { filename: string; path: string }[]
  /** Template that a host must be able to run; absent: what hosts lack is of this task alone. */
  awaits?: string | undefined
  /** Finds why a host cannot do the task. Throws where it does not respond. */
  findIssues(host: On): Promise<readonly string[]>
}

/** A host with the placement of a task there. */
export interface Chosen<On extends Host = Host> {
  id: string
  instance: On
  /** Nothing has been sent yet. */
  isNew: boolean
  /** This service has interrupted it, or was about to. */
  isInterrupted: boolean
  /** The placement before it there had its template, whose models are loaded. */
  isLoaded?: boolean
}

/** A task goes on at the placement that was reserved for it. */
export class MovedError<On extends Host = Host> extends Error {
  override name = 'MovedError'
  readonly to: Chosen<On>

  constructor(to: Chosen<On>) {
    super(`it goes on at ${to.instance.name}`)
    this.to = to
  }
}

/** Message of an attempt that must not go on. */
export const OVER = 'the task has ended or is with a newer attempt'

export const MAX_PLACEMENTS = 10
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 15_000

/** Waits until an instance can take the task, and gives it to that one. */
export const place = async <On extends Host>(given: HostTask<On>): Promise<Chosen<On>> => {
  const { deps, task, attempt, template } = given
  const { fleet, sql } = deps
  const stopTimer = deps.metrics?.fleetWaits.startTimer({ template: template.name })
  const startedAt = performance.now()
  let isWaiting = false
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    const { notifications } = fleet.notifier
    attempt.signal.throwIfAborted()
    attempt.report('waiting for an instance', 0)
    const placements = await listPlacements(sql, task.id)
    // A worker that ended its last one may have died before it could fail the task.
    if (placements.some(({ state }) => state === 'crashed')) throw new TaskError('engine_crashed')
    if (placements.length >= MAX_PLACEMENTS)
      throw new TaskError('engine_failed', `The task was placed ${MAX_PLACEMENTS} times.`)
    const { instances, reasons, isLeft, isAway } = await rank(given, waitMs === FIRST_WAIT_MS)
    for (const instance of instances) {
      const chosen = await reserve(given, instance, { depth: instance.depth })
      if (!chosen) continue
      stopTimer?.()
      if (isWaiting) deps.notifyChange(task.id)
      failpoint('comfyui.after-placement')
      return chosen
    }
    isWaiting = true
    if (await recordWait(sql, { ...task, reasons })) {
      deps.notifyChange(task.id)
      if (reasons.length > 0)
        deps.log.warn({ task_id: task.id, reasons }, 'no instance can take a task now')
    }
    // It goes on once one can take it, which `keepHosts` sees. Until then its time stands still.
    if (isAway) throw new PutBackError([NO_INSTANCE, given.awaits ?? []].flat().join(' '))
    // The task of such a placement may be in the queue behind this one, which would wait for it for ever.
    if (isLeft && performance.now() - startedAt >= (fleet.yieldMs ?? Infinity))
      throw new PutBackError('turn')
    await fleet.notifier.wait(waitMs, attempt.signal, notifications)
  }
}

/** Puts a task back that was sent, while no instance responds: the next attempt finds it where it is. */
export const putBackWhileSilent = async ({
  deps: { sql, fleet, notifyChange },
  task,
}: HostTask): Promise<void> => {
  if (!fleet.instances.every((instance) => isSilent(fleet, instance))) return
  const reasons = fleet.instances.map((one) => `${one.name} ${describeSilenceOf(one)}`)
  if (await recordWait(sql, { ...task, reasons })) notifyChange(task.id)
  throw new PutBackError(NO_INSTANCE)
}

const isSilent = ({ awayMs = Infinity }: Hosts, instance: Host): boolean =>
  (instance.silence()?.ms ?? 0) >= awayMs

/** Gives the task a placement at an instance; undefined: it is full by now, or takes none. */
export const reserve = async <On extends Host>(
  given: HostTask<On>,
  instance: On,
  options: { depth: number; isReserved?: boolean },
): Promise<Chosen<On> | undefined> => {
  const { deps, task, template } = given
  const id = randomUUID()
  const inputs = given.uploads.map(({ filename }) => filename)
  const at = { instance, template, inputs, ...options }
  const before = await unitOfWork(deps, async (sql) =>
    options.isReserved || (await hasRoom(sql, template))
      ? await insertPlacement(sql, { id, task, ...at })
      : 'no room',
  )
  if (before === 'no room') {
    await recordWait(deps.sql, { ...task, reasons: [FULL] })
    throw new PutBackError(`template:${template.name}`)
  }
  if (before === undefined) throw new Error(OVER)
  if (before === false) return undefined
  const isLoaded = before.template === template.name
  if (before.template !== null && !isLoaded)
    deps.metrics?.modelSwitches.inc({ comfyui_instance: instance.name })
  return { id, instance, isNew: true, isInterrupted: false, isLoaded }
}

/** Instances that can take a task now, the best first. */
interface Ranked<On> {
  instances: On[]
  /** Reasons of the instances that do not take it; empty where one is only busy. */
  reasons: string[]
  /** A placement there is of a task that this worker does not follow. */
  isLeft: boolean
  /** None will take it until somebody has acted. A fleet that is scaled to none is another matter. */
  isAway: boolean
}

/**
 * Finds the instances that could take the task now.
 * @throws TaskError when all that can run its template have shown that they cannot do it
 */
export const rank = async <On extends Host>(
  given: HostTask<On>,
  isReported = false,
): Promise<Ranked<On>> => {
  const { deps, task, template } = given
  const all = await assessAll(given)
  const issues = all.flatMap(({ instance: { name }, issues }) =>
    issues.map((issue) => `${name}: ${issue}`),
  )
  if (issues.length > 0 && isReported)
    deps.log.error(
      { task_id: task.id, template: template.name, issues },
      'instances cannot run a template',
    )
  const able = all.filter(({ isAble }) => isAble)
  requireHope(able)
  const needsMemory = able.some(({ ended }) => ended.includes('out_of_memory'))
  const fit = all.filter(({ lack }) => lack === undefined)
  const instances = fit
    .filter(({ open, instance }) => open.length < instance.depth && !instance.isFull())
    .map(({ instance, ended, open, template: last }) => ({
      instance,
      failed: Math.sign(ended.length),
      vram: needsMemory ? instance.facts().vram : 0,
      // The models of its last template are loaded, which is worth a place in the queue.
      load: open.length + instance.countOthers(open) - (last === template.name ? 1.5 : 0),
    }))
    .toSorted((a, b) => a.failed - b.failed || b.vram - a.vram || a.load - b.load)
    .map(({ instance }) => instance)
  const reasons =
    all.length > 0
      ? all.flatMap(({ lack }) => lack ?? [])
      : [`${given.setting} names no instance now`]
  const { followed = new Set() } = deps.fleet
  const isLeft = all.some(({ open }) => open.some((id) => !followed.has(id)))
  const isAway = all.length > 0 && all.every((one) => one.isAway)
  return { instances, reasons: fit.length > 0 ? [] : reasons, isLeft, isAway }
}

/** Finds what each instance lacks for a task. */
export const assessAll = async <On extends Host>(given: HostTask<On>) => {
  const { sql, fleet } = given.deps
  const since = performance.now() - 1000
  const sizes = await Promise.all(given.uploads.map(({ path }) => stat(path)))
  const bytes = Math.max(0, ...sizes.map(({ size }) => size))
  // Another turn may replace the list meanwhile.
  const { instances } = fleet
  await Promise.all(instances.map((instance) => instance.probe(since)))
  const names = instances.map(({ name }) => name)
  const rows = await listInstances(sql, { names, taskId: given.task.id })
  const seen = await Promise.all(
    instances.map(async (instance) => {
      const row = rows.find(({ name }) => name === instance.name)
      return row ? [await assess(given, instance, { row, bytes })] : []
    }),
  )
  return seen.flat()
}

/** Finds what an instance lacks for a task. */
const assess = async <On extends Host>(
  { deps: { fleet }, template, isEarlier, setting, awaits, findIssues }: HostTask<On>,
  instance: On,
  { row, bytes }: { row: InstanceRow; bytes: number },
) => {
  const isUp = instance.state() === 'up'
  const found = isUp ? await findIssues(instance).catch(() => undefined) : undefined
  const isTooLarge = found !== undefined && bytes > instance.facts().maxUpload
  const ended = isTooLarge ? ['too_large', ...row.ended] : row.ended
  const issues = [...(found ?? []), ...(isTooLarge ? [TOO_LARGE] : [])]
  const isAble = found?.length === 0
  const version = isEarlier ? ', as it was when the task was made' : ''
  const findLack = (): string | undefined => {
    if (instance.depth === 0) return `is in no ${setting} any more`
    if (!found) return describeSilenceOf(instance)
    if (issues.length > 0) return `cannot run ${template.name}${version}: ${issues.join('; ')}`
    if (row.hold !== null) return row.hold
    // Whoever waits behind what does not move would be moved at once, and use up its placements.
    if (instance.stalledMs() >= fleet.stallMs) return 'has a prompt that does not move'
    return ended.some((end) => end in FINAL) ? 'has rejected the task' : undefined
  }
  const lack = findLack()
  const isUnable = awaits !== undefined && found !== undefined && !isAble
  const isAway = instance.depth === 0 || row.isOutOfService || isUnable || isSilent(fleet, instance)
  return {
    ...row,
    instance,
    ended,
    issues,
    isAble,
    isAway: isAway && fleet.awayMs !== undefined,
    lack: lack === undefined ? undefined : `${instance.name} ${lack}`,
  }
}

const describeSilenceOf = (instance: Host): string => {
  const silence = instance.silence()
  return silence ? describeSilence(silence) : 'does not respond'
}

export const TOO_LARGE = 'a file is larger than its --max-upload-size'

/** Ends that would be the same on a second attempt there, with the message for a caller where all are so. */
const FINAL: Readonly<Record<string, string>> = {
  rejected: 'The service’s workflow does not take a value of this task.',
  too_large: 'An input is larger than the machines take.',
}

const requireHope = (able: readonly Pick<InstanceRow, 'ended' | 'rejection'>[]): void => {
  const ends = able.map(({ ended }) => ended)
  const isEverywhere = (end: string) =>
    ends.length > 0 && ends.every((ended) => ended.includes(end))
  const final = Object.keys(FINAL).find(isEverywhere)
  if (final !== undefined) {
    const rejection = able.find(({ rejection }) => rejection !== null)?.rejection
    throw new TaskError('upstream_rejected', rejection ?? FINAL[final])
  }
  // The memory of a single one may have been taken by another model, which is unloaded by now.
  const times = ends.flat().filter((end) => end === 'out_of_memory').length
  if (times > 1 && isEverywhere('out_of_memory'))
    throw new TaskError('engine_failed', 'The task is too large for the machines.')
}
