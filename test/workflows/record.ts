/**
 * Records the histories that replay.test.ts replays, from runs against a Temporal server of its own:
 * `node tools/run.mjs test/workflows/record.ts [name …]`. Run it when a workflow has a new path: it writes what is
 * missing, and what is named. Histories of earlier versions stay as they are, because they prove that workflows begun by
 * them go on; name one only when none of its kind can be open any more.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

import { Client } from '@temporalio/client'
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js'
import { NativeConnection, Worker } from '@temporalio/worker'

import type { BulkKind } from '../../src/tasks/domain/bulk/bulk.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { ROOT } from '../../src/local/root.ts'
import { bundleWorkflows } from '../../src/local/workflow-bundle.ts'
import { startOwnTemporal } from '../faults/servers.ts'
import { BATCH_SCENARIOS, OPERATION_SCENARIOS, type BulkScenario } from './bulk-scenarios.ts'
import { DELIVERY_SCENARIOS, REDELIVERY_SCENARIOS } from './delivery-scenarios.ts'
import { startRunner, type Run, type Runner, type RunnerOptions } from './run.ts'
import { installQuietRuntime } from './runtime.ts'
import { TASK_SCENARIOS, type TaskScenario } from './task-scenarios.ts'
import { VERSION_SCENARIOS, childOf } from './version-scenarios.ts'

const FOLDER = join(ROOT, 'test/workflows/histories')
const TASK_QUEUE = 'kiln'
const IDENTITY = 'recorder'

const main = async (): Promise<void> => {
  const names = await listWanted()
  if (names.length === 0) return
  installQuietRuntime()
  const temporal = await startOwnTemporal()
  try {
    await record(names, {
      address: temporal.server.address,
      connection: temporal.connection,
      codePath: await bundleWorkflows(),
      taskQueue: TASK_QUEUE,
      identity: IDENTITY,
    })
  } finally {
    await temporal.stop()
  }
}

/** Workflows of schedules, and the activity that each calls until it returns 0. */
const HOURLY = { 'purge-expired': 'purgeExpired', 'refresh-stars': 'refreshStars' } as const

/** The scenarios in which the child that receives the upload takes ways of its own. */
const WAITS = ['active', 'uploaded-later', 'expired'] as const

/** Those in which the child that reads the archive does. */
const READINGS = ['active', 'given-up', 'never-read', 'cancelled-by-operator'] as const

const FAMILIES = ['image', 'video'] as const

/** Whose histories are those of another scenario but for ids, times and results that are only passed on. */
const ALIKE = [
  ...FAMILIES.flatMap((family) => [
    `${family}-task-cancelled-while-waiting`,
    `${family}-task-ended-before-render`,
    `${family}-task-cancelled-too-late`,
    `${family}-task-timed-out`,
    `${family}-task-worker-stopped`,
  ]),
  'publish-version-checked-again',
  'publish-version-expired',
  'publish-version-looked-again',
  'publish-version-never-read',
  'publish-version-uploaded-later',
  'publish-version-worker-lost',
]

/** The runs of the scenarios of a workflow, by the names of their histories. */
const listRuns = <Scenario>(
  workflow: string,
  scenarios: Record<string, Scenario>,
  startOf: (runner: Runner) => (scenario: Scenario) => Promise<Run>,
) =>
  Object.entries(scenarios).map(([name, scenario]) => {
    const run = (runner: Runner) => startOf(runner)(scenario)
    return [`${workflow}-${name}`, run] as const
  })

/** The run of a child of a publication. */
const listChildRun = (workflow: string, name: keyof typeof VERSION_SCENARIOS) => {
  const run = async (runner: Runner) => {
    const { handle } = await runner.version(VERSION_SCENARIOS[name])
    return { handle: childOf(handle, `${workflow}/`) }
  }
  return [`${workflow}-${name}`, run] as const
}

const taskOf = (family: TaskFamily) => (runner: Runner) => (scenario: TaskScenario) =>
  runner.task(family, scenario)

const bulkOf = (kind: BulkKind) => (runner: Runner) => (scenario: BulkScenario) =>
  runner.bulk(kind, scenario)

/** Every history of a task, of a delivery or of a version, by its name. */
const RUNS: Record<string, (runner: Runner) => Promise<Pick<Run, 'handle'>>> = Object.fromEntries([
  ...FAMILIES.flatMap((family) => listRuns(`${family}-task`, TASK_SCENARIOS, taskOf(family))),
  ...listRuns('run-batch', BATCH_SCENARIOS, bulkOf('batch')),
  ...listRuns('run-operation', OPERATION_SCENARIOS, bulkOf('operation')),
  ...listRuns('deliver-events', DELIVERY_SCENARIOS, (runner) => runner.deliver),
  ...listRuns('redeliver-event', REDELIVERY_SCENARIOS, (runner) => runner.redeliver),
  ...listRuns('publish-version', VERSION_SCENARIOS, (runner) => runner.version),
  ...WAITS.map((name) => listChildRun('receive-archive', name)),
  ...READINGS.map((name) => listChildRun('extract-host-nodes', name)),
])

/** The names given, or those of the histories that are not there. */
const listWanted = async (): Promise<string[]> => {
  const all = [...Object.keys(RUNS), ...Object.keys(HOURLY)].filter((name) => !ALIKE.includes(name))
  const given = process.argv.slice(2)
  const unknown = given.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`no history is called ${unknown.join(', ')}`)
  if (given.length > 0) return given
  const stored = await readdir(FOLDER)
  return all.filter((name) => !stored.includes(`${name}.json`))
}

const record = async (names: readonly string[], options: RunnerOptions): Promise<void> => {
  const runner = await startRunner(options)
  for (const name of names) {
    const ended = await RUNS[name]?.(runner)
    if (ended) await save(name, await ended.handle.fetchHistory())
  }
  await runner.stop()
  for (const [id, name] of Object.entries(HOURLY))
    if (names.includes(id)) await save(id, await runHourly(id, name, options))
}

const runHourly = async (
  workflowId: string,
  name: string,
  { address, connection, codePath }: RunnerOptions,
): Promise<History> => {
  const batches = [200, 17, 0]
  const native = await NativeConnection.connect({ address })
  const worker = await Worker.create({
    connection: native,
    identity: IDENTITY,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath },
    activities: { [name]: () => Promise.resolve(batches.shift() ?? 0) },
  })
  const options = { taskQueue: TASK_QUEUE, workflowId }
  const { workflow } = new Client({ connection, identity: IDENTITY })
  const handle = await workflow.start(name, options)
  await worker.runUntil(handle.result())
  await native.close()
  return await handle.fetchHistory()
}

const save = async (name: string, history: History): Promise<void> => {
  const text = `${JSON.stringify(neutral(JSON.parse(historyToJSON(history))))}\n`
  for (const trace of [`@${hostname()}`, ROOT, tmpdir()])
    if (text.includes(trace)) throw new Error(`${name} tells of the machine it is from: ${trace}`)
  await writeFile(join(FOLDER, `${name}.json`), text)
}

/** Removes what names a machine: who polled, and where in the file system the code lay. No replay reads it. */
const neutral = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(neutral)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [
    key,
    key === 'identity' ? IDENTITY : key === 'stackTrace' ? '' : neutral(member),
  ])
  return Object.fromEntries(members) as unknown
}

await main()
