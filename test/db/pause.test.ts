import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import {
  countEngineFailure,
  countEngineSuccess,
  listBreakers,
  releaseProbe,
} from '../../src/db/task/breaker.ts'
import { beginAttempt } from '../../src/db/event/attempt.ts'
import {
  findDelivery,
  findRedelivery,
  listStillDeliveries,
  listWaitingUrls,
} from '../../src/db/event/delivery.ts'
import { listEvents } from '../../src/db/event/event-log.ts'
import {
  beginFirstAttempts,
  deferHosts,
  takeFirstAttempts,
} from '../../src/db/event/first-attempt.ts'
import { RULES } from '../../src/db/shared/change-notification.ts'
import { HELD_EVENT } from '../../src/domain/task/waits-for.ts'
import { endPause, listPauses, putPause } from '../../src/db/task/pause.ts'
import { findDeadline } from '../../src/db/task/deadline.ts'
import { holdTask, isHeld } from '../../src/db/task/task-transition.ts'
import { claimImageTask } from '../../src/db/image-task/image-task.ts'
import type { OutboxRow } from '../../src/db/shared/outbox.ts'
import { unitOfWork } from '../../src/db/unit-of-work.ts'
import { enterQueue } from '../../src/db/video-task/video-queue.ts'
import { claimVideoTask } from '../../src/db/video-task/video-task.ts'
import { wakeHeld } from '../../src/jobs/pause.ts'
import { insertTask, usePlace } from '../activities/place.ts'
import { getVideo, listWoken, wakes } from '../activities/video-place.ts'
import { waitFor } from '../support/wait.ts'
import {
  RECEIVER,
  attempt,
  begin,
  insertDueEvent,
  redeliver,
  seeAttempts,
} from './notified-task.ts'

const place = usePlace()
/** Asserts that a value has these members; of a list, its first. */
const assertHas = (given: unknown, expected: object): void => {
  const [value = {}, members] = Array.isArray(expected)
    ? [(given as object[])[0], expected[0] as object]
    : [given as object | undefined, expected]
  const names = Object.keys(members)
  const found = Object.entries(value).filter(([name]) => names.includes(name))
  assert.deepEqual(Object.fromEntries(found), members)
}
const NEVER = new AbortController().signal
const LIMITS = { slots: 1, offPeakSeconds: 172_800 }

const claim = (id: string) => place.database.sql.begin((sql) => claimImageTask(sql, id))
const claimVideo = (id: string) => place.database.sql.begin((sql) => claimVideoTask(sql, id))
const pause = (scope: string, until?: Date) =>
  place.database.sql.begin((sql) => putPause(sql, { scope, reason: undefined, until, by: 'root' }))
const resume = (scope: string) => place.database.sql.begin((sql) => endPause(sql, scope))
const see = async (id: string) => {
  const [row] = await place.database.sql<
    { fence: number; held: boolean; admitted: boolean; age: number; status: string }[]
  >`select fence, status, held_at is not null as held, admitted_at is not null as admitted,
    extract(epoch from clock_timestamp() - claimed_at)::float8 as age from task where id = ${id}`
  return row
}
/** Moves the times of a task into the past. */
const age = (id: string, seconds: number) => place.database.sql`
  update task set claimed_at = claimed_at - ${seconds} * interval '1 second',
    held_at = held_at - ${seconds} * interval '1 second' where id = ${id}`
const enter = async (id: string) => {
  const enqueued: OutboxRow[] = []
  const jobs = { dispatchNow: (row: OutboxRow) => enqueued.push(row) }
  const state = await unitOfWork({ sql: place.database.sql, jobs }, (sql, enqueue) =>
    enterQueue(sql, id, { ...LIMITS, enqueue }),
  )
  const left = state?.offPeakSecondsLeft ?? undefined
  return {
    isAdmitted: state?.isAdmitted,
    woken: listWoken(enqueued),
    ...(left !== undefined && { left }),
  }
}

beforeEach(async () => {
  await place.database.sql`delete from pause`
  await place.database.sql`delete from breaker`
})

