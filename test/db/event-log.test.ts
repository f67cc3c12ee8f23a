import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { loseAttempt } from '../../src/db/event/attempt.ts'
import {
  existsEvent,
  insertRedelivery,
  listAttempts,
  listEvents,
  redeliverExhausted,
} from '../../src/db/event/event-log.ts'
import type { TaskEvent } from '../../src/domain/event/event.ts'
import { redeliveryOptions } from '../../src/jobs/event.ts'
import { finishVideo } from '../activities/video-place.ts'
import { useDatabase } from '../support/stack.ts'
import {
  AGAIN,
  attempt,
  begin,
  eventOf,
  insertToldTask,
  RECEIVER,
  redeliver,
  seeEvents,
} from './told-task.ts'

describe('the log of events', () => {
  const { sql } = useDatabase()

  const list = async (taskId: string, owner = 'alice'): Promise<TaskEvent[]> =>
    (await listEvents(sql, { taskId, owner })) ?? []

  test('is for the owner; of an anonymous video it is for whoever knows the id', async () => {
    const own = await insertToldTask(sql, [])
    const anonymous = await finishVideo({ sql }, { owner: 'anonymous', callbackUrl: RECEIVER })
    const image = await insertToldTask(sql, [], { owner: 'anonymous' })
    for (const [taskId, owner, count] of [
      [own, 'alice', 1],
      [own, 'bob', 0],
      [own, 'anonymous', 0],
      [anonymous, 'anonymous', 4],
      [anonymous, 'bob', 4],
      [image, 'bob', 0],
      [randomUUID(), 'alice', 0],
    ] as const) {
      assert.equal((await list(taskId, owner)).length, count, `${taskId} for ${owner}`)
      const [event] = await seeEvents(sql, taskId)
      const eventId = event?.id ?? randomUUID()
      assert.equal(await existsEvent(sql, { taskId, eventId, owner }), count > 0)
    }
  })

  test('tells each attempt with what is known of it, and never the address dialled', async () => {
    const id = await insertToldTask(sql, ['FAILED'], { url: `${RECEIVER}?secret` })
    const eventId = await eventOf(sql, id, 'FAILED')
    await attempt(sql, { eventId }, AGAIN)
    const lost = await begin(sql, { eventId })
    await sql.begin((sql) => loseAttempt(sql, lost, AGAIN))
    await begin(sql, { eventId })
    const attempts = await listAttempts(sql, eventId)
    const common = { event_id: eventId, url: RECEIVER }
    const facts = attempts.map(({ started_at: at, next_attempt_at: next, ...rest }) => ({
      ...rest,
      at: typeof at,
      next: typeof next,
    }))
    const [at, next] = ['string', 'string']
    assert.deepEqual(facts, [
      {
        ...common,
        number: 1,
        duration_ms: 12,
        status: 503,
        error_class: 'status_5xx',
        excerpt: 'busy',
        at,
        next,
      },
      { ...common, number: 2, error_class: 'unknown', at, next },
      { ...common, number: 3, at, next: 'undefined' },
    ])
  })

  describe('a redelivery', () => {
    test('is one while it is open, for 20 who ask at once', async () => {
      const id = await insertToldTask(sql, ['FAILED'])
      const eventId = await eventOf(sql, id, 'FAILED')
      const ask = () => sql.begin((sql) => insertRedelivery(sql, eventId))
      const begun = await Promise.all(Array.from({ length: 20 }, ask))
      assert.equal(new Set(begun.map((one) => one?.id)).size, 1)
      assert.equal(begun.filter((one) => one?.isNew).length, 1)
      const redeliveryId = begun[0]?.id ?? ''
      await attempt(sql, { eventId, redeliveryId }, { state: 'exhausted' })
      const next = await ask()
      assert.deepEqual([next?.isNew, next?.id === redeliveryId], [true, false])
    })

    test('is told to those who ask while it ends, or is a new one', async () => {
      const id = await insertToldTask(sql, ['FAILED'])
      const eventId = await eventOf(sql, id, 'FAILED')
      for (let round = 0; round < 20; round++) {
        const redeliveryId = await redeliver(sql, eventId)
        const [begun] = await Promise.all([
          sql.begin((sql) => insertRedelivery(sql, eventId)),
          attempt(sql, { eventId, redeliveryId }, { state: 'delivered' }),
        ])
        assert.ok(begun, 'there is one')
        assert.equal(begun.isNew, begun.id !== redeliveryId)
        await sql`update redelivery set state = 'exhausted' where state = 'pending'`
      }
    })
  })

  describe('all exhausted events of an owner', () => {
    const options = redeliveryOptions('carol')
    const again = (owner: string, since: Date): Promise<number> =>
      sql.begin((sql) => redeliverExhausted(sql, { owner, since }, { taskQueue: 'q', options }))
    const exhaust = async (owner: string): Promise<string> => {
      const id = await insertToldTask(sql, ['IN_PROGRESS', 'FAILED'], { owner })
      const eventId = await eventOf(sql, id, 'FAILED')
      await attempt(sql, { eventId }, { state: 'exhausted' })
      return eventId
    }

    test('are sent again from a time on, each with the start of its workflow, and once', async () => {
      const owner = 'carol'
      const old = await exhaust(owner)
      await sql`update event set created_at = created_at - interval '2 days' where id = ${old}`
      const [first, second] = [await exhaust(owner), await exhaust(owner)]
      await exhaust('dave')
      const since = new Date(Date.now() - 86_400_000)
      const counts = await Promise.all([again(owner, since), again(owner, since)])
      assert.equal(counts[0] + counts[1], 2)
      const rows = await sql`
        select o.kind, o.workflow_type, o.task_queue, o.options, d.event_id,
          o.args->0->>'redeliveryId' = d.id::text as "isOwn"
        from outbox o join redelivery d on o.workflow_id = 'redeliver-event/' || d.id
      `
      const facts = { kind: 'start', workflow_type: 'redeliverEvent', task_queue: 'q', options }
      const expected = [first, second]
        .toSorted()
        .map((event_id) => ({ ...facts, event_id, isOwn: true }))
      const found = rows.toSorted((a, b) => (a['event_id'] < b['event_id'] ? -1 : 1))
      assert.deepEqual([...found], expected)
      assert.equal(await again(owner, new Date(0)), 1)
    })
  })
})
