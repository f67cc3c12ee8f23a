import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Client, Connection } from '@temporalio/client'

import { VIDEO_API } from '../test/support/client.ts'
import { readMetrics } from '../test/support/metrics.ts'
import { startWebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import type { TestServers } from '../test/support/servers.ts'
import { startTemporalOnPostgres } from '../test/support/temporal-postgres.ts'
import { makeKilnPublish } from './publish/kiln.ts'
import { makeArchive, makeTarget } from './publish/target.ts'
import { startBareTasks } from './support/bare-task.ts'
import { callJson } from './support/call.ts'
import { say } from './support/figures.ts'
import { withServers } from './support/keep.ts'
import type { Keep } from './support/keep.ts'
import { inLanes, rateOf } from './support/lanes.ts'
import { readProcessors, watchProcessors } from './support/processor.ts'
import { relight, startTaskClient } from './support/task-client.ts'

/** How many of each, one after another and then so many at once. */
const TIMES = Number(process.env['TIMES'] ?? 60)
const IN_FLIGHT = 8

/** What was spent so far, by what it is. */
type Spent = Record<string, number>

/**
 * What one image task, one that a receiver is told of, one video task of 8 frames, one publication of a small pack and one
 * search cost: milliseconds of processor in each process, statements, transactions, log and fsyncs of PostgreSQL, operations
 * of the store, events of Temporal's histories. With TEMPORAL=postgres Temporal writes to the same PostgreSQL, so that what is
 * more than without is its persistence. At the end a mix of them is compared with the sum of its parts.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const temporal = await placeTemporal(keep, servers)
    const env = {
      VIDEO_TINY: 'true',
      PUBLISH_AUTH: 'token',
      HEARTBEAT_SECONDS: '10',
      METRICS_PORT: '0',
      RATE_LIMITS: 'off',
      TEMPORAL_ADDRESS: temporal.address,
    }
    const service = keep(await startService({ env }))
    const tasks = keep(await startTaskClient(service))
    const publish = keep(await makeKilnPublish(service, await makeTarget(service)))
    const image = await relight()
    const path = `${VIDEO_API}/text2video`
    const video = { path, body: { prompt: 'a' }, end: 'success' } as const
    const archive = makeArchive(10_000)
    let published = 0
    const bare = keep(await startBareTasks(temporal.address))
    const receiver = keep(await startWebhookReceiver())
    const probe = await makeProbe(service, servers, { bare: bare.pids, temporal })
    const jobs: Record<string, Job> = {
      'bare workflow': bare.runTask,
      'image task': () => tasks.run(image),
      'image task, told': () => tasks.runTold(image, receiver),
      'video task': () => tasks.run(video),
      publication: (lane) =>
        publish.publishOnce(archive, { nodeId: `lane-${lane}`, version: `1.0.${published++}` }),
      search: () => callJson(`${service.baseUrl}/nodes/search?search=lane`),
    }
    const costs: Record<string, Spent> = {}
    for (const [name, job] of Object.entries(jobs)) costs[name] = await profile(name, job, probe)
    await compareMix(jobs, costs, probe)
  })

type Job = (lane: number) => Promise<unknown>

/** Answers what one of it costs. */
const profile = async (name: string, job: Job, probe: () => Promise<Spent>): Promise<Spent> => {
  await inLanes(IN_FLIGHT, IN_FLIGHT, (_, lane) => job(lane))
  const alone = 1000 / (await rateOf(TIMES, 1, () => job(0)))
  const before = await probe()
  await inLanes(TIMES, IN_FLIGHT, (_, lane) => job(lane))
  const after = await probe()
  say(`\n${name}: ${alone.toFixed(1)} ms, one at a time; ${IN_FLIGHT} at once cost each`)
  return Object.fromEntries(
    Object.entries(after).map(([what, value]) => {
      const cost = (value - (before[what] ?? 0)) / TIMES
      say(`${what.padEnd(28)} ${cost.toFixed(1).padStart(8)}`)
      return [what, cost]
    }),
  )
}

/** Of ten jobs of a mixed day. */
const MIX = [
  ...Array.from({ length: 5 }, () => 'image task, told'),
  'video task',
  'publication',
  ...Array.from({ length: 3 }, () => 'search'),
]

/** Does them all at once, and compares what they cost with the sum of what each alone does. */
const compareMix = async (
  jobs: Record<string, Job>,
  costs: Record<string, Spent>,
  probe: () => Promise<Spent>,
): Promise<void> => {
  const times = MIX.length * Math.ceil((TIMES * 3) / MIX.length)
  const before = await probe()
  await inLanes(
    times,
    IN_FLIGHT,
    (index, lane) => jobs[MIX[index % MIX.length] ?? '']?.(lane) ?? Promise.resolve(),
  )
  const after = await probe()
  say(`\n${times} of them mixed: foreseen, measured, difference`)
  for (const [what, value] of Object.entries(after)) {
    const foreseen =
      MIX.reduce((sum, name) => sum + (costs[name]?.[what] ?? 0), 0) * (times / MIX.length)
    const measured = value - (before[what] ?? 0)
    const percent = `${((measured / foreseen - 1) * 100).toFixed(0)} %`
    say(
      `${what.padEnd(28)} ${foreseen.toFixed(0).padStart(10)} ${measured.toFixed(0).padStart(10)} ${percent.padStart(7)}`,
    )
  }
}

interface Temporal {
  address: string
  /** In which it works. */
  folder: string
}

const placeTemporal = async (keep: Keep, { folder, env }: TestServers): Promise<Temporal> => {
  if (process.env['TEMPORAL'] !== 'postgres')
    return { address: env.TEST_TEMPORAL_ADDRESS, folder: join(folder, 'temporal') }
  const dataDir = join(folder, 'temporal-postgres')
  await mkdir(dataDir)
  const postgresUrl = env.TEST_DATABASE_URL
  const { address } = keep(await startTemporalOnPostgres({ postgresUrl, dataDir }))
  return { address, folder: dataDir }
}

const makeProbe = async (
  service: Service,
  { folder }: TestServers,
  { bare, temporal }: { bare: readonly number[]; temporal: Temporal },
): Promise<() => Promise<Spent>> => {
  const { sql } = service.database
  await sql`alter system set log_statement = 'all'`
  await sql`select pg_reload_conf()`
  const processors = await watchProcessors(service, temporal.folder)
  const connection = await Connection.connect({ address: temporal.address })
  const client = new Client({ connection })
  return async () => {
    const log = await readFile(join(folder, 'postgres', 'postgres.log'), 'utf8')
    const [row] = await sql<Record<string, number>[]>`
      select
        (select xact_commit from pg_stat_database where datname = current_database())::float8 as transactions,
        (select sum(xact_commit) from pg_stat_database where datname like 'temporal_%')::float8 as steps,
        (select sum(tup_inserted + tup_updated + tup_deleted) from pg_stat_database where datname like 'temporal_%')::float8 as rows,
        pg_database_size(current_database())::float8 as size,
        (select sum(pg_database_size(datname)) from pg_database where datname like 'temporal_%')::float8 as "sizeThere",
        (select wal_fpi from pg_stat_wal)::float8 as pages,
        (select wal_bytes from pg_stat_wal)::float8 as bytes,
        (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as syncs
    `
    const figures = await Promise.all(
      (['api', 'core', 'media'] as const).map((role) => readMetrics(service.entry(role))),
    )
    return {
      ...Object.fromEntries(
        Object.entries(processors.read()).map(([part, ms]) => [`ms of ${part}`, ms]),
      ),
      'ms of bare workers': readProcessors(bare),
      statements: (log.match(/LOG: {2}(execute|statement)/g) ?? []).length,
      transactions: row?.['transactions'] ?? 0,
      'fsyncs of PostgreSQL': row?.['syncs'] ?? 0,
      'bytes of its log': row?.['bytes'] ?? 0,
      'full pages in its log': row?.['pages'] ?? 0,
      'bytes of its tables': row?.['size'] ?? 0,
      "bytes of Temporal's tables": row?.['sizeThere'] ?? 0,
      'transactions of Temporal': row?.['steps'] ?? 0,
      'rows written by it': row?.['rows'] ?? 0,
      'operations of the store': sumOf(figures, 'kiln_store_operation_duration_seconds_count'),
      'events of histories': await countEvents(client),
    }
  }
}

const sumOf = (figures: readonly Map<string, number>[], name: string): number =>
  figures
    .flatMap((all) => [...all])
    .filter(([label]) => label.startsWith(name))
    .reduce((sum, [, value]) => sum + value, 0)

const countEvents = async (client: Client): Promise<number> => {
  let events = 0
  for await (const { historyLength } of client.workflow.list()) events += historyLength
  return events
}
