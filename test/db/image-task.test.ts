import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { claimImageTask } from '../../src/db/image-task/image-task.ts'
import { isHeld, transitionTask } from '../../src/db/task/task-transition.ts'
import { findDeadline } from '../../src/db/task/deadline.ts'
import type { ImageTaskStatus } from '../../src/domain/image-task/image-task.ts'
import { insertTask, usePlace, see } from '../activities/place.ts'

/** Every pair of statuses: whether a task moves from the first to the second. */
type Target = ImageTaskStatus
const TABLE: [from: string, to: Target, legal: boolean][] = [
  ['CREATED', 'IN_PROGRESS', true],
  ['CREATED', 'COMPLETED', false],
  ['CREATED', 'FAILED', true],
  ['IN_PROGRESS', 'IN_PROGRESS', false],
  ['IN_PROGRESS', 'COMPLETED', true],
  ['IN_PROGRESS', 'FAILED', true],
  ['COMPLETED', 'IN_PROGRESS', false],
  ['COMPLETED', 'COMPLETED', false],
  ['COMPLETED', 'FAILED', false],
  ['FAILED', 'IN_PROGRESS', false],
  ['FAILED', 'COMPLETED', false],
  ['FAILED', 'FAILED', false],
]
const ERROR = { code: 'cancelled', message: 'm' }

describe('an image task', () => {
  const place = usePlace()

  const transition = (
    id: string,
    to: Target,
    attempt: { fence?: number } = {},
  ): Promise<unknown> => {
    const error = to === 'FAILED' ? { error: ERROR } : {}
    return place.deps.sql.begin((sql) =>
      transitionTask(sql, 'image', { id, to, ...error, ...attempt }),
    )
  }
  const claim = (id: string) => place.deps.sql.begin((sql) => claimImageTask(sql, id))
  const insertIn = async (status: string): Promise<string> => {
    const id = await insertTask(place)
    await place.deps.sql`
      update task
      set status = ${status},
        error_code = ${status === 'FAILED' ? 'cancelled' : null},
        ended_at = case when ${['COMPLETED', 'FAILED'].includes(status)} then now() end
      where id = ${id}
    `
    return id
  }

  for (const [from, to, legal] of TABLE)
    test(`${legal ? 'moves' : 'does not move'} from ${from} to ${to}`, async () => {
      const id = await insertIn(from)
      assert.equal(await transition(id, to), legal)
      const { status, events } = await see(place.database, id)
      assert.equal(status, legal ? to : from)
      assert.deepEqual(events, legal ? ['CREATED', to] : ['CREATED'])
    })

  test('moves once when many try at the same time', async () => {
    const id = await insertIn('IN_PROGRESS')
    const attempts = ['COMPLETED', 'FAILED', 'COMPLETED', 'FAILED'] as const
    const isTransitioned = await Promise.all(attempts.map((to) => transition(id, to)))
    assert.equal(isTransitioned.filter(Boolean).length, 1)
    assert.equal((await see(place.database, id)).events.length, 2)
  })

  test('is not begun while one of its account and a higher priority waits', async () => {
    const { sql } = place.deps
    const insert = async (priority: number, account = 'ahead', engine = 'local') => {
      const id = await insertTask(place)
      await sql`update task set ${sql({ priority, account, engine })} where id = ${id}`
      return id
    }
    const stateOf = async (id: string) => {
      const claimed = await claim(id)
      return isHeld(claimed) ? claimed.held : claimed?.fence
    }
    const [low, normal, high] = [await insert(-1), await insert(0), await insert(2)]
    await insert(3, 'another')
    await insert(3, 'ahead', 'vendor')
    for (const waiting of [low, normal]) assert.equal(await stateOf(waiting), 'behind')
    assert.equal(await stateOf(high), 1)
    assert.equal(await stateOf(low), 'behind')
    assert.equal(await stateOf(normal), 1)
    const later = await insert(1)
    assert.equal(await stateOf(normal), 2, 'one that has begun goes on')
    await sql`update task set held_at = now() where id = ${later}`
    assert.equal(await stateOf(low), 1, 'one that is paused takes no turn')
    assert.equal((await sql`select from task where id = ${low} and held_at is null`).length, 1)
  })

  test('has a deadline to begin until it has, and one to end until it has', async () => {
    const id = await insertTask(place)
    const { sql } = place.deps
    const left = (until: 'start' | 'end') => findDeadline(sql, { id, until })
    assert.deepEqual([await left('start'), await left('end')], [null, null])
    await sql`update task set start_within = 600, end_within = 1200 where id = ${id}`
    const [start = 0, end = 0] = [await left('start'), await left('end')].map(Number)
    assert.ok(start > 0 && start <= 600_000 && end > start && end <= 1_200_000, `${start} ${end}`)
    await sql`update task set created_at = now() - interval '900 seconds' where id = ${id}`
    assert.equal(await left('start'), 0)
    await claim(id)
    assert.equal(await left('start'), null)
    assert.ok(Number(await left('end')) > 0)
    await sql`update task set held_at = created_at + interval '60 seconds' where id = ${id}`
    assert.ok(Number(await left('end')) <= 300_000, 'it goes on while the task is paused')
    await transition(id, 'FAILED')
    assert.equal(await left('end'), null)
  })

  test('moves only for the attempt that holds the fence', async () => {
    const id = await insertTask(place)
    for (const fence of [1, 2]) {
      const claimed = await claim(id)
      assert.equal(isHeld(claimed) ? undefined : claimed?.fence, fence)
    }
    assert.equal(await transition(id, 'COMPLETED', { fence: 1 }), false)
    assert.equal(await transition(id, 'COMPLETED', { fence: 2 }), true)
    assert.equal(await claim(id), undefined)
  })

  test('has times that do not go back when the clock does', async () => {
    const id = await insertTask(place)
    await place.deps.sql`update task set last_moved_at = now() + interval '1 hour' where id = ${id}`
    await place.deps
      .sql`update event set created_at = now() + interval '1 hour' where task_id = ${id}`
    await transition(id, 'IN_PROGRESS')
    await transition(id, 'COMPLETED')
    const [row] = await place.deps.sql`
      select bool_and(created_at >= now() + interval '59 minutes') as late from event where task_id = ${id}
    `
    assert.deepEqual(row, { late: true })
  })
})
