import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import {
  countEngineFailure,
  countEngineSuccess,
  listBreakers,
} from '../../../src/tasks/db/breaker.ts'
import { describeFailingHost } from '../../../src/events/domain/failing-host.ts'
import { beginAttempt } from '../../../src/events/db/attempt.ts'
import {
  findDelivery,
  findRedelivery,
  listStalledDeliveries,
  listWaitingUrls,
} from '../../../src/events/db/delivery.ts'
import { listEvents } from '../../../src/tasks/db/event-log.ts'
import {
  beginFirstAttempts,
  deferHosts,
  takeFirstAttempts,
} from '../../../src/events/db/first-attempt.ts'
import { RULES } from '../../../src/platform/db/change-notification.ts'
import { PAUSED_EVENT } from '../../../src/tasks/domain/waits-for.ts'
import { endPause, listPauses, putPause } from '../../../src/tasks/db/pause.ts'
import { claimTask, putBack } from '../../../src/tasks/db/task-transition.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import { admissionOf, insertTask, makePass, usePlace } from '../activities/place.ts'
import { claimVideo, enterVideo, getVideo, wakes } from '../activities/video-place.ts'
import { waitFor } from '../../support/wait.ts'
import {
  RECEIVER,
  attempt,
  begin,
  insertDueEvent,
  redeliver,
  seeAttempts,
} from '../../events/db/notified-task.ts'

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

const claim = async (id: string) => {
  const { sql } = place.database
  const admission = await admissionOf(sql, id)
  return await sql.begin((sql) => claimTask(sql, { id, family: 'image', admission }))
}
const pause = (scope: string, until?: Date) =>
  place.database.sql.begin((sql) => putPause(sql, { scope, reason: undefined, until, by: 'root' }))
const resume = (scope: string) => place.database.sql.begin((sql) => endPause(sql, scope))
const see = async (id: string) => {
  const [row] = await place.database.sql<
    { fence: number; waitsOn: string | null; admitted: boolean; age: number; status: string }[]
  >`select fence, status, waits_on as "waitsOn", admitted_at is not null as admitted,
    extract(epoch from clock_timestamp() - claimed_at)::float8 as age from task where id = ${id}`
  return row
}
/** Moves the times of a task into the past. */
const age = (id: string, seconds: number) => place.database.sql`
  update task set claimed_at = claimed_at - ${seconds} * interval '1 second',
    waits_since = waits_since - ${seconds} * interval '1 second' where id = ${id}`
/** Runs passes of an api until one finds nothing; returns whose workflows they start, and what they notify of. */
const admit = async (slots = 1) => {
  const pass = makePass(place, slots)
  const all = { started: [] as string[], notified: [] as string[] }
  for (let found = -1; found < all.started.length;) {
    found = all.started.length
    const { started, notified } = await pass()
    all.started.push(...started)
    all.notified.push(...notified)
  }
  return all
}
const runOf = (id: string) => `image-task/${id}`

beforeEach(async () => {
  await place.database.sql`delete from pause`
  await place.database.sql`delete from breaker`
  // Passes go through all that earlier tests have left.
  await cancelTasks(place.database.sql)
})

