import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { claimTask, transitionTask } from '../../../src/tasks/db/task-transition.ts'
import { FAMILIES, type TaskStatus } from '../../../src/tasks/domain/family.ts'
import type { TaskState } from '../../../src/tasks/domain/task-item.ts'
import type { TaskFamily } from '../../../src/platform/domain/task-scope.ts'
import { admissionOf, see } from '../activities/place.ts'
import { useDatabase } from '../../support/stack.ts'
import { insertTasks } from '../../support/task-rows.ts'

/** States in which each status is met, and the statuses that a task goes to from there. */
const TABLE: Record<TaskFamily, [status: TaskStatus, state: TaskState, next: TaskStatus[]][]> = {
  image: [
    ['CREATED', 'waiting', ['IN_PROGRESS', 'FAILED']],
    ['CREATED', 'queued', ['IN_PROGRESS', 'FAILED']],
    ['IN_PROGRESS', 'running', ['COMPLETED', 'FAILED']],
    ['COMPLETED', 'done', []],
    ['FAILED', 'cancelled', []],
  ],
  video: [
    ['created', 'waiting', ['queueing', 'failed']],
    ['queueing', 'queued', ['processing', 'failed']],
    ['processing', 'running', ['success', 'failed']],
    ['success', 'done', []],
    ['failed', 'cancelled', []],
  ],
}
const KINDS = { image: 'upscale', video: 'text2video' } as const

for (const family of ['image', 'video'] as const)
  describe(`a task of the family ${family}`, () => {
    const database = useDatabase()
    const { sql } = database
    const { words } = FAMILIES[family]

    const insertIn = async (state: TaskState): Promise<string> => {
      const [id = ''] = await insertTasks(sql, { kind: KINDS[family], state })
      return id
    }
    const transition = (id: string, to: TaskStatus): Promise<boolean> => {
      const error = to === words.failed ? { error: { code: 'cancelled', message: 'm' } } : {}
      return sql.begin(
        async (sql) => (await transitionTask(sql, family, { id, to, ...error })) !== undefined,
      )
    }
    const claim = async (id: string, number?: number) => {
      const admission = number ?? (await admissionOf(sql, id))
      return await sql.begin((sql) => claimTask(sql, { id, family, admission }))
    }

    for (const [from, state, next] of TABLE[family])
      test(`goes from ${from}, ${state}, to ${next.join(' or ') || 'nothing'}`, async () => {
        for (const [to] of TABLE[family]) {
          const id = await insertIn(state)
          const { events } = await see(database, id)
          const isLegal = next.includes(to)
          assert.equal(await transition(id, to), isLegal, to)
          const seen = await see(database, id)
          const isEnd = isLegal && to === words.failed
          assert.deepEqual(seen.events, isLegal ? [...events, to] : events)
          assert.equal(seen.status, isLegal ? to : from)
          if (isEnd) assert.equal(seen.waits_on, null, 'what has ended waits for nothing')
        }
      })

    test('is claimed only while it is admitted and has not ended', async () => {
      for (const [, state] of TABLE[family]) {
        const id = await insertIn(state)
        const { fence } = await see(database, id)
        const isOpen = state === 'queued' || state === 'running'
        assert.equal((await claim(id))?.fence, isOpen ? fence + 1 : undefined, state)
        assert.equal((await see(database, id)).fence, isOpen ? fence + 1 : fence, state)
      }
    })

    test('is claimed only under the number of its last admission', async () => {
      const id = await insertIn('queued')
      assert.equal(await claim(id, 2), undefined)
      await sql`update task set admission = 2 where id = ${id}`
      assert.equal(await claim(id, 1), undefined)
      assert.equal((await claim(id, 2))?.fence, 1)
      assert.equal((await see(database, id)).events.at(-1), words.running)
    })

    test('has times that do not go back when the clock does', async () => {
      const id = await insertIn('queued')
      await sql`update task set last_moved_at = now() + interval '1 hour' where id = ${id}`
      await transition(id, words.running)
      await transition(id, words.done)
      const [row] = await sql`
        select bool_and(created_at >= now() + interval '59 minutes') as late from event
        where task_id = ${id} and status in ${sql([words.running, words.done])}
      `
      assert.deepEqual(row, { late: true })
    })
  })
