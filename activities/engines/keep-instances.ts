import type { FoundInstances } from '../../src/engines/comfyui/sources.ts'
import {
  deleteInstances,
  listInstanceUrls,
  setInstanceUrls,
} from '../../src/engines/db/instance-url.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { keepSeries } from '../../src/platform/process/metrics.ts'
import type { Host } from '../../src/engines/host.ts'
import type { Hosts, RenderDependencies } from './dependencies.ts'

interface At {
  name: string
  url: string
}

interface InstanceSources<On> {
  /** Reads all sources. */
  read(): Promise<FoundInstances>
  open(at: At): On
  /** Depth of an instance whose source gives none. */
  depth: number
  /** Setting that names the sources. */
  setting: string
  /** Engine of ENGINES_HTTP that has them; null of ComfyUI. */
  engine: string | null
}

const STILL_NAMED = 'its name leads to its earlier address until no placement is there'

/**
 * Makes the pass that follows the sources of instances. One that no source names any more is given nothing, and stays
 * while placements name it, as does its address.
 */
export const makeKeepInstances = <On extends Host>(
  deps: Pick<RenderDependencies, 'sql' | 'log' | 'metrics'> & { fleet: Hosts<On> },
  { read, open, depth, setting, engine }: InstanceSources<On>,
) => {
  const { sql, log, fleet, metrics } = deps
  let logged: Record<string, string> = {}
  // What only placements name here may be in the sources of another worker.
  const everNamed = new Set<string>()
  /** Logs each error once. */
  const report = (issues: Record<string, string>): void => {
    for (const [name, issue] of Object.entries(issues))
      if (logged[name] !== issue)
        log.error(
          { item: name, issue },
          `an item of ${setting} cannot be used: what it was before stays`,
        )
    logged = issues
  }
  return async (): Promise<void> => {
    const found = await read()
    const { instances: wanted } = found
    const names = wanted.map(({ name }) => name)
    for (const name of names) everNamed.add(name)
    let known = await listInstanceUrls(sql, { names, engine })
    const others = wanted.filter((one) => !known.some(isSame(one)))
    if (others.length > 0) {
      await unitOfWork(deps, (sql) => setInstanceUrls(sql, others, engine))
      known = await listInstanceUrls(sql, { names, engine })
    }
    const kept = others.filter((one) => !known.some(isSame(one)))
    report({ ...found.issues, ...Object.fromEntries(kept.map(({ name }) => [name, STILL_NAMED])) })
    const earlier = fleet.instances
    const next = known.map((at) => earlier.find(isSame(at)) ?? open(at))
    // A task may just be on its way there, so it is dropped in a later turn.
    const leaving = earlier.filter(
      ({ name, depth }) => depth > 0 && !known.some((one) => one.name === name),
    )
    fleet.instances = [...next, ...leaving]
    for (const instance of fleet.instances) {
      const one = wanted.find(isSame(instance))
      const max = one ? (one.depth ?? depth) : 0
      if (max !== instance.depth)
        log.info({ instance: instance.name, depth: max }, 'an instance is given so many prompts')
      if (max > instance.depth) fleet.notifier.notify()
      instance.depth = max
      instance.showsErrors = one?.showsErrors ?? false
    }
    const gone = earlier.filter((instance) => !fleet.instances.includes(instance))
    for (const instance of gone) instance.close()
    const isNamed = (name: string): boolean => fleet.instances.some((one) => one.name === name)
    const left = gone.map(({ name }) => name).filter((name) => !isNamed(name))
    for (const metric of metrics && left.length > 0
      ? [metrics.placements, metrics.modelSwitches]
      : [])
      await keepSeries(metric, 'comfyui_instance', (name) => !left.includes(name))
    const unknown = gone
      .map(({ name }) => name)
      .filter((name) => everNamed.has(name) && !names.includes(name))
    if (unknown.length > 0) await unitOfWork(deps, (sql) => deleteInstances(sql, unknown))
  }
}

const isSame =
  (one: At) =>
  ({ name, url }: At): boolean =>
    name === one.name && url === one.url
