import { describeCauses } from '../domain/causes.ts'
import { inTime } from '../domain/in-time.ts'

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

/** Makes the reader of dependencies. It responds within a second and asks at most once a second. */
export const makeDependencies = (probes: Probes): ReadDependencies => {
  let last: { at: number; state: Promise<DependencyState> } | undefined
  return () => {
    if (!last || performance.now() - last.at > CACHE_MS)
      last = { at: performance.now(), state: probe(probes) }
    return last.state
  }
}

const probe = async (probes: Probes): Promise<DependencyState> => {
  const one = async (name: Dependency): Promise<string | undefined> =>
    await inTime(probes[name](), TIMEOUT_MS, name).then(() => undefined, describeCauses)
  const [postgres, temporal, storage, workers] = await Promise.all([
    one('postgres'),
    one('temporal'),
    one('storage'),
    one('workers'),
  ])
  // Whether workers live stands in PostgreSQL: one cause, one problem.
  return { postgres, temporal, storage, workers: postgres === undefined ? workers : undefined }
}
