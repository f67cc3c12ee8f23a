/**
 * Tries every migration since a release on a database of a million tasks while callers read and write, and reports how
 * long a caller waited for a lock. From a release that must be stopped there are no callers: then the time alone counts.
 */
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { secondsSince } from '../../src/local/console.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { fill } from './fill.ts'
import { migrateToRelease } from './release.ts'
import { needsStop } from './states.ts'

const TASKS = Number(process.env['ROWS'] ?? 1_000_000)
const AIM_MS = 100
/** Time for which callers run before the migrations, for comparison. */
const QUIET_MS = 10_000
const CALLERS = 4
const PAUSE_MS = 5
/** Milliseconds between polls of the locks, which are one more caller. */
const POLL_MS = 4

interface Watched {
  /** Step of the migrator now. */
  step: string
  /** Longest wait of each step for a lock that another session had, in milliseconds, and the query that waited. */
  waits: Map<string, { ms: number; query: string }>
  /** Longest statement or transaction of a caller in each step. */
  calls: Map<string, number>
  count: number
  failed: string[]
}

/** Returns true when no caller waited longer than is aimed at. */
export const testMigrations = async (
  release: string,
  say: (line: string) => void,
): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-upgrade-'))
  await chmod(folder, 0o711)
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), say })
  const open = (pool: number, name: string): Sql =>
    makeDatabase({ url: server.url, pool, name, statementTimeoutMs: 0, waitMs: PATIENCE_MS })
  const sql = open(CALLERS * 2, 'callers')
  const [own, checks] = [open(1, 'fill'), open(1, 'looks')]
  try {
    await migrateToRelease(server.url, release)
    const start = Date.now()
    await fill(own, TASKS)
    say(`${TASKS} tasks and ${3 * TASKS} events, after ${secondsSince(start)}`)
    return await watchMigrations({
      sql,
      server: server.url,
      checks,
      callers: needsStop(release) ? 0 : CALLERS,
      say,
    })
  } finally {
    await Promise.all([sql, own, checks].map((each) => each.end({ timeout: 1 })))
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Databases {
  sql: Sql
  server: string
  checks: Sql
  callers: number
  say: (line: string) => void
}

const watchMigrations = async ({
  sql,
  server,
  checks,
  callers,
  say,
}: Databases): Promise<boolean> => {
  const none = { waits: new Map(), calls: new Map(), count: 0, failed: [] }
  const watched: Watched = { step: 'without migrations', ...none }
  const stopping = new AbortController()
  const { signal } = stopping
  const running = [
    ...Array.from({ length: callers }, (_, n) => call(watched, signal, () => readOne(sql, n))),
    ...Array.from({ length: callers }, (_, n) => call(watched, signal, () => writeOne(sql, n))),
    check(watched, signal, checks),
  ]
  await sleep(QUIET_MS)
  const start = Date.now()
  const applied = await migrate(server).finally(async () => {
    stopping.abort()
    await Promise.all(running)
  })
  say(`${applied.length} migrations in ${secondsSince(start)}, beside ${watched.count} calls`)
  return report(watched, say)
}

const call = async (
  watched: Watched,
  signal: AbortSignal,
  act: () => Promise<unknown>,
): Promise<void> => {
  while (!signal.aborted) {
    const start = performance.now()
    await act().catch((error: unknown) => watched.failed.push(String(error)))
    const ms = performance.now() - start
    watched.count += 1
    watched.calls.set(watched.step, Math.max(ms, watched.calls.get(watched.step) ?? 0))
    await sleep(PAUSE_MS)
  }
}

/** `waitstart` is exact, so a poll loses no more than its own distance to the end of the wait. */
const check = async (watched: Watched, signal: AbortSignal, sql: Sql): Promise<void> => {
  while (!signal.aborted) {
    const [migrator, ...waiting] = await sql<{ query: string; ms: number | null; name: string }[]>`
      select left(regexp_replace(a.query, E'(--[^\\n]*)?[ \\n]+', ' ', 'g'), 90) as query, a.application_name as name,
        (select extract(epoch from max(clock_timestamp() - l.waitstart)) * 1000
          from pg_locks l where l.pid = a.pid and not l.granted)::float as ms
      from pg_stat_activity a
      where a.application_name in ('kiln migrate', 'callers') and a.state <> 'idle'
      order by a.application_name desc
    `
    if (migrator?.name === 'kiln migrate') watched.step = migrator.query
    for (const { ms, query } of waiting)
      if ((ms ?? 0) > (watched.waits.get(watched.step)?.ms ?? 0))
        watched.waits.set(watched.step, { ms: ms ?? 0, query })
    await sleep(POLL_MS)
  }
}

const report = ({ waits, calls, failed }: Watched, say: (line: string) => void): boolean => {
  say('longest wait for a lock · longest call · step')
  for (const [step, longest] of calls) {
    const wait = waits.get(step)
    const waiter = wait && wait.ms > AIM_MS ? `  <- ${wait.query}` : ''
    const [waited, called] = [wait?.ms ?? 0, longest].map((ms) => ms.toFixed(0).padStart(8))
    say(`${waited} ms ${called} ms  ${step}${waiter}`)
  }
  const longest = Math.max(0, ...[...waits.values()].map(({ ms }) => ms))
  const isShort = longest > AIM_MS
  say(`upgrade.lock ${longest.toFixed(0)} ms aim <= ${AIM_MS} ${isShort ? 'short' : 'ok'}`)
  const failure = failed.length === 0 ? 'ok' : `short: ${failed[0]}`
  say(`upgrade.failed-calls ${failed.length} aim <= 0 ${failure}`)
  return longest <= AIM_MS && failed.length === 0
}

/** Does what GETs do: by id, by owner, the events of a task, a node with its latest version. */
const readOne = async (sql: Sql, n: number): Promise<void> => {
  const id = sql`md5('growth ' || ${String(Math.ceil(Math.random() * TASKS))})::uuid`
  await sql`select * from task where id = ${id}`
  await sql`
    select id from task where owner = ${`owner-${n}`} and segment = 'image-relight'
    order by created_at desc, id desc limit 20
  `
  await sql`select id, state from event where task_id = ${id} order by sequence`
  await sql`
    select n.id from node n
    join node_stats s on s.node_id = n.id
    left join version v on v.id = n.latest_version_id
    where n.id = ${`node-${n + 1}`}
  `
}

/** Writes what creation, transitions and delivery of one task write, and an upload's end in the registry. */
const writeOne = async (sql: Sql, n: number): Promise<void> => {
  const id = randomUUID()
  await sql.begin(async (sql) => {
    await sql`
      insert into task (id, family, kind, segment, owner, status, settings, webhook_url)
      values (${id}, 'image', 'relight', 'image-relight', ${`owner-${n}`}, 'CREATED', '{}', 'https://r.example.com/')
    `
    await sql`insert into event (task_id, sequence, status, deliver, state) values (${id}, 1, 'CREATED', true, 'pending')`
    await sql`insert into outbox (kind, workflow_type, workflow_id) values ('start', 'imageTask', ${id})`
  })
  await sql.begin(async (sql) => {
    await sql`update task set status = 'COMPLETED', ended_at = clock_timestamp(), last_sequence = 2 where id = ${id}`
    await sql`insert into event (task_id, sequence, status, deliver, state) values (${id}, 2, 'COMPLETED', true, 'pending')`
  })
  await sql`update event set state = 'delivered' where task_id = ${id} and sequence = 1`
  await sql.begin(async (sql) => {
    await sql`select from node where id = ${`node-${n + 1}`} for update`
    await sql`update version set rev = rev + 1 where node_id = ${`node-${n + 1}`}`
    await sql`delete from current_host_node where node_id = ${`node-${n + 1}`}`
    await sql`insert into current_host_node (node_id, name) values (${`node-${n + 1}`}, 'Sharpen')`
    await sql`update node_stats set downloads = downloads + 1 where node_id = ${`node-${n + 1}`}`
  })
}
