import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'

import type { FirstAttemptDependencies } from '../../../activities/events/dependencies.ts'
import { startFirstAttempts } from '../../../activities/events/first-attempts.ts'
import type { SendAttempt } from '../../../activities/events/send-attempt.ts'
import { ATTEMPT_SLOTS, makeAttemptSlots } from '../../../src/platform/outbound/attempt-slots.ts'
import { holdFirstAttempts } from '../../../src/events/db/first-attempt.ts'
import { DELIVERY_SCHEDULE } from '../../../src/events/domain/delivery-schedule.ts'
import {
  AGAIN,
  attempt,
  insertDueEvent,
  listStates,
  transition,
  begin,
  seeAttempts,
} from '../db/notified-task.ts'
import {
  respond,
  heldUntil,
  inTurn,
  useWebhookReceiver,
  type Reply,
} from '../../support/receiver.ts'
import { makeLatch, waitFor } from '../../support/wait.ts'
import { PATIENT_LIMITS, usePlace } from '../../tasks/activities/place.ts'

/** Number of workers beside each other, and what sends in place of the own. */
interface Workers {
  workers: number
  send: SendAttempt
  /** Ends what is held: else one that fails would wait for it without end. */
  release: () => void
}

const DELIVERY = { schedule: DELIVERY_SCHEDULE, deferSeconds: 5, limits: PATIENT_LIMITS }

