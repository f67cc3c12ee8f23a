import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { addStoredBytes } from '../../../src/tasks/db/account.ts'
import { lockOwnerOf, refundTask } from '../../../src/tasks/db/owner.ts'
import { getVideo, insertVideo, makeVideoQueue, seeVideo } from '../activities/video-place.ts'
import type { NewVideo } from '../activities/video-place.ts'
import { useDatabase } from '../../support/stack.ts'
import { insertNewTask } from '../../support/task-rows.ts'

describe('the credits of an owner', () => {
  const database = useDatabase()

  const { cancel, fail } = makeVideoQueue(database, { slots: 2 })
  /** Makes so many tasks at once; returns the ids of those that no limit rejects. */
  const insertMany = async (count: number, given: NewVideo): Promise<string[]> => {
    const all = Array.from({ length: count }, () => insertVideo(database, given))
    return (await Promise.all(all)).filter((id) => id !== undefined)
  }
  const countRows = async (owner: string) => {
    const [row] = await database.sql`
      select
        (select count(*)::int from task where owner = ${owner}) as tasks,
        (select count(*)::int from event join task on task.id = task_id where owner = ${owner}) as events,
        (select count(*)::int from ledger where owner = ${owner}) as ledger,
        (select count(*)::int from owner where id = ${owner}) as owners
    `
    return row
  }
  /** Reads the credits of the owner's row and the sum of the ledger. */
  const sums = async (owner: string): Promise<[used: number, sum: number]> => {
    const [row] = await database.sql<{ used: number; sum: number }[]>`
      select o.credits_used::int as used,
        (select sum(case l.kind when 'charge' then l.credits else -l.credits end)
          from ledger l where l.owner = o.id)::int as sum
      from owner o where o.id = ${owner}
    `
    return [row?.used ?? -1, row?.sum ?? -1]
  }

  test('are not charged again by the commit of a release that has charged them before', async () => {
    const owner = 'before'
    await database.sql.begin(async (sql) => {
      const id = await insertNewTask(sql, { kind: 'text2video', owner, credits: 40 })
      await sql`insert into owner (id, credits_used) values (${owner}, 40)`
      await sql`
        insert into ledger (task_id, kind, owner, credits) values (${id}, 'charge', ${owner}, 40)
      `
    })
    assert.deepEqual(await sums(owner), [40, 40])
  })

  test('are given back once, however often and by however many', async () => {
    const owner = 'refunded'
    await getVideo(database, { owner, credits: 7 })
    const id = await getVideo(database, { owner, credits: 40 })
    const ends = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? cancel(id) : fail(id))),
    )
    assert.equal(ends.filter(Boolean).length, 1)
    const again = () =>
      database.sql.begin(async (sql) => {
        await lockOwnerOf(sql, id)
        await refundTask(sql, id)
      })
    await Promise.all([again(), again(), again()])
    assert.deepEqual(await sums(owner), [7, 7])
  })

  test('bound how many of many creations at once there are: exactly those that fit', async () => {
    const owner = 'bounded'
    assert.equal((await insertMany(50, { owner, credits: 30, limit: 400 })).length, 13)
    assert.deepEqual(await sums(owner), [390, 390])
    assert.deepEqual(await countRows(owner), { tasks: 13, events: 13, ledger: 13, owners: 1 })
    assert.ok(await insertVideo(database, { owner, credits: 10, limit: 400 }), 'the rest fits')
    assert.equal(await insertVideo(database, { owner, credits: 1, limit: 400 }), undefined)
  })

  test('that come back may be spent again', async () => {
    const owner = 'again'
    const id = await getVideo(database, { owner, credits: 10, limit: 10 })
    assert.equal(await insertVideo(database, { owner, credits: 10, limit: 10 }), undefined)
    await cancel(id)
    assert.ok(await insertVideo(database, { owner, credits: 10, limit: 10 }), 'it fits')
    assert.deepEqual(await sums(owner), [10, 10])
  })

  test('bound the first task of an owner, too, and leave no row of a rejected one', async () => {
    const rejected = { owner: 'first', credits: 11, limit: 10 }
    assert.equal(await insertVideo(database, rejected), undefined)
    assert.deepEqual(await countRows('first'), { tasks: 0, events: 0, ledger: 0, owners: 0 })
    assert.ok(await insertVideo(database, { ...rejected, credits: 10 }), 'it fits')
  })

  test('are apart from a quota of bytes, which inputs of a request and its payload take', async () => {
    const given = { owner: 'large', quota: { tasks: 99, bytes: 1000, retentionDays: 30 } }
    const inputs = [
      { field: 'images', name: 'input-images.png', storageKey: 'inputs/x', bytes: 600 },
      { field: 'wm_url', url: 'https://example.com/', bytes: 5000 },
    ]
    assert.ok(await insertVideo(database, { ...given, inputs, payload: 'é'.repeat(150) }))
    assert.equal(await insertVideo(database, { ...given, payload: 'x'.repeat(101) }), undefined)
    assert.ok(await insertVideo(database, { ...given, payload: 'x'.repeat(100) }))
    const id = await getVideo(database, given)
    await database.sql.begin((sql) => addStoredBytes(sql, id, { bytes: 1 }))
    // Results may pass it, and no task after.
    assert.equal(await insertVideo(database, given), undefined)
  })

  test('are as many as before when the charge of a task costs nothing', async () => {
    const id = await getVideo(database, { owner: 'free', credits: 0, limit: 0 })
    await fail(id)
    assert.deepEqual(await sums('free'), [0, 0])
    assert.deepEqual((await seeVideo(database, id)).ledger, ['charge 0', 'refund 0'])
  })
})
