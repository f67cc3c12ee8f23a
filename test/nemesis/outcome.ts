import { PATIENCE_MS } from '../support/patience.ts'
import type { Asked } from './callers.ts'
import type { Ledgers, Violation } from './ledgers.ts'
import type { Struck } from './plan.ts'
import type { Scenario, runScenario } from './scenario.ts'
import type { Course } from './soak.ts'

/** Outcome of a run. */
export type Outcome = Awaited<ReturnType<typeof runScenario>>

/** Stored line: a run, with its courses when it was a soak, or a build with a mistake and what was found in it. */
export type Line =
  | (Outcome & { courses?: Course[] })
  | { name: string; seed: number; found: string | null }

/** Spread of milliseconds. */
export interface Spread {
  count: number
  p50: number
  p99: number
}

const spread = (all: number[]): Spread => {
  const sorted = all.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) }
}

const SLOW_MS = 2000
/** So slow is none on a machine that others use, too. */
const HANGS_MS = PATIENCE_MS / 4

/** Finds responses that took too long, unless the api itself was stopped meanwhile. */
export const checkResponses = (asked: readonly Asked[], struck: readonly Struck[]): Violation[] => {
  const stops = struck.filter(({ name, target }) => name === 'stop' && target.startsWith('api'))
  return asked
    .filter(({ at, ms }) => {
      const isStopped = stops.some(({ begunAt, healedAt }) => at < healedAt && at + ms > begunAt)
      return ms > HANGS_MS && !isStopped
    })
    .map(({ ms }) => ({ invariant: 'I9', what: `a response came after ${Math.round(ms)} ms` }))
}

interface Run {
  scenario: Scenario
  ledgers: Ledgers
  struck: readonly Struck[]
  asked: readonly Asked[]
  violations: Violation[]
}

export const summarize = ({ scenario, ledgers, struck, asked, violations }: Run) => {
  const { orders, received, rows } = ledgers
  const times = rows.tasks.flatMap(({ events }) => events.map(({ at }) => at))
  const lastHeal = Math.max(0, ...struck.map(({ healedAt }) => healedAt))
  const eventIds = new Set(received.map(({ headers }) => headers['webhook-id']))
  const count = (...invariants: string[]) =>
    violations.filter(({ invariant }) => invariants.includes(invariant)).length
  return {
    name: scenario.name,
    seed: scenario.seed,
    faults: struck.length,
    tasks: scenario.tasks,
    versions: scenario.versions,
    /** From the first creation to the last end. */
    tasksPerSecond: (rows.tasks.length / (Math.max(...times) - Math.min(...times))) * 1000,
    /** Orders that a response has acknowledged: all of them, in the end. */
    acknowledged: orders.filter(({ ids }) => ids.size > 0).length,
    /** Creations that nothing was known of, or that were rejected for now; */
    unknown: orders.reduce((sum, { unknown }) => sum + unknown, 0),
    /** and orders that had such, and became the one that their repetition got. */
    reconciled: orders.filter(({ unknown }) => unknown > 0).length,
    /** Accepted and without an end, or an event that never came; made twice; charged or refunded twice. */
    lost: count('I1', 'I4'),
    duplicates: count('I2'),
    doubleCharges: count('I6'),
    events: eventIds.size,
    /** Requests that receivers took beyond one for each event. */
    repeated: received.length - eventIds.size,
    /** From the last heal until what was open then had ended. */
    recovery: spread(recoveryAfter(lastHeal, ledgers)),
    kinds: summarizeKinds(struck, ledgers, asked),
    responses: asked.length,
    slow: asked.filter(({ ms }) => ms > SLOW_MS).length,
    violations,
  }
}

/** Milliseconds to its end of each task that was open then. */
const recoveryAfter = (at: number, { rows }: Ledgers): number[] =>
  rows.tasks
    .filter(({ events }) => (events[0]?.at ?? 0) < at)
    .map(({ events }) => (events.at(-1)?.at ?? 0) - at)
    .filter((ms) => ms > 0)

/** So long after its heal no other fault may begin, for its recovery to be its own. */
const ALONE_MS = 3500

/** The same for each kind of fault, where no other came near it, and what callers felt while it lasted. */
const summarizeKinds = (struck: readonly Struck[], ledgers: Ledgers, asked: readonly Asked[]) => {
  const isFar = (fault: Struck, other: Struck) =>
    other.healedAt + ALONE_MS < fault.begunAt || other.begunAt > fault.healedAt + ALONE_MS
  const isAlone = (fault: Struck) => struck.every((one) => one === fault || isFar(fault, one))
  const labelOf = ({ name, target }: Struck): string =>
    name === 'machine' ? name : `${name} ${target.replace(/-\d$/, '')}`
  const alone = struck.filter(isAlone)
  const entries = [...new Set(alone.map(labelOf))].map((label) => {
    const faults = alone.filter((fault) => labelOf(fault) === label)
    const recovery = faults.flatMap(({ healedAt }) => recoveryAfter(healedAt, ledgers))
    const during = asked.filter(
      ({ at, isCreation }) =>
        isCreation && faults.some(({ begunAt, healedAt }) => at > begunAt && at < healedAt),
    )
    const creation = spread(during.map(({ ms }) => ms))
    return [label, { times: faults.length, recovery: spread(recovery), creation }] as const
  })
  return Object.fromEntries(entries)
}
