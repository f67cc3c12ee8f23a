import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'

import { makeDatabase, type Queryable, type Sql } from '../../../src/platform/db/client.ts'
import { useDatabase } from '../../support/stack.ts'
import { startLink } from '../../support/link.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { PATIENT } from '../../support/template.ts'
import { waitFor } from '../../support/wait.ts'

const runFile = promisify(execFile)

/** Script that resolves many queries of the driver one after another, without a server. */
const QUERIES = `
  import('${new URL('query.js', import.meta.resolve('postgres')).href}').then(async ({ Query }) => {
    const respond = (query) => query.resolve(Array.from({ length: 20 }, (_, row) => ({ row })))
    const ask = (...values) => new Query([''], values, respond, () => {})
    for (let times = 0; times < 60000; times += 1) await ask(times)
  })
`

describe('a pool', () => {
  const database = useDatabase()
  const times = { ...PATIENT, statementTimeoutMs: PATIENCE_MS }
  const sql = makeDatabase({ url: database.url, ...times, pool: 2 })
  before(() => database.sql`create table note (text text)`)
  after(() => sql.end({ timeout: 1 }))

  /** Makes a pool of one connection that is ended with the test. */
  const makeOwn = (context: TestContext, options: object = {}): Sql => {
    const own = makeDatabase({ url: database.url, ...PATIENT, ...options })
    context.after(() => own.end({ timeout: 1 }))
    return own
  }
  const untilUsable = (what: string, own: Sql) =>
    waitFor(what, () => own`select 1`.catch(() => false))

  const pidOf = async (sql: Queryable): Promise<number> => {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    return row?.pid ?? 0
  }
  /** Returns when the backend is gone. */
  const kill = async (pid: number): Promise<void> => {
    await database.sql`select pg_terminate_backend(${pid}, ${PATIENCE_MS})`
  }
  const assertUsable = async (): Promise<void> => {
    const responses = Array.from({ length: 8 }, () => sql`select 1 as one`)
    for (const [row] of await Promise.all(responses)) assert.deepEqual(row, { one: 1 })
    assert.equal(await sql.begin(async (sql) => (await sql`select 1`).length), 1)
  }

  test('whose connection is killed in a query rejects it and goes on', async () => {
    const pid = sql.begin(async (sql) => {
      const own = await pidOf(sql)
      void kill(own)
      await sql`select pg_sleep(3600)`
    })
    await assert.rejects(pid)
    await assertUsable()
  })

  test('whose statements fail between two of their rows reads correctly ever after', async () => {
    const failing = () =>
      sql`select repeat('x', 1000), 1 / (100 - i) from generate_series(1, 100) i`
    for (const ends of await Promise.allSettled([failing(), failing()]))
      assert.equal(ends.status, 'rejected')
    const responses = Array.from({ length: 8 }, (_, i) => sql`select ${i}::int as i`)
    for (const [i, rows] of (await Promise.all(responses)).entries()) {
      assert.deepEqual([...rows], [{ i }])
      assert.equal(rows.count, 1)
    }
    assert.equal((await sql`select where false`).length, 0)
  })

  test('whose connection is killed between two queries lets none of a transaction into another one', async () => {
    const broken = sql.begin(async (first) => {
      await first`insert into note (text) values ('before')`
      await kill(await pidOf(first))
      await sql.begin(async (second) => {
        await second`insert into note (text) values ('second')`
      })
      await first`insert into note (text) values ('after')`
    })
    await assert.rejects(broken, { code: 'CONNECTION_CLOSED' })
    await assertUsable()
    const rows = await waitFor('the second one is committed', async () => {
      const found = await database.sql`select text from note`
      return found.length > 0 && [...found]
    })
    assert.deepEqual(rows, [{ text: 'second' }])
  })

  test('whose connections are killed under load loses only what was under way', async () => {
    let responded = 0
    const work = async (): Promise<void> => {
      for (let index = 0; index < 40; index += 1)
        try {
          await sql.begin(async (sql) => await sql`select pg_sleep(0.002)`)
          responded += 1
        } catch {
          // One of those that were under way.
        }
    }
    const killer = async (): Promise<void> => {
      for (let index = 0; index < 10; index += 1)
        await database.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'kiln test'
        `
    }
    await Promise.all([work(), work(), work(), work(), killer()])
    assert.ok(responded > 0)
    // The last kill may not have been heard of yet.
    await waitFor('it is usable again', () =>
      assertUsable().then(
        () => true,
        () => false,
      ),
    )
  })

  test('writes and reads arrays', async () => {
    const texts = ['plain', '', 'NULL', 'a,b', '{c}', '"d"', String.raw`\e`, 'ü f\n', null]
    const ids = ['b5b6e6ee-5d5e-4a4b-9a4e-6b6e1f0f2d3c']
    const [row] = await sql`
      select
        ${texts}::text[] as texts,
        ${ids}::uuid[] as ids,
        ${[1, -2]}::integer[] as numbers,
        array[]::text[] as none,
        'b' = any(${['a', 'b']}) as found
    `
    assert.deepEqual(row, { texts, ids, numbers: [1, -2], none: [], found: true })
  })

  test('behind a pooler leaves no prepared statement in its session', async () => {
    const options = { url: database.url, ...PATIENT }
    const left = async (prepare: boolean): Promise<number> => {
      const own = makeDatabase({ ...options, prepare })
      for (const value of [1, 2]) await own`select ${value}::int`
      const { length } = await own`select from pg_prepared_statements where name <> ''`
      await own.end({ timeout: 1 })
      return length
    }
    assert.ok((await left(true)) > 0)
    assert.equal(await left(false), 0)
  })

  test('that says nothing for too long loses its lock, and goes on', async (t) => {
    const own = makeOwn(t, { idleMs: 100 })
    // A busy process may itself say nothing for too long, while it connects.
    await waitFor('it has the lock', () => own`select pg_advisory_lock(1)`.catch(() => false))
    const hasLock = async (): Promise<boolean> => {
      const [row] = await database.sql<{ held: boolean }[]>`select pg_try_advisory_lock(1) as held`
      return row?.held === true
    }
    await waitFor('another session has the lock', hasLock)
    await untilUsable('it is usable again', own)
  })

  /** A pool whose connections of then get no response any more once its server falls silent; new ones do. */
  const startSilent = async (t: TestContext) => {
    const link = await startLink(database.url)
    t.after(link.stop)
    const own = makeOwn(t, { url: link.url(database.url), statementTimeoutMs: 200 })
    await untilUsable('it is connected', own)
    const port = Number(new URL(database.url).port)
    return { own, fallSilent: () => link.leadTo(port, { leaveBehind: true }) }
  }

  test('whose server went silent rejects the query, and goes on', async (t) => {
    const { own, fallSilent } = await startSilent(t)
    fallSilent()
    await assert.rejects(async () => await own`select 1`, { code: 'CONNECTION_CLOSED' })
    await untilUsable('it is usable again', own)
  })

  test('whose server went silent while all connections were in transactions goes on', async (t) => {
    const { own, fallSilent } = await startSilent(t)
    const silent = own.begin(async (sql) => {
      fallSilent()
      await sql`select 1`
    })
    silent.catch(() => {})
    // Queries of the pool that was left never get a response, so nobody waits for a single one.
    let responses = 0
    await waitFor('it is usable again', () => {
      void own`select 1`.then(
        () => (responses += 1),
        () => {},
      )
      return responses > 0
    })
  })

  test('has queries that die young', async () => {
    // Those that do not are copied until a collection of the whole heap.
    const collections = await runFile(process.execPath, ['--trace-gc', '--eval', QUERIES])
    assert.match(collections.stdout, /Scavenge/)
    assert.doesNotMatch(collections.stdout, /Mark-Compact/)
  })

  test('that is ended rejects', async () => {
    const own = makeDatabase({ url: database.url, ...PATIENT })
    await own`select 1`
    await own.end({ timeout: 1 })
    await assert.rejects(async () => await own`select 1`, { code: 'CONNECTION_ENDED' })
  })
})
