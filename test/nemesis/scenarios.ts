import { FAULTS, type FaultName } from './faults.ts'
import { USUAL, makeOutages, makePlan, makeTurns } from './plan.ts'
import type { Scenario } from './scenario.ts'

export interface Size {
  tasks: number
  versions: number
  /** For how long faults come. */
  seconds: number
}

const NAMES = Object.keys(FAULTS) as FaultName[]
const OF_BUCKETS = NAMES.filter((name) => name.startsWith('s3-'))

type Made = Omit<Scenario, 'name' | 'seed'>

/** Faults, and the load that they come upon, by the seed of a run. */
export const SCENARIOS: Record<string, (seed: number, size: Size) => Made> = {
  /** Each kind of fault by itself, with so little load that what waits for its turn is not taken for a recovery. */
  each: (seed, { tasks, versions }) => {
    const names = NAMES.filter((name) => !name.startsWith('s3-') && name !== 'lose-writes')
    const plan = makeTurns({ seed, names })
    return { tasks: Math.ceil(tasks / 4), versions: Math.ceil(versions / 4), plan, isInTurn: true }
  },
  everything: (seed, { seconds, ...load }) => ({ ...load, plan: makePlan({ seed, seconds }) }),
  postgres: (seed, { tasks, seconds }) => ({
    tasks: tasks * 5,
    versions: 0,
    videos: 2,
    plan: makeOutages(seed, seconds * 2.2),
  }),
  /** Temporal on PostgreSQL, of whose writes one in a hundred is done and reported as failed. */
  'temporal-store': (seed, { tasks, versions, seconds }) => ({
    tasks: Math.ceil(tasks / 4),
    versions: Math.ceil(versions / 4),
    plan: [
      { name: 'lose-writes', target: 'temporal-store', atMs: 500, forMs: seconds * 400 },
      ...makePlan({ seed, seconds: seconds * 0.4, names: ['kill', 'stop'] }),
    ],
  }),
  /** Files in a bucket. */
  bucket: (seed, { tasks, versions, seconds }) => ({
    tasks: Math.ceil(tasks / 4),
    versions: Math.ceil(versions / 4),
    plan: makePlan({ seed, seconds: seconds * 0.4, names: [...USUAL, ...OF_BUCKETS] }),
  }),
}
