import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { beginBulk, insertBulk } from '../../../src/tasks/db/bulk/bulk.ts'
import { recordItem, watchLastTask } from '../../../src/tasks/db/bulk/bulk-item.ts'
import type { Transaction } from '../../../src/platform/db/client.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import { FAMILIES } from '../../../src/tasks/domain/family.ts'
import { insertTask, usePlace } from '../activities/place.ts'
import { waitFor } from '../../support/wait.ts'

const place = usePlace()

/** A batch of three tasks, the last of them made by another request. */
const addBatch = async () => {
  const id = randomUUID()
  const { sql } = place.deps
  await sql.begin((sql) => insertBulk(sql, { id, kind: 'batch', owner: id, request: {} }))
  await sql.begin((sql) => beginBulk(sql, { id, total: 3 }))
  const ids: string[] = []
  for (const index of [0, 1, 2]) {
    const taskId = await insertTask(place)
    const replayed = index === 2 && { result: { replayed: true } }
    await sql.begin((sql) =>
      recordItem(sql, { bulkId: id, index }, { outcome: 'done', taskId, ...replayed }),
    )
    ids.push(taskId)
  }
  const [first = '', second = '', replayed = ''] = ids
  const watch = (isOwn = false) => sql.begin((sql) => watchLastTask(sql, { bulkId: id, isOwn }))
  const countSignals = async () => {
    const rows = await sql`
      select from outbox where workflow_id = ${`run-batch/${id}`} and signal_name = 'taskEnded'
    `
    return rows.length
  }
  return { first, second, replayed, watch, countSignals }
}

const end = (sql: Transaction, id: string) =>
  transitionTask(sql, 'image', {
    id,
    to: FAMILIES.image.words.failed,
    error: FAMILIES.image.toError('cancelled'),
  })
const endNow = (id: string) => place.deps.sql.begin((sql) => end(sql, id))

describe('a batch that watches its tasks', () => {
  test('gets a signal at the end of the last one that is open, and of no other', async () => {
    const { first, second, replayed, watch, countSignals } = await addBatch()
    assert.equal(await watch(), true)
    await endNow(second)
    assert.equal(await countSignals(), 0)
    await endNow(replayed)
    assert.equal(await countSignals(), 1)
    assert.equal(await watch(), true)
    await endNow(first)
    assert.equal(await countSignals(), 2)
    assert.equal(await watch(), false)
  })

  test('waits for none that another request has made once it is cancelled', async () => {
    const { first, second, watch, countSignals } = await addBatch()
    assert.equal(await watch(true), true)
    await endNow(second)
    assert.equal(await countSignals(), 1)
    await endNow(first)
    assert.equal(await watch(true), false)
    assert.equal(await watch(), true)
  })

  test('lets one that is about to end do so, and watches the one before it', async () => {
    const { second, replayed, watch, countSignals } = await addBatch()
    const { sql } = place.deps
    const watched = await sql.begin(async (ending) => {
      await end(ending, replayed)
      const watching = watch()
      await waitFor('it waits for the task', async () => {
        const [row] = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%watched_task%'
        `
        return row
      })
      return { watching }
    })
    assert.equal(await watched.watching, true)
    await endNow(second)
    assert.equal(await countSignals(), 1)
  })
})
