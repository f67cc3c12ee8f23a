import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom } from '../faults/random.ts'
import { makePlan } from './plan.ts'
import type { Fault } from './faults.ts'
import { runScenario, type Scenario } from './scenario.ts'
import { measure } from './watch.ts'
import type { World } from './world.ts'

export interface SoakOptions {
  seed: number
  minutes: number
  say: (line: string) => void
}

/** Values at one moment. Their names say of what and in which unit. */
interface Sample {
  /** Minutes since the load began. */
  at: number
  values: ReadonlyMap<string, number>
}

/** Course of a value, in units per hour; and its mean in the first, the middle and the last tenth. */
export interface Course {
  name: string
  before: number
  during: number
  after: number
  perHour: number
  /** Standard error of `perHour`. */
  error: number
}

const EVERY_MS = 10_000
/** Part of the time in which processes warm up, before the first fault. */
const WARM_UP = 0.1
/** Tasks of the run that measures what this machine can do. */
const TRIAL_TASKS = 300
/** One of so many orders is a publication. */
const VERSION_SHARE = 20

/**
 * Mixed load at half of what this machine can do, with a fault a minute. Those that kill or stop a process meet the second
 * one of each role, so that what the first ones take can be followed over the whole time.
 */
export const runSoak = async ({ seed, minutes, say }: SoakOptions) => {
  const trial = { name: 'trial', seed, tasks: TRIAL_TASKS, versions: 15, plan: [], seconds: 0 }
  const { tasksPerSecond: capacity } = await runScenario(trial, say)
  const tasks = Math.round((capacity / 2) * minutes * 60)
  say(`this machine makes ${capacity.toFixed(1)} tasks a second; half of it for ${minutes} minutes`)
  const samples: Sample[] = []
  const scenario: Scenario = {
    name: 'soak',
    seed,
    tasks,
    versions: Math.round(tasks / VERSION_SHARE),
    plan: planSoak(seed, minutes),
    seconds: minutes * 60,
    during: (world, over) => takeSamples(world, { samples, over, say }),
  }
  const outcome = await runScenario(scenario, say)
  return { outcome, tasksPerSecond: capacity / 2, courses: describeCourses(samples) }
}

/** A fault a minute, at any second of it. */
const planSoak = (seed: number, minutes: number): Fault[] => {
  const random = makeRandom(seed)
  const first = minutes * WARM_UP
  return makePlan({ seed, seconds: minutes * 60 })
    .slice(0, Math.floor(minutes - first))
    .map((fault, index) => ({
      ...fault,
      target: fault.target.replace(/-1$/, '-2'),
      atMs: Math.round((first + index + random() * 0.8) * 60_000),
    }))
}

const takeSamples = async (
  world: World,
  { samples, over, say }: { samples: Sample[]; over: AbortSignal; say: SoakOptions['say'] },
): Promise<void> => {
  const start = performance.now()
  while (!over.aborted) {
    // What cannot be asked while a server is away is asked the next time.
    const values = await measure(world).catch(() => undefined)
    const at = (performance.now() - start) / 60_000
    if (values) samples.push({ at, values })
    if (samples.length % 30 === 0) say(`  minute ${at.toFixed(0)}: ${samples.length} samples`)
    await sleep(EVERY_MS, undefined, { signal: over }).catch(() => {})
  }
}

const describeCourses = (samples: readonly Sample[]): Course[] => {
  const first = (samples.at(-1)?.at ?? 0) * WARM_UP
  const names = new Set(samples.flatMap(({ values }) => [...values.keys()]))
  return [...names].map((name) => {
    const points = samples.flatMap(({ at, values }) => {
      const value = values.get(name)
      return value === undefined ? [] : [{ at, value }]
    })
    const tenth = Math.max(1, Math.floor(points.length / 10))
    const middle = Math.floor((points.length - tenth) / 2)
    return {
      name,
      before: mean(points.slice(0, tenth)),
      during: mean(points.slice(middle, middle + tenth)),
      after: mean(points.slice(-tenth)),
      ...fitLine(points.filter(({ at }) => at >= first)),
    }
  })
}

interface Point {
  at: number
  value: number
}

const sum = (values: readonly number[]): number => values.reduce((left, right) => left + right, 0)
const mean = (points: readonly Point[]): number =>
  sum(points.map(({ value }) => value)) / points.length

/** The slope of the line of least squares and its standard error, as if errors were independent. */
const fitLine = (points: readonly Point[]): Pick<Course, 'perHour' | 'error'> => {
  if (points.length < 3) return { perHour: Number.NaN, error: Number.NaN }
  const middleAt = sum(points.map(({ at }) => at)) / points.length
  const middle = mean(points)
  const spread = sum(points.map(({ at }) => (at - middleAt) ** 2))
  const slope = sum(points.map(({ at, value }) => (at - middleAt) * (value - middle))) / spread
  const rest = sum(points.map(({ at, value }) => (value - middle - slope * (at - middleAt)) ** 2))
  const error = Math.sqrt(rest / (points.length - 2) / spread)
  return { perHour: slope * 60, error: error * 60 }
}