describe('a pause', () => {
  for (const scope of ['all', 'engine:local', 'engine:local:image', 'kind:upscale', 'owner:alice'])
    test(`of ${scope} lets no attempt begin until it is resumed`, async () => {
      const id = await insertTask(place)
      await pause(scope)
      assert.deepEqual(await claim(id), { held: 'paused', isQueued: true })
      assertHas(await see(id), { fence: 0, held: true, status: 'CREATED' })
      await resume(scope)
      assertHas(await claim(id), { fence: 1 })
      assertHas(await see(id), { held: false, status: 'IN_PROGRESS' })
    })

  for (const scope of ['engine:vendor', 'engine:local:video', 'kind:relight', 'owner:bob'])
    test(`of ${scope} holds no other task`, async () => {
      await pause(scope)
      assertHas(await claim(await insertTask(place)), { fence: 1 })
    })

  test('leaves a task alone that runs at an upstream', async () => {
    const id = await insertTask(place)
    await claim(id)
    await place.database.sql`update task set upstream_id = 'a' where id = ${id}`
    await pause('all')
    assertHas(await claim(id), { fence: 2 })
  })

  test('ends by the clock of the database', async () => {
    const id = await insertTask(place)
    await pause('all', new Date(Date.now() + 3_600_000))
    assert.ok(isHeld(await claim(id)))
    await place.database.sql`update pause set until = clock_timestamp()`
    assertHas(await claim(id), { fence: 1 })
    assert.deepEqual(await listPauses(place.database.sql), [])
  })

  test('does not begin at an end that has passed', async () => {
    assert.equal((await pause('all', new Date(Date.now() - 1000))).after, undefined)
    assert.deepEqual(await listPauses(place.database.sql), [])
  })

  test('keeps since when it lasts when it is changed, and begins again once it has ended', async () => {
    const { after: first } = await pause('all')
    const { before, after } = await pause('all', new Date(Date.now() + 3_600_000))
    assert.deepEqual(before, first)
    assert.equal(after?.paused_at, first?.paused_at)
    await resume('all')
    assert.equal((await pause('all')).before, undefined)
    assert.equal(await resume('kind:relight'), undefined)
  })

  test('stops the deadline of a task that was begun', async () => {
    const id = await insertTask(place)
    await claim(id)
    await age(id, 100)
    await pause('all')
    await claim(id)
    await age(id, 1000)
    await claim(id)
    await resume('all')
    await claim(id)
    const { age: seconds = 0 } = (await see(id)) ?? {}
    assert.ok(seconds >= 100 && seconds < 1000, `${seconds} s count`)
  })

  test('lets the deadlines of callers pass, also of a video that waits for a slot', async () => {
    const { sql } = place.database
    const ids = [
      await insertTask(place),
      await getVideo(place.database, { owner: 'late', account: 'late' }),
    ]
    await sql`
      update task set start_within = 600, end_within = 700, created_at = now() - interval '650 seconds'
      where id = any(${ids})
    `
    await pause('all')
    await sql`update pause set paused_at = now() - interval '640 seconds'`
    for (const id of ids) {
      assert.equal(await findDeadline(sql, { id, until: 'start' }), 0)
      const left = (await findDeadline(sql, { id, until: 'end' })) ?? 0
      assert.ok(left <= 50_000, `${left} ms`)
      await sql`update task set ended_at = clock_timestamp() where id = ${id}`
    }
    await resume('all')
  })

  test('lets the two days of an off-peak video pass', async () => {
    const { sql } = place.database
    const id = await getVideo(place.database, { owner: 'off peak', offPeak: true })
    await sql`update task set created_at = now() - interval '1000 seconds' where id = ${id}`
    await pause('all')
    await sql`update pause set paused_at = now() - interval '600 seconds'`
    const { left = 0 } = await enter(id)
    assert.ok(left > 171_000 && left <= LIMITS.offPeakSeconds - 1000, `${left} s`)
    await sql`update task set ended_at = clock_timestamp() where id = ${id}`
  })

  test('has begun once nothing that began before it is without its commit', async () => {
    const id = await insertTask(place)
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let claimed = (): void => {}
    const hasClaimed = new Promise<void>((resolve) => (claimed = resolve))
    const first = place.database.sql.begin(async (sql) => {
      await claimImageTask(sql, id)
      claimed()
      await held
    })
    await hasClaimed
    let isPaused = false
    const pausing = pause('all').then(() => (isPaused = true))
    await waitFor('the pause waits', async () => {
      const locks = await place.database
        .sql`select from pg_locks where locktype = 'advisory' and not granted`
      return locks.length > 0 || undefined
    })
    assert.equal(isPaused, false)
    const second = claim(await insertTask(place))
    release()
    await Promise.all([first, pausing])
    assert.deepEqual(await second, { held: 'paused', isQueued: true })
  })

  test('gives the slot of a video that has not begun to another one, and wakes it at its end', async () => {
    const paused = await getVideo(place.database, { owner: 'vera', kind: 'extend' })
    const other = await getVideo(place.database, { owner: 'vera' })
    assert.equal((await enter(paused)).isAdmitted, true)
    assert.equal((await enter(other)).isAdmitted, false)
    await pause('kind:extend')
    assert.deepEqual(await claimVideo(paused), { held: 'paused', isQueued: true })
    assert.deepEqual(await enter(paused), { isAdmitted: false, woken: wakes(other) })
    assertHas(await claimVideo(other), { fence: 1 })
    await resume('kind:extend')
    const enqueued: OutboxRow[] = []
    const jobs = { dispatchNow: (row: OutboxRow) => enqueued.push(row) }
    const deps = { sql: place.database.sql, jobs, ...LIMITS }
    // The other one has the only slot.
    await wakeHeld(deps, NEVER)
    assert.deepEqual(listWoken(enqueued), [])
    await pause('all')
    await resume('all')
    await wakeHeld({ ...deps, slots: 2 }, NEVER)
    assert.deepEqual(listWoken(enqueued), wakes(paused))
    assert.equal((await place.database.sql`select from pause`).length, 0)
  })
})

