import { describeCauses } from '../domain/causes.ts'
import { inTime, LateError } from '../domain/in-time.ts'

/** Needs of a process: two servers, the store, and workers for the work that is open. */
export type Dependency = 'postgres' | 'temporal' | 'storage' | 'workers'

/** Each throws when its dependency cannot be used. An OperatorError says what to do. */
export type Probes = Record<Dependency, () => Promise<unknown>>

/** Why each dependency cannot be used; undefined of one that can. */
export type DependencyState = Record<Dependency, string | undefined>

/** Makes all probes at once, however often it is called: /ready, metrics and operations ask for the same. */
export type ReadDependencies = () => Promise<DependencyState>

const TIMEOUT_MS = 1000
const CACHE_MS = 1000

/**
 * Makes the reader of dependencies. It responds within a second and asks at most once a second. One that was well and is late
 * once is well still: on a busy machine it responds to the next probe.
 */
export const makeDependencies = (probes: Probes): ReadDependencies => {
  let last: { at: number; state: Promise<DependencyState> } | undefined
  const probe = makeProbe(probes)
  return () => {
    if (!last || performance.now() - last.at > CACHE_MS)
      last = { at: performance.now(), state: probe() }
    return last.state
  }
}

const makeProbe = (probes: Probes) => {
  const wereWell = new Set<Dependency>()
  const one = async (name: Dependency): Promise<string | undefined> => {
    const wasWell = wereWell.delete(name)
    try {
      await inTime(probes[name](), TIMEOUT_MS, name)
      wereWell.add(name)
      return undefined
    } catch (error) {
      if (!(error instanceof LateError)) return describeCauses(error)
      return wasWell ? undefined : `${error.message}: \`kiln operate doctor\` waits longer`
    }
  }
  return async (): Promise<DependencyState> => {
    const [postgres, temporal, storage, workers] = await Promise.all([
      one('postgres'),
      one('temporal'),
      one('storage'),
      one('workers'),
    ])
    // Whether workers live stands in PostgreSQL: one cause, one problem.
    return { postgres, temporal, storage, workers: postgres === undefined ? workers : undefined }
  }
}
