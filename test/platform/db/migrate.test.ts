import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import type { Blocker } from '../../../src/platform/db/lock-watch.ts'
import { checkSchema, migrate } from '../../../src/platform/db/migrate.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeFolder } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import { createDatabase, type TestDatabase } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'

/** Collects whom a migration waits for. */
const makeReports = () => {
  const all: [blockers: Partial<Blocker>[], name: string | undefined][] = []
  return {
    all,
    add: (blockers: Blocker[], name?: string) => void all.push([blockers, name]),
    untilTwo: () => waitFor('two are said', () => all.length > 1),
  }
}

describe('the schema', () => {
  let database: TestDatabase
  const empty = async (): Promise<void> => {
    await database.sql`drop schema public cascade`
    await database.sql`create schema public`
  }
  beforeEach(async () => void (database = await createDatabase()))
  afterEach(() => database.drop())

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
    const text = await readFile(join(ROOT, 'src/platform/db/migrations', name), 'utf8')
    const [, earlier = ''] = /^-- earlier: (\w+)$/m.exec(text) ?? []
    await database.sql`update migration set checksum = ${earlier} where name = ${name}`
    assert.deepEqual(await migrate(database.url), [])
    await checkSchema(database.sql)
  })

  test('changes beside callers: a step that gets no lock leaves, and the next run goes on with it', async (t) => {
    const first = 'create table first (id integer);'
    const path = await makeFolder(t, { '0001_first.sql': first })
    const folder = pathToFileURL(`${path}/`)
    const { sql } = database
    await empty()
    assert.deepEqual(await migrate(database.url, { folder }), ['0001_first.sql'])
    const steps = [
      'create table second (id integer);',
      '-- step alone\ncreate index concurrently first_by_id on first (id);',
      '-- step\nalter table first add column name text;\n',
    ]
    await writeFile(join(path, '0002_second.sql'), steps.join('\n'))
    const reader = await sql.reserve()
    await reader`begin`
    await reader`lock table first in access share mode`
    const held = /0002_second\.sql gets no lock on its tables: end the long transactions/
    await assert.rejects(migrate(database.url, { folder, patienceMs: 0 }), held)
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
  })

  test('is waited for, and who holds its locks is said until that has ended', async (t) => {
    const path = await makeFolder(t, { '0001_first.sql': 'create table first (id integer);' })
    const folder = pathToFileURL(`${path}/`)
    await empty()
    await migrate(database.url, { folder })
    for (const [name, step] of [
      ['0002_step.sql', 'alter table first add column name text;'],
      ['0003_alone.sql', '-- step alone\ncreate index concurrently by_id on first (id);'],
    ] as const) {
      await writeFile(join(path, name), step)
      const reader = await database.sql.reserve()
      await reader`begin`
      await reader`lock table first in row exclusive mode`
      const [own] = await reader`
        select pg_backend_pid() as pid, current_setting('application_name') as application_name
      `
      const reported = makeReports()
      const running = migrate(database.url, { folder, reportMs: 1, onBlocked: reported.add })
      await reported.untilTwo()
      await reader`commit`
      reader.release()
      await running
      for (const [blockers, migration] of reported.all) {
        assert.equal(migration, name)
        const [{ query_seconds: seconds = -1, state, ...blocker } = {}] = blockers
        assert.deepEqual(blocker, { ...own })
        assert.ok(seconds >= 0)
        assert.equal(state, 'idle in transaction')
      }
    }
  })

  test('is waited for while another process migrates', async () => {
    const reported = makeReports()
    const { running, pid } = await database.sql.begin(async (other) => {
      const [held] = await other<{ pid: number }[]>`
        select pg_advisory_xact_lock(7041977), pg_backend_pid() as pid
      `
      const running = migrate(database.url, { reportMs: 1, onBlocked: reported.add })
      await reported.untilTwo()
      return { running: [running], pid: held?.pid }
    })
    assert.deepEqual(await running[0], [])
    for (const [blockers, migration] of reported.all) {
      assert.equal(migration, undefined)
      assert.deepEqual(
        blockers.map(({ pid }) => pid),
        [pid],
      )
    }
  })

  test('that is empty or older is rejected with the command to run', async () => {
    await database.sql`delete from migration`
    const lacks = /lacks 0001_.*: run `npm run migrate`/
    await assert.rejects(checkSchema(database.sql), lacks)
    await empty()
    await assert.rejects(checkSchema(database.sql), lacks)
  })

  for (const role of ['api', 'core'] as const)
    test(`that is older ends the ${role} process with the command to run`, async () => {
      // The service closes the database that it is given when it cannot start.
      const own = await createDatabase()
      await own.sql`delete from migration`
      const starting = startService({ roles: [role], database: own })
      await assert.rejects(starting, /ended \(1\)[^]*lacks 0001_[^]*npm run migrate/)
    })
})
