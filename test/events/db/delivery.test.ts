import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import {
  beginAttempt,
  findLostAttempt,
  findLostRedelivery,
  loseAttempt,
  deleteOldAttempts,
} from '../../../src/events/db/attempt.ts'
import type { AttemptKey, AttemptVerdict } from '../../../src/events/db/attempt.ts'
import {
  findDelivery,
  findRedelivery,
  findTaskInWait,
  listStalledDeliveries,
  listStalledRedeliveries,
} from '../../../src/events/db/delivery.ts'
import { insertRedelivery } from '../../../src/events/db/redelivery.ts'
import { insertOutbox } from '../../../src/platform/db/outbox.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import { startDelivery, startRedelivery } from '../../../src/events/temporal/start-delivery.ts'
import { completeFirstAttempts } from '../../../src/events/db/first-attempt.ts'
import { useDatabase } from '../../support/stack.ts'
import {
  AGAIN,
  attempt,
  begin,
  complete,
  eventOf,
  failFirst,
  insertDueEvent,
  insertSubscription,
  insertTaskWithWebhook,
  listStates,
  transition,
  RECEIVER,
  redeliver,
  seeAttempts,
  seeEvents,
} from './notified-task.ts'

const NO_ID = '00000000-0000-0000-0000-000000000000'
const DELIVERED: AttemptVerdict = { state: 'delivered' }
const STOPPED: AttemptVerdict = { state: 'stopped' }
const EXHAUSTED: AttemptVerdict = { state: 'exhausted' }

const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))