describe('a pause of a host', () => {
  const HOST = `host:${new URL(RECEIVER).host}`

  test('begins no attempt of any kind, and none is taken', async () => {
    const { sql } = place.database
    const { eventId } = await insertDueEvent(sql)
    await pause(HOST)
    const taking = { limit: 100, perAccount: 100, held: new Map(), fullHosts: [], after: '' }
    const taken = () => takeFirstAttempts(sql, { ...taking, leaseSeconds: 60 })
    assert.deepEqual((await taken()).attempts, [])
    const first = await sql.begin((sql) => beginFirstAttempts(sql, [{ eventId, url: RECEIVER }]))
    assert.equal(first.size, 0)
    const further = await sql.begin((sql) => beginAttempt(sql, { eventId }, RECEIVER))
    assert.equal(further, undefined)
    assert.deepEqual([...(await seeAttempts(sql, eventId))], [])
    await pause('host:other.example.com')
    await resume(HOST)
    assert.equal((await taken()).attempts[0]?.eventId, eventId)
  })

  const secondsUntilDue = async (eventId: string): Promise<number> => {
    const [row] = await place.database.sql<{ seconds: number }[]>`
      select extract(epoch from due_at - clock_timestamp())::float8 as seconds
      from first_try where event_id = ${eventId}
    `
    return row?.seconds ?? NaN
  }

  test('defers its first attempts, which are due once it is resumed, but for one under way', async () => {
    const { sql } = place.database
    const [one, under] = [await insertDueEvent(sql), await insertDueEvent(sql)]
    await begin(sql, under)
    await pause(HOST)
    await deferHosts(sql, [])
    for (const { eventId } of [one, under]) assert.ok((await secondsUntilDue(eventId)) > 4)
    await resume(HOST)
    assert.ok((await secondsUntilDue(one.eventId)) <= 0)
    assert.ok((await secondsUntilDue(under.eventId)) > 3)
  })

  test('defers its first attempts no further than it lasts', async () => {
    const { sql } = place.database
    const { eventId } = await insertDueEvent(sql)
    await pause(HOST, new Date(Date.now() + 3000))
    await deferHosts(sql, [])
    assert.ok((await secondsUntilDue(eventId)) <= 3)
    await pause(HOST)
    await sql`update first_try set due_at = now()`
    await deferHosts(sql, [])
    assert.ok((await secondsUntilDue(eventId)) > 4)
    await pause(HOST, new Date(Date.now() + 1000))
    assert.ok((await secondsUntilDue(eventId)) <= 1)
  })

  test('notifies at its end those who make first attempts', async () => {
    const notified: string[] = []
    const notifyChange = (id: string) => void notified.push(id)
    const deps = { sql: place.database.sql, notifyChange, ...LIMITS }
    await pause(HOST)
    await wakeHeld(deps, NEVER)
    assert.deepEqual(notified, [])
    await resume(HOST)
    await wakeHeld(deps, NEVER)
    await wakeHeld(deps, NEVER)
    assert.deepEqual(notified, [RULES])
  })

  test('is said of the events that it holds, and of the host to operators', async () => {
    const { sql } = place.database
    const { id: taskId, eventId } = await insertDueEvent(sql)
    await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 0 })
    const waits = async () => {
      const { events = [] } = (await listEvents(sql, { taskId, owner: 'alice' })) ?? {}
      const { receivers } = await listWaitingUrls(sql)
      const host = receivers.find((receiver) => `host:${receiver.host}` === HOST)
      return [...events.map((event) => event.waits_for), host?.paused]
    }
    assert.deepEqual(await waits(), [undefined, undefined, undefined])
    await pause(HOST)
    assert.deepEqual(await waits(), [undefined, HELD_EVENT, true])
    await sql`update event set state = 'delivered' where id = ${eventId}`
    assert.deepEqual((await waits()).slice(0, 2), [undefined, undefined])
    await redeliver(sql, eventId)
    assert.deepEqual((await waits()).slice(0, 2), [undefined, HELD_EVENT])
  })

  test('makes further attempts and redeliveries wait without another step of their schedule', async () => {
    const { sql } = place.database
    const { id, eventId } = await insertDueEvent(sql)
    await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 0 })
    const redeliveryId = await redeliver(sql, eventId)
    await pause(HOST)
    const waits = async () => [
      (await findDelivery(sql, id))?.waitMs,
      (await findRedelivery(sql, redeliveryId))?.waitMs,
    ]
    assert.deepEqual(await waits(), [60_000, 60_000])
    const options = { afterSeconds: -1, ids: { only: id }, limit: 1 }
    assert.deepEqual([...(await listStillDeliveries(sql, options))], [])
    await resume(HOST)
    assert.deepEqual(await waits(), [0, 0])
    assert.equal((await listStillDeliveries(sql, options)).length, 1)
    assert.equal((await findDelivery(sql, id))?.failures, 1)
  })
})

