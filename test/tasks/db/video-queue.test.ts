import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Transaction } from '../../../src/platform/db/client.ts'
import type { OutboxRow } from '../../../src/platform/db/outbox.ts'
import { unitOfWork, type Enqueue } from '../../../src/platform/db/unit-of-work.ts'
import { findOwnerCredits } from '../../../src/tasks/db/owner.ts'
import { admitOwner } from '../../../src/tasks/db/admission.ts'
import { readTaskOptions } from '../../../src/tasks/domain/task-options.ts'
import {
  cancelVideoTask,
  claimVideo,
  completeVideoTask,
  failVideoTask,
  getVideo,
  seeVideo,
  videoError,
  wakes,
} from '../activities/video-place.ts'
import { listWoken, startOf } from '../activities/place.ts'
import type { NewVideo } from '../activities/video-place.ts'
import { useDatabase } from '../../support/stack.ts'

const NO_OPTIONS = readTaskOptions({})
const NOTHING = () => Promise.resolve()

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
  /** Gives the free slots of an owner away, as the creation of a task does; returns whose workflows that starts. */
  const admit = async (owner: string, slots = 1, anonymousSlots = slots): Promise<string[]> => {
    const limits = { slots, anonymousSlots, startOf }
    const { woken } = await run((sql, enqueue) => admitOwner(sql, { ...limits, owner, enqueue }))
    return woken
  }
  /** Ends a task; returns whom that wakes. */
  const end = async (work: Work<boolean>): Promise<string[]> => {
    const { result, woken } = await run(work)
    assert.ok(result, 'the task has ended')
    return woken
  }
  const complete = (id: string, { slots = 1, fence = 1 } = {}) =>
    end((sql, enqueue) =>
      completeVideoTask(sql, { id, fence, record: NOTHING }, { slots, startOf, enqueue }),
    )
  const fail = (id: string, slots = 1) =>
    end((sql, enqueue) =>
      failVideoTask(
        sql,
        { id, error: videoError('SystemThrottling') },
        { slots, startOf, enqueue },
      ),
    )
  const cancel = (id: string, slots = 1, anonymousSlots = slots) =>
    end((sql, enqueue) => cancelVideoTask(sql, id, { slots, anonymousSlots, startOf, enqueue }))
  const isAdmitted = async (id: string): Promise<boolean> =>
    (await seeVideo(database, id)).isAdmitted
  /** The starts in the outbox of tasks. */
  const listOutbox = async (ids: readonly string[]): Promise<string[]> => {
    const rows = await database.sql<{ id: string }[]>`
      select workflow_id as id from outbox
      where kind = 'start' and workflow_id = any(${ids.map((id) => `video-task/${id}`)})
      order by outbox.id
    `
    return rows.map(({ id }) => id)
  }

  test('gives a free slot at once, and what waits for one is not started', async () => {
    const [first = '', second = ''] = await insertMany('at once', 2)
    assert.deepEqual(await admit('at once'), wakes(first))
    assert.deepEqual(await admit('at once'), [], 'asked again, nothing changes')
    assert.deepEqual((await seeVideo(database, first)).events, ['created', 'queueing'])
    assert.deepEqual((await seeVideo(database, second)).events, ['created'])
    assert.deepEqual(await listOutbox([first, second]), wakes(first))
    const rows = await database.sql`
      select waits_on, admission from task where id = any(${[first, second]}) order by admission
    `
    assert.deepEqual(rows.map(Object.values), [
      ['slot', 0],
      [null, 1],
    ])
  })

  test('gives a slot to the highest priority that waits, off-peak ones last', async () => {
    const add = async (priority: number, given: NewVideo = {}) => {
      const id = await insert('orders', { ...given, options: { ...NO_OPTIONS, priority } })
      await admit('orders')
      return id
    }
    const running = await add(0)
    const [low, night, normal] = [
      await add(-3),
      await add(3, { offPeakSeconds: 172_800 }),
      await add(0),
    ]
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
      await admit('anonymous', ...LIMITS)
      return id
    }
    const greedy = [await add('anonymous:a'), await add('anonymous:a'), await add('anonymous:a')]
    assert.deepEqual(await Promise.all(greedy.map(isAdmitted)), [true, true, false])
    const second = await add('anonymous:b')
    assert.ok(await isAdmitted(second), 'one address does not hold up another')
    const late = await add('anonymous:a', { offPeakSeconds: 172_800 })
    const waiting = [await add('anonymous:b'), await add('anonymous:c')]
    assert.deepEqual(await Promise.all(waiting.map(isAdmitted)), [false, false])
    const [first = '', ...others] = greedy
    assert.deepEqual(await cancel(first, ...LIMITS), wakes(waiting[1] ?? ''), 'none held is first')
    assert.deepEqual(await cancel(second, ...LIMITS), wakes(waiting[0] ?? ''), 'fewest held')
    assert.deepEqual(await cancel(waiting[1] ?? '', ...LIMITS), wakes(others[1] ?? ''))
    assert.deepEqual(await cancel(others[1] ?? '', ...LIMITS), wakes(late), 'off-peak is last')
    const { used: _, ...left } = await findOwnerCredits(database.sql, 'anonymous', 'anonymous:a')
    assert.deepEqual(left, { running: 2, waiting: 0 })
    await add('anonymous:d', { offPeakSeconds: 172_800 })
    const ordinary = await add('anonymous:b')
    assert.deepEqual(await cancel(late, ...LIMITS), wakes(ordinary), 'off-peak of all is last')
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
    test(`gives the slot of a task to the next with its ${how}, and starts that one alone`, async () => {
      const ids = await insertMany(how, 4)
      const [first = '', second = ''] = ids
      await admit(how)
      assert.deepEqual(await finish(first), wakes(second))
      assert.deepEqual(await listOutbox(ids), wakes(first, second))
      assert.deepEqual(await Promise.all(ids.map(isAdmitted)), [true, true, false, false])
    })

  test('starts nobody when a task ends that had no slot', async () => {
    const ids = await insertMany('no slot', 3)
    const [first = '', , third = ''] = ids
    await admit('no slot')
    assert.deepEqual(await cancel(third), [])
    assert.deepEqual(await Promise.all(ids.map(isAdmitted)), [true, false, false])
    assert.deepEqual(await listOutbox(ids), wakes(first))
  })

  test('goes by the time of creation, off-peak tasks after all others', async () => {
    const owner = 'order'
    const holder = await insert(owner)
    const [a, b, c, d] = [
      await insert(owner, { offPeakSeconds: 172_800 }),
      await insert(owner),
      await insert(owner, { offPeakSeconds: 172_800 }),
      await insert(owner),
    ]
    // Two that were made at the same time go by their ids.
    await database.sql`
      update task set created_at = (select created_at from task where id = ${c}) where id = ${a}
    `
    const [e, f] = [a, c].toSorted()
    await admit(owner)
    const order: string[] = []
    for (let next: string | undefined = holder; next !== undefined;) {
      const woken = await fail(next)
      order.push(...woken)
      next = woken[0]?.split('/')[1]
    }
    assert.deepEqual(order, wakes(b, d, String(e), String(f)))
  })

  test('admits more at once after its slots have become more', async () => {
    const ids = await insertMany('raised', 6)
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = ids
    await admit('raised', 1)
    assert.deepEqual(await fail(first, 3), wakes(second, third, fourth))
    assert.deepEqual(await admit('raised', 5), wakes(fifth, sixth))
  })

  test('admits nobody until enough have ended after its slots have become fewer', async () => {
    const ids = await insertMany('lowered', 5)
    const [first = '', second = '', third = '', fourth = ''] = ids
    await admit('lowered', 3)
    assert.deepEqual(await fail(first, 1), [])
    assert.deepEqual(await fail(second, 1), [])
    assert.deepEqual(await fail(third, 1), wakes(fourth))
  })

  test('the queue is each owner’s own, and is returned with the credits', async () => {
    const ids = await insertMany('one', 3)
    const other = await insert('other')
    await admit('one', 2)
    assert.deepEqual(await admit('other', 2), wakes(other))
    const credits = () => findOwnerCredits(database.sql, 'one')
    assert.deepEqual(await credits(), { used: 30, running: 2, waiting: 1 })
    await fail(ids[0] ?? '', 2)
    assert.deepEqual(await credits(), { used: 20, running: 2, waiting: 0 })
  })

  test('holds its bound while all its tasks are admitted, end and are cancelled at once', async () => {
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
        assert.ok((row?.holders ?? 0) <= slots, `${row?.holders} have a slot`)
      })
      woken.push(...done.woken)
    }
    const failed = { error: videoError('InternalServiceFailure'), from: ['processing'] as const }
    const stepsOf = (id: string): Work<unknown>[] => [
      (sql, enqueue) => admitOwner(sql, { slots, startOf, owner, enqueue }),
      (sql, enqueue) =>
        completeVideoTask(sql, { id, fence: 1, record: NOTHING }, { slots, startOf, enqueue }),
      (sql, enqueue) => failVideoTask(sql, { id, ...failed }, { slots, startOf, enqueue }),
      // Only every sixth: else hardly one is left to be rendered.
      async (sql, enqueue) =>
        ids.indexOf(id) % 6 === 5 && (await cancelVideoTask(sql, id, { slots, startOf, enqueue })),
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
    assert.deepEqual(new Set(woken).size, woken.length, 'nobody is started twice')
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
    await admit(owner, 10)
    await Promise.all(
      ids.flatMap((id) => [claimVideo(database, id), insert(owner), fail(id, 10), insert(owner)]),
    )
    await admit(owner, 10)
    const { running, waiting, used } = await findOwnerCredits(database.sql, owner)
    assert.deepEqual({ running, waiting, used }, { running: 10, waiting: 10, used: 200 })
  })
})
