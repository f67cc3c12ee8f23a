import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { checkSchema, migrate } from '../../src/db/migrate.ts'
import { ROOT } from '../../src/local/root.ts'
import { startService } from '../support/service.ts'
import { createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'

describe('the schema', () => {
  const databases: TestDatabase[] = []
  let database: TestDatabase

  const create = async (): Promise<TestDatabase> => {
    const made = await createDatabase()
    databases.push(made)
    return made
  }
  const empty = async (): Promise<void> => {
    await database.sql`drop schema public cascade`
    await database.sql`create schema public`
  }
  beforeEach(async () => {
    database = await create()
  })
  after(async () => {
    for (const made of databases) await made.drop()
  })

  test('is made from nothing once, by however many at once', async () => {
    await empty()
    const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url)))
    const counts = applied.map((names) => names.length).toSorted((a, b) => a - b)
    assert.deepEqual(counts.slice(0, 2), [0, 0])
    assert.ok((counts[2] ?? 0) > 0)
    await checkSchema(database.sql)
  })

  test('is left as it is when it is up to date', async () => {
    assert.deepEqual(await migrate(database.url), [])
  })

  test('with a migration that was changed afterwards is rejected by name', async () => {
    await database.sql`update migration set checksum = 'other' where name like '0001%'`
    const rejected = { name: 'MigrationError', message: /0001_foundation\.sql was changed/ }
    await assert.rejects(migrate(database.url), rejected)
    await assert.rejects(checkSchema(database.sql), rejected)
  })

  test('with a migration that was applied as an earlier text, which gave the same, is left as it is', async () => {
    const name = '0006_account.sql'
    const text = await readFile(join(ROOT, 'src/db/migrations', name), 'utf8')
    const [, earlier = ''] = /^-- earlier: (\w+)$/m.exec(text) ?? []
    await database.sql`update migration set checksum = ${earlier} where name = ${name}`
    assert.deepEqual(await migrate(database.url), [])
    await checkSchema(database.sql)
  })

  test('changes beside callers: a step that gets no lock leaves, and the next run goes on with it', async () => {
    const path = await mkdtemp(join(tmpdir(), 'kiln-migrations-'))
    const folder = pathToFileURL(`${path}/`)
    const { sql } = database
    await empty()
    await writeFile(join(path, '0001_first.sql'), 'create table first (id integer);')
    assert.deepEqual(await migrate(database.url, { folder }), ['0001_first.sql'])
    await writeFile(
      join(path, '0002_second.sql'),
      `create table second (id integer);
-- step alone
create index concurrently first_by_id on first (id);
-- step
alter table first add column name text;
`,
    )
    const reader = await sql.reserve()
    await reader`begin`
    await reader`lock table first in access share mode`
    await assert.rejects(
      migrate(database.url, { folder, patienceMs: 0 }),
      /0002_second\.sql gets no lock on its tables: end the long transactions/,
    )
    await reader`commit`
    reader.release()
    // As if it was killed before it wrote this down: the index is made once more.
    await sql`delete from migration where name = '0002_second.sql#2'`
    const enqueued: string[] = []
    await migrate(database.url, { folder, onApplied: (name) => enqueued.push(name) })
    assert.deepEqual(enqueued, ['0002_second.sql'])
    assert.deepEqual(await migrate(database.url, { folder }), [])
    const [made] = await sql`
      select indisvalid as valid, (select count(*)::integer from first where name is null) as rows
      from pg_index where indexrelid = 'first_by_id'::regclass
    `
    assert.deepEqual({ ...made }, { valid: true, rows: 0 })
    await rm(path, { recursive: true })
  })

  test('that is empty or older is rejected with the command to run', async () => {
    await database.sql`delete from migration`
    await assert.rejects(checkSchema(database.sql), /lacks 0001_.*: run `npm run migrate`/)
    await empty()
    await assert.rejects(checkSchema(database.sql), /lacks 0001_.*: run `npm run migrate`/)
  })

  for (const role of ['api', 'core'] as const)
    test(`that is older ends the ${role} process with the command to run`, async () => {
      // The service closes the database that it is given when it cannot start.
      const own = await createDatabase()
      await own.sql`delete from migration`
      await assert.rejects(
        startService({ roles: [role], database: own }),
        /ended \(1\)[^]*lacks 0001_[^]*npm run migrate/,
      )
    })
})
