import type { Host } from '../../src/engines/host.ts'
import { leaseReading, recordAbilities } from '../../src/engines/db/fleet.ts'
import {
  finishPlacement,
  leaseLeftPlacements,
  listFree,
  recordState,
} from '../../src/engines/db/placement.ts'
import type { LeftPlacement } from '../../src/engines/db/placement.ts'
import { ADMISSION } from '../../src/platform/db/change-notification.ts'
import { listAwaited, releaseAway } from '../../src/tasks/db/release.ts'
import type { EngineName } from '../../src/tasks/domain/engine.ts'
import type { Abilities } from '../../src/tasks/domain/fleet.ts'
import { NO_INSTANCE } from '../../src/tasks/domain/waits-for.ts'
import type { Hosts, RenderDependencies } from './dependencies.ts'

export type KeeperDependencies = Pick<
  RenderDependencies,
  'sql' | 'log' | 'notifyChange' | 'metrics'
>

/** Parts of looking after an instance that depend on what it speaks. */
export interface Keeping<On extends Host> {
  /** Finds out whether it has restarted. */
  checkRestart?(instance: On): Promise<unknown>
  /** Ends and removes what a task has left there. False: it goes on, and another turn looks again. */
  cleanUp(instance: On, left: LeftPlacement): Promise<boolean>
  /** True where it can run a template that tasks wait for; absent: all can. */
  canRun?(instance: On, template: string): Promise<boolean>
  /** Reads for operators what it can run. */
  listAbilities(instance: On): Promise<Abilities>
  /** Lists its models for operators; undefined where they are known. */
  listModels?(instance: On): Promise<string[] | undefined>
  /** Setting that names instances. */
  setting: string
  engine: EngineName
}

/** Placements of one instance that are removed in one turn: a few requests each. */
const MAX_LEFT = 20

/**
 * One turn of looking after all instances. One that does not respond does not keep the others waiting for long. Where one
 * can take tasks, those go on that were put back because none could.
 */
export const keepHosts = async <On extends Host>(
  deps: KeeperDependencies & { fleet: Hosts<On> },
  keeping: Keeping<On>,
): Promise<void> => {
  await Promise.all(
    deps.fleet.instances.map((instance) =>
      keepHost(deps, instance, keeping).catch((error: unknown) =>
        deps.log.warn({ instance: instance.name, err: error }, 'an instance was not looked after'),
      ),
    ),
  )
  await release(deps, keeping)
}

const release = async <On extends Host>(
  { sql, fleet, notifyChange }: KeeperDependencies & { fleet: Hosts<On> },
  { canRun, engine }: Keeping<On>,
): Promise<void> => {
  const up = fleet.instances.filter((one) => one.depth > 0 && one.state() === 'up')
  const awaited = up.length > 0 ? await listAwaited(sql, engine) : []
  if (awaited.length === 0) return
  const names = await listFree(
    sql,
    up.map(({ name }) => name),
  )
  const free = up.filter(({ name }) => names.includes(name))
  for (const word of awaited) {
    const template = word.slice(NO_INSTANCE.length + 1)
    const isAble = async (one: On) =>
      template === '' || ((await canRun?.(one, template).catch(() => false)) ?? true)
    const able = await Promise.all(free.map(isAble))
    if (able.includes(true) && (await releaseAway(sql, engine, word))) notifyChange(ADMISSION)
  }
}

/**
 * One turn of looking after an instance: its state, what it can run, whether it has restarted, and what tasks have left
 * there.
 */
const keepHost = async <On extends Host>(
  deps: KeeperDependencies & { fleet: Hosts<On> },
  instance: On,
  keeping: Keeping<On>,
): Promise<void> => {
  const { sql, fleet } = deps
  const { name } = instance
  await instance.probe(performance.now() - 1000)
  const state = instance.state()
  logState(deps, instance, keeping.setting)
  const isStalled = state === 'up' && instance.stalledMs() >= fleet.stallMs
  const isLeaving = instance.depth === 0
  const seen = isStalled ? 'stalled' : isLeaving && state === 'up' ? 'leaving' : state
  await recordState(sql, { name, state: seen, silence: instance.silence()?.reason ?? null })
  // What lies on an instance that is gone for good is gone, too, and its name is free.
  const isGone = state === 'down' && isLeaving
  if (state !== 'up' && !isGone) return
  if (!isGone) await keeping.checkRestart?.(instance)
  const left = await leaseLeftPlacements(sql, { instance: name, max: MAX_LEFT })
  for (const placement of left)
    if (isGone || (await keeping.cleanUp(instance, placement)))
      await finishPlacement(sql, placement.id)
  if (isGone || !(await leaseReading(sql, name))) return
  const abilities = await keeping.listAbilities(instance)
  // Some twenty calls: one that fails takes nothing from the abilities.
  const modelFiles = await keeping.listModels?.(instance).catch(() => undefined)
  await recordAbilities(sql, { name, version: instance.facts().version, abilities, modelFiles })
}

/** Levels at which silent instances were reported. */
const reported = new WeakMap<Host, 'warn' | 'error'>()
/** Instances that have responded. */
const known = new WeakSet<Host>()

/** Says once that an instance is silent, and that it responds again. Of one that never responded the first silence is said, too. */
const logState = ({ log }: KeeperDependencies, instance: Host, setting: string): void => {
  const { name, url } = instance
  const [state, silence] = [instance.state(), instance.silence()]
  const facts = { instance: name, address: url, detail: silence?.reason }
  if (state === 'up') {
    known.add(instance)
    if (reported.delete(instance)) log.warn(facts, 'an instance responds again')
    return
  }
  const level = state === 'down' ? 'error' : known.has(instance) ? undefined : 'warn'
  if (silence === undefined || level === undefined || reported.get(instance) === level) return
  reported.set(instance, level)
  log[level](facts, `an instance does not respond: start it, or correct ${setting}`)
}
