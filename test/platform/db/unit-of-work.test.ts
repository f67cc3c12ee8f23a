import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test, type TestContext } from 'node:test'

import {
  deadlineOf,
  makeDatabase,
  type Sql,
  type Transaction,
} from '../../../src/platform/db/client.ts'
import type { OutboxEntry, OutboxRow } from '../../../src/platform/db/outbox.ts'
import { unitOfWork, type Enqueue } from '../../../src/platform/db/unit-of-work.ts'
import { apiError } from '../../../src/platform/domain/errors.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { useDatabase } from '../../support/stack.ts'
import { PATIENT } from '../../support/template.ts'
import { makeLatch, waitFor } from '../../support/wait.ts'
import { startDatabaseProxy, type CommitIssue, type DatabaseProxy } from './proxy.ts'

const OPTIONS = { ...PATIENT, pool: 2, statementTimeoutMs: PATIENCE_MS }

const SIGNAL = (workflowId: string): OutboxEntry => ({
  kind: 'signal',
  workflowId,
  signalName: 'committed',
})

describe('a unit of work', () => {
  const database = useDatabase()
  let proxy: DatabaseProxy
  let sql: Sql

  before(async () => {
    await database.sql`create table note (id text primary key)`
    proxy = await startDatabaseProxy(database.url)
  })
  // The proxy knows a COMMIT by its text, which a connection sends the first time only.
  beforeEach(() => void (sql = makeDatabase({ url: proxy.url, ...OPTIONS })))
  afterEach(() => sql.end({ timeout: 0 }))
  after(() => proxy.close())

  const exists = async (id: string): Promise<boolean> =>
    (await database.sql`select from note where id = ${id}`).length === 1
  const insert = (id: string) => async (sql: Transaction) => {
    await sql`insert into note (id) values (${id})`
    return `note ${id}`
  }
  const insertAndEnqueue = (id: string) => async (sql: Transaction, enqueue: Enqueue) => {
    await enqueue(SIGNAL(id))
    return await insert(id)(sql)
  }
  const dispatched: OutboxRow[] = []
  const jobs = { dispatchNow: (row: OutboxRow) => dispatched.push(row) }
  const listDispatched = () => dispatched.splice(0).map(({ workflowId }) => workflowId)

  const check = (id: string) => async () =>
    (await sql`select from note where id = ${id}`).length === 1
  const commitNote = (
    id: string,
    issue: CommitIssue,
    wasCommitted = check(id),
  ): Promise<string> => {
    proxy.issue = issue
    return unitOfWork({ sql, jobs }, insertAndEnqueue(id), { wasCommitted })
  }
  /** Stops the clock by which a unit of work is late; the function returned lets its whole time pass at once. */
  const stopClock = ({ mock }: TestContext): (() => void) => {
    let now = performance.now()
    mock.method(performance, 'now', () => now)
    return () => void (now += deadlineOf(sql))
  }
  /** Stops the timer that then rejects the unit, too. The pool sets timers only to connect: it has to be connected. */
  const stopTimer = async (context: TestContext): Promise<() => void> => {
    await sql`select 1`
    const passClock = stopClock(context)
    const { timers } = context.mock
    timers.enable({ apis: ['setTimeout'] })
    return () => {
      passClock()
      timers.tick(deadlineOf(sql) + 1)
      timers.reset()
    }
  }

  test('a unit of work returns the result of its work, and notifies Temporal once it is committed', async () => {
    assert.equal(await commitNote('plain', 'none'), 'note plain')
    assert.ok(await exists('plain'))
    assert.deepEqual(listDispatched(), ['plain'])
    assert.equal((await database.sql`select from outbox where workflow_id = 'plain'`).length, 1)
  })

  test('a unit of work that took effect although its response was lost is found by a check', async () => {
    assert.equal(await commitNote('lost after', 'lost after'), 'note lost after')
    assert.ok(await exists('lost after'))
    assert.deepEqual(listDispatched(), ['lost after'])
  })

  const UNKNOWN = { code: 'outcome_unknown', status: 503 }

  test('a unit of work that no check finds before its deadline is rejected as unknown', async (context) => {
    const pass = stopClock(context)
    const pollInVain = async (): Promise<boolean> => {
      const found = await check('lost before')()
      pass()
      return found
    }
    await assert.rejects(commitNote('lost before', 'lost before', pollInVain), UNKNOWN)
    assert.deepEqual(listDispatched(), [], 'the relay dispatches it, if it took effect')
  })

  test('a unit of work whose COMMIT gets no response before its deadline is rejected as unknown', async (context) => {
    const pass = await stopTimer(context)
    const unit = assert.rejects(commitNote('silent', 'silent'), UNKNOWN)
    await waitFor('it took effect', () => exists('silent'))
    pass()
    await unit
    assert.deepEqual(listDispatched(), [], 'the relay dispatches it')
  })

  test('a unit of work that cannot be checked is rejected as unknown at once', async () => {
    proxy.issue = 'lost after'
    const unit = unitOfWork({ sql }, insert('no look'))
    await assert.rejects(unit, UNKNOWN)
  })

  test('that was never asked for is unavailable, for sure and at once', async () => {
    const closed = makeDatabase({ url: 'postgres://x:y@127.0.0.1:9/z', ...OPTIONS })
    const wasCommitted = (): Promise<boolean> => assert.fail('there is nothing to look for')
    const failing = unitOfWork({ sql: closed }, insert('never'), { wasCommitted })
    await assert.rejects(failing, { code: 'unavailable', status: 503 })
    await closed.end({ timeout: 0 })
  })

  test('whose work is too slow never happens', async (context) => {
    const pass = await stopTimer(context)
    const failed = makeLatch()
    const rolledBack = makeLatch()
    const work = async (sql: Transaction): Promise<string> => {
      await insert('slow')(sql)
      setImmediate(pass)
      await failed.opened
      setImmediate(rolledBack.open)
      return ''
    }
    const slow = unitOfWork({ sql }, work, { wasCommitted: check('slow') })
    await assert.rejects(slow, { code: 'unavailable' })
    failed.open()
    await rolledBack.opened
    // A second insert would wait for the first one, were it still open.
    await database.sql.begin(insert('slow'))
  })

  test('is tried three times when another transaction was in the way', async () => {
    let attempts = 0
    const work =
      (failures: number) =>
      async (_sql: Transaction, enqueue: Enqueue): Promise<string> => {
        attempts += 1
        await enqueue(SIGNAL(`attempt ${attempts}`))
        if (attempts <= failures) throw Object.assign(new Error('deadlock'), { code: '40P01' })
        return `attempt ${attempts}`
      }
    assert.equal(await unitOfWork({ sql, jobs }, work(2)), 'attempt 3')
    assert.deepEqual(listDispatched(), ['attempt 3'], 'nothing that was rolled back')
    attempts = 0
    await assert.rejects(unitOfWork({ sql, jobs }, work(3)), { code: 'unavailable' })
    assert.deepEqual(listDispatched(), [])
  })

  test('whose COMMIT was rejected is unavailable, for sure, when it cannot be tried again', async () => {
    await database.sql.unsafe(`
      create table rejected ();
      create function reject() returns trigger language plpgsql
        as $$ begin raise exception using errcode = '40001'; end $$;
      create constraint trigger reject after insert on rejected
        deferrable initially deferred for each row execute function reject()
    `)
    let attempts = 0
    const work = async (sql: Transaction): Promise<void> => {
      attempts += 1
      if (attempts > 1) throw Object.assign(new Error('shutting down'), { code: '57P01' })
      await sql`insert into rejected default values`
    }
    const wasCommitted = (): Promise<boolean> => assert.fail('there is nothing to look for')
    const failing = unitOfWork({ sql }, work, { wasCommitted })
    await assert.rejects(failing, { code: 'unavailable', status: 503 })
    assert.equal(attempts, 2)
  })

  test('in a deadlock goes on while the other one ends', async () => {
    await database.sql`insert into note (id) values ('left'), ('right')`
    let [attempts, holding] = [0, 0]
    const cross = (first: string, second: string) => async (sql: Transaction) => {
      attempts += 1
      await sql`update note set id = id where id = ${first}`
      holding += 1
      await waitFor('both hold one', () => holding >= 2)
      await sql`update note set id = id where id = ${second}`
    }
    await Promise.all([
      unitOfWork({ sql }, cross('left', 'right')),
      unitOfWork({ sql }, cross('right', 'left')),
    ])
    assert.ok(attempts > 2, `${attempts} attempts`)
  })

  test('waits for a lock, with the time-outs of production, until a deadlock has been found', async () => {
    const { waitMs: _, ...production } = OPTIONS
    const pool = makeDatabase({ url: database.url, ...production })
    const [row] = await pool`
      select current_setting('lock_timeout')::interval > current_setting('deadlock_timeout')::interval
        as outlasts
    `
    assert.deepEqual({ ...row }, { outlasts: true })
    await pool.end({ timeout: 0 })
  })

  test('passes on what its work rejects, and keeps nothing', async () => {
    const id = randomUUID()
    const work = async (sql: Transaction): Promise<string> => {
      await insert(id)(sql)
      throw apiError('task_not_found')
    }
    const rejected = unitOfWork({ sql }, work, { wasCommitted: check(id) })
    await assert.rejects(rejected, { code: 'task_not_found' })
    assert.equal(await exists(id), false)
  })
})
