import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'

import { makeDatabase } from '../../src/db/client.ts'
import { checkSchema, migrate } from '../../src/db/migrate.ts'
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
    const others = [1, 2, 3].map(() =>
      makeDatabase({ url: database.url, pool: 1, name: 'test', statementTimeoutMs: 0 }),
    )
    const applied = await Promise.all(others.map((sql) => migrate(sql)))
    const counts = applied.map((names) => names.length).toSorted((a, b) => a - b)
    assert.deepEqual(counts.slice(0, 2), [0, 0])
    assert.ok((counts[2] ?? 0) > 0)
    await checkSchema(database.sql)
    await Promise.all(others.map((sql) => sql.end()))
  })

  test('is left as it is when it is up to date', async () => {
    assert.deepEqual(await migrate(database.sql), [])
  })

  test('with a migration that was changed afterwards is refused by name', async () => {
    await database.sql`update migration set checksum = 'other' where name like '0001%'`
    const refused = { name: 'MigrationError', message: /0001_foundation\.sql was changed/ }
    await assert.rejects(migrate(database.sql), refused)
    await assert.rejects(checkSchema(database.sql), refused)
  })

  test('that is empty or older is refused with the command to run', async () => {
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
