import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import { Connection } from '@temporalio/client'

import type { Queryable, Sql } from '../../../src/platform/db/client.ts'
import {
  insertOutbox,
  isStartPending,
  leaseOutbox,
  markDispatched,
  markFailed,
} from '../../../src/platform/db/outbox.ts'
import type { OutboxEntry, OutboxRow } from '../../../src/platform/db/outbox.ts'
import { makeJobs } from '../../../src/platform/temporal/client.ts'
import { makeLog } from '../../../src/platform/log.ts'
import { useDatabase } from '../../support/stack.ts'

const start = (workflowId: string, args: unknown[] = []): OutboxEntry => ({
  kind: 'start',
  workflowType: 'imageTask',
  workflowId,
  taskQueue: 'kiln',
  args,
  options: { summary: 's', searchAttributes: {}, priorityKey: 3, fairnessKey: 'f' },
})
const signal = (workflowId: string): OutboxEntry => ({
  kind: 'signal',
  workflowId,
  signalName: 'cancelRequested',
})

describe('the outbox', () => {
  const database = useDatabase()

  beforeEach(() => database.sql`delete from outbox`)

  const insert = async (entry: OutboxEntry): Promise<OutboxRow> => {
    const row = await database.sql.begin((sql) => insertOutbox(sql, entry))
    assert.ok(row)
    return row
  }
  const makeDue = () => database.sql`update outbox set next_attempt_at = clock_timestamp()`
  const insertDue = async (...entries: OutboxEntry[]): Promise<OutboxRow[]> => {
    const rows = []
    for (const entry of entries) rows.push(await insert(entry))
    await makeDue()
    return rows
  }
  /** A lease ends within seconds, which a busy machine may need: so nobody has these again before `makeDue`. */
  const defer = (rows: { id: string }[], sql: Queryable = database.sql) =>
    sql`
      update outbox set next_attempt_at = next_attempt_at + interval '1 hour'
      where id::text = any(${idsOf(rows)}::text[])
    `
  const lease = (limit?: number): Promise<OutboxRow[]> =>
    database.sql.begin(async (sql) => {
      const rows = await leaseOutbox(sql as Queryable as Sql, limit)
      await defer(rows, sql)
      return rows
    })
  const idsOf = (rows: { id: string }[]): string[] => rows.map((row) => row.id)
  /** Asserts that the row that `act` returns is due so many seconds after it, however long that takes. */
  const assertDueAfter = async <Row extends { id: string } | undefined>(
    seconds: number,
    act: () => Promise<Row>,
  ): Promise<Row> => {
    const [clock] = await database.sql<{ began: string }[]>`
      select clock_timestamp()::text as began
    `
    const row = await act()
    const [due] = await database.sql`
      select next_attempt_at - make_interval(secs => ${seconds})
        between ${clock?.began ?? ''}::timestamptz and clock_timestamp() as fits
      from outbox where id = ${row?.id ?? null}
    `
    assert.deepEqual(due, { fits: true }, `due after ${seconds} s`)
    return row
  }

  test('leaves a new row to the fast path for two seconds', async () => {
    const row = await assertDueAfter(2, () => insert(start('a')))
    await defer([row])
    assert.deepEqual(await lease(), [])
  })

  test('leases due rows in the order they were written, up to the limit', async () => {
    const rows = await insertDue(start('a'), start('b'), start('c'))
    await assertDueAfter(5, async () => {
      const leased = await leaseOutbox(database.sql, 2)
      assert.deepEqual(idsOf(leased), idsOf(rows.slice(0, 2)))
      return leased[0]
    })
    await defer(rows.slice(0, 2))
    assert.deepEqual(idsOf(await lease()), idsOf(rows.slice(2)))
    assert.deepEqual(await lease(), [])
  })

  test('gives each row to one of those that lease at once', async () => {
    const rows = await insertDue(...Array.from({ length: 40 }, (_, index) => start(`w${index}`)))
    const leases = await Promise.all(Array.from({ length: 8 }, () => lease(5)))
    const leased = idsOf(leases.flat())
    assert.equal(new Set(leased).size, leased.length)
    leased.push(...idsOf(await lease()))
    assert.deepEqual(new Set(leased), new Set(idsOf(rows)))
  })

  test('gives the row as it was written', async () => {
    const [written] = await insertDue(start('a', [{ taskId: 'x' }]))
    assert.deepEqual(await lease(), [{ ...written, attempts: 1 }])
  })

  test('holds a signal back until the start of its workflow is dispatched', async () => {
    const [begin, cancel, other] = await insertDue(start('a'), signal('a'), signal('b'))
    assert.deepEqual(idsOf(await lease()), [begin?.id, other?.id])
    await makeDue()
    assert.deepEqual(idsOf(await lease()), [begin?.id, other?.id])
    await markDispatched(database.sql, [begin?.id ?? ''])
    assert.deepEqual(idsOf(await lease()), [cancel?.id])
  })

  test('holds a signal to a child back until the start of its parent is dispatched', async () => {
    const child = 'receive-archive/a'
    const [begin, uploaded] = await insertDue(start('publish-version/a'), signal(child))
    assert.deepEqual(idsOf(await lease()), [begin?.id])
    assert.ok(await isStartPending(database.sql, child), 'it waits')
    await markDispatched(database.sql, [begin?.id ?? ''])
    await makeDue()
    assert.equal(await isStartPending(database.sql, child), false)
    assert.deepEqual(idsOf(await lease()), [uploaded?.id])
  })

  test('tries again after 1, 2, 4 and then always 5 seconds', async () => {
    await insertDue(start('a'))
    for (const [index, seconds] of [1, 2, 4, 5, 5, 5].entries()) {
      await makeDue()
      const [leased] = await lease()
      assert.equal(leased?.attempts, index + 1)
      await assertDueAfter(seconds, async () => {
        await markFailed(database.sql, leased, 'unavailable')
        return leased
      })
    }
  })

  test('leaves alone what is dispatched', async () => {
    const [row] = await insertDue(start('a'))
    await markDispatched(database.sql, [row?.id ?? ''])
    assert.deepEqual(await lease(), [])
    await markFailed(database.sql, { ...(row as OutboxRow), attempts: 1 }, 'late')
    const [stored] = await database.sql`select last_error from outbox`
    assert.deepEqual(stored, { last_error: null })
  })

  describe('what it dispatches', () => {
    const makeClient = () => {
      const log = makeLog('test', 'silent')
      const connection = Connection.lazy()
      return makeJobs({ connection, namespace: 'default', sql: database.sql, log, publicUrl: '' })
    }
    const countMarked = async (): Promise<number> =>
      (await database.sql`select from outbox where dispatched_at is not null`).length

    for (const way of ['at once', 'by the relay'])
      test(`is marked once Temporal has taken it, and not before: ${way}`, async ({ mock }) => {
        const jobs = makeClient()
        const [row] = (await insertDue(start('a'))) as [OutboxRow]
        const dispatch = async (): Promise<void> => {
          if (way === 'at once') jobs.dispatchNow(row)
          else await jobs.relay(row)
          await jobs.drain()
        }
        const away = () => Promise.reject(new Error('away'))
        const taking = mock.method(jobs.client.workflow, 'start', away)
        await dispatch()
        assert.deepEqual([taking.mock.callCount(), await countMarked()], [1, 0])
        taking.mock.mockImplementation(() => Promise.resolve({} as never))
        await dispatch()
        assert.equal(await countMarked(), 1)
      })

    test('is no signal while its start waits for the relay', async ({ mock }) => {
      const jobs = makeClient()
      const [begin, cancel] = (await insertDue(start('a'), signal('a'))) as [OutboxRow, OutboxRow]
      const sent = mock.fn(() => Promise.resolve())
      mock.method(jobs.client.workflow, 'getHandle', () => ({ signal: sent }) as never)
      for (const count of [0, 1]) {
        jobs.dispatchNow(cancel)
        await jobs.drain()
        assert.equal(sent.mock.callCount(), count)
        await markDispatched(database.sql, [begin.id])
      }
    })
  })

  test('rejects arguments that hold more than ids and small facts', async () => {
    await assert.rejects(insert(start('a', ['x'.repeat(1100)])), { code: '23514' })
  })
})
