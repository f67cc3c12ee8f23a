import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Client } from '@temporalio/client'

import { openTemporal } from '../src/platform/temporal/connection.ts'
import { readTemporal } from '../src/platform/settings/temporal.ts'
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
import { say } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import { temporalSettings } from '../test/support/stack.ts'
import { inLanes, rateOf } from './support/lanes.ts'
import { readProcessors, spentOn, watchProcessors } from './support/processor.ts'
import type { Spent } from './support/processor.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'

/** Number of each, one after another and then so many at once. */
const TIMES = Number(process.env['TIMES'] ?? 60)
const IN_FLIGHT = 8

/**
 * Measures what one image task, one with a webhook, one video task of 8 frames, one publication of a small pack and one
 * search cost: milliseconds of processor in each process, statements, transactions, log and fsyncs of PostgreSQL, operations
 * of the store, events of Temporal's histories. With TEMPORAL=postgres Temporal writes to the same PostgreSQL, so that what is
 * more than without is its persistence. At the end a mix of them is compared with the sum of its parts.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const isOnPostgres = process.env['TEMPORAL'] === 'postgres'
    const temporal = {
      address: servers.env.TEST_TEMPORAL_ADDRESS,
      folder: join(servers.folder, isOnPostgres ? 'temporal-postgres' : 'temporal'),
    }
    if (isOnPostgres) {
      const options = { postgresUrl: servers.env.TEST_DATABASE_URL, dataDir: temporal.folder }
      await mkdir(options.dataDir)
      temporal.address = keep(await startTemporalOnPostgres(options)).address
    }
    const env = {
      ...DEFAULTS,
      OVERRIDE_VIDEO_TINY: 'true',
      PUBLISH_AUTH: 'token',
      METRICS_PORT: '0',
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
      'image task, notified': () => tasks.runNotified(image, receiver),
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

/** Returns the cost of one job. */
const profile = async (name: string, job: Job, probe: () => Promise<Spent>): Promise<Spent> => {
  await inLanes(IN_FLIGHT, IN_FLIGHT, (_, lane) => job(lane))
  const alone = 1000 / (await rateOf(TIMES, 1, () => job(0)))
  const spent = await spentOn(probe, () => inLanes(TIMES, IN_FLIGHT, (_, lane) => job(lane)))
  say(`\n${name}: ${alone.toFixed(1)} ms, one at a time; ${IN_FLIGHT} at once cost each`)
  const costs = Object.entries(spent).map(([what, value]) => [what, value / TIMES] as const)
  for (const [what, cost] of costs) say(`${what.padEnd(28)} ${cost.toFixed(1).padStart(8)}`)
  return Object.fromEntries(costs)
}

/** Ten jobs of a mixed day. */
const SHARES = { 'image task, notified': 5, 'video task': 1, publication: 1, search: 3 }
const MIX = Object.entries(SHARES).flatMap(([name, count]) => Array<string>(count).fill(name))

/** Does them all at once, and compares what they cost with the sum of what each alone does. */
const compareMix = async (
  jobs: Record<string, Job>,
  costs: Record<string, Spent>,
  probe: () => Promise<Spent>,
): Promise<void> => {
  const times = MIX.length * Math.ceil((TIMES * 3) / MIX.length)
  const spent = await spentOn(probe, () =>
    inLanes(times, IN_FLIGHT, async (index, lane) => jobs[MIX[index % MIX.length] ?? '']?.(lane)),
  )
  say(`\n${times} of them mixed: foreseen, measured, difference`)
  for (const [what, measured] of Object.entries(spent)) {
    const ofMix = MIX.reduce((sum, name) => sum + (costs[name]?.[what] ?? 0), 0)
    const foreseen = ofMix * (times / MIX.length)
    const percent = `${((measured / foreseen - 1) * 100).toFixed(0)} %`
    const cells = [foreseen.toFixed(0), measured.toFixed(0), percent]
    say(what.padEnd(28) + cells.map((cell) => cell.padStart(11)).join(''))
  }
}

const makeProbe = async (
  service: Service,
  { folder }: TestServers,
  { bare, temporal }: { bare: readonly number[]; temporal: { address: string; folder: string } },
): Promise<() => Promise<Spent>> => {
  const { sql } = service.database
  await sql`alter system set log_statement = 'all'`
  await sql`select pg_reload_conf()`
  const readParts = await watchProcessors(service, temporal.folder)
  const target = readTemporal(temporalSettings(temporal.address))
  const client = new Client({ connection: openTemporal(target), namespace: target.namespace })
  return async () => {
    const log = await readFile(join(folder, 'postgres', 'postgres.log'), 'utf8')
    const [counted] = await sql<Spent[]>`
      with ours as (select * from pg_stat_database where datname = current_database()),
      temporals as (
        select sum(xact_commit) as steps, sum(tup_inserted + tup_updated + tup_deleted) as rows,
          sum(pg_database_size(datname)) as size
        from pg_stat_database where datname like 'temporal_%'
      )
      select
        ours.xact_commit::float8 as transactions,
        (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as "fsyncs of PostgreSQL",
        wal.wal_bytes::float8 as "bytes of its log",
        wal.wal_fpi::float8 as "full pages in its log",
        pg_database_size(ours.datname)::float8 as "bytes of its tables",
        coalesce(temporals.size, 0)::float8 as "bytes of Temporal's tables",
        coalesce(temporals.steps, 0)::float8 as "transactions of Temporal",
        coalesce(temporals.rows, 0)::float8 as "rows written by it"
      from ours, temporals, pg_stat_wal wal
    `
    const results = await Promise.all(
      (['api', 'core', 'media'] as const).map((role) => readMetrics(service.entry(role))),
    )
    const times = Object.entries(readParts()).map(([part, ms]) => [`ms of ${part}`, ms])
    return {
      ...(Object.fromEntries(times) as Spent),
      'ms of bare workers': readProcessors(bare),
      statements: (log.match(/LOG: {2}(execute|statement)/g) ?? []).length,
      ...counted,
      'operations of the store': sumOf(results, 'kiln_store_operation_duration_seconds_count'),
      'events of histories': await countEvents(client),
    }
  }
}

const sumOf = (results: readonly Map<string, number>[], name: string): number =>
  results
    .flatMap((all) => [...all])
    .filter(([label]) => label.startsWith(name))
    .reduce((sum, [, value]) => sum + value, 0)

const countEvents = async (client: Client): Promise<number> => {
  let events = 0
  for await (const { historyLength } of client.workflow.list()) events += historyLength
  return events
}
