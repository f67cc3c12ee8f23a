import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import sharp from 'sharp'

import type { MediaDependencies } from '../../support/media.ts'
import { makeDatabase } from '../../../src/platform/db/client.ts'
import { S3Error } from '../../../src/platform/storage/s3-client.ts'
import { ADMISSION } from '../../../src/platform/db/change-notification.ts'
import { endPause, putPause } from '../../../src/tasks/db/pause.ts'
import { listImageFacts } from '../../../src/tasks/db/image/image-task.ts'
import { claimTask } from '../../../src/tasks/db/task-transition.ts'
import { makePicture } from '../../support/pictures.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import {
  TIMING,
  admissionOf,
  admit,
  again,
  attemptImage,
  forGood,
  insertTask,
  losing,
  makeEngine,
  makeEnvironment,
  render,
  see,
  stopRun,
  untilAborted,
  usePlace,
} from '../../tasks/activities/place.ts'
import type { Work } from '../../tasks/activities/place.ts'

describe('an attempt to render', () => {
  const place = usePlace()
  let deps: MediaDependencies
  before(() => void (deps = place.deps))
  const withEngine = (work: Work): MediaDependencies => ({ ...deps, engine: makeEngine(work) })

  /** Dependencies whose store takes no file. */
  const withoutStore = (cause: Error): MediaDependencies => {
    const putFiles = () => Promise.reject(cause)
    return { ...deps, storage: { ...deps.storage, putFiles } }
  }

  test('claims the task, stores the result under its fence, and completes it', async () => {
    const id = await insertTask(place)
    const rendered = await render(deps, id)
    assert.equal(rendered?.fence, 1)
    const [result] = rendered?.results ?? []
    assert.equal(result?.storageKey, `results/${id}/1/result-1.png`)
    assert.equal((await deps.storage.stat(result?.storageKey ?? ''))?.size, result?.bytes)
    assert.deepEqual(await see(place.database, id), {
      status: 'COMPLETED',
      waits_on: null,
      admission: 1,
      fence: 1,
      failures: 0,
      error_code: null,
      events: ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
    })
  })

  test('records how many frames an input has that was not looked at before', async () => {
    const id = await insertTask(place)
    const frames = [await makePicture(), await makePicture({ shade: 9 })]
    const path = join(place.root, randomUUID())
    await sharp(frames, { join: { animated: true } })
      .gif()
      .toFile(path)
    await deps.storage.putFile(`inputs/${id}/image.png`, path)
    await render(deps, id)
    const [facts] = await listImageFacts(deps.sql, [id])
    assert.deepEqual(facts?.warnings, { relight: null, frames: { image: 2 } })
  })

  test('does nothing for a task that has ended', async () => {
    const id = await insertTask(place)
    await cancelTasks(deps.sql, [id])
    assert.deepEqual(await attemptImage(deps, id), { state: 'cancelled', reason: 'cancelled' })
    assert.equal((await see(place.database, id)).fence, 0)
  })

  test('puts a task back that may not begin now, and begins it once that is admitted again', async () => {
    const id = await insertTask(place)
    const scope = 'kind:upscale'
    const pause = { scope, reason: undefined, until: undefined, by: 'root' }
    await deps.sql.begin((sql) => putPause(sql, pause))
    const notified: string[] = []
    const notifyChange = (of: string) => void notified.push(of)
    const waiting = { state: 'waiting', reason: `pause:${scope}` }
    assert.deepEqual(await attemptImage({ ...deps, notifyChange }, id), waiting)
    assert.deepEqual(notified, [id, ADMISSION])
    await deps.sql.begin((sql) => endPause(sql, scope))
    assert.deepEqual(await attemptImage(deps, id), waiting)
    await admit(place)
    assert.equal((await render(deps, id))?.fence, 1)
  })

  test('is repeated after an engine error, and the third one ends the task', async () => {
    const id = await insertTask(place)
    const broken = withEngine(() =>
      Promise.reject(new Error('no /secret/a.png', { cause: new Error('at 10.0.0.5') })),
    )
    for (const failures of [1, 2]) {
      await assert.rejects(render(broken, id), {
        ...again('attempt_failed'),
        message: 'the attempt failed; the log of the worker says why',
      })
      assert.equal((await see(place.database, id)).failures, failures)
    }
    await assert.rejects(render(broken, id), forGood('engine_failed'))
    const [row] = await deps.sql`select engine_error, engine_error_shown from task where id = ${id}`
    assert.deepEqual(row, {
      engine_error: 'no (path)/a.png: at (address)',
      engine_error_shown: false,
    })
  })

  test('is repeated when the store takes no file, and the third time ends the task', async () => {
    const id = await insertTask(place)
    const readOnly = withoutStore(Object.assign(new Error('read-only'), { code: 'EROFS' }))
    await assert.rejects(render(readOnly, id), again('attempt_failed'))
    await assert.rejects(render(readOnly, id), again('attempt_failed'))
    await assert.rejects(render(readOnly, id), forGood('internal_error'))
  })

  test('is repeated for as long as a store does not respond or is full, which counts as no failure', async () => {
    const id = await insertTask(place)
    const outages = [
      new S3Error('PutObject', 'later', { code: 'ECONNREFUSED' }),
      new S3Error('PutObject', 'later', { code: 'SlowDown', status: 503 }),
      Object.assign(new Error('full'), { code: 'ENOSPC' }),
    ]
    for (const outage of [...outages, ...outages])
      await assert.rejects(render(withoutStore(outage), id), again('unavailable'))
    await assert.rejects(render(withoutStore(outages[2] as Error), id), {
      message: 'the store is full: make room',
    })
    assert.equal((await see(place.database, id)).failures, 0)
    const rejected = new S3Error('PutObject', 'no', { code: 'AccessDenied', status: 403 })
    await assert.rejects(render(withoutStore(rejected), id), again('attempt_failed'))
  })

  test('ends a task that has been tried ten times', async () => {
    const id = await insertTask(place)
    const on = (attempt: number, workersLost?: number) => ({
      environment: makeEnvironment({ attempt }),
      workersLost,
    })
    await assert.rejects(render(losing(deps), id, on(10)), again('attempt_failed'))
    await assert.rejects(render(losing(deps), id, on(6, 4)), again('attempt_failed'))
    const message = 'The task was tried 10 times.'
    for (const last of [on(11), on(7, 4)])
      await assert.rejects(render(deps, id, last), { ...forGood('engine_failed'), message })
  })

  test('counts the deadline from the first claim', async () => {
    const id = await insertTask(place)
    const never = withEngine(() => assert.fail('the engine was asked'))
    await deps.sql`update task set claimed_at = now() - make_interval(secs => ${TIMING.deadlineSeconds + 1}) where id = ${id}`
    await assert.rejects(render(never, id), forGood('timeout'))
  })

  test('stops the engine at the deadline', async () => {
    const id = await insertTask(place)
    const slow = withEngine(untilAborted)
    const timing = { ...TIMING, deadlineSeconds: 0.2 }
    await assert.rejects(render(slow, id, { timing }), forGood('timeout'))
  })

  test('stops once it is notified that the task has ended, and says how', async () => {
    const id = await insertTask(place)
    const changes = new EventEmitter()
    const engine = makeEngine(async (job, control) => {
      changes.emit(id)
      await cancelTasks(deps.sql, [id])
      changes.emit(id)
      await untilAborted(job, control)
    })
    const end = await attemptImage({ ...deps, engine, changes }, id)
    assert.deepEqual(end, { state: 'cancelled', reason: 'cancelled' })
    assert.equal(changes.listenerCount(id), 0)
  })

  test('is repeated elsewhere, which counts as no failure, when its worker stops', async () => {
    const id = await insertTask(place)
    const environment = makeEnvironment()
    const slow = withEngine((job, control) => {
      stopRun(environment)
      return untilAborted(job, control)
    })
    await assert.rejects(render(slow, id, { environment }), again('worker_stopped'))
    assert.equal((await see(place.database, id)).failures, 0)
  })

  test('keeps nothing when another one has claimed the task meanwhile', async () => {
    const id = await insertTask(place)
    const claim = { id, family: 'image', admission: await admissionOf(deps.sql, id) } as const
    const slow = withEngine(async () => void (await deps.sql.begin((sql) => claimTask(sql, claim))))
    await assert.rejects(render(slow, id), again('attempt_failed'))
    assert.deepEqual(await deps.storage.list(`results/${id}`), [])
    const { fence, failures } = await see(place.database, id)
    assert.deepEqual([fence, failures], [2, 0])
  })

  test('is repeated while PostgreSQL is away, and does not show its address', async () => {
    const url = 'postgres://nobody:secret@127.0.0.1:9/none'
    const sql = makeDatabase({ url, pool: 1, name: 'test', statementTimeoutMs: 0 })
    const away = { ...again('unavailable'), message: 'PostgreSQL cannot be reached' }
    await assert.rejects(render({ ...deps, sql }, await insertTask(place), { admission: 1 }), away)
    await sql.end()
  })

  test('ends the task when a stored input is gone', async () => {
    const id = await insertTask(place)
    await deps.storage.remove(`inputs/${id}/image.png`)
    await assert.rejects(render(deps, id), forGood('download_failed'))
  })
})
