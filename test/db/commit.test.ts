import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'

import { makeDatabase } from '../../src/db/client.ts'
import type { Sql, Transaction } from '../../src/db/client.ts'
import { commit } from '../../src/db/commit.ts'
import { apiError } from '../../src/domain/shared/errors.ts'
import { createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'
import { startDatabaseProxy } from './proxy.ts'
import type { CommitFault, DatabaseProxy } from './proxy.ts'

const OPTIONS = { pool: 2, name: 'test', statementTimeoutMs: 1500 }

describe('a commit', () => {
  let database: TestDatabase
  let proxy: DatabaseProxy
  let sql: Sql

  before(async () => {
    database = await createDatabase()
    await database.sql`create table note (id text primary key)`
    proxy = await startDatabaseProxy(database.url)
  })
  // The proxy knows a COMMIT by its text, which a connection sends the first time only.
  beforeEach(() => {
    sql = makeDatabase({ url: proxy.url, ...OPTIONS })
  })
  afterEach(() => sql.end({ timeout: 0 }))
  after(async () => {
    await proxy.close()
    await database.drop()
  })

  const exists = async (id: string): Promise<boolean> =>
    (await database.sql`select from note where id = ${id}`).length === 1
  const insert = (id: string) => async (sql: Transaction) => {
    await sql`insert into note (id) values (${id})`
    return 'from the work'
  }
  const look = (id: string) => async () =>
    (await sql`select from note where id = ${id}`).length === 1
  const commitNote = async (id: string, fault: CommitFault): Promise<string> => {
    proxy.fault = fault
    return await commit(sql, insert(id), { wasCommitted: look(id), answer: 'from the look' })
  }

  test('answers what its work returns', async () => {
    assert.equal(await commitNote('plain', 'none'), 'from the work')
    assert.ok(await exists('plain'))
  })

  test('that took effect although its answer was lost is found by looking', async () => {
    assert.equal(await commitNote('lost after', 'lost after'), 'from the look')
    assert.ok(await exists('lost after'))
  })

  for (const fault of ['lost before', 'silent'] as const)
    test(`of which nobody can tell is told as such: ${fault}`, async () => {
      await assert.rejects(commitNote(fault, fault), { code: 'outcome_unknown', status: 503 })
    })

  test('that was never asked for is unavailable, for sure and at once', async () => {
    const closed = makeDatabase({ url: 'postgres://x:y@127.0.0.1:9/z', ...OPTIONS })
    const wasCommitted = (): Promise<boolean> => assert.fail('there is nothing to look for')
    const failing = commit(closed, insert('never'), { wasCommitted, answer: '' })
    await assert.rejects(failing, { code: 'unavailable', status: 503 })
    await closed.end({ timeout: 0 })
  })

  test('whose work is too slow never happens', async () => {
    let goOn = (): void => {}
    let ended = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const rolledBack = new Promise<void>((resolve) => {
      ended = resolve
    })
    const work = async (sql: Transaction): Promise<string> => {
      await insert('slow')(sql)
      await waiting
      setImmediate(ended)
      return ''
    }
    const slow = commit(database.sql, work, { wasCommitted: look('slow'), answer: '' })
    await assert.rejects(slow, { code: 'unavailable' })
    goOn()
    await rolledBack
    // A second insert would wait for the first one, were it still open.
    await database.sql.begin(insert('slow'))
  })

  test('is tried three times when another transaction was in the way', async () => {
    let tries = 0
    const work = (failures: number) => async (): Promise<string> => {
      tries += 1
      if (tries <= failures) throw Object.assign(new Error('deadlock'), { code: '40P01' })
      return `try ${tries}`
    }
    const options = { wasCommitted: () => Promise.resolve(false), answer: '' }
    assert.equal(await commit(sql, work(2), options), 'try 3')
    tries = 0
    await assert.rejects(commit(sql, work(3), options), { code: 'unavailable' })
  })

  test('passes on what its work refuses, and keeps nothing', async () => {
    const id = randomUUID()
    const work = async (sql: Transaction): Promise<string> => {
      await insert(id)(sql)
      throw apiError('task_not_found')
    }
    const refused = commit(sql, work, { wasCommitted: look(id), answer: '' })
    await assert.rejects(refused, { code: 'task_not_found' })
    assert.equal(await exists(id), false)
  })
})
