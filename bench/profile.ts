import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Client, Connection } from '@temporalio/client'

import { VIDEO_API } from '../test/support/client.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import type { TestServers } from '../test/support/servers.ts'
import { makeKilnPublish } from './publish/kiln.ts'
import { makeArchive, makeTarget } from './publish/target.ts'
import { startBareTasks } from './support/bare-task.ts'
import { say } from './support/figures.ts'
import { withServers } from './support/keep.ts'
import { inLanes, rateOf } from './support/lanes.ts'
import { readProcessors, watchProcessors } from './support/processor.ts'
import { relight, startTaskClient } from './support/task-client.ts'

/** How many of each, one after another and then so many at once. */
const TIMES = Number(process.env['TIMES'] ?? 60)
const IN_FLIGHT = 8

/** What was spent so far, by what it is. */
type Spent = Record<string, number>

/**
 * What one image task, one video task of 8 frames and one publication of a small pack cost: milliseconds of processor in
 * each process, statements, transactions and fsyncs of PostgreSQL, events of Temporal's histories.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const env = { VIDEO_TINY: 'true', PUBLISH_AUTH: 'token', HEARTBEAT_SECONDS: '10' }
    const service = keep(await startService({ env }))
    const tasks = keep(await startTaskClient(service))
    const publish = keep(await makeKilnPublish(service, await makeTarget(service)))
    const image = await relight()
    const path = `${VIDEO_API}/text2video`
    const video = { path, body: { prompt: 'a' }, end: 'success' } as const
    const archive = makeArchive(10_000)
    let published = 0
    const bare = keep(await startBareTasks(servers.env.TEST_TEMPORAL_ADDRESS))
    const probe = await makeProbe(service, servers, bare.pids)
    const profile = async (
      name: string,
      work: (lane: number) => Promise<unknown>,
    ): Promise<void> => {
      await inLanes(IN_FLIGHT, IN_FLIGHT, (_, lane) => work(lane))
      const alone = 1000 / (await rateOf(TIMES, 1, () => work(0)))
      const before = await probe()
      await inLanes(TIMES, IN_FLIGHT, (_, lane) => work(lane))
      const after = await probe()
      say(`\n${name}: ${alone.toFixed(1)} ms, one at a time; ${IN_FLIGHT} at once cost each`)
      for (const [what, value] of Object.entries(after))
        say(`${what.padEnd(28)} ${((value - (before[what] ?? 0)) / TIMES).toFixed(1).padStart(8)}`)
    }
    await profile('bare workflow', bare.runTask)
    await profile('image task', () => tasks.run(image))
    await profile('video task', () => tasks.run(video))
    await profile('publication', (lane) =>
      publish.publishOnce(archive, { nodeId: `lane-${lane}`, version: `1.0.${published++}` }),
    )
  })

const makeProbe = async (
  service: Service,
  { folder, env }: TestServers,
  bare: readonly number[],
): Promise<() => Promise<Spent>> => {
  const { sql } = service.database
  await sql`alter system set log_statement = 'all'`
  await sql`select pg_reload_conf()`
  const processors = await watchProcessors(service, join(folder, 'temporal'))
  const connection = await Connection.connect({ address: env.TEST_TEMPORAL_ADDRESS })
  const client = new Client({ connection })
  return async () => {
    const log = await readFile(join(folder, 'postgres', 'postgres.log'), 'utf8')
    const [row] = await sql<{ transactions: number; syncs: number }[]>`
      select
        (select xact_commit from pg_stat_database where datname = current_database())::float8 as transactions,
        (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as syncs
    `
    return {
      ...Object.fromEntries(
        Object.entries(processors.read()).map(([part, ms]) => [`ms of ${part}`, ms]),
      ),
      'ms of bare workers': readProcessors(bare),
      statements: (log.match(/LOG: {2}(execute|statement)/g) ?? []).length,
      transactions: row?.transactions ?? 0,
      'fsyncs of PostgreSQL': row?.syncs ?? 0,
      'events of histories': await countEvents(client),
    }
  }
}

const countEvents = async (client: Client): Promise<number> => {
  let events = 0
  for await (const { historyLength } of client.workflow.list()) events += historyLength
  return events
}
