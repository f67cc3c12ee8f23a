import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { loseAttempt, type AttemptVerdict } from '../../../src/events/db/attempt.ts'
import { findDelivery, findRedelivery } from '../../../src/events/db/delivery.ts'
import { completeFirstAttempts } from '../../../src/events/db/first-attempt.ts'
import { hastenWaiting, recordRecovery } from '../../../src/events/db/recovery.ts'
import { redeliverMissed } from '../../../src/events/db/redelivery.ts'
import { endPause, putPause } from '../../../src/tasks/db/pause.ts'
import { useDatabase } from '../../support/stack.ts'
import { redeliveryOptions } from '../../../src/events/temporal/start-delivery.ts'
import { AGAIN, attempt, begin, insertDueEvent, redeliver } from './notified-task.ts'

const DELIVERED = { state: 'delivered' } as const
/** The response had a Retry-After of ten minutes. */
const ASKED: AttemptVerdict = { state: 'pending', waitSeconds: 3600, askedSeconds: 600 }
const EXHAUSTED = { state: 'exhausted' } as const

describe('events that wait for a host', () => {
  const { sql } = useDatabase()

  /** A host of the test's own, with an event that waits an hour for it. */
  const makeHost = async (verdict: AttemptVerdict = AGAIN, owner = 'alice') => {
    const host = `${randomUUID()}.example.com`
    const url = `https://${host}/hook`
    const insert = async () => {
      const made = await insertDueEvent(sql, { url, owner })
      await attempt(sql, made, verdict)
      return made
    }
    const succeed = async () => attempt(sql, await insertDueEvent(sql, { url, owner }), DELIVERED)
    return { host, url, insert, succeed, ...(await insert()) }
  }
  const pass = () => sql.begin(hastenWaiting)
  /** A pass, without the pace. */
  const passAgain = async () => {
    await sql`update recovered_host set due_at = now()`
    await pass()
  }
  const waitOf = async (taskId: string): Promise<number | undefined> =>
    (await findDelivery(sql, taskId))?.waitMs
  const isWaiting = async (taskId: string) => ((await waitOf(taskId)) ?? 0) > 3_000_000
  const signalsOf = (workflowId: string) =>
    sql`select signal_name from outbox where workflow_id = ${workflowId}`
  const listHosts = async () =>
    (await sql<{ host: string }[]>`select host from recovered_host`).map(({ host }) => host)
  /** As five minutes and more after the last time. */
  const letPass = (eventId: string, minutes: number) =>
    sql`update event set hasten_after = hasten_after - make_interval(mins => ${minutes}) where id = ${eventId}`
  const seeSchedule = async (eventId: string) => {
    const [row] = await sql<{ failures: number; at: string; scheduled: string | null }[]>`
      select failures, next_attempt_at::text as at, scheduled_at::text as scheduled
      from event where id = ${eventId}
    `
    assert.ok(row, 'there is the event')
    return row
  }

  test('become due once the host takes another, and their deliveries are woken', async () => {
    const { id, succeed } = await makeHost()
    const other = await makeHost()
    await pass()
    assert.ok(await isWaiting(id), 'nothing has arrived yet')
    await succeed()
    await pass()
    assert.equal(await waitOf(id), 0)
    assert.equal((await signalsOf(`deliver-events/${id}`)).length, 1)
    assert.ok(await isWaiting(other.id), 'another host is no matter')
  })

  test('become due with a first attempt that arrives, too', async () => {
    const { id, url } = await makeHost()
    const result = { durationMs: 1, status: 204 } as Parameters<
      typeof completeFirstAttempts
    >[1][number]['result']
    const key = await begin(sql, await insertDueEvent(sql, { url }))
    await sql.begin((sql) =>
      Promise.all([completeFirstAttempts(sql, [{ key, result }]), recordRecovery(sql, [url])]),
    )
    await pass()
    assert.equal(await waitOf(id), 0)
  })

  test('are no matter of a host for which none waits, or only one that is due soon', async () => {
    const { host, succeed } = await makeHost({ state: 'pending', waitSeconds: 5 })
    await succeed()
    assert.ok(!(await listHosts()).includes(host))
  })

  test('keep failures and schedule when the attempt fails', async () => {
    const { id, eventId, succeed } = await makeHost()
    const before = await seeSchedule(eventId)
    await succeed()
    await pass()
    await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 5 })
    assert.deepEqual(await seeSchedule(eventId), before)
    // The next one is the second of the schedule.
    await sql`update event set next_attempt_at = now() where id = ${eventId}`
    await attempt(sql, { eventId }, AGAIN)
    assert.equal((await findDelivery(sql, id))?.failures, 2)
  })

  test('are sent again at once when the attempt was lost', async () => {
    const { id, eventId, succeed } = await makeHost()
    const before = await seeSchedule(eventId)
    await succeed()
    await pass()
    const lost = await begin(sql, { eventId })
    await sql.begin((sql) => loseAttempt(sql, lost, { state: 'pending', waitSeconds: 0 }))
    assert.equal(await waitOf(id), 0)
    await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 5 })
    assert.deepEqual(await seeSchedule(eventId), before)
  })

  test('are due five minutes later at the earliest once more, and then ten', async () => {
    const { id, eventId, succeed } = await makeHost()
    const hasten = async (minutes: number): Promise<boolean> => {
      await letPass(eventId, minutes)
      await succeed()
      await passAgain()
      if (await isWaiting(id)) return false
      await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 5 })
      return true
    }
    const seen = []
    for (const minutes of [0, 4, 1, 9, 1]) seen.push(await hasten(minutes))
    assert.deepEqual(seen, [true, false, true, false, true])
  })

  test('wait as long as Retry-After has asked', async () => {
    const { id, eventId, succeed } = await makeHost(ASKED)
    await succeed()
    await passAgain()
    assert.ok(await isWaiting(id))
    await letPass(eventId, 10)
    await succeed()
    await passAgain()
    assert.equal(await waitOf(id), 0)
  })

  test('wait while the host is paused, and come when it is no more', async () => {
    const { host, eventId, succeed } = await makeHost()
    const before = await seeSchedule(eventId)
    await succeed()
    const scope = `host:${host}`
    await sql.begin((sql) =>
      putPause(sql, { scope, reason: undefined, until: undefined, by: 'admin' }),
    )
    await passAgain()
    assert.deepEqual(await seeSchedule(eventId), before)
    await sql.begin((sql) => endPause(sql, scope))
    await passAgain()
    assert.equal((await seeSchedule(eventId)).scheduled, before.at)
  })

  test('come 25 a second, and no more once one has failed again', async () => {
    const { host, id, insert, succeed } = await makeHost()
    const others = await Promise.all(Array.from({ length: 55 }, insert))
    const ids = [id, ...others.map(({ id }) => id)]
    const countDue = async () => {
      const waiting = await Promise.all(ids.map(isWaiting))
      return waiting.filter((waits) => !waits).length
    }
    const failHastened = async () => {
      const [first] = await sql<{ eventId: string }[]>`
        select id as "eventId" from event where failed_host = ${host} and scheduled_at is not null limit 1
      `
      assert.ok(first)
      await attempt(sql, first, { state: 'pending', waitSeconds: 5 })
    }
    await succeed()
    await pass()
    await pass()
    assert.equal(await countDue(), 25)
    await passAgain()
    assert.equal(await countDue(), 50)
    // One that was under way anyway is no sign of it.
    await insert()
    await failHastened()
    await passAgain()
    assert.equal(await countDue(), 49)
    await succeed()
    await passAgain()
    assert.equal(await countDue(), 55)
    // And the one that came later.
    await passAgain()
    assert.ok(!(await listHosts()).includes(host))
  })

  test('are redeliveries, too', async () => {
    const { eventId, succeed } = await makeHost(EXHAUSTED)
    const redeliveryId = await redeliver(sql, eventId)
    await attempt(sql, { eventId, redeliveryId }, AGAIN)
    await succeed()
    await pass()
    assert.equal((await findRedelivery(sql, redeliveryId))?.waitMs, 0)
    assert.equal((await signalsOf(`redeliver-event/${redeliveryId}`)).length, 1)
    await attempt(sql, { eventId, redeliveryId }, { state: 'pending', waitSeconds: 5 })
    const next = await findRedelivery(sql, redeliveryId)
    assert.equal(next?.failures, 1)
    assert.ok((next?.waitMs ?? 0) > 3_000_000)
  })

  test('become due when their owner has them sent again, beside those given up', async () => {
    const owner = `owner-${randomUUID()}`
    const pending = await makeHost(ASKED, owner)
    const given = await makeHost(EXHAUSTED, owner)
    const again = await makeHost(EXHAUSTED, owner)
    const redeliveryId = await redeliver(sql, again.eventId)
    await attempt(sql, { eventId: again.eventId, redeliveryId }, AGAIN)
    const foreign = await makeHost()
    const redeliverOf = (to?: Date) =>
      sql.begin((sql) =>
        redeliverMissed(
          sql,
          { owner, families: undefined, to },
          { taskQueue: 'q', options: redeliveryOptions(owner) },
        ),
      )
    assert.equal(await redeliverOf(new Date(0)), 0)
    assert.equal(await redeliverOf(), 3)
    assert.equal(await waitOf(pending.id), 0)
    assert.equal((await findRedelivery(sql, redeliveryId))?.waitMs, 0)
    assert.equal((await sql`select from redelivery where event_id = ${given.eventId}`).length, 1)
    assert.ok(await isWaiting(foreign.id))
    assert.equal(await redeliverOf(), 0, 'all are under way')
  })
})
