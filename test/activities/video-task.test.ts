import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { makeVideoTaskTransitions, type StoredVideoAttempt } from '../../activities/video-task.ts'
import { findVideoTask } from '../../src/db/video-task/video-task.ts'
import { TASK_ERRORS } from '../../src/domain/task/task-error.ts'
import { VIDEO_ERRORS } from '../../src/domain/video-task/video-error.ts'
import { use } from '../support/use.ts'
import { usePlace } from './place.ts'
import { makeVideoEngine, renderVideo, VIDEO_TIMING } from './video-engine.ts'
import { getVideo, listWoken, makeVideoQueue, seeVideo, wakes } from './video-place.ts'
import type { NewVideo } from './video-place.ts'

describe('the transition of a video task', () => {
  const place = usePlace()
  before(() => void (place.deps.videoEngine = makeVideoEngine()))
  const transitions = use(() => makeVideoTaskTransitions(place.deps))

  const enqueue = (id: string) => transitions.enqueueVideoTask(id, VIDEO_TIMING)
  const insert = (owner: string, given: NewVideo = {}) =>
    getVideo(place.database, { owner, ...given })
  const see = (id: string) => seeVideo(place.database, id)
  const renderAgain = async (id: string): Promise<StoredVideoAttempt> => {
    const rendered = await renderVideo(place.deps, id)
    assert.ok(rendered, 'the task is open')
    return rendered
  }
  const begin = async (owner: string): Promise<{ id: string; rendered: StoredVideoAttempt }> => {
    const id = await insert(owner)
    await enqueue(id)
    return { id, rendered: await renderAgain(id) }
  }
  /** Three tasks of an owner with two slots: the last one waits. */
  const crowd = async (owner: string): Promise<[first: string, second: string, third: string]> => {
    const ids = [await insert(owner), await insert(owner), await insert(owner)] as const
    for (const id of ids) await enqueue(id)
    return [...ids]
  }
  const listResults = (id: string) => place.deps.storage.list(`results/${id}`)
  const cancel = (id: string) => makeVideoQueue(place.database, place.deps).cancel(id)
  /** Takes the workflows that were woken at once since the last call; all of their rows are in the outbox. */
  const takeDispatched = async (): Promise<string[]> => {
    const rows = place.dispatched.splice(0)
    for (const { id, workflowId } of rows) {
      const [row] = await place.deps.sql`
        select workflow_id, signal_name, dispatched_at from outbox where id = ${id}
      `
      const signal = { workflow_id: workflowId, signal_name: 'admitted', dispatched_at: null }
      assert.deepEqual(row, signal)
    }
    return listWoken(rows)
  }

  test('takes a free slot when enqueued, and returns the state of the task when repeated', async () => {
    const [first, , third] = await crowd('queue')
    const stand = { state: 'queueing', offPeakMs: null }
    assert.deepEqual(await enqueue(first), { ...stand, isAdmitted: true })
    assert.deepEqual(await enqueue(third), { ...stand, isAdmitted: false })
    assert.deepEqual((await see(first)).events, ['created', 'queueing'])
    assert.deepEqual(await takeDispatched(), [])
  })

  test('to queueing says how long an off-peak task may take', async () => {
    const id = await insert('off-peak', { offPeak: true })
    await place.deps.sql`update task set created_at = now() - interval '47 hours' where id = ${id}`
    const { offPeakMs } = await enqueue(id)
    assert.ok(offPeakMs && offPeakMs > 3_500_000 && offPeakMs <= 3_600_000, `${offPeakMs} ms`)
  })

  test('to queueing of what is not there says that it has ended', async () => {
    const { state } = await enqueue('11111111-1111-4111-8111-111111111111')
    assert.equal(state, 'failed')
  })

  test('to success takes the video, once', async () => {
    const { id, rendered } = await begin('success')
    assert.equal(await transitions.completeVideoTask(id, rendered), 'success')
    assert.equal(await transitions.completeVideoTask(id, rendered), 'success')
    const { events, ledger } = await see(id)
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'success'])
    assert.deepEqual(ledger, ['charge 10'])
    const task = await findVideoTask(place.deps.sql, { id, owner: 'success' })
    assert.deepEqual(task?.results, ['video.mp4', 'cover.jpg'])
    const { id: _, ...creation } = task?.creation ?? {}
    assert.deepEqual(creation, { seconds: 5, fps: 24, width: 1920, height: 1080 })
  })

  test('to success wakes the task it made room for', async () => {
    const [first, , third] = await crowd('next')
    const rendered = await renderAgain(first)
    assert.equal(await transitions.completeVideoTask(first, rendered), 'success')
    assert.deepEqual(await takeDispatched(), wakes(third))
    await transitions.completeVideoTask(first, rendered)
    assert.deepEqual(await takeDispatched(), [], 'a repetition wakes nobody')
  })

  test('to success of a stale fence changes nothing and says that the task is open', async () => {
    const { id, rendered } = await begin('stale')
    await renderAgain(id)
    assert.equal(await transitions.completeVideoTask(id, rendered), 'processing')
    assert.deepEqual((await see(id)).events, ['created', 'queueing', 'processing'])
    assert.equal((await listResults(id)).length, 4)
  })

  test('to success without a video says where the task stands', async () => {
    const [, , third] = await crowd('waits')
    assert.equal(await renderVideo(place.deps, third), undefined)
    assert.equal(await transitions.completeVideoTask(third), 'queueing')
    await cancel(third)
    assert.equal(await transitions.completeVideoTask(third), 'failed')
  })

  test('removes older attempts after success', async () => {
    const { id } = await begin('cleanup')
    const rendered = await renderAgain(id)
    await transitions.completeVideoTask(id, rendered)
    const left = [`results/${id}/2/cover.jpg`, `results/${id}/2/video.mp4`]
    assert.deepEqual((await listResults(id)).toSorted(), left)
  })

  test('to success after a cancellation takes nothing', async () => {
    const id = await insert('late')
    await enqueue(id)
    await cancel(id)
    assert.equal(await renderVideo(place.deps, id), undefined)
    assert.equal(await transitions.completeVideoTask(id), 'failed')
    assert.deepEqual((await see(id)).ledger, ['charge 10', 'refund 10'])
  })

  test('gives the credits of a failed task back, removes its files and wakes the next, once', async () => {
    const [first, , third] = await crowd('failure')
    await renderAgain(first)
    for (const expected of [wakes(third), []]) {
      assert.equal(await transitions.failVideoTask(first, { code: 'SystemThrottling' }), 'failed')
      assert.deepEqual(await takeDispatched(), expected)
    }
    const { events, ledger, errorCode, errorMessage } = await see(first)
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'failed'])
    assert.deepEqual(ledger, ['charge 10', 'refund 10'])
    assert.deepEqual([errorCode, errorMessage], ['SystemThrottling', VIDEO_ERRORS.SystemThrottling])
    assert.deepEqual(await listResults(first), [])
  })

  const FAILURES: [code: string, message: string | undefined, errorCode: string, text: string][] = [
    ['ImageDownloadFailure', '/images/0: x', 'ImageDownloadFailure', '/images/0: x'],
    ['VideoFormatInvalid', undefined, 'VideoFormatInvalid', VIDEO_ERRORS.VideoFormatInvalid],
    ['cancelled', undefined, 'UserCancelled', TASK_ERRORS.cancelled],
    ['timeout', undefined, 'InternalServiceFailure', TASK_ERRORS.timeout],
    ['engine_failed', 'ten times', 'InternalServiceFailure', 'ten times'],
    ['internal_error', undefined, 'InternalServiceFailure', TASK_ERRORS.internal_error],
    // What a failure that nobody knows says was not written for callers.
    ['ERR_SOMETHING', '/srv/x', 'InternalServiceFailure', TASK_ERRORS.internal_error],
    ['toString', '/srv/x', 'InternalServiceFailure', TASK_ERRORS.internal_error],
  ]
  for (const [code, message, errorCode, errorMessage] of FAILURES)
    test(`records ${code} of a failure as ${errorCode}`, async () => {
      const id = await insert('recorded')
      await transitions.failVideoTask(id, { code, ...(message !== undefined && { message }) })
      const seen = await see(id)
      assert.deepEqual([seen.errorCode, seen.errorMessage], [errorCode, errorMessage])
    })

  test('to failed after a cancellation changes nothing', async () => {
    const id = await insert('cancelled')
    await cancel(id)
    assert.equal(await transitions.failVideoTask(id, { code: 'timeout' }), 'failed')
    const { errorCode, events, ledger } = await see(id)
    assert.equal(errorCode, 'UserCancelled')
    assert.deepEqual(events, ['created', 'failed'])
    assert.deepEqual(ledger, ['charge 10', 'refund 10'])
  })

  test('to failed leaves a task in success, its credits and its files as they are', async () => {
    const { id, rendered } = await begin('stays')
    await transitions.completeVideoTask(id, rendered)
    assert.equal(await transitions.failVideoTask(id, { code: 'cancelled' }), 'success')
    assert.deepEqual((await see(id)).ledger, ['charge 10'])
    assert.equal((await listResults(id)).length, 2)
  })
})
