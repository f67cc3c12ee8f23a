import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import {
  beginFirstAttempts,
  completeFirstAttempts,
  holdFirstAttempts,
  measureBacklog,
  deferHosts,
  takeFirstAttempts,
} from '../../../src/events/db/first-attempt.ts'
import { dropOvertaken } from '../../../src/events/db/delivery.ts'
import type { FirstAttempt, TakeOptions } from '../../../src/events/db/first-attempt.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { useDatabase } from '../../support/stack.ts'
import {
  AGAIN,
  attempt,
  begin,
  complete,
  insertDueEvent,
  insertTaskWithWebhook,
  listStates,
  transition,
  RECEIVER,
  redeliver,
  seeAttempts,
} from './notified-task.ts'

const ALL = {
  limit: 100,
  perAccount: 100,
  leased: new Map(),
  fullHosts: [],
  after: '',
  /** Ends in no test, however slow the machine is. */
  leaseSeconds: 3600,
}

describe('the first attempts', () => {
  const { sql } = useDatabase()
  beforeEach(() => sql`delete from first_attempt`)

  const take = async (options: Partial<TakeOptions> = {}): Promise<FirstAttempt[]> =>
    (await takeFirstAttempts(sql, { ...ALL, ...options })).attempts
  const due = (owner = 'alice') => insertDueEvent(sql, { owner })
  const beginAll = (events: readonly { eventId: string }[], url = RECEIVER) =>
    sql.begin((sql) =>
      beginFirstAttempts(
        sql,
        events.map(({ eventId }) => ({ eventId, url })),
      ),
    )
  const completeAll = (events: readonly { eventId: string }[]) =>
    sql.begin((sql) =>
      completeFirstAttempts(
        sql,
        events.map(({ eventId }) => ({ key: { eventId, number: 1 }, result: RESULT })),
      ),
    )
  /** `<account>` of each that is taken, and `-` behind it where it waits. */
  const accountsOf = (attempts: readonly FirstAttempt[]): string =>
    attempts.map(({ account, isBlocked }) => `${account}${isBlocked ? '-' : ''}`).join(' ')
  const isQueued = async (eventId: string): Promise<boolean> =>
    (await sql`select from first_attempt where event_id = ${eventId}`).length === 1
  const RESULT = {
    durationMs: 3.4,
    address: '203.0.113.7',
    status: 204,
    errorClass: undefined,
    answer: 'a "b" \\ {c}',
  }

  test('are taken with what sending needs, by one alone', async () => {
    const { id, eventId } = await due()
    assert.deepEqual(await take(), [
      {
        eventId,
        taskId: id,
        sequence: 2,
        status: 'IN_PROGRESS',
        family: 'image',
        kind: 'upscale',
        owner: 'alice',
        account: 'alice',
        host: 'receiver.example.com',
        url: RECEIVER,
        endpoint: null,
        isBlocked: false,
        overtakes: false,
        lostNumber: null,
      },
    ])
    assert.deepEqual(await take(), [], 'it is leased')
    await holdFirstAttempts(sql, [{ eventId, seconds: 0 }])
    assert.equal((await take()).length, 1, 'it was given back')
  })

  test('are taken once by many at once', async () => {
    const events = await Promise.all(Array.from({ length: 40 }, () => due()))
    const taken = await Promise.all(Array.from({ length: 8 }, () => take({ limit: 10 })))
    const rest = await take()
    const ids = [...taken.flat(), ...rest].map(({ eventId }) => eventId)
    assert.deepEqual(ids.toSorted(), events.map(({ eventId }) => eventId).toSorted())
  })

  test('are taken again once their lease has ended', async () => {
    const { eventId } = await due()
    await take({ leaseSeconds: 0 })
    const [again] = await take()
    assert.equal(again?.eventId, eventId)
  })

  describe('of accounts', () => {
    test('are as many as one may have, with those that it has', async () => {
      for (const owner of ['bob', 'alice', 'alice', 'alice', 'carol']) await due(owner)
      const leased = new Map(Object.entries({ carol: 2, zoe: 9 }))
      assert.equal(accountsOf(await take({ perAccount: 2, leased })), 'alice alice bob')
      assert.equal(accountsOf(await take({ perAccount: 2 })), 'alice carol')
    })

    test('take turns: the next call goes on behind the account that filled it', async () => {
      for (const owner of ['alice', 'alice', 'bob', 'carol']) await due(owner)
      const first = await takeFirstAttempts(sql, { ...ALL, limit: 1 })
      assert.deepEqual([accountsOf(first.attempts), first.after], ['alice', 'alice'])
      const second = await takeFirstAttempts(sql, { ...ALL, limit: 2, after: first.after })
      assert.deepEqual([accountsOf(second.attempts), second.after], ['bob carol', 'carol'])
      const third = await takeFirstAttempts(sql, { ...ALL, after: second.after })
      assert.deepEqual(third, { attempts: [], after: '', isEmpty: false })
    })

    test('are found behind a hundred that have nothing due', async () => {
      for (let i = 100; i < 205; i += 1) await due(`a-${i}`)
      await take({ limit: 200 })
      await due('zoe')
      let after = ''
      const found: string[] = []
      do {
        const taken = await takeFirstAttempts(sql, { ...ALL, after })
        found.push(...taken.attempts.map(({ account }) => account))
        after = taken.after
      } while (after !== '')
      assert.ok(found.includes('zoe'), found.join())
    })
  })

  describe('of hosts', () => {
    const dueAt = (url: string) => insertTaskWithWebhook(sql, ['IN_PROGRESS'], { url })
    const hostsOf = (attempts: readonly FirstAttempt[]): string[] =>
      attempts.map(({ host }) => host).toSorted()

    test('that have enough are left to others', async () => {
      for (const url of ['https://A.example:8443/x?y', 'https://b.example', 'http://c.example#z'])
        await dueAt(url)
      const taken = await take({ fullHosts: ['b.example'] })
      assert.deepEqual(hostsOf(taken), ['a.example:8443', 'c.example'])
    })

    test('that take nothing are deferred, but for what is leased', async () => {
      for (const url of ['https://dead.example/1', 'https://dead.example/2', 'https://b.example'])
        await dueAt(url)
      await take({ limit: 1 })
      const [clock] = await sql<{ began: string }[]>`select clock_timestamp()::text as began`
      await deferHosts(sql, ['dead.example'])
      const due = await sql<{ host: string; wait: number }[]>`
        select host, extract(epoch from due_at - ${clock?.began ?? ''}::text::timestamptz)::float8 as wait
        from first_attempt order by due_at
      `
      assert.equal(due.map(({ host }) => host).join(' '), 'b.example dead.example dead.example')
      const [ready = NaN, defer = NaN, leased = NaN] = due.map(({ wait }) => wait)
      const max = 30 + PATIENCE_MS / 1000
      assert.ok(ready <= 0 && defer >= 5 && defer <= max && leased > 3000, JSON.stringify(due))
    })
  })

  describe('of one task', () => {
    test('a first attempt waits until the event before it has ended', async () => {
      const { id, eventId } = await due()
      await transition(sql, id, 'COMPLETED')
      assert.equal(accountsOf(await take()), 'alice alice-')
      await beginAll([{ eventId }])
      await completeAll([{ eventId }])
      const [next, ...others] = await take()
      assert.deepEqual([next?.status, next?.isBlocked, others], ['COMPLETED', false, []])
    })

    test('overtake an earlier event that has failed', async () => {
      const { id, eventId } = await due()
      await attempt(sql, { eventId }, AGAIN)
      assert.ok(!(await isQueued(eventId)), 'a workflow makes the next attempt')
      await transition(sql, id, 'COMPLETED')
      const [blocked] = await take()
      assert.deepEqual([blocked?.isBlocked, blocked?.overtakes], [true, true])
      await dropOvertaken(sql, [id])
      const [next] = await take()
      assert.deepEqual([next?.status, next?.isBlocked], ['COMPLETED', false])
    })

    test('a first attempt leaves the queue when its event ends in any way', async () => {
      const ENDS: ((eventId: string) => PromiseLike<unknown>)[] = [
        (eventId) => attempt(sql, { eventId }, { state: 'stopped' }),
        async (eventId) => {
          const redeliveryId = await redeliver(sql, eventId)
          return await attempt(sql, { eventId, redeliveryId }, { state: 'delivered' })
        },
        (eventId) => sql`update event set state = 'superseded' where id = ${eventId}`,
      ]
      for (const end of ENDS) {
        const { eventId } = await due()
        assert.ok(await isQueued(eventId))
        await end(eventId)
        assert.ok(!(await isQueued(eventId)), String(end))
      }
    })
  })

  describe('that are begun', () => {
    test('are written down together, without the query of the address', async () => {
      const events = await Promise.all([due('a'), due('b'), due('c')])
      const numbers = await beginAll(events, `${RECEIVER}?token=1`)
      for (const { eventId } of events) {
        const [row] = await seeAttempts(sql, eventId)
        assert.deepEqual([numbers.get(eventId), row?.url], [1, RECEIVER])
      }
    })

    test('no attempt begins whose event has ended, or that somebody else has begun', async () => {
      const [ended, begun, fresh] = [await due(), await due(), await due()]
      await attempt(sql, { eventId: ended.eventId }, { state: 'delivered' })
      await begin(sql, { eventId: begun.eventId })
      const numbers = await beginAll([ended, begun, fresh])
      assert.deepEqual([...numbers.keys()], [fresh.eventId])
    })

    test('take the number behind a redelivery', async () => {
      const { eventId } = await due()
      await begin(sql, { eventId, redeliveryId: await redeliver(sql, eventId) })
      assert.deepEqual([...(await beginAll([{ eventId }])).values()], [2])
    })
  })

  test('that delivered are completed together, also those taken for lost', async () => {
    const [first, second] = [await due(), await due()]
    await beginAll([first, second])
    await complete(sql, { eventId: second.eventId, number: 1 }, AGAIN)
    await sql`
      update attempt set duration_ms = null, error_class = 'unknown' where event_id = ${second.eventId}
    `
    await completeAll([first, second])
    assert.equal((await listStates(sql, first.id))[1], 'IN_PROGRESS delivered 0')
    assert.equal((await listStates(sql, second.id))[1], 'IN_PROGRESS delivered 1')
    for (const { eventId } of [first, second]) {
      const [row] = await seeAttempts(sql, eventId)
      const seen = [row?.duration_ms, row?.status, row?.error_class, row?.answer]
      assert.deepEqual(seen, [3, 204, null, RESULT.answer])
    }
  })

  test('that wait are counted for operators', async () => {
    assert.deepEqual(await measureBacklog(sql), { waiting: 0, oldestSeconds: 0 })
    const { eventId } = await due()
    await due()
    await sql`update event set created_at = created_at - interval '90 seconds' where id = ${eventId}`
    const { waiting, oldestSeconds } = await measureBacklog(sql)
    assert.equal(waiting, 2)
    assert.ok(oldestSeconds >= 90 && oldestSeconds < 90 + PATIENCE_MS / 1000, `${oldestSeconds}`)
  })
})
