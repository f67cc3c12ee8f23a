import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'

import type { Sql } from './client.ts'

/** Two processes that migrate at once wait for each other on this lock. The number is arbitrary. */
const LOCK = 7_041_977

interface Migration {
  name: string
  text: string
  checksum: string
}

class MigrationError extends Error {
  override name = 'MigrationError'
}

/**
 * Applies the pending migrations in the order of their numbers, each with its record in one transaction, and returns
 * their names. A migration that changed after it was applied is refused: write a new one instead.
 */
export const migrate = async (sql: Sql): Promise<string[]> => {
  const migrations = await readMigrations()
  return await sql.begin(async (sql) => {
    await sql`set local lock_timeout = 0`
    await sql`set local statement_timeout = 0`
    await sql`select pg_advisory_xact_lock(${LOCK})`
    await sql`
      create table if not exists migration (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default clock_timestamp()
      )
    `
    const applied = await listApplied(sql as unknown as Sql)
    const pending = comparePending(migrations, applied)
    for (const { name, text, checksum } of pending) {
      await sql.unsafe(text)
      await sql`insert into migration (name, checksum) values (${name}, ${checksum})`
    }
    return pending.map((migration) => migration.name)
  })
}

/** Throws a MigrationError that names the command to run, unless the database has the schema of this code. */
export const checkSchema = async (sql: Sql): Promise<void> => {
  const [found] = await sql<
    { exists: boolean }[]
  >`select to_regclass('migration') is not null as exists`
  const applied = found?.exists ? await listApplied(sql) : new Map<string, string>()
  const pending = comparePending(await readMigrations(), applied)
  if (pending.length > 0)
    throw new MigrationError(
      `the database lacks ${pending.map((migration) => migration.name).join(', ')}: run \`npm run migrate\` and start again`,
    )
}

const comparePending = (migrations: Migration[], applied: Map<string, string>): Migration[] => {
  for (const { name, checksum } of migrations)
    if (applied.has(name) && applied.get(name) !== checksum)
      throw new MigrationError(
        `migration ${name} was changed after it was applied: restore it and put the change into a new migration`,
      )
  return migrations.filter((migration) => !applied.has(migration.name))
}

const listApplied = async (sql: Sql): Promise<Map<string, string>> => {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migration`
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

const readMigrations = async (): Promise<Migration[]> => {
  const folder = new URL('./migrations/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}
