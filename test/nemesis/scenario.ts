import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Client } from '@temporalio/client'

import { withKept } from '../support/keep.ts'
import { ROOT } from '../../src/local/root.ts'
import { findParent } from '../../src/local/process-table.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { untilCleaned } from '../faults/scratch.ts'
import type { Service } from '../support/service.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'
import { FOLLOW_UPS, makeBulkCallers, type BulkResult } from './bulk.ts'
import { RECEIVERS, makeCallers, type Callers, type CallersOptions } from './callers.ts'
import { check } from './check.ts'
import { EXTRAS, type Extra } from './extras.ts'
import { kindOf, type Fault } from './faults.ts'
import type { Ledgers, Violation } from './ledgers.ts'
import { checkResponses, summarize } from './outcome.ts'
import { describeError, inflict } from './plan.ts'
import { readHistories, readRows } from './rows.ts'
import { checkReady, compare, measure, readMetricTexts, startWatch, type Held } from './watch.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export interface Scenario extends CallersOptions, Omit<WorldOptions, 'needs'> {
  name: string
  plan: readonly Fault[]
  /** One fault at a time. */
  isInTurn?: boolean
  /** Batches with operations on them; so many for the tasks when absent. */
  batches?: number
  /** For how long orders come; until the last fault when absent. */
  seconds?: number
  /** Runs beside it, until all has ended. */
  during?: (world: World, over: AbortSignal) => Promise<void>
}

type Say = (line: string) => void

/** Accepted orders must have ended, and their events must have been sent, so long after the last fault has healed: */
const RECOVERY_MS = PATIENCE_MS
/** and for each that was open then so much longer, which is what one takes of two cores. */
const EACH_MS = 250
const LOST = 'is open when nothing is at fault'
/** One batch comes with so many tasks; one of each follow-up at least, and two at most. */
const BATCH_TASKS = 100
/** So many orders come before the first fault, for a base that what is held is compared with. */
const WARM_UP = 40

/** Makes everything, lets callers and faults loose on it, waits until all has ended, and checks the three ledgers. */
export const runScenario = async (scenario: Scenario, say: Say) => {
  const start = Date.now()
  say(`${scenario.name}, seed ${scenario.seed}: ${scenario.plan.length} faults`)
  const { plan, needs, skipped } = await leaveOut(scenario.plan, say)
  return await withKept(async (keep) => {
    const world = await startWorld(keep, { ...scenario, needs })
    const over = new AbortController()
    keep({ stop: () => over.abort() })
    const callers = await makeCallers(world, { receivers: RECEIVERS, ...scenario })
    const bulkCallers = makeBulkCallers(callers, {
      seed: scenario.seed,
      batches: scenario.batches ?? countBatches(scenario.tasks),
      webhookOf: (key) => callers.receiverUrl(`/b/${key}`),
    })
    await callers.run(0, WARM_UP)
    const early = await waitUntilSettled(world.service, 3 * PATIENCE_MS)
    const base = await measure(world)
    const watch = startWatch(world)
    const beside = scenario.during?.(world, over.signal)
    const { seconds = (plan.at(-1)?.atMs ?? 0) / 1000 } = scenario
    const [struck] = await Promise.all([
      inflict(world, plan, scenario),
      callers.run(seconds * 1000),
      bulkCallers.run(seconds * 1000),
    ])
    await callers.reconcile()
    await bulkCallers.reconcile()
    const { checks, peak } = await watch.stop()
    const late = await waitUntilSettled(world.service)
    over.abort()
    await beside
    await removeDeleted(world)
    const left = await findLeft(world, base)
    const after = await measure(world)
    const ledgers = await readLedgers(world, { callers, bulks: await bulkCallers.read(), plan })
    const violations = [
      ...early,
      ...late,
      ...left,
      ...check(ledgers),
      ...checkResponses(callers.asked, struck),
      ...checkReady(struck, checks),
    ]
    const kept = violations.length > 0 && (await keepAll(world, { scenario, ledgers, violations }))
    return {
      ...summarize({ scenario, ledgers, struck, asked: callers.asked, violations }),
      /** Extras that could not be had here. */
      skipped,
      /** Before the first fault and in the end; and the most memory that a process had, in MiB. */
      held: Object.fromEntries(
        [...base].map(([name, before]) => [name, [before, after.get(name) ?? 0]] as const),
      ),
      peakRss: Math.round(peak),
      seconds: Math.round((Date.now() - start) / 1000),
      /** Folder with everything needed to understand a failure. */
      kept: kept || undefined,
    }
  })
}

const countBatches = (tasks: number): number => {
  const { length } = FOLLOW_UPS
  return Math.max(length, Math.min(2 * length, Math.ceil(tasks / BATCH_TASKS)))
}

/** Leaves out the faults whose needs cannot be had here, and says so. */
const leaveOut = async (plan: readonly Fault[], say: Say) => {
  const needs = new Set(plan.flatMap(({ name }) => kindOf(name).needs ?? []))
  const skipped: string[] = []
  for (const extra of needs) {
    const missing = await EXTRAS[extra]()
    if (missing === undefined) continue
    needs.delete(extra)
    skipped.push(`${extra}: ${missing}`)
    say(`  skipped: ${missing}`)
  }
  const isHad = (need: Extra | undefined): boolean => need === undefined || needs.has(need)
  return { plan: plan.filter(({ name }) => isHad(kindOf(name).needs)), needs, skipped }
}

