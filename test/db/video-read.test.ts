import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import {
  failVideoTask,
  findVideoSource,
  findVideoTask,
  videoError,
} from '../../src/db/video-task/video-task.ts'
import { unitOfWork } from '../../src/db/unit-of-work.ts'
import { finishVideo, getVideo } from '../activities/video-place.ts'
import { useDatabase } from '../support/stack.ts'

describe('a reader of video tasks', () => {
  const database = useDatabase()

  const read = (id: string, owner: string) => findVideoTask(database.sql, { id, owner })

  test('sees what a task cost, its files and its video', async () => {
    const id = await finishVideo(database, {
      owner: 'reader',
      payload: 'p',
      credits: 40,
      offPeak: true,
      files: ['video.mp4', 'cover.jpg'],
    })
    const task = await read(id, 'reader')
    assert.ok(task?.creation, 'it has a creation')
    const { createdAt, creation, ...rest } = task
    assert.ok(createdAt instanceof Date, 'the time is a date')
    const { id: creationId, ...video } = creation
    assert.notEqual(creationId, id)
    assert.deepEqual(video, { seconds: 5.5, fps: 24, width: 64, height: 36 })
    assert.deepEqual(rest, {
      id,
      engine: 'local',
      state: 'success',
      rev: 4,
      charged: 40,
      credits: 40,
      payload: 'p',
      settings: { model: 'videoq1', duration: 5, resolution: '1080p', bgm: false },
      offPeak: true,
      progress: 100,
      error: null,
      results: ['video.mp4', 'cover.jpg'],
    })
  })

  test('sees that a failed task costs nothing, and why it failed', async () => {
    const id = await getVideo(database)
    const error = videoError('SystemThrottling')
    await unitOfWork(database, (sql, tell) => failVideoTask(sql, { id, error }, { slots: 1, tell }))
    const task = await read(id, 'alice')
    assert.deepEqual(
      [task?.credits, task?.error, task?.creation, task?.results],
      [0, error, null, []],
    )
  })

  test('sees the own tasks and the anonymous ones alone', async () => {
    const [own, open] = [
      await getVideo(database, { owner: 'alice' }),
      await getVideo(database, { owner: 'anonymous' }),
    ]
    const reads = async (id: string, owner: string) => (await read(id, owner)) !== undefined
    assert.deepEqual(
      [await reads(own, 'alice'), await reads(own, 'bob'), await reads(own, 'anonymous')],
      [true, false, false],
    )
    assert.deepEqual([await reads(open, 'alice'), await reads(open, 'anonymous')], [true, true])
  })

  const find = (id: string, owner: string) => findVideoSource(database.sql, { id, owner })
  const creationOf = async (id: string): Promise<string> => {
    const [row] = await database.sql<
      { id: string }[]
    >`select id from creation where task_id = ${id}`
    return row?.id ?? ''
  }

  test('finds a source by the id of its task or of its video, if it is the own one', async () => {
    const id = await finishVideo(database, { files: ['watermarked.mp4', 'video.mp4'] })
    const found = { state: 'success', storageKey: `results/${id}/1/video.mp4` }
    for (const name of [id, await creationOf(id)]) {
      assert.deepEqual(await find(name, 'alice'), found)
      assert.equal(await find(name, 'bob'), undefined)
      assert.equal(await find(name, 'anonymous'), undefined)
    }
  })

  test('finds an anonymous source, whoever asks', async () => {
    const id = await finishVideo(database, { owner: 'anonymous' })
    assert.equal((await find(id, 'alice'))?.state, 'success')
    assert.equal((await find(await creationOf(id), 'anonymous'))?.state, 'success')
  })

  test('finds no file of a source until it is there, and none once it was removed', async () => {
    const open = await getVideo(database)
    assert.deepEqual(await find(open, 'alice'), { state: 'created', storageKey: null })
    const id = await finishVideo(database)
    await database.sql`update task set purged_at = now() where id = ${id}`
    assert.deepEqual(await find(id, 'alice'), { state: 'success', storageKey: null })
    assert.equal(await find(randomUUID(), 'alice'), undefined)
  })

  test('finds a source by its indexes, however many tasks there are', async () => {
    const plan = await database.sql.begin(async (sql) => {
      // A table of few rows is read whole otherwise.
      await sql`set local enable_seqscan = off`
      const id = randomUUID()
      return await sql<{ 'QUERY PLAN': string }[]>`
        explain select from task t
        where t.id in (select ${id}::uuid union all select task_id from creation where id = ${id}::uuid)
      `
    })
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    assert.doesNotMatch(text, /Seq Scan on (task|creation)/)
  })
})
