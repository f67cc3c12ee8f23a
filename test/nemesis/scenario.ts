import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ROOT } from '../../src/local/root.ts'
import { findParent } from '../../src/local/process-table.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { ageScratch, untilSwept } from '../faults/scratch.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeCallers } from './callers.ts'
import type { Callers, CallersOptions } from './callers.ts'
import { check } from './check.ts'
import type { Ledgers, Violation } from './check.ts'
import { describeFault, inflict } from './plan.ts'
import type { Fault } from './plan.ts'
import { readRows } from './rows.ts'
import { startWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

export interface Scenario extends CallersOptions, WorldOptions {
  name: string
  plan: readonly Fault[]
  /** For how long orders come; until the last fault when absent. */
  seconds?: number
  /** What goes on beside, until all has settled. */
  during?: (world: World, over: AbortSignal) => Promise<void>
}

/** What came of a run. */
export interface Outcome {
  name: string
  seed: number
  faults: number
  orders: number
  /** From the first creation to the last end. */
  tasksPerSecond: number
  /** Creations that were not answered at first, and became the one task that their repetition got. */
  reconciled: number
  events: number
  /** Requests that receivers took beyond one for each event. */
  repeated: number
  seconds: number
  /** Milliseconds from the last heal until what was open then had ended. */
  recoveryMs: { p50: number; p99: number }
  violations: Violation[]
  /** Where everything needed to understand a failure lies. */
  kept: string | undefined
}

/** What was accepted must have ended, and been told, so long after the last fault has healed. */
const RECOVERY_MS = 60_000
const LOST = 'after the last heal'

/** Makes everything, lets callers and faults loose on it, waits until all has ended, and checks the three ledgers. */
export const runScenario = async (
  scenario: Scenario,
  say: (line: string) => void,
): Promise<Outcome> => {
  const start = Date.now()
  const world = await startWorld(scenario)
  const over = new AbortController()
  try {
    const callers = await makeCallers(world, scenario)
    const connections = await countConnections(world)
    say(`${scenario.name}, seed ${scenario.seed}: ${scenario.plan.length} faults`)
    const forMs =
      scenario.seconds === undefined ? (scenario.plan.at(-1)?.atMs ?? 0) : scenario.seconds * 1000
    const beside = scenario.during?.(world, over.signal)
    await Promise.all([inflict(world, scenario.plan), callers.run(forMs)])
    const healedAt = Date.now()
    await callers.reconcile()
    const late = await waitUntilSettled(world.service)
    over.abort()
    await beside
    const left = await findLeft(world, connections)
    const ledgers = await readLedgers(world, callers)
    const violations = [...late, ...left, ...check(ledgers)]
    const kept =
      violations.length > 0 ? await keep(world, { scenario, ledgers, violations }) : undefined
    return { ...summarize(scenario, ledgers, healedAt), violations, kept, seconds: since(start) }
  } finally {
    over.abort()
    await world.stop()
  }
}

const since = (start: number): number => Math.round((Date.now() - start) / 1000)

/** Waits until nothing is open; what still is after the time for it is told. */
export const waitUntilSettled = async ({
  database: { sql },
}: Pick<Service, 'database'>): Promise<Violation[]> => {
  const readOpen = async () =>
    await sql<{ what: string }[]>`
    select 'task ' || id || ' is ' || status as what from task where ended_at is null
    union all
    select 'version ' || id || ' is undecided' from version where status = 'NodeVersionStatusPending'
    union all
    select 'event ' || id || ' is to be told' from event where state = 'pending'
    union all
    select kind || ' ' || workflow_id || ' is to be dispatched' from outbox where dispatched_at is null
  `
  try {
    await waitFor('all has ended', async () => (await readOpen()).length === 0, RECOVERY_MS)
    return []
  } catch {
    return (await readOpen()).map(({ what }) => ({ invariant: 'I1', what: `${what} ${LOST}` }))
  }
}

export const countConnections = async ({ postgres }: World): Promise<number> => {
  const rows = await postgres.database.sql`
    select from pg_stat_activity where application_name like 'kiln %' and application_name <> 'kiln test'
  `
  return rows.length
}

/** Nothing that a fault has cut short is left: children, unfinished files, connections. */
const findLeft = async (world: World, connections: number): Promise<Violation[]> => {
  const left: Violation[] = []
  const tell = (what: string) => (error: unknown) =>
    void left.push({ invariant: 'I10', what: `${what}: ${String(error)}` })
  await ageScratch(world.service)
  await untilSwept(world.service).catch(tell('unfinished files'))
  const isQuiet = async () => (await listOrphans(world)).length === 0
  await waitFor('no child of a dead worker is left', isQuiet).catch(tell('children'))
  // Pools keep the connections that they have opened, each up to its most.
  const mayBe = Math.max(connections, world.members.size * 10)
  if ((await countConnections(world)) > mayBe) tell('connections')(`more than ${mayBe}`)
  return left
}

/** Children of engines whose worker lives no more. */
const listOrphans = async ({ service, members }: World): Promise<number[]> => {
  const living = new Set([...members.values()].map(({ entry }) => entry?.pid))
  const children = await listEngineProcesses(service.storagePath)
  return children.filter((pid) => !living.has(findParent(pid)?.pid))
}

const readLedgers = async (world: World, callers: Callers): Promise<Ledgers> => ({
  orders: callers.orders,
  reads: callers.reads,
  wrong: callers.wrong,
  received: world.receiver.received.filter(({ path }) => path.startsWith('/t/')),
  secrets: callers.secrets,
  rows: await readRows(world),
  logs: [...world.members.values()].flatMap(({ logs }) => logs.flat()),
  canaries: callers.canaries,
})

const summarize = (
  { name, seed, plan }: Scenario,
  { orders, received, rows }: Ledgers,
  healedAt: number,
) => {
  // Those that were there by then.
  const waited = rows.tasks
    .filter(({ events }) => (events[0]?.at ?? 0) < healedAt)
    .map(({ events }) => (events.at(-1)?.at ?? 0) - healedAt)
    .filter((ms) => ms > 0)
    .toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(waited[Math.floor(waited.length * share)] ?? 0)
  const times = rows.tasks.flatMap(({ events }) => events.map(({ at }) => at))
  const told = new Set(received.map(({ headers }) => headers['webhook-id']))
  return {
    name,
    seed,
    faults: plan.length,
    orders: orders.length,
    tasksPerSecond: (rows.tasks.length / (Math.max(...times) - Math.min(...times))) * 1000,
    reconciled: orders.filter(({ unknown }) => unknown > 0).length,
    events: told.size,
    repeated: received.length - told.size,
    recoveryMs: { p50: at(0.5), p99: at(0.99) },
  }
}

/** Keeps what is needed to understand a failure, and to make it again. */
const keep = async (
  world: World,
  { scenario, ledgers, violations }: { scenario: Scenario; ledgers: Ledgers; violations: unknown },
): Promise<string> => {
  const folder = join(ROOT, '.built/faults', `${scenario.name}-${scenario.seed}-${Date.now()}`)
  await mkdir(folder, { recursive: true })
  const write = async (name: string, value: unknown) =>
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value, toPlain, 1))
  const { received, orders, reads, rows } = ledgers
  await write('plan', scenario.plan)
  await write('violations', violations)
  await write('callers', { orders, reads })
  await write('receivers', received)
  await write('rows', rows)
  await writeFile(join(folder, 'faults.txt'), scenario.plan.map(describeFault).join('\n'))
  for (const { name, logs } of world.members.values())
    await writeFile(join(folder, `${name}.log`), logs.flat().join('\n'))
  return folder
}

const toPlain = (_key: string, value: unknown): unknown => {
  if (value instanceof Set) return [...(value as Set<unknown>)]
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>)
  return value
}
