import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import type { Queryable, Sql } from '../../../src/platform/db/client.ts'
import { insertOutbox } from '../../../src/platform/db/outbox.ts'
import { insertUpload, receiveUpload } from '../../../src/tasks/db/upload.ts'
import { listStalledTasks } from '../../../src/tasks/db/operator.ts'
import { recordProgress } from '../../../src/tasks/db/task.ts'
import { findVideoSource } from '../../../src/tasks/db/video/video-task.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { TaskState } from '../../../src/tasks/domain/task-item.ts'
import {
  claimVideo,
  enterVideo,
  finishVideo,
  getVideo,
  insertVideo,
  makeVideoQueue,
  seeVideo,
} from '../activities/video-place.ts'
import { useDatabase } from '../../support/stack.ts'
import { makeStart } from '../../registry/db/registry-place.ts'
import { insertNewTask, insertTasks } from '../../support/task-rows.ts'
import { countLockWaits, waitFor } from '../../support/wait.ts'

const SLOTS = 2

describe('a video task', () => {
  const database = useDatabase()

  const { fail, cancel, complete } = makeVideoQueue(database, { slots: SLOTS })
  /** A task in processing, of an owner who has no other. */
  const claimed = async (): Promise<string> => {
    const task = { kind: 'text2video', owner: randomUUID(), state: 'running' } as const
    const [id = ''] = await insertTasks(database.sql, task)
    return id
  }

  test('moves once when many try at the same time', async () => {
    const id = await claimed()
    const ends = await Promise.all([complete(id, 1), fail(id), complete(id, 1), fail(id)])
    assert.equal(ends.filter(Boolean).length, 1)
    const { events, ledger, state } = await seeVideo(database, id)
    assert.equal(events.length, 4)
    assert.deepEqual(ledger, state === 'failed' ? ['charge 10', 'refund 10'] : ['charge 10'])
  })

  test('ends in success only under the latest fence', async () => {
    const id = await claimed()
    assert.equal((await claimVideo(database, id))?.fence, 2)
    let recorded = 0
    const record = async () => void (recorded += 1)
    assert.equal(await complete(id, 1, record), false)
    assert.deepEqual([recorded, (await seeVideo(database, id)).state], [0, 'processing'])
    assert.equal(await complete(id, 2, record), true)
    assert.equal(recorded, 1)
    const { events, ledger } = await seeVideo(database, id)
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'success'])
    assert.deepEqual(ledger, ['charge 10'])
  })

  test('stays as it was when what belongs to its success cannot be recorded', async () => {
    const id = await claimed()
    const record = () => Promise.reject(new Error('no'))
    await assert.rejects(complete(id, 1, record), { message: 'no' })
    const { state, events } = await seeVideo(database, id)
    assert.deepEqual([state, events.at(-1)], ['processing', 'processing'])
  })

  for (const state of TaskState.enum) {
    const can = state === 'waiting' || state === 'queued'
    test(`${can ? 'is' : 'is not'} cancelled when it is ${state}`, async () => {
      const [id = ''] = await insertTasks(database.sql, { kind: 'text2video', state })
      const before = await seeVideo(database, id)
      assert.equal(await cancel(id), can)
      const seen = await seeVideo(database, id)
      if (!can) return assert.deepEqual(seen, before)
      assert.deepEqual([seen.state, seen.errorCode], ['failed', 'UserCancelled'])
      assert.deepEqual(seen.ledger, ['charge 10', 'refund 10'])
    })
  }

  test('shows its progress: never falling, of the latest attempt alone, 100 only with success', async () => {
    const id = await claimed()
    const note = async (percent: number, fence = 1): Promise<number> => {
      await recordProgress(database.sql, { id, fence, percent })
      return (await seeVideo(database, id)).progress
    }
    assert.equal(await note(30.9), 30)
    const { rev } = await seeVideo(database, id)
    assert.equal(await note(10), 30)
    assert.equal(await note(30), 30)
    assert.equal((await seeVideo(database, id)).rev, rev, 'what changes nothing is no revision')
    assert.equal(await note(100), 99)
    await claimVideo(database, id)
    assert.equal(await note(100, 1), 99)
    await complete(id, 2)
    assert.equal(await note(50, 2), 100)
  })

  test('keeps no progress of an attempt that a newer one has overtaken, nor after its failure', async () => {
    const id = await claimed()
    await claimVideo(database, id)
    await recordProgress(database.sql, { id, fence: 1, percent: 60 })
    assert.equal((await seeVideo(database, id)).progress, 0)
    await recordProgress(database.sql, { id, fence: 2, percent: 40 })
    await fail(id)
    await recordProgress(database.sql, { id, fence: 2, percent: 70 })
    assert.equal((await seeVideo(database, id)).progress, 40)
  })

  test('stands still unless the relay is about to start it', async () => {
    const id = await getVideo(database, { owner: randomUUID() })
    await enterVideo(database, id, SLOTS)
    await database.sql`delete from outbox where workflow_id = ${`video-task/${id}`}`
    await database.sql.begin(async (sql) => {
      const ids = { only: id }
      const count = async (): Promise<number> =>
        (await listStalledTasks(sql as Queryable as Sql, { afterSeconds: 0, ids, limit: 1 })).length
      assert.equal(await count(), 1)
      await insertOutbox(sql, { ...makeStart(id, 'video-task'), workflowType: 'videoTask' })
      assert.equal(await count(), 0)
    })
  })

  describe('as the source of another', () => {
    const find = (id: string, owner = 'alice') => findVideoSource(database.sql, { id, owner })

    test('is anybody’s when it is anonymous, by its own id or that of its video', async () => {
      const id = await finishVideo(database, { owner: 'anonymous' })
      const [creation] = await database.sql`select id from creation where task_id = ${id}`
      for (const name of [id, String(creation?.['id'])])
        for (const owner of ['alice', 'anonymous'])
          assert.equal((await find(name, owner))?.state, 'success')
    })

    test('has no file until it is there, and none once it was removed', async () => {
      const open = await getVideo(database)
      assert.deepEqual(await find(open), { state: 'created', storageKey: null })
      const id = await finishVideo(database)
      await database.sql`update task set purged_at = now() where id = ${id}`
      assert.deepEqual(await find(id), { state: 'success', storageKey: null })
    })
  })

  describe('made of an upload', () => {
    const upload = randomUUID()
    const keyOf = (name: string) => `uploads/${upload}/${name}`
    const create = (name: string) =>
      insertVideo(database, { inputs: [{ field: 'images', storageKey: keyOf(name), url: 'x' }] })
    const receive = (name: string) => {
      const file = { id: upload, storageKey: keyOf(name), contentType: 'image/png', sha256: name }
      const quota = { tasks: 9, bytes: 1000, retentionDays: 30 }
      return unitOfWork(database, (sql) => receiveUpload(sql, { ...file, bytes: 10 }, quota))
    }
    const replacedBy = async (name: string) => (await receive(name))?.replacedKey
    before(() => {
      const row = { id: upload, owner: 'alice', apiKeyId: null, fileName: 'a', declaredType: null }
      return unitOfWork(database, (sql) => insertUpload(sql, row))
    })

    test('is rejected when the file has been replaced meanwhile', async () => {
      assert.equal(await replacedBy('first'), null)
      assert.equal(await replacedBy('second'), keyOf('first'))
      assert.equal(await create('first'), undefined)
      assert.ok(await create('second'))
    })

    test('holds the file from its commit on, also against a replacement that waits', async () => {
      await receive('third')
      let replacing: Promise<string | null | undefined> | undefined
      await database.sql.begin(async (sql) => {
        const inputs = [{ field: 'images', storageKey: keyOf('third'), url: 'x' }]
        await insertNewTask(sql, { kind: 'text2video', inputs })
        replacing = replacedBy('fourth')
        await waitFor('it waits', async () => (await countLockWaits(database.sql)) > 0)
      })
      assert.equal(await replacing, null)
      assert.equal(await replacedBy('fifth'), keyOf('fourth'))
    })
  })
})
