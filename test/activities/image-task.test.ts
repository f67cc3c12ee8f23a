import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeImageTaskTransitions } from '../../activities/image-task.ts'
import type { StoredAttempt } from '../../activities/image-task.ts'
import { S3Error } from '../../src/adapters/storage/s3-client.ts'
import { THUMBNAIL } from '../../src/domain/task/thumbnail.ts'
import { transitionTask } from '../../src/db/task/task-transition.ts'
import { use } from '../support/use.ts'
import { insertTask, render, see, usePlace } from './place.ts'

describe('the transition of an image task', () => {
  const place = usePlace()
  const transitions = use(() => makeImageTaskTransitions(place.deps))

  const claimed = async (): Promise<{ id: string; rendered: StoredAttempt }> => {
    const id = await insertTask(place)
    return { id, rendered: await renderAgain(id) }
  }
  const renderAgain = async (id: string): Promise<StoredAttempt> => {
    const rendered = await render(place.deps, id)
    assert.ok(rendered)
    return rendered
  }
  const listResults = (id: string) => place.deps.storage.list(`results/${id}`)
  const cancel = (id: string) =>
    place.deps.sql.begin((sql) =>
      transitionTask(sql, 'image', {
        id,
        to: 'FAILED',
        error: { code: 'cancelled', message: 'x' },
      }),
    )

  test('to COMPLETED takes the results, once', async () => {
    const { id, rendered } = await claimed()
    assert.equal(await transitions.completeImageTask(id, rendered), 'COMPLETED')
    assert.equal(await transitions.completeImageTask(id, rendered), 'COMPLETED')
    const { status, events } = await see(place.database, id)
    assert.equal(status, 'COMPLETED')
    assert.deepEqual(events, ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
    const rows = await place.deps.sql`select name from task_result where task_id = ${id}`
    assert.deepEqual([...rows], [{ name: 'result-1.png' }])
  })

  test('to COMPLETED of a stale fence changes nothing and says that the task is open', async () => {
    const { id, rendered } = await claimed()
    await renderAgain(id)
    assert.equal(await transitions.completeImageTask(id, rendered), 'IN_PROGRESS')
    const { status, events } = await see(place.database, id)
    assert.equal(status, 'IN_PROGRESS')
    assert.deepEqual(events, ['CREATED', 'IN_PROGRESS'])
    assert.equal((await listResults(id)).length, 4)
  })

  test('removes older attempts after COMPLETED, also when only a repetition gets that far', async () => {
    const { id } = await claimed()
    const rendered = await renderAgain(id)
    await place.deps.sql.begin((sql) =>
      transitionTask(sql, 'image', { id, to: 'COMPLETED', fence: 2 }),
    )
    assert.equal(await transitions.completeImageTask(id, rendered), 'COMPLETED')
    const left = [`results/${id}/2/result-1.png`, `results/${id}/2/${THUMBNAIL}`]
    assert.deepEqual(await listResults(id), left)
  })

  test('to COMPLETED is repeated while the store is away, so that older attempts are cleaned up', async () => {
    const { id } = await claimed()
    const rendered = await renderAgain(id)
    const away = new S3Error('ListObjectsV2', 'away', { code: 'ECONNREFUSED', status: undefined })
    const storage = { ...place.deps.storage, list: () => Promise.reject(away) }
    const { completeImageTask } = makeImageTaskTransitions({ ...place.deps, storage })
    await assert.rejects(completeImageTask(id, rendered), away)
    assert.equal((await see(place.database, id)).status, 'COMPLETED')
    assert.equal(await transitions.completeImageTask(id, rendered), 'COMPLETED')
    assert.equal((await listResults(id)).length, 2)
  })

  test('removes what attempts stored after FAILED, and records code and message', async () => {
    const { id } = await claimed()
    const reason = { code: 'engine_failed', message: 'three times' }
    assert.equal(await transitions.failImageTask(id, reason), 'FAILED')
    assert.equal((await see(place.database, id)).error_code, 'engine_failed')
    assert.deepEqual(await listResults(id), [])
  })

  test('records an unknown code of a failure as internal_error', async () => {
    const { id } = await claimed()
    await transitions.failImageTask(id, { code: 'ERR_SOMETHING', message: 'text' })
    assert.equal((await see(place.database, id)).error_code, 'internal_error')
  })

  test('to FAILED after a cancellation changes nothing', async () => {
    const { id } = await claimed()
    await cancel(id)
    assert.equal(await transitions.failImageTask(id, { code: 'timeout' }), 'FAILED')
    const { error_code, events } = await see(place.database, id)
    assert.equal(error_code, 'cancelled')
    assert.deepEqual(events, ['CREATED', 'IN_PROGRESS', 'FAILED'])
  })

  test('to FAILED leaves a completed task and its files as they are', async () => {
    const { id, rendered } = await claimed()
    await transitions.completeImageTask(id, rendered)
    assert.equal(await transitions.failImageTask(id, { code: 'cancelled' }), 'COMPLETED')
    assert.equal((await see(place.database, id)).status, 'COMPLETED')
    assert.equal((await listResults(id)).length, 2)
  })

  test('after a cancellation takes no results', async () => {
    const { id, rendered } = await claimed()
    await cancel(id)
    assert.equal(await transitions.completeImageTask(id, rendered), 'FAILED')
    assert.deepEqual(await listResults(id), [])
  })
})
