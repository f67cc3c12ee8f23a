import { setTimeout as sleep } from 'node:timers/promises'

import { makeRandom } from '../faults/random.ts'
import { PASS } from '../support/link.ts'
import type { LinkMode } from '../support/link.ts'
import { MEMBERS } from './world.ts'
import type { MemberName, World } from './world.ts'

/** One fault: what is done to whom, so many milliseconds after the beginning, until it heals. */
export interface Fault {
  atMs: number
  forMs: number
  name: FaultName
  target: string
}

export type FaultName = keyof typeof FAULTS

interface FaultKind {
  /** How often it is drawn. */
  weight: number
  targets: readonly string[]
  /** Longest time until it heals, in milliseconds. */
  mostMs: number
  /** Does it, and answers how it heals. */
  inflict(world: World, target: string): Promise<() => Promise<void>>
}

const member = (world: World, target: string) => {
  const found = world.members.get(target as MemberName)
  if (!found) throw new Error(`there is no process ${target}`)
  return found
}

const LINKS = ['postgres', 'temporal', 'receiver'] as const
type LinkName = (typeof LINKS)[number]

const onLink = (
  weight: number,
  { mode, targets = LINKS }: { mode: LinkMode; targets?: readonly LinkName[] },
): FaultKind => ({
  weight,
  targets,
  mostMs: 3000,
  inflict: async (world, target) => {
    const link = world.links[target as LinkName]
    link.set(mode)
    return async () => link.set(PASS)
  },
})

const cutting = (weight: number, how: 'reset' | 'half'): FaultKind => ({
  weight,
  targets: LINKS,
  mostMs: 0,
  inflict: async (world, target) => {
    world.links[target as LinkName].cut(how)
    return async () => {}
  },
})

/** PostgreSQL says that a transaction is committed. */
const COMMITTED = Buffer.from('COMMIT\0')

export const FAULTS = {
  kill: {
    weight: 30,
    targets: MEMBERS,
    mostMs: 1000,
    inflict: async (world, target) => {
      const killed = member(world, target)
      await killed.kill()
      return async () => await killed.start()
    },
  },
  stop: {
    weight: 10,
    targets: MEMBERS,
    mostMs: 6000,
    inflict: async (world, target) => {
      const { entry } = member(world, target)
      entry?.signal('SIGSTOP')
      return async () => entry?.signal('SIGCONT')
    },
  },
  'kill-server': {
    weight: 10,
    targets: ['postgres', 'temporal'],
    mostMs: 2000,
    inflict: async (world, target) => {
      const { server } = target === 'postgres' ? world.postgres : world.temporal
      await server.kill()
      return async () => await server.restart()
    },
  },
  reset: cutting(5, 'reset'),
  'half-close': cutting(5, 'half'),
  delay: onLink(5, { mode: { name: 'delay', ms: 200 } }),
  'black-hole': onLink(5, { mode: { name: 'hold' } }),
  refuse: onLink(5, { mode: { name: 'refuse' } }),
  drip: onLink(3, { mode: { name: 'drip', bytes: 64, everyMs: 20 } }),
  /** Done, and reported as failed. */
  'lose-commits': onLink(10, {
    mode: { name: 'lose', isIt: (answer) => answer.includes(COMMITTED) },
    targets: ['postgres'],
  }),
} satisfies Record<string, FaultKind>

export interface PlanOptions {
  seed: number
  seconds: number
  /** Those that are drawn; all of them unless given. */
  names?: readonly FaultName[]
}

/** Mean pause between the beginnings of two faults. */
const PAUSE_MS = 1500

/** The faults of a run: the same for the same seed. No two at a time have the same target. */
export const makePlan = ({ seed, seconds, names }: PlanOptions): Fault[] => {
  const random = makeRandom(seed)
  const kinds = (names ?? (Object.keys(FAULTS) as FaultName[])).flatMap((name) =>
    Array.from({ length: FAULTS[name].weight }, () => name),
  )
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const plan: Fault[] = []
  const healedAt = new Map<string, number>()
  for (let atMs = 1000; atMs < seconds * 1000; atMs += Math.round(2 * PAUSE_MS * random())) {
    const name = pick(kinds)
    const target = pick<string>(FAULTS[name].targets)
    const forMs = Math.round(random() * FAULTS[name].mostMs)
    if ((healedAt.get(target) ?? 0) > atMs) continue
    healedAt.set(target, atMs + forMs)
    plan.push({ atMs, forMs, name, target })
  }
  return plan
}

export const describeFault = ({ atMs, forMs, name, target }: Fault): string =>
  `${(atMs / 1000).toFixed(1)} s: ${name} ${target}${forMs > 0 ? ` for ${(forMs / 1000).toFixed(1)} s` : ''}`

/** Inflicts the faults of a plan, and ends when all have healed. What takes longer than planned delays the next of its target. */
export const inflict = async (world: World, plan: readonly Fault[]): Promise<void> => {
  const start = performance.now()
  const until = async (atMs: number): Promise<void> =>
    await sleep(Math.max(0, start + atMs - performance.now()))
  const busy = new Map<string, Promise<void>>()
  const run = async ({ atMs, forMs, name, target }: Fault, before?: Promise<void>) => {
    await until(atMs)
    await before
    const heal = await FAULTS[name].inflict(world, target)
    await until(atMs + forMs)
    await heal()
  }
  for (const fault of plan) busy.set(fault.target, run(fault, busy.get(fault.target)))
  await Promise.all(busy.values())
}

/**
 * The shortest part of a plan that still fails: halves, then smaller parts are left out for as long as what is left fails
 * (ddmin). Each try is a run of its own, so there are `tries` at most.
 */
export const shorten = async (
  plan: readonly Fault[],
  fails: (part: readonly Fault[]) => Promise<boolean>,
  tries: number,
): Promise<readonly Fault[]> => {
  let best = plan
  let parts = 2
  while (tries > 0 && best.length > 1 && parts <= best.length) {
    const size = Math.ceil(best.length / parts)
    let isShorter = false
    for (let at = 0; at < best.length && tries > 0; at += size) {
      const rest = [...best.slice(0, at), ...best.slice(at + size)]
      tries -= 1
      if (rest.length === 0 || !(await fails(rest))) continue
      best = rest
      isShorter = true
      break
    }
    parts = isShorter ? Math.max(2, parts - 1) : parts * 2
  }
  return best
}