const SCOPE = 'engine:local:image'
const fail = (taskId: string) =>
  countEngineFailure(place.database.sql, { scope: SCOPE, taskId, most: 3, openSeconds: 3600 })
const wait = () => place.database.sql`update breaker set retry_at = clock_timestamp()`

describe('a breaker', () => {
  const open = async (id: string): Promise<void> => {
    for (const isOpen of [false, false, true]) assert.equal((await fail(id)).isOpen, isOpen)
  }

  test('opens at so many failures in a row, and holds the tasks of its engine', async () => {
    const id = await insertTask(place)
    await claim(id)
    await fail(id)
    await fail(id)
    assert.equal(
      await countEngineSuccess(place.database.sql, { scope: SCOPE, onlyOpen: false }),
      false,
    )
    await open(id)
    assert.deepEqual(await fail(id), { isOpen: true, hasOpened: false })
    assert.deepEqual(await claim(id), { held: 'breaker', isQueued: false })
    assertHas(await listPauses(place.database.sql), [{ scope: SCOPE, breaker: 'open' }])
    assert.deepEqual(
      [...(await listBreakers(place.database.sql))],
      [{ scope: SCOPE, isOpen: true }],
    )
  })

  test('lets one task try, of many at once, and waits again when that fails', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => insertTask(place)))
    await open(ids[0] ?? '')
    await wait()
    const claimed = await Promise.all(ids.map(claim))
    const trying = claimed.filter((task) => task && !isHeld(task))
    assert.equal(trying.length, 1)
    const [probe] = trying as { id: string; isProbe: boolean }[]
    assert.equal(probe?.isProbe, true)
    // Its worker may be killed: it goes on, and no other one.
    assertHas(await claim(probe.id), { id: probe.id })
    assert.ok(isHeld(await claim(ids.find((id) => id !== probe.id) ?? '')))
    assert.equal((await fail(probe.id)).isOpen, true)
    assert.ok(isHeld(await claim(probe.id)))
  })

  test('lets all begin once it is closed, by the one that tries or an admin', async () => {
    const [one, two] = [await insertTask(place), await insertTask(place)]
    await open(one)
    await wait()
    await claim(one)
    assert.equal(
      await countEngineSuccess(place.database.sql, { scope: SCOPE, onlyOpen: true }),
      true,
    )
    assertHas(await claim(two), { fence: 1 })
    await open(one)
    assertHas(await resume(SCOPE), { scope: SCOPE, breaker: 'open' })
    assertHas(await claim(two), { fence: 2 })
  })

  test('lets another task try when the first has ended without asking', async () => {
    const [one, two] = [await insertTask(place), await insertTask(place)]
    await open(one)
    await wait()
    await claim(one)
    await releaseProbe(place.database.sql, one)
    assertHas(await claim(two), { isProbe: true })
  })

  test('stops the deadline of a task whose attempt it has ended', async () => {
    const id = await insertTask(place)
    await claim(id)
    await holdTask(place.database.sql, { id, fence: 1 })
    await age(id, 1000)
    await claim(id)
    const { age: seconds = 0 } = (await see(id)) ?? {}
    assert.ok(seconds < 1000, `${seconds} s count`)
  })

  test('waits with the other engines not', async () => {
    const id = await insertTask(place)
    for (let time = 0; time < 3; time += 1)
      await countEngineFailure(place.database.sql, {
        scope: 'engine:vendor:image',
        taskId: id,
        most: 3,
        openSeconds: 3600,
      })
    assertHas(await claim(id), { fence: 1 })
  })
})