describe('first attempts', () => {
  const place = usePlace()
  const receiver = useWebhookReceiver()

  let paths = 0
  const at = async (reply: Reply, owner = 'alice') => {
    const path = `/hook-${(paths += 1)}`
    receiver.script(path, reply)
    const url = receiver.url(path)
    return { path, ...(await insertDueEvent(place.deps.sql, { url, owner })) }
  }
  const statesOf = async (id: string): Promise<string[]> =>
    (await listStates(place.deps.sql, id)).slice(1)
  const until = (id: string, ...states: string[]): Promise<boolean> =>
    waitFor(`${id} has ${states.join()}`, async () => {
      const seen = await statesOf(id)
      return states.every((state, index) => seen[index] === state)
    })
  const requestsTo = (path: string): string[] =>
    receiver.of(path).map(({ body }) => (JSON.parse(body.toString()) as { status: string }).status)

  /** Waits until a receiver has had a request. */
  const untilSent = ({ path }: { path: string }) =>
    waitFor('it is sent', () => requestsTo(path).length === 1)
  /** Waits until a query of rows that wait finds one. */
  const untilFound = (what: string, query: () => PromiseLike<unknown[]>) =>
    waitFor(what, async () => (await query()).length === 1)

  /** Makes them until `work` has ended, and those under way have. */
  const running = async (
    work: () => Promise<unknown>,
    { workers = 1, send, release, ...changed }: Partial<FirstAttemptDependencies & Workers> = {},
  ): Promise<void> => {
    const deps = { ...place.deps, delivery: DELIVERY, ...changed }
    const under = Array.from({ length: workers }, () => startFirstAttempts(deps, send))
    try {
      await work()
    } finally {
      release?.()
      await Promise.all(under.map((worker) => worker.stop()))
    }
  }

  test('delivers each event to its receiver once, in the order of the task', async () => {
    const tasks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => at(respond(204), `owner-${index % 7}`)),
    )
    await running(
      async () => {
        await Promise.all(tasks.map(({ id }) => transition(place.deps.sql, id, 'COMPLETED')))
        for (const { id } of tasks)
          await until(id, 'IN_PROGRESS delivered 0', 'COMPLETED delivered 0')
      },
      { workers: 3 },
    )
    for (const { path, eventId } of tasks) {
      assert.deepEqual(requestsTo(path), ['IN_PROGRESS', 'COMPLETED'])
      const [row, ...others] = await seeAttempts(place.deps.sql, eventId)
      assert.deepEqual([row?.status, row?.number, others.length], [204, 1, 0])
    }
  })

  test('leaves what failed to a workflow of its task, until a later event overtakes it', async () => {
    const { id, path } = await at(respond(500))
    const fine = await at(respond(204))
    await running(async () => {
      await until(id, 'IN_PROGRESS pending 1')
      await transition(place.deps.sql, id, 'COMPLETED')
      await transition(place.deps.sql, fine.id, 'COMPLETED')
      await until(fine.id, 'IN_PROGRESS delivered 0', 'COMPLETED delivered 0')
      await until(id, 'IN_PROGRESS superseded 1', 'COMPLETED pending 1')
    })
    assert.equal(receiver.of(path).length, 2)
    const started = place.dispatched.filter(
      (row) => row.kind === 'restart' && row.workflowId === `deliver-events/${id}`,
    )
    assert.equal(started.length, 2, 'one for each that failed')
  })

  for (const [status, state] of [
    [410, 'stopped 1'],
    [204, 'delivered 0'],
  ] as const)
    test(`starts no workflow after ${status}`, async () => {
      const { id } = await at(respond(status))
      await running(() => until(id, `IN_PROGRESS ${state}`))
      assert.ok(!place.dispatched.some(({ workflowId }) => workflowId === `deliver-events/${id}`))
    })

  test('counts the attempt of a killed worker as an attempt that failed; the next is due at once', async () => {
    const { id, path, eventId } = await at(respond(204))
    const { number } = await begin(place.deps.sql, { eventId })
    const logged = mock.method(place.deps.log, 'info')
    await running(() => until(id, 'IN_PROGRESS pending 1'))
    const lines = logged.mock.calls.map((call) => call.arguments as unknown[])
    logged.mock.restore()
    assert.deepEqual(lines, [[{ event_id: eventId, number }, 'attempt lost with its worker']])
    assert.equal(receiver.of(path).length, 0)
    const [row] = await seeAttempts(place.deps.sql, eventId)
    assert.deepEqual([row?.error_class, row?.duration_ms], ['unknown', null])
    const due = await place.deps.sql`
      select from event where id = ${eventId} and next_attempt_at <= clock_timestamp()
    `
    assert.equal(due.length, 1)
    assert.ok(place.dispatched.some(({ workflowId }) => workflowId === `deliver-events/${id}`))
  })

  test('waits for a slot of the receiver, and makes no attempt before', async () => {
    const { opened: held, open: respondNow } = makeLatch()
    const first = await at(heldUntil(held, respond(204)))
    const attemptSlots = makeAttemptSlots({ ...ATTEMPT_SLOTS, account: 1 })
    await running(
      async () => {
        await untilSent(first)
        const second = await at(respond(204))
        const other = await at(respond(204), 'bob')
        await until(other.id, 'IN_PROGRESS delivered 0')
        assert.deepEqual(await seeAttempts(place.deps.sql, second.eventId), [])
        respondNow()
        await until(second.id, 'IN_PROGRESS delivered 0')
      },
      { attemptSlots, release: respondNow },
    )
  })

  test('gives back a row that finds no slot, without counting an attempt', async () => {
    const { opened: held, open: respondNow } = makeLatch()
    const three = Array.from({ length: 3 }, () => at(heldUntil(held, respond(204)), 'eve'))
    const deliveries = await Promise.all(three)
    const attemptSlots = makeAttemptSlots({ ...ATTEMPT_SLOTS, account: 2 })
    const { sql } = place.deps
    const findDeferred = () => sql`
      select from first_attempt where account = 'eve' and due_at > now() + interval '10 minutes'
    `
    const delivery = { ...DELIVERY, deferSeconds: 3600 }
    await running(
      async () => {
        await untilFound('one is deferred', findDeferred)
        respondNow()
      },
      { attemptSlots, delivery, release: respondNow },
    )
    const counts = await Promise.all(
      deliveries.map(async ({ eventId }) => (await seeAttempts(place.deps.sql, eventId)).length),
    )
    assert.equal(counts.toSorted((a, b) => a - b).join(), '0,1,1')
  })

  test('holds as many of one host as leave its account room for others, however many are due', async () => {
    const busy = await Promise.all(Array.from({ length: 60 }, () => at(respond(204), 'frank')))
    const { eventId } = await insertDueEvent(place.deps.sql, { owner: 'frank' })
    const sent = new Set<string>()
    const { opened: held, open: end } = makeLatch()
    const send: SendAttempt = (one) => {
      sent.add(one.eventId)
      return held
    }
    await running(
      async () => {
        await waitFor('the other is sent', () => sent.has(eventId))
        assert.ok(busy.length > sent.size, `${sent.size} were sent`)
        end()
      },
      { send, release: end },
    )
    // Nobody sends them: they would be under way in other tests.
    await place.deps.sql`delete from first_attempt where account = 'frank'`
  })

  for (const [full, count] of [
    ['account', 0],
    ['host', 4],
  ] as const)
    test(`puts ${count} attempts of others off when the slots of ${full} are full`, async () => {
      const { sql } = place.deps
      // More than an account may have at once, so that some of each host are due and not taken.
      for (let task = 0; task < 60; task += 1) await at(respond(204), 'bob')
      await sql`
        update first_attempt f set host = 'host-' || n % 3
        from (select event_id, row_number() over (order by due_at) as n from first_attempt) numbered
        where f.event_id = numbered.event_id
      `
      const sent = new Set<string>()
      const { opened: held, open: end } = makeLatch()
      const send: SendAttempt = async ({ eventId, webhook: { account } }) => {
        if (account === 'mallory') return { seconds: 3600, full }
        sent.add(eventId)
        await held
        return undefined
      }
      const isSent = ({ eventId }: { eventId: string }) =>
        waitFor('it is sent', () => sent.has(eventId))
      await running(
        async () => {
          await waitFor('the account is full', () => sent.size === 48)
          const [last] = await sql<{ due: string }[]>`
            select max(due_at)::text as due from first_attempt
            where account = 'bob' and not event_id = any(${[...sent]}::uuid[])
          `
          // Of that host from the beginning: it may be taken at once.
          await insertDueEvent(sql, { url: 'https://host-0/hook', owner: 'mallory' })
          const findDeferred = () => sql`
            select from first_attempt where account = 'mallory' and due_at > now() + interval '10 minutes'
          `
          await untilFound('one is deferred', findDeferred)
          await isSent(await at(respond(204), 'carol'))
          const countOthers = async (): Promise<number> => {
            const rows = await sql<{ id: string }[]>`
              select event_id as id from first_attempt
              where account = 'bob' and due_at > ${last?.due ?? ''}::text::timestamptz
            `
            return rows.filter(({ id }) => !sent.has(id)).length
          }
          await waitFor(`${count} others are deferred`, async () => (await countOthers()) === count)
          end()
        },
        { send, release: end },
      )
      await sql`delete from first_attempt`
    })

  test('notifies the workflow of an event, with an attempt under way, that a later one waits', async () => {
    const { sql } = place.deps
    const { id, eventId } = await at(respond(204))
    await attempt(sql, { eventId }, AGAIN)
    await begin(sql, { eventId })
    await transition(sql, id, 'COMPLETED')
    const announced: string[] = []
    await running(
      () =>
        waitFor('it is looked at again later', async () => {
          const rows = await sql`
            select from first_attempt f join event e on e.id = f.event_id
            where f.task_id = ${id} and e.status = 'COMPLETED' and f.due_at > now()
          `
          return rows.length === 1
        }),
      { announceEvent: (of) => announced.push(of) },
    )
    assert.equal(announced.filter((of) => of === id).length, 1)
    assert.deepEqual(await statesOf(id), ['IN_PROGRESS pending 1', 'COMPLETED pending 0'])
    await sql`delete from first_attempt`
  })

  test('renews what nobody else has locked, and waits for nobody', async () => {
    const { sql } = place.deps
    const [locked, free] = [await at(respond(204)), await at(respond(204))]
    const dueOf = async ({ eventId }: { eventId: string }): Promise<boolean> => {
      const rows = await sql`
        select from first_attempt where event_id = ${eventId} and due_at > now() + interval '1 minute'
      `
      return rows.length === 1
    }
    await sql.begin(async (own) => {
      await own`select from first_attempt where event_id = ${locked.eventId} for update`
      const attempts = [locked, free].map(({ eventId }) => ({ eventId, seconds: 600 }))
      await holdFirstAttempts(sql, attempts)
    })
    assert.deepEqual([await dueOf(locked), await dueOf(free)], [false, true])
    await sql`delete from first_attempt`
  })

  test('takes no event again that it holds, though its row is due', async () => {
    const { opened: held, open: go } = makeLatch()
    const [slow, other] = [await at(respond(204)), await at(respond(204))]
    const { sql, notifier } = place.deps
    const begun: string[] = []
    const findHeld = () => sql`
      select from first_attempt where event_id = ${slow.eventId} and due_at > now() + interval '4 seconds'
    `
    const send: SendAttempt = async ({ eventId }) => {
      begun.push(eventId)
      await held
      return undefined
    }
    await running(
      async () => {
        await waitFor('both are held', () => begun.length === 2)
        await sql`update first_attempt set due_at = now() where event_id = ${slow.eventId}`
        notifier.notify()
        await untilFound('it is taken again', findHeld)
        go()
      },
      { send, release: go },
    )
    assert.deepEqual(begun.toSorted(), [slow.eventId, other.eventId].toSorted())
    await sql`delete from first_attempt`
  })

  test('takes nothing more once it stops; its attempts go on and are recorded', async () => {
    const { opened: held, open: respondNow } = makeLatch()
    const slow = await at(heldUntil(held, respond(204)))
    const worker = startFirstAttempts({ ...place.deps, delivery: DELIVERY })
    await untilSent(slow)
    const stopped = worker.stop()
    const late = await at(respond(204))
    place.deps.notifier.notify()
    respondNow()
    await stopped
    assert.deepEqual(await statesOf(slow.id), ['IN_PROGRESS delivered 0'])
    assert.equal(requestsTo(slow.path).length, 1)
    assert.deepEqual(await statesOf(late.id), ['IN_PROGRESS pending 0'])
    await place.deps.sql`delete from first_attempt`
  })

  test('keeps what it sends for long, and ends with it', async () => {
    const { opened: held, open: respondNow } = makeLatch()
    const slow = await at(inTurn(heldUntil(held, respond(204)), respond(500)))
    const dueAt = async (): Promise<string> => {
      const [row] = await place.deps.sql<{ due: string }[]>`
        select due_at::text as due from first_attempt where event_id = ${slow.eventId}
      `
      return row?.due ?? ''
    }
    await running(
      async () => {
        await untilSent(slow)
        const before = await dueAt()
        await waitFor('its lease is longer', async () => (await dueAt()) > before)
        respondNow()
      },
      { release: respondNow },
    )
    assert.deepEqual(await statesOf(slow.id), ['IN_PROGRESS delivered 0'])
  })

  test('says nothing of a leak when many attempts are under way', async () => {
    const warnings: string[] = []
    const record = ({ message }: Error) => void warnings.push(message)
    const { opened: held, open: respondNow } = makeLatch()
    const tasks = await Promise.all(
      Array.from({ length: 12 }, (_, index) => at(heldUntil(held, respond(204)), `many-${index}`)),
    )
    process.on('warning', record)
    await running(
      async () => {
        for (const task of tasks) await untilSent(task)
        respondNow()
      },
      {
        attemptSlots: makeAttemptSlots({ ...ATTEMPT_SLOTS, host: tasks.length }),
        release: respondNow,
      },
    )
    process.off('warning', record)
    assert.deepEqual(warnings, [])
  })

  test('goes on after an outage of PostgreSQL', async () => {
    const delivery = await at(respond(204))
    let issues = 2
    const sql = new Proxy(place.deps.sql, {
      apply: (target, self, values: [string[], ...unknown[]]) =>
        values[0].join('').includes('recursive') && (issues -= 1) >= 0
          ? Promise.reject(new Error('the connection is gone'))
          : (Reflect.apply(target, self, values) as unknown),
    })
    await running(() => until(delivery.id, 'IN_PROGRESS delivered 0'), { sql })
  })
})