type Draining = Pick<Service, 'database'>

/** Lists what has not ended, without events that nobody can receive and versions without an archive. */
const listOpen = async ({ database: { sql } }: Draining): Promise<string[]> => {
  const rows = await sql<{ what: string }[]>`
    select 'task ' || id || ' is ' || status as what from task where ended_at is null
    union all
    select 'version ' || id || ' is undecided' from version
    where status = 'NodeVersionStatusPending' and archive_state <> 'awaiting'
    union all
    select kind || ' ' || id || ' is ' || state from bulk where ended_at is null
    union all
    select 'event ' || e.id || ' is to be sent' from event e left join task t on t.id = e.task_id
    where e.state = 'pending' and coalesce(t.webhook_url, '') not like 'http://127.0.0.4:%'
    union all
    select kind || ' ' || workflow_id || ' is to be dispatched' from outbox where dispatched_at is null
    union all
    select 'the key ' || key || ' of ' || path || ' is held' from idempotency
    where status is null and lease_until > clock_timestamp()
  `
  return rows.map(({ what }) => what)
}

/** Waits until nothing is open; returns what still is when the time for it is over. */
export const waitUntilSettled = async (
  service: Draining,
  recoveryMs = RECOVERY_MS,
): Promise<Violation[]> => {
  const limitMs = recoveryMs + EACH_MS * (await listOpen(service)).length
  try {
    await waitFor('all has ended', async () => (await listOpen(service)).length === 0, limitMs)
    return []
  } catch {
    return (await listOpen(service)).map((what) => ({ invariant: 'I1', what: `${what} ${LOST}` }))
  }
}

/** Does what the hourly schedule does: files of deleted tasks that a fault kept go then. */
const removeDeleted = async ({ temporal, service: { taskQueue } }: World): Promise<void> => {
  const { workflow } = new Client({ connection: temporal.connection })
  await workflow.execute('purgeExpired', { taskQueue, workflowId: 'purge-once' })
}

/** Nothing that a fault has cut short is left: children, unfinished files, connections. */
const findLeft = async (world: World, base: Held): Promise<Violation[]> => {
  const left: Violation[] = []
  const report = (what: string) => (error: unknown) =>
    void left.push({ invariant: 'I10', what: `${what}: ${String(error)}` })
  await untilCleaned(world.service).catch(report('unfinished files'))
  const isQuiet = async () => (await listOrphans(world)).length === 0
  await waitFor('no child of a dead worker is left', isQuiet).catch(report('children'))
  const isGivenBack = async () => compare(base, await measure(world)).length === 0
  await waitFor('what was held is given back', isGivenBack).catch(() => {})
  return [...left, ...compare(base, await measure(world))]
}

/** Children of engines whose worker lives no more. */
const listOrphans = async ({ service, members }: World): Promise<number[]> => {
  const living = new Set([...members.values()].map(({ entry }) => entry?.pid))
  const children = await listEngineProcesses(service.storagePath)
  return children.filter((pid) => !living.has(findParent(pid)?.pid))
}

const readLedgers = async (
  world: World,
  { callers, bulks, plan }: { callers: Callers; bulks: BulkResult[]; plan: readonly Fault[] },
): Promise<Ledgers> => {
  const received = [...world.receiver.received, ...world.named.received]
  const said = {
    log: [...world.members.values()].flatMap(({ logs }) => logs.flat()),
    history: await readHistories(world),
    metric: await readMetricTexts(world),
  }
  const { orders, reads, wrong, secrets, canaries } = callers
  return {
    orders,
    bulks,
    reads,
    wrong,
    secrets,
    canaries,
    said,
    received: received.filter(({ path }) => /^\/[tb]\//.test(path)),
    rows: await readRows(world),
    pauses: world.pauses,
    mayFail: plan.some(({ name }) => kindOf(name).mayFail),
  }
}

/** Keeps what is needed to understand a failure, and to make it again. */
const keepAll = async (
  world: World,
  { scenario, ledgers, violations }: { scenario: Scenario; ledgers: Ledgers; violations: unknown },
): Promise<string> => {
  const folder = join(ROOT, '.built/faults', `${scenario.name}-${scenario.seed}-${Date.now()}`)
  await mkdir(folder, { recursive: true })
  const { plan } = scenario
  const said = ledgers.said.history
  for (const [name, value] of Object.entries({ ...ledgers, said, plan, violations }))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value ?? [], toPlain, 1))
  await writeFile(join(folder, 'faults.txt'), plan.map(describeError).join('\n'))
  for (const { name, logs } of world.members.values())
    await writeFile(join(folder, `${name}.log`), logs.flat().join('\n'))
  return folder
}

const toPlain = (_key: string, value: unknown): unknown => {
  if (value instanceof Set) return [...(value as Set<unknown>)]
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>)
  return value
}
