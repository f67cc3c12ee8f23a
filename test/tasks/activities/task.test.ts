import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { MediaDependencies } from '../../support/media.ts'
import { makeTaskTransitions } from '../../../activities/tasks/task.ts'
import { S3Error } from '../../../src/platform/storage/s3-client.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import { errors } from '../../../src/platform/domain/errors.ts'
import { TASK_ERRORS } from '../../../src/tasks/domain/task-error.ts'
import { FAMILIES } from '../../../src/tasks/domain/family.ts'
import type { TaskFamily } from '../../../src/platform/domain/task-scope.ts'
import { THUMBNAIL } from '../../../src/tasks/domain/thumbnail.ts'
import { VIDEO_ERRORS } from '../../../src/tasks/domain/video/video-error.ts'
import { use } from '../../support/use.ts'
import {
  again,
  attemptImage,
  findDone,
  insertTask,
  listWoken,
  losing,
  makeEngine,
  makeEnvironment,
  see,
  stopRun,
  usePlace,
} from './place.ts'
import { attemptVideo, makeVideoEngine } from './video-engine.ts'
import { enterVideo, getVideo, seeVideo, wakes } from './video-place.ts'

const DONE = { state: 'done', reason: null }

describe('the end of a task', () => {
  const place = usePlace()
  before(() => void (place.deps.videoEngine = makeVideoEngine()))
  const transitions = use(() => makeTaskTransitions(place.deps))

  const listResults = (id: string) => place.deps.storage.list(`results/${id}`)
  /** Has an attempt store an image and be lost then. */
  const lose = async (id: string): Promise<void> => {
    await assert.rejects(attemptImage(losing(place.deps), id), again('attempt_failed'))
    assert.equal((await listResults(id)).length, 2)
  }
  const cancel = (id: string, family: TaskFamily = 'image') =>
    place.deps.sql.begin((sql) => {
      const { words, toError } = FAMILIES[family]
      return transitionTask(sql, family, { id, to: words.failed, error: toError('cancelled') })
    })
  const fail = (taskId: string, family: TaskFamily, code: string, message?: string) =>
    transitions.failTask({ taskId, family }, { code, ...(message !== undefined && { message }) })
  /** Three videos of an owner with two slots: the last one waits. */
  const crowd = async (owner: string): Promise<[first: string, second: string, third: string]> => {
    const insert = () => getVideo(place.database, { owner })
    const ids = [await insert(), await insert(), await insert()] as const
    await enterVideo(place.database, ids[0], 2)
    return [...ids]
  }
  /** Takes the workflows that were started at once since the last call; all of their rows are in the outbox. */
  const takeStarted = async (): Promise<string[]> => {
    const rows = place.dispatched.splice(0)
    for (const { id, kind, workflowId } of rows) {
      const [row] = await place.deps.sql`
        select kind, workflow_id, dispatched_at from outbox where id = ${id}
      `
      assert.deepEqual(row, { kind, workflow_id: workflowId, dispatched_at: null })
    }
    return listWoken(rows)
  }

  describe('that an attempt brings', () => {
    test('is made once, also when the attempt is repeated', async () => {
      const id = await insertTask(place)
      assert.deepEqual(await attemptImage(place.deps, id), DONE)
      const done = await findDone(place.deps.sql, id)
      assert.deepEqual(await attemptImage(place.deps, id), DONE)
      assert.deepEqual(await findDone(place.deps.sql, id), done)
      assert.deepEqual(
        done.results.map(({ name }) => name),
        ['result-1.png'],
      )
      const { events } = await see(place.database, id)
      assert.deepEqual(events, ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
      assert.equal((await listResults(id)).length, 2)
    })

    test('gives the slot of a video to the next, and starts that once', async () => {
      const [first, , third] = await crowd('next')
      const waiting = { state: 'waiting', reason: 'slot' }
      assert.deepEqual(await attemptVideo(place.deps, third), waiting)
      for (const started of [wakes(third), []]) {
        assert.deepEqual(await attemptVideo(place.deps, first), DONE)
        assert.deepEqual(await takeStarted(), started)
      }
      assert.deepEqual(await attemptVideo(place.deps, third), DONE)
    })

    test('removes what older attempts have stored, also when only a repetition gets that far', async () => {
      const id = await insertTask(place)
      await lose(id)
      const away = new S3Error('ListObjectsV2', 'away', { code: 'ECONNREFUSED', status: undefined })
      const storage = { ...place.deps.storage, list: () => Promise.reject(away) }
      await assert.rejects(attemptImage({ ...place.deps, storage }, id), again('unavailable'))
      assert.equal((await see(place.database, id)).status, 'COMPLETED')
      assert.equal((await listResults(id)).length, 4)
      assert.deepEqual(await attemptImage(place.deps, id), DONE)
      const left = [`results/${id}/2/result-1.png`, `results/${id}/2/${THUMBNAIL}`]
      assert.deepEqual(await listResults(id), left)
    })

    test('takes nothing of an image that is cancelled while it is rendered', async () => {
      const id = await insertTask(place)
      const engine = makeEngine(async () => void (await cancel(id)))
      await assert.rejects(attemptImage({ ...place.deps, engine }, id), again('attempt_failed'))
      assert.deepEqual(await listResults(id), [])
      const cancelled = { state: 'cancelled', reason: 'cancelled' }
      assert.deepEqual(await attemptImage(place.deps, id), cancelled)
      const { events, failures } = await see(place.database, id)
      assert.deepEqual([events, failures], [['CREATED', 'IN_PROGRESS', 'FAILED'], 0])
    })

    const gone = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
    /** A worker, and how often its engine has rendered. So many transactions behind a render go another way. */
    const makeWorker = (
      times: number,
      begin: (run: () => Promise<unknown>) => Promise<unknown>,
    ) => {
      const { sql: real } = place.deps
      const worker = { renders: 0, deps: place.deps as MediaDependencies }
      let left = 0
      const engine = makeEngine(() => {
        worker.renders += 1
        left = times
        return Promise.resolve()
      })
      const sql = new Proxy(real, {
        get: (target, name) =>
          name === 'begin' && left > 0
            ? (work: Parameters<typeof real.begin>[1]) => {
                left -= 1
                return begin(() => target.begin(work))
              }
            : (Reflect.get(target, name) as unknown),
      })
      worker.deps = { ...place.deps, engine, sql }
      return worker
    }
    const lostAtCommit = async (run: () => Promise<unknown>): Promise<never> => {
      await run()
      throw errors.outcomeUnknown(gone)
    }
    for (const [what, worker] of [
      ['waits while PostgreSQL is away', () => makeWorker(2, () => Promise.reject(gone))],
      ['is known when nothing said that it was committed', () => makeWorker(1, lostAtCommit)],
    ] as const)
      test(`${what}, without a second render`, async () => {
        const id = await insertTask(place)
        const made = worker()
        assert.deepEqual(await attemptImage(made.deps, id), DONE)
        assert.equal(made.renders, 1)
        const { fence, failures, events } = await see(place.database, id)
        assert.deepEqual([fence, failures], [1, 0])
        assert.deepEqual(events, ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
        assert.equal((await listResults(id)).length, 2)
      })

    test('is left to another attempt when the worker stops while PostgreSQL is away', async () => {
      const id = await insertTask(place)
      const environment = makeEnvironment()
      const { deps } = makeWorker(Infinity, () => {
        stopRun(environment)
        return Promise.reject(gone)
      })
      await assert.rejects(attemptImage(deps, id, { environment }), again('worker_stopped'))
      assert.deepEqual(await attemptImage(place.deps, id), DONE)
      assert.equal((await see(place.database, id)).fence, 2)
    })
  })

  describe('that is a failure', () => {
    test('removes what attempts have stored', async () => {
      const id = await insertTask(place)
      await lose(id)
      const failed = { state: 'failed', reason: 'engine_failed' }
      assert.deepEqual(await fail(id, 'image', 'engine_failed'), failed)
      assert.deepEqual(await listResults(id), [])
    })

    test('gives the credits and the slot of a video back, and starts the next, once', async () => {
      const [first, , third] = await crowd('failure')
      const failed = { state: 'failed', reason: 'SystemThrottling' }
      for (const started of [wakes(third), []]) {
        assert.deepEqual(await fail(first, 'video', 'SystemThrottling'), failed)
        assert.deepEqual(await takeStarted(), started)
      }
      const { events, ledger } = await seeVideo(place.database, first)
      assert.deepEqual(events, ['created', 'queueing', 'failed'])
      assert.deepEqual(ledger, ['charge 10', 'refund 10'])
    })

    const insert = { image: () => insertTask(place), video: () => getVideo(place.database) }
    type Row = [TaskFamily, code: string, message: string | undefined, is: string, says: string]
    const ROWS: Row[] = [
      ['image', 'engine_failed', 'three times', 'engine_failed', 'three times'],
      ['image', 'timeout', undefined, 'timeout', TASK_ERRORS.timeout],
      ['video', 'ImageDownloadFailure', '/images/0: x', 'ImageDownloadFailure', '/images/0: x'],
      ['video', 'SystemThrottling', undefined, 'SystemThrottling', VIDEO_ERRORS.SystemThrottling],
      ['video', 'cancelled', undefined, 'UserCancelled', TASK_ERRORS.cancelled],
      ['video', 'timeout', undefined, 'InternalServiceFailure', TASK_ERRORS.timeout],
      ['video', 'engine_failed', 'ten times', 'InternalServiceFailure', 'ten times'],
      // What a failure that nobody knows says was not written for callers.
      ['image', 'ERR_SOMETHING', '/srv/x', 'internal_error', TASK_ERRORS.internal_error],
      ['video', 'ERR_SOMETHING', '/srv/x', 'InternalServiceFailure', TASK_ERRORS.internal_error],
      ['video', 'toString', '/srv/x', 'InternalServiceFailure', TASK_ERRORS.internal_error],
    ]
    for (const [family, code, message, is, says] of ROWS)
      test(`of the ${family} with ${code} is recorded as ${is}`, async () => {
        const id = await insert[family]()
        await fail(id, family, code, message)
        const { errorCode, errorMessage } = await seeVideo(place.database, id)
        assert.deepEqual([errorCode, errorMessage], [is, says])
      })

    for (const family of ['image', 'video'] as const)
      test(`changes nothing of ${family} tasks that have ended before`, async () => {
        const cancelled = await insert[family]()
        await cancel(cancelled, family)
        assert.equal((await fail(cancelled, family, 'timeout')).state, 'cancelled')
        const { events } = await seeVideo(place.database, cancelled)
        assert.equal(events.length, 2)

        const done = await insert[family]()
        if (family === 'video') await enterVideo(place.database, done, 1000)
        const attempt = family === 'video' ? attemptVideo : attemptImage
        assert.deepEqual(await attempt(place.deps, done), DONE)
        const before = await seeVideo(place.database, done)
        const files = await listResults(done)
        assert.deepEqual(await fail(done, family, 'timeout'), DONE)
        assert.deepEqual(await seeVideo(place.database, done), before)
        assert.deepEqual(await listResults(done), files)
        assert.ok(files.length >= 2)
      })

    test('says of what is not there that it has failed', async () => {
      const nowhere = '11111111-1111-4111-8111-111111111111'
      const failed = { state: 'failed', reason: null }
      assert.deepEqual(await fail(nowhere, 'image', 'timeout'), failed)
      assert.deepEqual(await attemptImage(place.deps, nowhere), failed)
    })
  })
})
