import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeDatabase, type Sql } from './client.ts'
import { watchLocks, type Blocker } from './lock-watch.ts'
import { readServer } from './server.ts'
import { isLocked } from './sqlstate.ts'

/** Advisory lock: of two processes that migrate at once, the second waits for it. The number is arbitrary. */
const LOCK = 7_041_977

/** No caller waits for a response: a busy server may take as long. */
const CONNECT_MS = 10_000

/** Each poll of the lock ends at once: a statement that waited would hold a snapshot, which index builds wait for. */
const POLL_MS = 200

/** Longest wait for a lock on a table: as long do all others wait behind it. */
const LOCK_MS = 50

/** Pause between two reports of whom it waits for. */
const REPORT_MS = 30_000

/** Pause before a step that got no lock is tried again, and how long that goes on: a vacuum of a large table ends by then. */
const PAUSE_MS = 300
export const PATIENCE_MS = 3_600_000

interface Migration {
  name: string
  steps: { text: string; isAlone: boolean }[]
  checksum: string
  /** Checksums of texts that gave the same schema, and locked for longer. */
  earlier: string[]
}

export class MigrationError extends Error {
  override name = 'MigrationError'
}

interface MigrateOptions {
  /** Called with the name of each migration once it is applied. */
  onApplied?: (name: string) => void
  /** Called each `reportMs` while it waits for locks; without a name while another process migrates. */
  onBlocked?: (blockers: Blocker[], name?: string) => void
  reportMs?: number
  /** Longest that a step waits for its locks, all attempts together. */
  patienceMs?: number
  folder?: URL
}

const FOLDER = new URL('./migrations/', import.meta.url)

/**
 * Applies the pending migrations in the order of their numbers beside callers, and returns their names. Each step is one
 * transaction with its record, or one statement that PostgreSQL runs in none. After a killed run the next one goes on
 * where it ended. The address must not lead to a pooler, which gives a session away after each transaction. A migration
 * that changed after it was applied is rejected: write a new one instead.
 */
export const migrate = async (
  url: string,
  {
    onApplied = () => {},
    onBlocked = () => {},
    reportMs = REPORT_MS,
    patienceMs = PATIENCE_MS,
    folder = FOLDER,
  }: MigrateOptions = {},
): Promise<string[]> => {
  const migrations = await readMigrations(folder)
  const sql = makeDatabase({
    url,
    pool: 1,
    name: 'kiln migrate',
    statementTimeoutMs: 0,
    waitMs: CONNECT_MS,
  })
  let current: string | undefined
  let stopWatch: (() => Promise<void>) | undefined
  try {
    await readServer(sql)
    stopWatch = watchLocks(url, {
      pid: await readPid(sql),
      advisory: LOCK,
      intervalMs: reportMs,
      onBlocked: (blockers) => onBlocked(blockers, current),
    })
    while (!(await takeLock(sql))) await sleep(POLL_MS)
    await sql`
      create table if not exists migration (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default clock_timestamp()
      )
    `
    const applied = await listApplied(sql)
    const pending = comparePending(migrations, applied)
    for (const { name, steps, checksum } of pending) {
      current = name
      for (const [index, step] of steps.entries()) {
        const isLast = index === steps.length - 1
        const record = isLast ? name : `${name}#${index + 1}`
        if (applied.has(record)) continue
        await untilLocked(name, patienceMs, () => applyStep(sql, step, { record, checksum }))
      }
      onApplied(name)
    }
    return pending.map((migration) => migration.name)
  } finally {
    await stopWatch?.()
    await sql.end({ timeout: 1 })
  }
}

const readPid = async (sql: Sql): Promise<number> => {
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return own?.pid ?? 0
}

const takeLock = async (sql: Sql): Promise<boolean> => {
  const [taken] = await sql<{ is: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as is`
  return taken?.is === true
}

const applyStep = async (
  sql: Sql,
  { text, isAlone }: Migration['steps'][number],
  { record, checksum }: { record: string; checksum: string },
): Promise<void> => {
  const write = () => sql`insert into migration (name, checksum) values (${record}, ${checksum})`
  if (isAlone) {
    // It may wait: whoever waits behind it needs no lock of its kind.
    await sql`set lock_timeout = 0`
    // One whose building was broken off is there and of no use.
    const index = /^create (?:unique )?index concurrently (\w+)/m.exec(text)?.[1]
    if (index !== undefined) await sql`drop index concurrently if exists ${sql(index)}`
    await sql.unsafe(text)
    await write()
    return
  }
  await sql`begin`
  try {
    await sql.unsafe(`set local lock_timeout = ${LOCK_MS}; ${text}`)
    await write()
    await sql`commit`
  } catch (error) {
    await sql`rollback`.catch(() => {})
    throw error
  }
}

/** Repeats a step that got no lock, or was chosen to end a deadlock. */
const untilLocked = async (
  name: string,
  patienceMs: number,
  apply: () => Promise<void>,
): Promise<void> => {
  const start = Date.now()
  for (;;)
    try {
      await apply()
      return
    } catch (error) {
      if (!isLocked(error)) throw error
      if (Date.now() - start > patienceMs)
        throw new MigrationError(
          `migration ${name} gets no lock on its tables: end the long transactions that pg_stat_activity shows and migrate again`,
          { cause: error },
        )
      await sleep(PAUSE_MS * (0.5 + Math.random()))
    }
}

/** Throws a MigrationError that names the command to run, unless the database has the schema of this code. */
export const checkSchema = async (sql: Sql): Promise<void> => {
  const [found] = await sql<
    { exists: boolean }[]
  >`select to_regclass('migration') is not null as exists`
  const applied = found?.exists ? await listApplied(sql) : new Map<string, string>()
  const pending = comparePending(await readMigrations(FOLDER), applied)
  if (pending.length > 0)
    throw new MigrationError(
      `the database lacks ${pending.map((migration) => migration.name).join(', ')}: run \`npm run migrate\` and start again`,
    )
}

const comparePending = (migrations: Migration[], applied: Map<string, string>): Migration[] => {
  for (const { name, checksum, earlier } of migrations)
    if (![undefined, checksum, ...earlier].includes(applied.get(name)))
      throw new MigrationError(
        `migration ${name} was changed after it was applied: restore it and put the change into a new migration`,
      )
  return migrations.filter((migration) => !applied.has(migration.name))
}

const listApplied = async (sql: Sql): Promise<Map<string, string>> => {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migration`
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

/** Cuts a file at the lines `-- step`. `-- step alone` begins a statement that must be in no transaction. */
const readSteps = (text: string): Migration['steps'] =>
  text
    .split(/^(?=-- step\b)/m)
    .filter((step) => /^(?!--|$)/m.test(step))
    .map((step) => ({ text: step, isAlone: step.startsWith('-- step alone') }))

const readMigrations = async (folder: URL): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return {
        name,
        steps: readSteps(text),
        checksum: createHash('sha256').update(text).digest('hex'),
        earlier: [...text.matchAll(/^-- earlier: ([0-9a-f]{64})$/gm)].map(([, sum = '']) => sum),
      }
    }),
  )
}
