import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { claimTask, transitionTask } from '../../src/db/task/task-transition.ts'
import type { ImageTaskStatus } from '../../src/domain/image-task/image-task.ts'
import { admissionOf, insertTask, usePlace, see } from '../activities/place.ts'

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
  const claim = async (id: string, admission?: number) => {
    const number = admission ?? (await admissionOf(place.deps.sql, id))
    const task = { id, family: 'image', admission: number } as const
    return await place.deps.sql.begin((sql) => claimTask(sql, task))
  }
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

  test('is claimed only under the number of its last admission, and not while it waits', async () => {
    const id = await insertTask(place)
    assert.equal(await claim(id, 2), undefined)
    await place.deps.sql`update task set waits_on = 'turn' where id = ${id}`
    assert.equal(await claim(id), undefined)
    await place.deps.sql`update task set waits_on = null, admission = 2 where id = ${id}`
    assert.equal(await claim(id, 1), undefined)
    assert.equal((await claim(id, 2))?.fence, 1)
    const { events, waits_on: waitsOn } = await see(place.database, id)
    assert.deepEqual([events, waitsOn], [['CREATED', 'IN_PROGRESS'], null])
  })

  test('waits for nothing once it has ended', async () => {
    const id = await insertTask(place)
    await place.deps.sql`update task set waits_on = 'turn' where id = ${id}`
    assert.equal(await transition(id, 'FAILED'), true)
    assert.equal((await see(place.database, id)).waits_on, null)
  })

  test('moves only for the attempt that holds the fence', async () => {
    const id = await insertTask(place)
    for (const fence of [1, 2]) assert.equal((await claim(id))?.fence, fence)
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
