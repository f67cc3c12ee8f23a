import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import type { Sql } from '../../src/platform/db/client.ts'
import { admitOwner } from '../../src/tasks/db/admission.ts'
import { endTask } from '../../src/tasks/db/end-task.ts'
import { markTaskPurged } from '../../src/tasks/db/purge.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import { ApiError } from '../../src/platform/domain/errors.ts'
import type { TaskFamily } from '../../src/platform/domain/task-scope.ts'
import { makeTaskEvents } from '../../src/events/temporal/task-events.ts'
import { cancelTask } from '../../src/tasks/cancel.ts'
import { deleteTask } from '../../src/tasks/delete.ts'
import { failTask } from '../../src/tasks/fail.ts'
import { startOf } from './activities/place.ts'
import { useDatabase } from '../support/stack.ts'
import { insertTasks } from '../support/task-rows.ts'
import { countLockWaits, waitFor } from '../support/wait.ts'

const SLOTS = { slots: 1, startOf }
const record = () => Promise.resolve()

interface Given {
  sql: Sql
  id: string
  owner: string
  family: TaskFamily
}

/** Everything that changes a task and its owner or account in one transaction. */
const COMMANDS: Record<string, (given: Given) => Promise<unknown>> = {
  'the cancel of a route or an operation': ({ sql, id, owner }) =>
    cancelTask({ sql, ...SLOTS }, { id, owner }, { record }),
  'a deletion': ({ sql, id, owner }) =>
    deleteTask(
      {
        sql,
        ...SLOTS,
        storage: { removePrefix: record },
        stopEvents: makeTaskEvents({ taskQueue: 'unused' }).stopEvents,
      },
      { id, owner },
      { when: 'ended', record },
    ),
  'a failure from outside': ({ sql, id, family }) =>
    unitOfWork({ sql }, (sql, enqueue) =>
      failTask(sql, { id, family }, { ...SLOTS, enqueue, code: 'internal_error' }),
    ),
  'an end in success': ({ sql, id, family }) =>
    unitOfWork({ sql }, (sql, enqueue) =>
      endTask(sql, { id, family, to: 'done', fence: 1 }, { ...SLOTS, enqueue }),
    ),
  'a purge': ({ sql, id }) => markTaskPurged(sql, id),
  'an admission of those of an owner': ({ sql, owner }) =>
    unitOfWork({ sql }, (sql, enqueue) => admitOwner(sql, { ...SLOTS, owner, enqueue })),
}

describe('owner before task', () => {
  const database = useDatabase()

  for (const family of ['image', 'video'] as const)
    for (const [name, command] of Object.entries(COMMANDS))
      test(`${name} of ${family} tasks waits for the owner, and holds no task meanwhile`, async () => {
        const owner = randomUUID()
        const kind = family === 'image' ? 'upscale' : 'text2video'
        const [id = ''] = await insertTasks(database.sql, { kind, owner, state: 'running' })
        let running: Promise<unknown> | undefined
        await database.sql.begin(async (sql) => {
          assert.equal((await sql`select from owner where id = ${owner} for update`).count, 1)
          running = command({ sql: database.sql, id, owner, family })
          running.catch(() => {})
          await waitFor(
            'it waits for the owner',
            async () => (await countLockWaits(database.sql)) > 0,
          )
          await sql`select from task where id = ${id} for update nowait`
        })
        // A video that is being rendered can no longer be cancelled.
        await running?.catch((error: unknown) => assert.ok(error instanceof ApiError))
      })
})