describe('the delivery of events', () => {
  const { sql } = useDatabase()

  /** A task in IN_PROGRESS with the event of it. */
  const running = async (): Promise<[taskId: string, eventId: string]> => {
    const { id, eventId } = await insertDueEvent(sql)
    return [id, eventId]
  }
  /** Makes an attempt, also that of a redelivery. */
  const attemptOf = (eventId: string, verdict: AttemptVerdict, redeliveryId?: string) =>
    attempt(sql, { eventId, ...(redeliveryId !== undefined && { redeliveryId }) }, verdict)
  const stateOf = async (id: string): Promise<string | undefined> => (await statesOf(id))[1]
  const statesOf = (id: string): Promise<string[]> => listStates(sql, id)
  const lose = (key: AttemptKey, verdict: AttemptVerdict = AGAIN): Promise<void> =>
    sql.begin((sql) => loseAttempt(sql, key, verdict))

  describe('a transition', () => {
    test('leaves no event when it is not committed', async () => {
      const id = await insertTaskWithWebhook(sql)
      await assert.rejects(
        sql.begin(async (sql) => {
          await transitionTask(sql, 'image', { id, to: 'IN_PROGRESS' })
          const next = await findDelivery(sql, id)
          assert.equal(next?.sequence, 2)
          throw new Error('rolled back')
        }),
        /rolled back/,
      )
      assert.equal(await findDelivery(sql, id), undefined)
    })
  })

  describe('what is next', () => {
    test('is one event after the other until the end is delivered', async () => {
      const [id, first] = await running()
      const host = new URL(RECEIVER).host
      const next = {
        sequence: 2,
        status: 'IN_PROGRESS',
        failures: 0,
        waitMs: 0,
        lastFailure: null,
        host,
      }
      assert.deepEqual(await findDelivery(sql, id), { id: first, ...next })
      await attemptOf(first, DELIVERED)
      assert.equal(await findDelivery(sql, id), undefined)
      await transition(sql, id, 'COMPLETED')
      const last = await findDelivery(sql, id)
      assert.equal(last?.status, 'COMPLETED')
      await attemptOf(await eventOf(sql, id, 'COMPLETED'), EXHAUSTED)
      assert.equal(await findDelivery(sql, id), undefined)
    })

    test('of a task that is not there is nothing', async () => {
      assert.equal(await findDelivery(sql, randomUUID()), undefined)
    })

    test('is the same event later once it failed, with the reason', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, AGAIN)
      const next = await findDelivery(sql, id)
      const { failures, lastFailure, waitMs = 0 } = next ?? {}
      assert.deepEqual([next?.id, failures, lastFailure], [eventId, 1, 'status_5xx 503'])
      assert.ok(waitMs > 3_500_000 && waitMs <= 3_600_000, `${waitMs}`)
    })

    test('is due at once when its time has passed', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, { state: 'pending', waitSeconds: 0 })
      assert.equal((await findDelivery(sql, id))?.waitMs, 0)
    })

    for (const [failures, hasLater, state] of [
      [1, false, 'pending'],
      [1, true, 'superseded'],
      [9, true, 'superseded'],
    ] as const)
      test(`after ${failures} attempts ${hasLater ? 'and' : 'without'} a later event leaves it ${state}`, async () => {
        const [id, eventId] = await running()
        for (let i = 0; i < failures; i++)
          await attemptOf(eventId, { state: 'pending', waitSeconds: 60 })
        if (hasLater) await transition(sql, id, 'COMPLETED')
        const next = await findDelivery(sql, id)
        assert.equal(await stateOf(id), `IN_PROGRESS ${state} ${failures}`)
        assert.equal(next?.status, state === 'pending' ? 'IN_PROGRESS' : 'COMPLETED')
        const [, event] = await seeEvents(sql, id)
        assert.equal(event?.next_attempt_at !== null, state === 'pending')
      })

    test('drops nothing whose attempt is under way, or only lost', async () => {
      const [id, eventId] = await running()
      await attempt(sql, { eventId }, AGAIN)
      await transition(sql, id, 'COMPLETED')
      const key = await begin(sql, { eventId })
      assert.equal((await findDelivery(sql, id))?.status, 'IN_PROGRESS')
      await lose(key)
      assert.equal((await findDelivery(sql, id))?.status, 'COMPLETED')

      const [other, lostId] = await running()
      await lose(await begin(sql, { eventId: lostId }))
      await transition(sql, other, 'COMPLETED')
      assert.equal((await findDelivery(sql, other))?.status, 'IN_PROGRESS')
    })

    test('drops no end of a task, however often it failed', async () => {
      const id = await insertTaskWithWebhook(sql, ['FAILED'])
      const eventId = await eventOf(sql, id, 'FAILED')
      for (let i = 0; i < 9; i++) await attemptOf(eventId, AGAIN)
      assert.equal((await findDelivery(sql, id))?.failures, 9)
    })

    test('is the same for all who ask at once, and something is dropped once', async () => {
      const [id, eventId] = await running()
      for (let i = 0; i < 3; i++) await attemptOf(eventId, AGAIN)
      await transition(sql, id, 'COMPLETED')
      const found = (await times(10, () => findDelivery(sql, id))).map((next) => next?.status)
      assert.ok(found.includes('COMPLETED'), 'one has dropped it')
      const [, ...states] = await statesOf(id)
      assert.deepEqual(states, ['IN_PROGRESS superseded 3', 'COMPLETED pending 0'])
    })
  })

  describe('an attempt', () => {
    test('is written down with what is sent, without the query of the address', async () => {
      const url = `${RECEIVER}?token=1#top`
      const { id, eventId } = await insertDueEvent(sql, { url })
      const begun = await sql.begin((sql) => beginAttempt(sql, { eventId }, url))
      assert.deepEqual(begun, {
        number: 1,
        failures: 0,
        isHastened: false,
        sequence: 2,
        status: 'IN_PROGRESS',
        taskId: id,
        family: 'image',
        owner: 'alice',
        url,
        endpoint: null,
      })
      const [row, ...others] = await seeAttempts(sql, eventId)
      const { number, url: shown, ...rest } = row ?? {}
      assert.deepEqual([number, shown, others], [1, RECEIVER, []])
      assert.deepEqual(new Set(Object.values(rest)), new Set([null]))
    })

    test('is completed with the response and the time of the next, which the event has too', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, AGAIN)
      const [row] = await seeAttempts(sql, eventId)
      const { next_due_at: dueAt, ...rest } = row ?? { next_due_at: null }
      const busy = { status: 503, error_class: 'status_5xx', answer: 'busy' }
      const sent = { number: 1, url: RECEIVER, address: '203.0.113.7', duration_ms: 12 }
      assert.deepEqual(rest, { ...sent, ...busy })
      const [, event] = await seeEvents(sql, id)
      assert.ok(dueAt, 'the next one is due')
      assert.deepEqual(event?.next_attempt_at, dueAt)
    })

    for (const verdict of [DELIVERED, EXHAUSTED, STOPPED])
      test(`that leaves its event ${verdict.state} is followed by none`, async () => {
        const [id, eventId] = await running()
        await attemptOf(eventId, AGAIN)
        await attemptOf(eventId, verdict)
        const failures = verdict.state === 'delivered' ? 1 : 2
        const [, event] = await seeEvents(sql, id)
        const seen = [event?.state, event?.failures, event?.next_attempt_at]
        assert.deepEqual(seen, [verdict.state, failures, null])
        assert.equal((await seeAttempts(sql, eventId))[1]?.next_due_at, null)
        const next = await sql.begin((sql) => beginAttempt(sql, { eventId }, RECEIVER))
        assert.equal(next, undefined)
      })

    test('to another address than the one of now is none', async () => {
      const [, eventId] = await running()
      const begun = await sql.begin((sql) => beginAttempt(sql, { eventId }, `${RECEIVER}/old`))
      assert.equal(begun, undefined)
    })

    test('is not begun at an event that is unsent or not there', async () => {
      const id = await insertTaskWithWebhook(sql, ['FAILED'], { url: null })
      for (const eventId of [await eventOf(sql, id, 'FAILED'), randomUUID()])
        assert.equal(await sql.begin((sql) => beginAttempt(sql, { eventId }, RECEIVER)), undefined)
    })

    test('has a number of its own among 20 begun at once', async () => {
      const [, eventId] = await running()
      const redeliveryId = await redeliver(sql, eventId)
      const keys = await times(20, (index) =>
        begin(sql, index % 2 ? { eventId } : { eventId, redeliveryId }),
      )
      const numbers = new Set(keys.map(({ number }) => number))
      assert.deepEqual([numbers.size, Math.max(...numbers)], [20, 20])
    })

    test('is completed once, whoever comes again', async () => {
      const [id, eventId] = await running()
      const key = await begin(sql, { eventId })
      await times(10, () => complete(sql, key, AGAIN))
      await complete(sql, key, DELIVERED)
      await lose(key)
      assert.equal(await stateOf(id), 'IN_PROGRESS pending 1')
      assert.equal((await seeAttempts(sql, eventId))[0]?.status, 503)
    })

    test('beside another one of the same event delivers it once', async () => {
      const [id, eventId] = await running()
      const keys = await times(2, () => begin(sql, { eventId }))
      await times(2, (index) => complete(sql, keys[index] as AttemptKey, index ? AGAIN : DELIVERED))
      assert.match(String(await stateOf(id)), /^IN_PROGRESS delivered [01]$/)
    })
  })

  describe('a lost attempt', () => {
    test('is found until it is recorded as failed, and counts once', async () => {
      const [id, eventId] = await running()
      await failFirst(sql, eventId)
      const key = await begin(sql, { eventId })
      assert.deepEqual(await findLostAttempt(sql, id), { ...key, failures: 0, lostBefore: 0 })
      await times(5, () => lose(key))
      assert.equal(await findLostAttempt(sql, id), undefined)
      assert.equal(await stateOf(id), 'IN_PROGRESS pending 2')
      const [row] = await seeAttempts(sql, eventId)
      assert.deepEqual([row?.error_class, row?.duration_ms, row?.status], ['unknown', null, null])
      assert.deepEqual(row?.next_due_at, (await seeEvents(sql, id))[1]?.next_attempt_at)
    })

    test('is not found while it may be a first attempt, which is not the business of the task', async () => {
      const [id, eventId] = await running()
      await begin(sql, { eventId })
      assert.equal(await findLostAttempt(sql, id), undefined)
    })

    test('is found also when its event was delivered in another way', async () => {
      const [id, eventId] = await running()
      const key = await begin(sql, { eventId })
      await attemptOf(eventId, DELIVERED, await redeliver(sql, eventId))
      assert.deepEqual(await findLostAttempt(sql, id), { ...key, failures: 0, lostBefore: 0 })
      await lose(key)
      assert.equal(await stateOf(id), 'IN_PROGRESS delivered 0')
      assert.equal((await seeAttempts(sql, eventId))[0]?.next_due_at, null)
    })

    test('has the known failures before it, and how many were lost since', async () => {
      const [id, eventId] = await running()
      await attempt(sql, { eventId }, AGAIN)
      await attempt(sql, { eventId }, AGAIN)
      for (const lostBefore of [0, 1, 2]) {
        const key = await begin(sql, { eventId })
        assert.deepEqual(await findLostAttempt(sql, id), { ...key, failures: 2, lostBefore })
        await lose(key)
      }
      await attempt(sql, { eventId }, AGAIN)
      const key = await begin(sql, { eventId })
      assert.deepEqual(await findLostAttempt(sql, id), { ...key, failures: 3, lostBefore: 0 })
      assert.equal(
        (await sql.begin((sql) => beginAttempt(sql, { eventId }, RECEIVER)))?.failures,
        3,
      )
    })

    test('can exhaust the schedule', async () => {
      const [id, eventId] = await running()
      await lose(await begin(sql, { eventId }), EXHAUSTED)
      assert.equal(await stateOf(id), 'IN_PROGRESS exhausted 1')
    })

    for (const [verdict, state] of [
      [DELIVERED, 'delivered 1'],
      [STOPPED, 'stopped 1'],
      [AGAIN, 'pending 1'],
      [EXHAUSTED, 'pending 1'],
    ] as const)
      test(`whose worker lived on and says ${verdict.state} leaves its event ${state}`, async () => {
        const [id, eventId] = await running()
        const key = await begin(sql, { eventId })
        await lose(key)
        await complete(sql, key, verdict)
        await complete(sql, key, AGAIN)
        assert.equal(await stateOf(id), `IN_PROGRESS ${state}`)
        const [row] = await seeAttempts(sql, eventId)
        assert.equal(row?.duration_ms, 12)
        assert.equal(row.error_class === 'unknown', false)
      })

    test('of a redelivery is not one of the task, nor the other way round', async () => {
      const [id, eventId] = await running()
      const redeliveryId = await redeliver(sql, eventId)
      const key = await begin(sql, { eventId, redeliveryId })
      assert.equal(await findLostAttempt(sql, id), undefined)
      assert.deepEqual(await findLostRedelivery(sql, redeliveryId), {
        ...key,
        failures: 0,
        lostBefore: 0,
      })
      await lose(key)
      assert.equal(await findLostRedelivery(sql, redeliveryId), undefined)
      assert.equal((await findRedelivery(sql, redeliveryId))?.failures, 1)
      await failFirst(sql, eventId)
      await begin(sql, { eventId })
      assert.equal(await findLostRedelivery(sql, redeliveryId), undefined)
      assert.equal((await findLostAttempt(sql, id))?.number, 2)
    })
  })

  describe('a receiver that is gone', () => {
    test('gets nothing more: neither what waits, nor what comes, nor what is sent again', async () => {
      const [id, eventId] = await running()
      await transition(sql, id, 'COMPLETED')
      const end = await eventOf(sql, id, 'COMPLETED')
      const redeliveryId = await redeliver(sql, end)
      await attemptOf(eventId, STOPPED)
      const [, ...states] = await statesOf(id)
      assert.deepEqual(states, ['IN_PROGRESS stopped 1', 'COMPLETED stopped 0'])
      assert.equal(await findRedelivery(sql, redeliveryId), undefined)
      assert.equal(await findDelivery(sql, id), undefined)
      const [other] = await running()
      assert.equal((await findDelivery(sql, other))?.sequence, 2)
    })

    test('gets nothing of later transitions', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, STOPPED)
      await transition(sql, id, 'COMPLETED')
      assert.equal((await statesOf(id))[2], 'COMPLETED stopped 0')
    })

    test('gets again what its owner asks for', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, STOPPED)
      await attemptOf(eventId, DELIVERED, await redeliver(sql, eventId))
      assert.equal(await stateOf(id), 'IN_PROGRESS delivered 1')
    })

    test('says so to a redelivery, too', async () => {
      const [id, eventId] = await running()
      const redeliveryId = await redeliver(sql, eventId)
      await attemptOf(eventId, STOPPED, redeliveryId)
      assert.equal(await stateOf(id), 'IN_PROGRESS stopped 0')
      const [row] =
        await sql`select state, failures, next_attempt_at from redelivery where id = ${redeliveryId}`
      assert.deepEqual(row, { state: 'stopped', failures: 1, next_attempt_at: null })
    })

    test('leaves nothing to deliver of a transition made at that very moment', async () => {
      await times(20, async () => {
        const [id, eventId] = await running()
        const key = await begin(sql, { eventId })
        await Promise.all([complete(sql, key, STOPPED), transition(sql, id, 'COMPLETED')])
        const [, ...states] = await statesOf(id)
        assert.deepEqual(states, ['IN_PROGRESS stopped 1', 'COMPLETED stopped 0'])
      })
    })

    test('says so to several at once, none of which waits for the other', async () => {
      for (let round = 0; round < 10; round++) {
        const [id, first] = await running()
        await transition(sql, id, 'COMPLETED')
        const last = await eventOf(sql, id, 'COMPLETED')
        const targets = [
          { eventId: first },
          { eventId: first, redeliveryId: await redeliver(sql, first) },
          { eventId: last, redeliveryId: await redeliver(sql, last) },
        ]
        const keys = await Promise.all(targets.map((target) => begin(sql, target)))
        await Promise.all(
          keys.map((key, index) => complete(sql, key, index === round % 3 ? DELIVERED : STOPPED)),
        )
        assert.equal(await findDelivery(sql, id), undefined)
      }
    })
  })

  describe('a redelivery', () => {
    test('has a schedule of its own beside that of its event', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, EXHAUSTED)
      const redeliveryId = await redeliver(sql, eventId)
      const due = { sequence: 2, status: 'IN_PROGRESS', failures: 0, waitMs: 0 }
      const lastFailure = 'status_5xx 503'
      assert.deepEqual(await findRedelivery(sql, redeliveryId), {
        id: eventId,
        ...due,
        lastFailure,
        host: new URL(RECEIVER).host,
      })
      const key = await attemptOf(eventId, AGAIN, redeliveryId)
      assert.equal(key.number, 2)
      const later = await findRedelivery(sql, redeliveryId)
      assert.deepEqual([later?.failures, later && later.waitMs > 3_500_000], [1, true])
      assert.equal(await stateOf(id), 'IN_PROGRESS exhausted 1')
      await attemptOf(eventId, DELIVERED, redeliveryId)
      assert.equal(await stateOf(id), 'IN_PROGRESS delivered 1')
      assert.equal(await findRedelivery(sql, redeliveryId), undefined)
    })

    test('that is exhausted changes nothing of its event, and another one may follow', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, EXHAUSTED)
      const redeliveryId = await redeliver(sql, eventId)
      await attemptOf(eventId, EXHAUSTED, redeliveryId)
      assert.equal(await stateOf(id), 'IN_PROGRESS exhausted 1')
      const again = { eventId, redeliveryId }
      assert.equal(await sql.begin((sql) => beginAttempt(sql, again, RECEIVER)), undefined)
      assert.notEqual(await redeliver(sql, eventId), redeliveryId)
    })

    test('is returned to those who ask while it ends, or is a new one', async () => {
      const [, eventId] = await running()
      for (let round = 0; round < 20; round++) {
        const redeliveryId = await redeliver(sql, eventId)
        const ask = () => sql.begin((sql) => insertRedelivery(sql, eventId))
        const ending = attemptOf(eventId, DELIVERED, redeliveryId)
        const [begun] = await Promise.all([ask(), ending])
        assert.ok(begun, 'there is one')
        assert.equal(begun.isNew, begun.id !== redeliveryId)
        await sql`update redelivery set state = 'exhausted' where state = 'pending'`
      }
    })

    test('lets events go on that wait for the one it delivered', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, AGAIN)
      await transition(sql, id, 'COMPLETED')
      const redeliveryId = await redeliver(sql, eventId)
      await attemptOf(eventId, DELIVERED, redeliveryId)
      assert.equal(await findTaskInWait(sql, redeliveryId), id)
      const next = await findDelivery(sql, id)
      assert.deepEqual([next?.status, next?.waitMs], ['COMPLETED', 0])
      await attempt(sql, { eventId: next?.id ?? '' }, DELIVERED)
      // An attempt of the first was planned, and nobody has looked since.
      assert.equal(await findTaskInWait(sql, redeliveryId), id)
      await sql`update attempt set next_due_at = now() where event_id = ${eventId}`
      assert.equal(await findTaskInWait(sql, redeliveryId), undefined)
    })

    for (const verdict of [DELIVERED, STOPPED])
      test(`that leaves its event ${verdict.state} ends a wait that has become needless`, async () => {
        const [id, eventId] = await running()
        await attemptOf(eventId, AGAIN)
        const redeliveryId = await redeliver(sql, eventId)
        await attemptOf(eventId, verdict, redeliveryId)
        assert.equal(await findTaskInWait(sql, redeliveryId), id)
      })

    test('of an event whose schedule is over wakes nobody', async () => {
      const [, eventId] = await running()
      await attemptOf(eventId, { state: 'pending', waitSeconds: 0 })
      await attemptOf(eventId, EXHAUSTED)
      const redeliveryId = await redeliver(sql, eventId)
      await attemptOf(eventId, AGAIN, redeliveryId)
      await attemptOf(eventId, DELIVERED, redeliveryId)
      assert.equal(await findTaskInWait(sql, redeliveryId), undefined)
    })
  })

  describe('what stands still', () => {
    const ALL = { ids: { after: NO_ID }, limit: 1000, afterSeconds: 600 }
    const listStalled = () => listStalledDeliveries(sql, ALL)
    const isStalled = async (id: string) => (await listStalled()).some((row) => row.id === id)
    const age = (eventId: string) => sql`
      update event set created_at = created_at - interval '1 hour',
        next_attempt_at = next_attempt_at - interval '1 hour', failures = greatest(failures, 1)
      where id = ${eventId}
    `

    test('is a task whose next event is long due', async () => {
      const [id, eventId] = await running()
      assert.ok(!(await isStalled(id)), 'too early')
      await age(eventId)
      const found = (await listStalled()).find((row) => row.id === id)
      assert.deepEqual(found, { id, kind: 'upscale', owner: 'alice' })
      await attemptOf(eventId, AGAIN)
      assert.ok(!(await isStalled(id)), 'it is due later')
      await age(eventId)
      await age(eventId)
      assert.ok(await isStalled(id), 'its time has passed')
    })

    test('is none that only waits behind another event', async () => {
      const [id, eventId] = await running()
      await attemptOf(eventId, AGAIN)
      await transition(sql, id, 'COMPLETED')
      await age(await eventOf(sql, id, 'COMPLETED'))
      assert.ok(!(await isStalled(id)), 'it waits behind the first')
    })

    test('is none that the relay is about to start', async () => {
      const [id, eventId] = await running()
      await age(eventId)
      const facts = { taskId: id, kind: 'upscale', owner: 'alice' }
      await sql.begin((sql) => insertOutbox(sql, startDelivery(facts, { taskQueue: 'q' })))
      assert.ok(!(await isStalled(id)), 'its start waits')
      await sql`update outbox set dispatched_at = now() where workflow_id = ${`deliver-events/${id}`}`
      assert.ok(await isStalled(id), 'its start was lost')
    })

    test('is listed in parts', async () => {
      await times(3, async () => age((await running())[1]))
      const all = (await listStalled()).map(({ id }) => id)
      const parts: string[] = []
      for (let after = NO_ID; ;) {
        const [row] = await listStalledDeliveries(sql, { ...ALL, ids: { after }, limit: 1 })
        if (!row) break
        parts.push((after = row.id))
      }
      assert.deepEqual(parts, all)
      assert.ok(all.length >= 3, `${all.length}`)
    })

    test('is the delivery of a task to a webhook subscription, under its chain', async () => {
      const { owner, transition } = await insertSubscription(sql)
      const chain = await transition('IN_PROGRESS')
      await age(await eventOf(sql, chain, 'image_task.in_progress'))
      const found = (await listStalled()).find((row) => row.id === chain)
      assert.deepEqual(found, { id: chain, kind: 'endpoint', owner })
    })

    test('is a redelivery that is long due, too', async () => {
      const [, eventId] = await running()
      const id = await redeliver(sql, eventId)
      const find = async () =>
        (await listStalledRedeliveries(sql, ALL)).find((row) => row.id === id)
      assert.equal(await find(), undefined)
      await sql`update redelivery set created_at = created_at - interval '1 hour' where id = ${id}`
      assert.deepEqual(await find(), { id, owner: 'alice' })
      const start = startRedelivery({ redeliveryId: id, owner: 'alice' }, { taskQueue: 'q' })
      await sql.begin((sql) => insertOutbox(sql, start))
      assert.equal(await find(), undefined)
      await sql`update outbox set dispatched_at = now()`
      await attempt(sql, { eventId, redeliveryId: id }, EXHAUSTED)
      assert.equal(await find(), undefined)
    })
  })

  test('forgets attempts by age, of ended tasks alone', async () => {
    const ended = await insertTaskWithWebhook(sql, ['FAILED'])
    const eventId = await eventOf(sql, ended, 'FAILED')
    await attemptOf(eventId, AGAIN)
    await attemptOf(eventId, AGAIN)
    const [, open] = await running()
    await attemptOf(open, AGAIN)
    await sql`update attempt set started_at = started_at - interval '31 days' where number = 1`
    await sql`update task set ended_at = ended_at - interval '31 days' where id = ${ended}`
    assert.ok((await deleteOldAttempts(sql, 30)) >= 1, 'the old one')
    assert.equal(await deleteOldAttempts(sql, 30), 0)
    const left = (await seeAttempts(sql, eventId)).map(({ number }) => number)
    assert.deepEqual(left, [2])
    assert.equal((await seeAttempts(sql, open)).length, 1)
    assert.equal((await begin(sql, { eventId })).number, 3)
  })

  describe('an endpoint', () => {
    const see = async (id: string) => {
      const [row] = await sql<{ status: string; reason: string | null; failing: boolean }[]>`
        select status, disabled_reason as reason, failing_since is not null as failing
        from endpoint where id = ${id}
      `
      return row && [row.status, row.reason, row.failing]
    }
    const ON = ['enabled', null, false]
    const FAILING = ['enabled', null, true]
    const insertChain = async () => {
      const endpoint = await insertSubscription(sql)
      const chain = await endpoint.transition('IN_PROGRESS', 'COMPLETED')
      const eventId = await eventOf(sql, chain, 'image_task.in_progress')
      return { ...endpoint, chain, eventId }
    }

    test('fails from the first attempt that fails until one arrives', async () => {
      const { id, chain, eventId } = await insertChain()
      await attemptOf(eventId, AGAIN)
      assert.deepEqual(await see(id), FAILING)
      await attemptOf(eventId, DELIVERED)
      assert.deepEqual(await see(id), ON)
      const last = await eventOf(sql, chain, 'image_task.completed')
      await attemptOf(last, AGAIN)
      const key = await begin(sql, { eventId: last })
      const nothing = { address: undefined, errorClass: undefined, answer: '' }
      const result = { durationMs: 1, status: 204, ...nothing }
      await sql.begin((sql) => completeFirstAttempts(sql, [{ key, result }]))
      assert.deepEqual(await see(id), ON)
    })

    test('does not fail by an attempt that was lost', async () => {
      const { id, eventId } = await insertChain()
      const key = await begin(sql, { eventId })
      await lose(key)
      assert.deepEqual(await see(id), ON)
    })

    test('is off when an event is given up after its time, and not before', async () => {
      const { id, chain, eventId, transition } = await insertChain()
      const other = await transition('IN_PROGRESS')
      const exhausted = { state: 'exhausted', disableSeconds: 3600 } as const
      await attemptOf(eventId, exhausted)
      assert.deepEqual(await see(id), FAILING)
      await sql`update endpoint set failing_since = now() - interval '61 minutes' where id = ${id}`
      await attempt(sql, { eventId: await eventOf(sql, chain, 'image_task.completed') }, exhausted)
      assert.deepEqual(await see(id), ['disabled', 'failing', true])
      const ended = ['image_task.in_progress exhausted 1', 'image_task.completed exhausted 1']
      assert.deepEqual(await statesOf(chain), ended)
      assert.deepEqual(await statesOf(other), ['image_task.in_progress stopped 0'])
      assert.equal(await transition('IN_PROGRESS'), '', 'nothing is recorded while it is off')
    })

    test('that responds with 410 is off, with all that was due and its redeliveries', async () => {
      const { id, chain, eventId, transition } = await insertChain()
      const other = await transition('IN_PROGRESS')
      const redeliveryId = await redeliver(sql, await eventOf(sql, other, 'image_task.in_progress'))
      await attemptOf(eventId, STOPPED)
      assert.deepEqual(await see(id), ['disabled', 'gone', false])
      const ended = ['image_task.in_progress stopped 1', 'image_task.completed stopped 0']
      assert.deepEqual(await statesOf(chain), ended)
      assert.deepEqual(await statesOf(other), ['image_task.in_progress stopped 0'])
      const [row] = await sql`select state from redelivery where id = ${redeliveryId}`
      assert.equal(row?.['state'], 'stopped')
    })
  })
})
