import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Transaction } from '../../src/db/client.ts'
import type { OutboxRow } from '../../src/db/shared/outbox.ts'
import { unitOfWork, type Enqueue } from '../../src/db/unit-of-work.ts'
import { findOwnerCredits } from '../../src/db/task/owner.ts'
import { enterQueue } from '../../src/db/video-task/video-queue.ts'
import { readTaskOptions } from '../../src/domain/task/task-options.ts'
import {
  cancelVideoTask,
  claimVideo,
  completeVideoTask,
  failVideoTask,
  getVideo,
  listWoken,
  seeVideo,
  videoError,
  wakes,
} from '../activities/video-place.ts'
import type { NewVideo } from '../activities/video-place.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { useDatabase } from '../support/stack.ts'

const NO_OPTIONS = readTaskOptions({})
const NOTHING = () => Promise.resolve()
const OFF_PEAK_SECONDS = 172_800

describe('the queue of an owner', () => {
  const database = useDatabase()

  const insert = (owner: string, given: NewVideo = {}) => getVideo(database, { owner, ...given })
  const insertMany = async (owner: string, count: number): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < count) ids.push(await insert(owner))
    return ids
  }
  type Work<T> = (sql: Transaction, enqueue: Enqueue) => Promise<T>
  /** Does the work; returns its result, and whom it wakes. */
  const run = async <T>(work: Work<T>): Promise<{ result: T; woken: string[] }> => {
    const enqueued: OutboxRow[] = []
    const jobs = { dispatchNow: (row: OutboxRow) => enqueued.push(row) }
    const result = await unitOfWork({ sql: database.sql, jobs }, work)
    return { result, woken: listWoken(enqueued) }
  }
  const enter = async (id: string, slots = 1, anonymousSlots = slots) => {
    const limits = { slots, anonymousSlots, offPeakSeconds: OFF_PEAK_SECONDS }
    const { result, woken } = await run((sql, enqueue) =>
      enterQueue(sql, id, { ...limits, enqueue }),
    )
    return result && { ...result, woken }
  }
  /** Ends a task; returns whom that wakes. */
  const end = async (work: Work<boolean>): Promise<string[]> => {
    const { result, woken } = await run(work)
    assert.ok(result, 'the task has ended')
    return woken
  }
  const complete = (id: string, { slots = 1, fence = 1 } = {}) =>
    end((sql, enqueue) =>
      completeVideoTask(sql, { id, fence, record: NOTHING }, { slots, enqueue }),
    )
  const fail = (id: string, slots = 1) =>
    end((sql, enqueue) =>
      failVideoTask(sql, { id, error: videoError('SystemThrottling') }, { slots, enqueue }),
    )
  const cancel = (id: string, slots = 1, anonymousSlots = slots) =>
    end((sql, enqueue) => cancelVideoTask(sql, id, { slots, anonymousSlots, enqueue }))
  const isAdmitted = async (id: string): Promise<boolean> =>
    (await seeVideo(database, id)).isAdmitted
  /** The signals in the outbox for tasks of an owner. */
  const listOutbox = async (ids: readonly string[]): Promise<string[]> => {
    const rows = await database.sql<{ text: string }[]>`
      select kind || ' ' || workflow_id as text from outbox
      where signal_name = 'admitted' and workflow_id = any(${ids.map((id) => `video-task/${id}`)})
      order by id
    `
    return rows.map(({ text }) => text)
  }

  test('gives a free slot at once, without a signal to the task that asks', async () => {
    const id = await insert('at once')
    const entered = { state: 'queueing', isAdmitted: true, offPeakSecondsLeft: null, woken: [] }
    assert.deepEqual(await enter(id), entered)
    assert.deepEqual((await seeVideo(database, id)).events, ['created', 'queueing'])
    assert.deepEqual(await listOutbox([id]), [])
  })

  test('a task that asks again gets its place in the queue, and nothing changes', async () => {
    const [first = '', second = ''] = await insertMany('again', 2)
    await enter(first)
    await enter(second)
    for (const [id, admitted] of [
      [first, true],
      [second, false],
    ] as const) {
      const before = await seeVideo(database, id)
      const { state, isAdmitted, woken } = (await enter(id)) ?? {}
      assert.deepEqual([state, isAdmitted, woken], ['queueing', admitted, []])
      assert.deepEqual(await seeVideo(database, id), before)
    }
    await claimVideo(database, first)
    assert.equal((await enter(first))?.state, 'processing')
    assert.deepEqual(await listOutbox([first, second]), [])
  })

  test('takes no task that has ended, and knows of none that is not there', async () => {
    const id = await insert('ended')
    await cancel(id)
    const entered = await enter(id)
    assert.deepEqual([entered?.state, entered?.isAdmitted], ['failed', false])
    assert.equal(await enter('11111111-1111-4111-8111-111111111111'), undefined)
  })

  test('gives a slot to the highest priority that waits, off-peak ones last', async () => {
    const add = async (priority: number, given: NewVideo = {}) => {
      const id = await insert('orders', { ...given, options: { ...NO_OPTIONS, priority } })
      await enter(id)
      return id
    }
    const running = await add(0)
    const [low, night, normal] = [await add(-3), await add(3, { offPeak: true }), await add(0)]
    const [high, second] = [await add(3), await add(3)]
    let last = running
    for (const next of [high, second, normal, low, night]) {
      assert.deepEqual(await cancel(last), wakes(next))
      last = next
    }
  })

  test('is one for each address without a credential, and all of them share a bound', async () => {
    const LIMITS = [2, 3] as const
    const add = async (account: string, given: NewVideo = {}): Promise<string> => {
      const id = await insert('anonymous', { account, ...given })
      await enter(id, ...LIMITS)
      return id
    }
    const greedy = [await add('anonymous:a'), await add('anonymous:a'), await add('anonymous:a')]
    assert.deepEqual(await Promise.all(greedy.map(isAdmitted)), [true, true, false])
    const second = await add('anonymous:b')
    assert.ok(await isAdmitted(second), 'one address does not hold up another')
    const late = await add('anonymous:a', { offPeak: true })
    const waiting = [await add('anonymous:b'), await add('anonymous:c')]
    assert.deepEqual(await Promise.all(waiting.map(isAdmitted)), [false, false])
    const [first = '', ...others] = greedy
    assert.deepEqual(await cancel(first, ...LIMITS), wakes(waiting[1] ?? ''), 'none held is first')
    assert.deepEqual(await cancel(second, ...LIMITS), wakes(waiting[0] ?? ''), 'fewest held')
    assert.deepEqual(await cancel(waiting[1] ?? '', ...LIMITS), wakes(others[1] ?? ''))
    assert.deepEqual(await cancel(others[1] ?? '', ...LIMITS), wakes(late), 'off-peak is last')
    const { used: _, ...left } = await findOwnerCredits(database.sql, 'anonymous', 'anonymous:a')
    assert.deepEqual(left, { running: 2, waiting: 0 })
    await add('anonymous:d', { offPeak: true })
    const ordinary = await add('anonymous:b')
    assert.deepEqual(await cancel(late, ...LIMITS), wakes(ordinary), 'off-peak of all is last')
  })

  test('of those without a credential goes on with tasks that an older release made', async () => {
    const old = await insert('anonymous')
    await database.sql`update task set account = null where id = ${old}`
    const entered = await enter(old, 1, 9)
    assert.ok(entered?.isAdmitted)
    await cancel(old, 1, 9)
    assert.deepEqual((await seeVideo(database, old)).ledger, ['charge 10', 'refund 10'])
  })

  test('says when an off-peak task must have ended', async () => {
    const young = await insert('late', { offPeak: true })
    const old = await insert('late', { offPeak: true })
    await database.sql`update task set created_at = now() - interval '3 days' where id = ${old}`
    const left = (await enter(young))?.offPeakSecondsLeft ?? 0
    assert.ok(left > OFF_PEAK_SECONDS - PATIENCE_MS / 1000 && left <= OFF_PEAK_SECONDS, `${left} s`)
    assert.equal((await enter(old))?.offPeakSecondsLeft, 0)
  })

  const ENDS = {
    success: async (id: string) => {
      await claimVideo(database, id)
      return await complete(id)
    },
    failure: (id: string) => fail(id),
    cancel: (id: string) => cancel(id),
  }
  for (const [how, finish] of Object.entries(ENDS))
    test(`gives the slot of a task to the next with its ${how}, and signals that one alone`, async () => {
      const ids = await insertMany(how, 4)
      const [first = '', second = ''] = ids
      for (const id of ids) await enter(id)
      assert.deepEqual(await finish(first), wakes(second))
      assert.deepEqual(await listOutbox(ids), wakes(second))
      assert.deepEqual(await Promise.all(ids.map(isAdmitted)), [true, true, false, false])
    })

  test('signals nobody when a task ends that held no slot', async () => {
    const ids = await insertMany('no slot', 3)
    const [, , third = ''] = ids
    for (const id of ids) await enter(id)
    assert.deepEqual(await cancel(third), [])
    assert.deepEqual(await Promise.all(ids.map(isAdmitted)), [true, false, false])
    assert.deepEqual(await cancel(await insert('no slot')), [])
    assert.deepEqual(await listOutbox(ids), [])
  })

  test('goes by the time of creation, off-peak tasks after all others', async () => {
    const owner = 'order'
    const holder = await insert(owner)
    const [a, b, c, d] = [
      await insert(owner, { offPeak: true }),
      await insert(owner),
      await insert(owner, { offPeak: true }),
      await insert(owner),
    ]
    // Two that were made at the same time go by their ids.
    await database.sql`
      update task set created_at = (select created_at from task where id = ${c}) where id = ${a}
    `
    const [e, f] = [a, c].toSorted()
    for (const id of [holder, d, c, b, a]) await enter(id)
    const order: string[] = []
    for (let next: string | undefined = holder; next !== undefined;) {
      const woken = await fail(next)
      order.push(...woken)
      next = woken[0]?.split('/')[1]
    }
    assert.deepEqual(order, wakes(b, d, String(e), String(f)))
  })

  test('lets no later task pass one that waits', async () => {
    const [first = '', second = '', third = ''] = await insertMany('pass', 3)
    await enter(first)
    await enter(third)
    await enter(second)
    assert.deepEqual(await fail(first), wakes(second))
    assert.equal(await isAdmitted(third), false)
  })

  test('waits for nobody who has not entered', async () => {
    const [first = '', second = ''] = await insertMany('absent', 2)
    assert.equal((await enter(second))?.isAdmitted, true)
    assert.equal((await enter(first))?.isAdmitted, false)
  })

  test('admits more at once after its slots have become more, whoever comes next', async () => {
    const ids = await insertMany('raised', 6)
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = ids
    for (const id of ids.slice(0, 5)) await enter(id, 1)
    assert.deepEqual(await fail(first, 3), wakes(second, third, fourth))
    const entered = await enter(sixth, 5)
    assert.equal(entered?.isAdmitted, true)
    assert.deepEqual(entered?.woken, wakes(fifth))
    assert.deepEqual(await listOutbox(ids), wakes(second, third, fourth, fifth))
  })

  test('admits nobody until enough have ended after its slots have become fewer', async () => {
    const ids = await insertMany('lowered', 5)
    const [first = '', second = '', third = '', fourth = ''] = ids
    for (const id of ids) await enter(id, 3)
    assert.deepEqual(await fail(first, 1), [])
    assert.deepEqual(await fail(second, 1), [])
    assert.deepEqual(await fail(third, 1), wakes(fourth))
  })

  test('the queue is each owner’s own, and is returned with the credits', async () => {
    const ids = await insertMany('one', 3)
    const other = await insert('other')
    for (const id of ids) await enter(id, 2)
    assert.equal((await enter(other, 2))?.isAdmitted, true)
    const credits = () => findOwnerCredits(database.sql, 'one')
    assert.deepEqual(await credits(), { used: 30, running: 2, waiting: 1 })
    await fail(ids[0] ?? '', 2)
    assert.deepEqual(await credits(), { used: 20, running: 2, waiting: 0 })
  })

  test('holds its bound while all its tasks enter, end and are cancelled at once', async () => {
    const owner = 'crowd'
    const slots = 3
    const ids = await insertMany(owner, 24)
    const woken: string[] = []
    /** Each step counts the holders under the lock it has taken. */
    const step = async (work: Work<unknown>): Promise<void> => {
      const done = await run(async (sql, enqueue) => {
        await work(sql, enqueue)
        const [row] = await sql<{ holders: number }[]>`
          select count(*)::int as holders from task
          where owner = ${owner} and admitted_at is not null and ended_at is null
        `
        assert.ok((row?.holders ?? 0) <= slots, `${row?.holders} hold a slot`)
      })
      woken.push(...done.woken)
    }
    const failed = { error: videoError('InternalServiceFailure'), from: ['processing'] as const }
    const stepsOf = (id: string): Work<unknown>[] => [
      (sql, enqueue) => enterQueue(sql, id, { slots, offPeakSeconds: OFF_PEAK_SECONDS, enqueue }),
      (sql, enqueue) =>
        completeVideoTask(sql, { id, fence: 1, record: NOTHING }, { slots, enqueue }),
      (sql, enqueue) => failVideoTask(sql, { id, ...failed }, { slots, enqueue }),
      // Only every sixth: else hardly one is left to be rendered.
      async (sql, enqueue) =>
        ids.indexOf(id) % 6 === 5 && (await cancelVideoTask(sql, id, { slots, enqueue })),
    ]
    const claim = async (id: string): Promise<void> => {
      if ((await seeVideo(database, id)).fence === 0) await claimVideo(database, id)
    }
    const listOpen = async (): Promise<string[]> => {
      const rows = await database.sql<{ id: string }[]>`
        select id from task where owner = ${owner} and ended_at is null
      `
      return rows.map(({ id }) => id)
    }
    for (let rounds = 0; (await listOpen()).length > 0; rounds += 1) {
      assert.ok(rounds < 100, 'all have ended')
      const open = await listOpen()
      await Promise.all(open.flatMap((id) => [...stepsOf(id).map(step), claim(id)]))
    }
    assert.deepEqual(new Set(woken).size, woken.length, 'nobody is woken twice')
    assert.deepEqual((await listOutbox(ids)).toSorted(), woken.toSorted())
    for (const id of ids) {
      const { state, events, ledger } = await seeVideo(database, id)
      assert.equal(events.filter((event) => event === 'success' || event === 'failed').length, 1)
      assert.deepEqual(ledger, state === 'failed' ? ['charge 10', 'refund 10'] : ['charge 10'])
    }
    const { used } = await findOwnerCredits(database.sql, owner)
    const [row] = await database.sql`
      select 10 * count(*) filter (where status = 'success')::int as spent from task where owner = ${owner}
    `
    assert.deepEqual(row, { spent: used })
  })

  test('is not held up by creations and claims that run beside the ends', async () => {
    const owner = 'busy'
    const ids = await insertMany(owner, 10)
    for (const id of ids) await enter(id, 10)
    await Promise.all(
      ids.flatMap((id) => [claimVideo(database, id), insert(owner), fail(id, 10), insert(owner)]),
    )
    const { running, waiting, used } = await findOwnerCredits(database.sql, owner)
    assert.deepEqual({ running, waiting, used }, { running: 0, waiting: 20, used: 200 })
  })
})
