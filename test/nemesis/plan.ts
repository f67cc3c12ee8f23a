import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom, pick } from '../faults/random.ts'
import { FAULTS, kindOf, type Fault, type FaultName } from './faults.ts'
import type { World } from './world.ts'

export interface PlanOptions {
  seed: number
  seconds: number
  /** Those that are drawn; all of them unless given. */
  names?: readonly FaultName[]
}

/** Mean pause between the beginnings of two faults. */
const PAUSE_MS = 1500

const NAMES = Object.keys(FAULTS) as FaultName[]

/** Faults that need nothing beyond what every run has. */
export const USUAL = NAMES.filter((name) => kindOf(name).needs === undefined)

/** Targets that a fault disturbs. */
const touchedBy = ({ name, target }: Pick<Fault, 'name' | 'target'>): string[] => [
  target,
  ...(kindOf(name).touches ?? []),
]

/** The faults of a run: the same for the same seed. No two at a time disturb the same. */
export const makePlan = ({ seed, seconds, names = USUAL }: PlanOptions): Fault[] => {
  const random = makeRandom(seed)
  const kinds = names.flatMap((name) => Array.from({ length: FAULTS[name].weight }, () => name))
  const plan: Fault[] = []
  const healedAt = new Map<string, number>()
  for (let atMs = 1000; atMs < seconds * 1000; atMs += Math.round(2 * PAUSE_MS * random())) {
    const name = pick(random, kinds)
    const fault = { atMs, forMs: 0, name, target: pick<string>(random, FAULTS[name].targets) }
    fault.forMs = Math.round(random() * FAULTS[name].maxMs)
    const touched = touchedBy(fault)
    if (touched.some((one) => (healedAt.get(one) ?? 0) > atMs)) continue
    for (const one of touched) healedAt.set(one, atMs + fault.forMs)
    plan.push(fault)
  }
  return plan
}

/** From the beginning of a fault to that of the next, when they come in turn. */
const TURN_MS = 8000
/** Least duration of faults that the service is to report. */
const NOTIFIED_MS = 7000

/** Each kind of fault on one of its targets, one after another, so that it is seen what each does by itself. */
export const makeTurns = ({ seed, names }: { seed: number; names: FaultName[] }): Fault[] => {
  const random = makeRandom(seed)
  return names
    .map((name) => ({ name, place: random(), target: pick(random, kindOf(name).targets) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ name, target }, index) => {
      const { maxMs, signs } = kindOf(name)
      const forMs = signs?.[target] ? NOTIFIED_MS : maxMs
      return { atMs: (index + 0.5) * TURN_MS, forMs, name, target }
    })
}

/** A server is away every 5 to 10 seconds, for up to 2. */
export const makeOutages = (seed: number, seconds: number): Fault[] => {
  const random = makeRandom(seed)
  const plan: Fault[] = []
  for (let atMs = 3000; atMs < seconds * 1000; atMs += 5000 + Math.round(5000 * random())) {
    const forMs = Math.round(2000 * random())
    plan.push({ name: 'kill-server', target: 'postgres', atMs, forMs })
  }
  return plan
}

export const describeError = ({ atMs, forMs, name, target }: Fault): string =>
  `${(atMs / 1000).toFixed(1)} s: ${name} ${target}${forMs > 0 ? ` for ${(forMs / 1000).toFixed(1)} s` : ''}`

/** A fault as it came: in milliseconds of the clock. */
export interface Struck extends Fault {
  begunAt: number
  healedAt: number
}

/**
 * Inflicts the faults of a plan, and ends when all have healed. What takes longer than planned delays the next that disturbs
 * the same; in turn, it delays all that follow, and each has the time of a turn for itself.
 */
export const inflict = async (
  world: World,
  plan: readonly Fault[],
  { isInTurn = false }: { isInTurn?: boolean | undefined },
): Promise<Struck[]> => {
  const start = performance.now()
  const until = async (atMs: number): Promise<void> =>
    await sleep(Math.max(0, start + atMs - performance.now()))
  const busy = new Map<string, Promise<unknown>>()
  const strike = async (fault: Fault, before: Promise<unknown>[]): Promise<Struck> => {
    await until(fault.atMs)
    await Promise.all(before)
    const begunAt = Date.now()
    const heal = await kindOf(fault.name).inflict(world, fault.target)
    await sleep(Math.max(0, begunAt + fault.forMs - Date.now()))
    await heal()
    return { ...fault, begunAt, healedAt: Date.now() }
  }
  const struck = plan.map((fault) => {
    const touched = isInTurn ? ['everything'] : touchedBy(fault)
    const before = touched.flatMap((one) => busy.get(one) ?? [])
    const mine = strike(fault, before)
    const over = isInTurn ? mine.then(() => sleep(TURN_MS / 2)) : mine
    for (const one of touched) busy.set(one, over)
    return mine
  })
  return await Promise.all(struck)
}

/**
 * The shortest part of a plan that still fails: halves, then smaller parts are left out for as long as what is left fails
 * (ddmin). Each attempt is a run of its own, so there are `attempts` at most.
 */
export const shorten = async (
  plan: readonly Fault[],
  fails: (part: readonly Fault[]) => Promise<boolean>,
  attempts: number,
): Promise<readonly Fault[]> => {
  let best = plan
  let parts = 2
  while (attempts > 0 && best.length > 1 && parts <= best.length) {
    const size = Math.ceil(best.length / parts)
    const length = best.length
    for (let at = 0; at < length && attempts > 0; at += size) {
      const rest = best.filter((_, index) => index < at || index >= at + size)
      attempts -= 1
      if (rest.length === 0 || !(await fails(rest))) continue
      best = rest
      break
    }
    parts = best.length < length ? Math.max(2, parts - 1) : parts * 2
  }
  return best
}
