import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'

import { beatWorker, endWorker, listSlots, readWorkers } from '../../../src/tasks/db/worker.ts'
import { findTaskDetail } from '../../../src/tasks/db/task-detail.ts'
import { describeWait } from '../../../src/tasks/domain/waits-for.ts'
import { endPause, putPause } from '../../../src/tasks/db/pause.ts'
import { claimTask } from '../../../src/tasks/db/task-transition.ts'
import { cancelTasks, insertTasks } from '../../support/task-rows.ts'
import { admissionOf, insertTask, makePass, see, usePlace } from '../activities/place.ts'
import { getVideo, seeVideo, wakes } from '../activities/video-place.ts'

describe('the admission of tasks', () => {
  const place = usePlace()
  const sql = () => place.database.sql

  beforeEach(async () => {
    await sql()`delete from pause`
    await sql()`delete from worker`
    await sql()`delete from breaker`
    await cancelTasks(sql())
  })

  const insert = async (account: string, priority = 0, engine = 'local'): Promise<string> => {
    const id = await insertTask(place)
    await sql()`update task set ${sql()({ account, priority, engine })} where id = ${id}`
    return id
  }
  const insertMany = async (account: string, count: number): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < count) ids.push(await insert(account))
    return ids
  }
  const claim = async (id: string) => {
    const admission = await admissionOf(sql(), id)
    return await sql().begin((sql) => claimTask(sql, { id, family: 'image', admission }))
  }
  const pause = (scope = 'all') =>
    sql().begin((sql) => putPause(sql, { scope, reason: undefined, until: undefined, by: 'root' }))
  const resume = (scope = 'all') => sql().begin((sql) => endPause(sql, scope))
  const runsOf = (...ids: string[]): string[] => ids.map((id) => `image-task/${id}`)
  const waitsOn = async (id: string) => (await see(place.database, id)).waits_on

  test('starts the workflow of a task where it is made, and of one that waits with its admission', async () => {
    const made = await insertTask(place)
    assert.deepEqual([await waitsOn(made), await admissionOf(sql(), made)], [null, 1])
    await pause()
    const waiting = await insertTask(place)
    assert.deepEqual([await waitsOn(waiting), await admissionOf(sql(), waiting)], ['pause:all', 0])
    const pass = makePass(place)
    assert.deepEqual((await pass()).started, [])
    await resume()
    assert.deepEqual((await pass()).started, runsOf(waiting))
    assert.deepEqual([await waitsOn(waiting), await admissionOf(sql(), waiting)], [null, 1])
    assert.deepEqual((await pass()).started, [])
  })

  test('tops up each account to what the workers take, in the order of creation', async () => {
    await pause()
    const [many, few] = [await insertMany('many', 25), await insertMany('few', 3)]
    await resume()
    const pass = makePass(place)
    const first = (await pass()).started
    assert.deepEqual(first.toSorted(), runsOf(...many.slice(0, 10), ...few).toSorted())
    const full = await pass()
    assert.deepEqual(full.started, [], 'as many as before wait for a worker')
    assert.ok(full.waitMs <= 1000, 'it comes back soon')
    for (const id of many.slice(0, 4)) await claim(id)
    assert.deepEqual((await pass()).started, runsOf(...many.slice(10, 14)))
    await beatWorker(sql(), { id: randomUUID(), identity: 'w', role: 'media', slots: { local: 7 } })
    assert.deepEqual((await pass()).started, runsOf(...many.slice(14, 18)), 'two for each slot')
  })

  test('goes on behind the accounts that the last pass looked at', async () => {
    await pause()
    const ids = [await insert('a'), await insert('b'), await insert('c')]
    await resume()
    await sql()`update task set account = 'account ' || lpad(n::text, 4, '0') from (
      select id, row_number() over (order by id) as n from task where waits_on is not null
    ) numbered where task.id = numbered.id`
    // More accounts than one pass looks at.
    const owner = sql()`'many ' || lpad(n::text, 4, '0')`
    await insertTasks(sql(), { state: 'waiting', count: 300, columns: { owner } })
    const pass = makePass(place)
    const started = [...(await pass()).started, ...(await pass()).started]
    assert.equal(new Set(started).size, 303)
    assert.ok(runsOf(...ids).every((run) => started.includes(run)))
  })

  test('lets a new task overtake none of its account that may go on and has not yet', async () => {
    await pause()
    const waiting = await insertTask(place)
    await resume()
    const late = await insertTask(place)
    assert.equal(await waitsOn(late), 'turn')
    assert.deepEqual((await makePass(place)()).started, runsOf(waiting, late))
    await pause('kind:relight')
    await sql()`update task set waits_on = 'pause:kind:relight' where id = ${late}`
    assert.equal(await waitsOn(await insertTask(place)), null, 'nothing waits for what is paused')
  })

  test('begins the highest priority of an account first, also one that came later', async () => {
    const [low, normal, high] = [await insert('b', -1), await insert('b', 0), await insert('b', 2)]
    const others = [await insert('another', 3), await insert('b', 3, 'vendor')]
    for (const id of [low, normal]) assert.equal(await claim(id), undefined)
    assert.equal(await waitsOn(low), 'behind')
    const pass = makePass(place)
    assert.deepEqual((await pass()).started, [], 'the first has not begun yet')
    assert.equal((await claim(high))?.fence, 1)
    assert.deepEqual((await pass()).started, runsOf(normal))
    assert.equal((await claim(normal))?.fence, 1)
    assert.deepEqual((await pass()).started, runsOf(low))
    const later = await insert('b', 1)
    await pause(`owner:alice`)
    assert.equal(await claim(later), undefined)
    await sql()`update task set owner = 'bob' where id = ${low}`
    assert.equal((await claim(low))?.fence, 1, 'one that is paused takes no turn')
    for (const id of others) assert.equal(await waitsOn(id), null)
  })

  test('fails what passes a deadline while it waits or works, and stops its workflow', async () => {
    const [waiting, begun] = [await insertTask(place), await insertTask(place)]
    await claim(begun)
    const past = sql()`now() - interval '1 second'`
    await sql()`update task set start_by = ${past} where id in (${waiting}, ${begun})`
    const pass = makePass(place)
    await pass()
    const one = await see(place.database, waiting)
    assert.deepEqual([one.status, one.error_code], ['FAILED', 'start_timeout'])
    assert.equal((await see(place.database, begun)).status, 'IN_PROGRESS', 'it met that one')
    await sql()`update task set end_by = ${past} where id = ${begun}`
    assert.equal((await pass()).waitMs, 0)
    assert.equal((await see(place.database, begun)).error_code, 'deadline_exceeded')
    const signals = await sql()`
      select from outbox where signal_name = 'cancelRequested' and workflow_id = ${`image-task/${begun}`}
    `
    assert.equal(signals.length, 1)
  })

  test('fails an off-peak video after its two days, with its credits returned, also under a pause', async () => {
    await pause()
    const id = await getVideo(place.database, { owner: 'off peak', offPeakSeconds: 172_800 })
    await sql()`update task set off_peak_by = now() where id = ${id}`
    await makePass(place)()
    const { errorCode, ledger } = await seeVideo(place.database, id)
    assert.deepEqual([errorCode, ledger], ['SystemThrottling', ['charge 10', 'refund 10']])
  })

  test('comes back when the next deadline passes', async () => {
    const id = await insertTask(place)
    const pass = makePass(place)
    assert.equal((await pass()).waitMs, 5000)
    await sql()`update task set end_by = now() + interval '2 seconds' where id = ${id}`
    const { waitMs } = await pass()
    assert.ok(waitMs <= 2000, `${waitMs} ms`)
  })

  test('gives slots that nobody took to videos of callers without a credential', async () => {
    const account = 'anonymous:1'
    const id = await getVideo(place.database, { owner: 'anonymous', account })
    assert.deepEqual((await makePass(place)()).started, wakes(id))
  })

  test('says why a task waits, and its place among those of its account', async () => {
    const read = async (id: string) => {
      const task = await findTaskDetail(sql(), { id, owner: 'alice', isAdmin: false })
      assert.ok(task)
      return [describeWait(task.waitsFor).waits_for, task.queuePosition]
    }
    const admitted = await insertTask(place)
    assert.deepEqual(await read(admitted), [undefined, null], 'it has just been made')
    await sql()`update task set last_moved_at = now() - interval '1 minute' where id = ${admitted}`
    const started = await sql()`
      insert into outbox (kind, workflow_type, workflow_id, created_at)
      values ('start', 'imageTask', ${`image-task/${admitted}`}, now() - interval '1 minute') returning id
    `
    const unserved = 'It waits: no worker serves its engine now.'
    assert.deepEqual(await read(admitted), [unserved, null])
    await beatWorker(sql(), { id: randomUUID(), identity: 'c', role: 'core', slots: {} })
    assert.deepEqual(await read(admitted), [unserved, null], 'a core worker alone serves no engine')
    await beatWorker(sql(), { id: randomUUID(), identity: 'w', role: 'media', slots: { local: 1 } })
    const notStarted = 'It waits: the service cannot reach Temporal, and starts it once it can.'
    assert.deepEqual(await read(admitted), [notStarted, null])
    await sql()`update outbox set dispatched_at = now() where id = ${started[0]?.['id'] as string}`
    const busy = 'It waits for a free worker: all that serve its engine are busy.'
    assert.deepEqual(await read(admitted), [busy, null])
    const ids = [await insertTask(place), await insertTask(place), await insertTask(place)]
    for (const [place, word] of ['behind', 'turn', 'pause:all'].entries())
      await sql()`update task set waits_on = ${word} where id = ${ids[place] ?? ''}`
    await sql()`update task set priority = 1 where id = ${ids[2] ?? ''}`
    const turn = 'It waits for its turn: earlier tasks of its account go first.'
    const behind = 'It waits: tasks of its account with a higher priority go first.'
    assert.deepEqual(await Promise.all(ids.map(read)), [
      [behind, 2],
      [turn, 3],
      [turn, 1],
    ])
    await sql()`
      insert into breaker (scope, failures, opened_at, retry_at) values ('engine:local', 5, now(), now())
    `
    await sql()`update task set waits_on = 'breaker:engine:local' where id = ${ids[1] ?? ''}`
    assert.equal((await read(ids[1] ?? ''))[0], 'It waits: its engine does not work now.')
    await sql()`update breaker set opened_at = null`
    assert.deepEqual(await read(ids[1] ?? ''), [turn, 3], 'the engine works again')
    await pause()
    assert.match(String((await read(ids[2] ?? ''))[0]), /^It waits: the service has paused it/)
  })

  test('does not take a worker for gone that has the name of one that was killed', async () => {
    const worker = { role: 'media', slots: {} }
    await beatWorker(sql(), { ...worker, id: randomUUID(), identity: 'media@pod:1' })
    await beatWorker(sql(), { ...worker, id: randomUUID(), identity: 'media@other:1' })
    await sql()`update worker set beat_at = now() - interval '1 minute'`
    await beatWorker(sql(), { ...worker, id: randomUUID(), identity: 'media@pod:1' })
    assert.deepEqual((await readWorkers(sql())).gone, ['media@other:1'])
  })

  test('knows the workers that live', async () => {
    const id = randomUUID()
    await beatWorker(sql(), { id, identity: 'w', role: 'media', slots: { local: 4 } })
    await beatWorker(sql(), {
      id: randomUUID(),
      identity: 'w',
      role: 'core',
      slots: { vendor: 2, comfyui: 3 },
    })
    assert.deepEqual(await listSlots(sql()), { local: 4, vendor: 2, comfyui: 3 })
    await endWorker(sql(), id)
    await sql()`update worker set beat_at = now() - interval '1 minute' where role = 'core'`
    assert.deepEqual(await listSlots(sql()), {})
  })
})