describe('a pause', () => {
  for (const scope of ['all', 'engine:local', 'engine:local:image', 'kind:upscale', 'owner:alice'])
    test(`of ${scope} lets no task begin until it is resumed`, async () => {
      const admitted = await insertTask(place)
      await pause(scope)
      const made = await insertTask(place)
      assert.equal(await claim(admitted), undefined)
      const waiting = { fence: 0, waitsOn: `pause:${scope}`, status: 'CREATED' }
      for (const id of [admitted, made]) assertHas(await see(id), waiting)
      assert.deepEqual((await admit()).started, [])
      await resume(scope)
      assert.deepEqual((await admit()).started, [runOf(admitted), runOf(made)])
      assertHas(await claim(admitted), { fence: 1 })
      assertHas(await see(admitted), { waitsOn: null, status: 'IN_PROGRESS' })
      await claim(made)
    })

  for (const scope of ['engine:vendor', 'engine:local:video', 'kind:relight', 'owner:bob'])
    test(`of ${scope} keeps no other task waiting`, async () => {
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
    await pause('all', new Date(Date.now() + 3_600_000))
    const id = await insertTask(place)
    await place.database.sql`update pause set until = clock_timestamp()`
    assert.deepEqual((await admit()).started, [runOf(id)])
    assertHas(await claim(id), { fence: 1 })
    assert.deepEqual(await listPauses(place.database.sql), [])
    assert.equal((await place.database.sql`select from pause`).length, 0, 'it is forgotten')
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
    await resume('all')
    await admit()
    assertHas(await claim(id), { fence: 2 })
    const { age: seconds = 0 } = (await see(id)) ?? {}
    assert.ok(seconds >= 100 && seconds < 1000, `${seconds} s count`)
  })

  test('has begun once nothing that began before it is without its commit', async () => {
    const id = await insertTask(place)
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let claimed = (): void => {}
    const hasClaimed = new Promise<void>((resolve) => (claimed = resolve))
    const first = place.database.sql.begin(async (sql) => {
      await claimTask(sql, { id, family: 'image', admission: 1 })
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
    const other = await insertTask(place)
    const second = claim(other)
    release()
    await Promise.all([first, pausing])
    assert.equal(await second, undefined)
    assertHas(await see(other), { waitsOn: 'pause:all' })
  })

  test('gives the slot of a video that has not begun to another one, and goes on with it at its end', async () => {
    const paused = await getVideo(place.database, { owner: 'vera', kind: 'extend' })
    const other = await getVideo(place.database, { owner: 'vera' })
    await enterVideo(place.database, paused, 1)
    assertHas(await see(other), { waitsOn: 'slot' })
    await pause('kind:extend')
    assert.equal(await claimVideo(place.database, paused), undefined)
    assertHas(await see(paused), { waitsOn: 'pause:kind:extend', admitted: false })
    assert.deepEqual((await admit()).started, wakes(other))
    assertHas(await claimVideo(place.database, other), { fence: 1 })
    await resume('kind:extend')
    assert.deepEqual((await admit()).started, [], 'the other one has the only slot')
    assert.deepEqual((await admit(2)).started, wakes(paused))
  })

  test('lets a video that runs at an upstream be admitted again', async () => {
    const id = await getVideo(place.database, { owner: 'uma' })
    await enterVideo(place.database, id, 1)
    await claimVideo(place.database, id)
    await place.database.sql`update task set upstream_id = 'a', waits_on = 'turn' where id = ${id}`
    await pause('all')
    assert.deepEqual((await admit()).started, wakes(id))
    assertHas(await claimVideo(place.database, id), { fence: 2 })
  })

  test('leaves its slot to a video that has begun, which goes on without another', async () => {
    const id = await getVideo(place.database, { owner: 'wanda' })
    await enterVideo(place.database, id, 1)
    await claimVideo(place.database, id)
    await pause('owner:wanda')
    assert.equal(await claimVideo(place.database, id), undefined)
    assertHas(await see(id), { waitsOn: 'pause:owner:wanda', admitted: true, status: 'processing' })
    await resume('owner:wanda')
    assert.deepEqual((await admit()).started, wakes(id))
    assertHas(await claimVideo(place.database, id), { fence: 2 })
  })
})

describe('a pause of a host', () => {
  const HOST = `host:${new URL(RECEIVER).host}`

  test('begins no attempt of any kind, and none is taken', async () => {
    const { sql } = place.database
    const { eventId } = await insertDueEvent(sql)
    await pause(HOST)
    const taking = { limit: 100, perAccount: 100, leased: new Map(), fullHosts: [], after: '' }
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
      from first_attempt where event_id = ${eventId}
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
    await sql`update first_attempt set due_at = now()`
    await deferHosts(sql, [])
    assert.ok((await secondsUntilDue(eventId)) > 4)
    await pause(HOST, new Date(Date.now() + 1000))
    assert.ok((await secondsUntilDue(eventId)) <= 1)
  })

  test('notifies at its end those who make first attempts', async () => {
    await pause(HOST)
    assert.deepEqual((await admit()).notified, [])
    await resume(HOST)
    assert.deepEqual((await admit()).notified, [RULES])
    assert.deepEqual((await admit()).notified, [])
  })

  test('is said of the events that it holds, and of the host to operators', async () => {
    const { sql } = place.database
    const { id: taskId, eventId } = await insertDueEvent(sql)
    await attempt(sql, { eventId }, { state: 'pending', waitSeconds: 0 })
    let last: unknown[] = []
    let said = ''
    const waits = async () => {
      const { events = [] } = (await listEvents(sql, { taskId, owner: 'alice' })) ?? {}
      const { receivers } = await listWaitingUrls(sql)
      const host = receivers.find((receiver) => `host:${receiver.host}` === HOST)
      last = [host?.last_status, host?.last_error_class]
      if (host) said = describeFailingHost(host)
      return [...events.map((event) => event.waits_for), host?.paused]
    }
    assert.deepEqual(await waits(), [undefined, undefined, undefined])
    assert.deepEqual(last, [503, 'status_5xx'], 'how it failed last')
    assert.match(
      said,
      new RegExp(
        `^1 event of alice for ${HOST.slice(5)} failed \\(status 503\\) since \\S+Z: its owner mends`,
      ),
    )
    await pause(HOST)
    assert.deepEqual(await waits(), [undefined, PAUSED_EVENT, true])
    await sql`update event set state = 'delivered' where id = ${eventId}`
    assert.deepEqual((await waits()).slice(0, 2), [undefined, undefined])
    await redeliver(sql, eventId)
    assert.deepEqual((await waits()).slice(0, 2), [undefined, PAUSED_EVENT])
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
    assert.deepEqual([...(await listStalledDeliveries(sql, options))], [])
    await resume(HOST)
    assert.deepEqual(await waits(), [0, 0])
    assert.equal((await listStalledDeliveries(sql, options)).length, 1)
    assert.equal((await findDelivery(sql, id))?.failures, 1)
  })
})

const SCOPE = 'engine:local:image'
const fail = (taskId: string) =>
  countEngineFailure(place.database.sql, { scope: SCOPE, taskId, max: 3, openSeconds: 3600 })
const wait = () => place.database.sql`update breaker set retry_at = clock_timestamp()`

describe('a breaker', () => {
  const open = async (id: string): Promise<void> => {
    for (const isOpen of [false, false, true]) assert.equal((await fail(id)).isOpen, isOpen)
  }
  const succeed = (onlyOpen: boolean) =>
    countEngineSuccess(place.database.sql, { scope: SCOPE, onlyOpen })

  test('opens at so many failures in a row, and lets no task of its engine begin', async () => {
    const id = await insertTask(place)
    await claim(id)
    await fail(id)
    await fail(id)
    assert.equal(await succeed(false), false)
    await open(id)
    assert.deepEqual(await fail(id), { isOpen: true, hasOpened: false })
    assert.equal(await claim(id), undefined)
    assertHas(await see(id), { waitsOn: `breaker:${SCOPE}` })
    assertHas(await see(await insertTask(place)), { waitsOn: `breaker:${SCOPE}` })
    assert.deepEqual((await admit()).started, [])
    assertHas(await listPauses(place.database.sql), [{ scope: SCOPE, breaker: 'open' }])
    assert.deepEqual(
      [...(await listBreakers(place.database.sql))],
      [{ scope: SCOPE, isOpen: true }],
    )
  })

  test('lets one task try, of many, and waits again when that fails', async () => {
    const ids = [await insertTask(place), await insertTask(place), await insertTask(place)]
    await open(ids[0] ?? '')
    for (const id of ids) await claim(id)
    await wait()
    assert.deepEqual((await admit()).started, [runOf(ids[0] ?? '')])
    const probe = await claim(ids[0] ?? '')
    assert.equal(probe?.isProbe, true)
    // Its worker may be killed: it goes on, and no other one.
    assertHas(await claim(probe.id), { id: probe.id, isProbe: true })
    assert.deepEqual((await admit()).started, [])
    assert.equal((await fail(probe.id)).isOpen, true)
    await putBack(place.database.sql, { id: probe.id, fence: 2, waitsOn: `breaker:${SCOPE}` })
    assert.deepEqual((await admit()).started, [])
    await wait()
    assert.equal((await admit()).started.length, 1)
  })

  test('lets all go on in their order once the one that tries has closed it, or an admin', async () => {
    for (const close of [() => succeed(true), () => resume(SCOPE)]) {
      const ids = [await insertTask(place), await insertTask(place), await insertTask(place)]
      await open(ids[0] ?? '')
      for (const id of ids) await claim(id)
      await close()
      assert.deepEqual((await admit()).started, ids.map(runOf))
      for (const id of ids) assertHas(await claim(id), { isProbe: false })
    }
  })

  test('lets another task try when the first has ended without asking', async () => {
    const [one, two] = [await insertTask(place), await insertTask(place)]
    await open(one)
    for (const id of [one, two]) await claim(id)
    await wait()
    await admit()
    await cancelTasks(place.database.sql, [one])
    assert.deepEqual((await admit()).started, [runOf(two)])
    assertHas(await claim(two), { isProbe: true })
  })

  test('lets a video try that has a slot, or for which one is free', async () => {
    const { database } = place
    const scope = 'engine:local:video'
    const [one, two] = [
      await getVideo(database, { owner: 'yves' }),
      await getVideo(database, { owner: 'yves' }),
    ]
    await enterVideo(database, one, 1)
    for (let time = 0; time < 3; time += 1)
      await countEngineFailure(database.sql, { scope, taskId: one, max: 3, openSeconds: 3600 })
    await claimVideo(database, one)
    assertHas(await see(one), { waitsOn: `breaker:${scope}`, admitted: false })
    await wait()
    const { started } = await admit()
    assert.deepEqual(started, wakes(one), 'the other one waits for the slot')
    assertHas(await claimVideo(database, one), { isProbe: true })
    assertHas(await see(two), { waitsOn: 'slot' })
  })

  test('stops the deadline of a task whose attempt it has ended', async () => {
    const id = await insertTask(place)
    await claim(id)
    await putBack(place.database.sql, { id, fence: 1, waitsOn: `breaker:${SCOPE}` })
    await age(id, 1000)
    await admit()
    await claim(id)
    const { age: seconds = 0 } = (await see(id)) ?? {}
    assert.ok(seconds < 1000, `${seconds} s count`)
  })

  test('keeps those of other engines not waiting', async () => {
    const id = await insertTask(place)
    for (let time = 0; time < 3; time += 1)
      await countEngineFailure(place.database.sql, {
        scope: 'engine:vendor:image',
        taskId: id,
        max: 3,
        openSeconds: 3600,
      })
    assertHas(await claim(id), { fence: 1 })
  })
})
