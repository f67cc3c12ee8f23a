import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import type { MockActivityEnvironment } from '@temporalio/testing'

import type { VendorDependencies } from '../../../activities/engines/dependencies.ts'
import { createVendorActivities } from '../../../activities/engines/index.ts'
import type { AttemptOptions } from '../../../activities/tasks/task.ts'
import type { TaskStanding } from '../../../activities/tasks/task.ts'
import { makeBody } from '../../../src/engines/upstream/body.ts'
import { makeLimiter } from '../../../src/engines/upstream/limiter.ts'
import { makeUpstream, type UpstreamOptions } from '../../../src/engines/upstream/upstream.ts'
import { findTask } from '../../../src/tasks/db/operator.ts'
import { findFile } from '../../../src/tasks/db/file.ts'
import { applyTextToVideoDefaults } from '../../../src/tasks/domain/video/video-defaults.ts'
import { makePicture } from '../../support/pictures.ts'
import { cancelTasks } from '../../support/task-rows.ts'
import { MP4, creationAt, startFakeUpstream } from '../../support/upstream.ts'
import type { FakeUpstream, Step } from '../../support/upstream.ts'
import {
  TIMING,
  admissionOf,
  again,
  cancelRun,
  findDone,
  forGood,
  insertTask,
  intercept,
  losing,
  makeEnvironment,
  see,
  startOf,
  stopRun,
  usePlace,
  type AttemptAs,
  type Done,
} from '../../tasks/activities/place.ts'
import { VIDEO_TIMING } from '../../tasks/activities/video-engine.ts'
import {
  enterVideo,
  getVideo,
  seeVideo,
  type NewVideo,
} from '../../tasks/activities/video-place.ts'

const KEY = 'vendor-key-that-nobody-may-see'

const said = (status: number, body: object = {}, headers = {}): Step => ({ status, body, headers })

const OWN_LINK = /^https:\/\/kiln\.example\.com\/files\/.*signature=/

/** The object that a link of ours leads to. */
const findLinked = async (link: unknown): Promise<string | null | undefined> => {
  assert.match(String(link), OWN_LINK)
  const own = place.deps.signer.parseOwnLink(String(link), new Date())
  assert.ok(typeof own === 'object', 'it is ours')
  return (await findFile(place.database.sql, own))?.storage_key
}

type Options = Partial<Parameters<typeof startFakeUpstream>[0]>

const place = usePlace()
let picture: Buffer
const upstreams: FakeUpstream[] = []
before(async () => void (picture = await makePicture({ shade: 7 })))
after(() => Promise.all(upstreams.map((upstream) => upstream.close())))

/** Returns the first heartbeat with the id of the task at the upstream. */
const waitUntilSubmitted = async (environment: MockActivityEnvironment): Promise<unknown> => {
  for await (const [details] of on(environment, 'heartbeat') as AsyncIterable<[object]>)
    if ('upstream_id' in details) return details
}

type Rules = Partial<Pick<UpstreamOptions, 'resubmit' | 'showsErrors' | 'prefix' | 'silenceMs'>>

/** An upstream of its own, and what a worker that calls it needs. */
const startAny = async (options: Parameters<typeof startFakeUpstream>[0], rules: Rules = {}) => {
  const fake = await startFakeUpstream(options)
  upstreams.push(fake)
  const upstream = makeUpstream({
    url: `${fake.url}/`,
    setting: 'VENDOR_IMAGE_URL',
    key: KEY,
    limits: { perSecond: 1000, atOnce: 10 },
    // Only its own origin is open.
    outbound: { allowLoopback: false, ports: [], deny: [] },
    ...rules,
  })
  const find = () => upstream
  return { fake, deps: { ...place.deps, upstreams: { image: find, video: find } } }
}

const start = async (options: Options = {}, rules?: Rules) => {
  const usual: Parameters<typeof startAny>[0] = {
    done: (id, base) => ({
      data: { task_id: id, status: 'COMPLETED', generated: [`${base}/files/a.png`] },
    }),
    files: { 'a.png': picture },
  }
  const started = await startAny({ ...usual, ...options }, rules)
  return { ...started, id: await insertTask(place) }
}

const render = async (
  deps: VendorDependencies,
  id: string,
  { environment = makeEnvironment(), timing = TIMING }: AttemptAs<typeof TIMING> = {},
): Promise<Done> => {
  const { renderImageTask } = createVendorActivities(deps)
  if (!renderImageTask) throw new Error('no upstream of images')
  const options = { taskId: id, admission: await admissionOf(deps.sql, id), timing }
  const { state } = await environment.run<[AttemptOptions], TaskStanding, typeof renderImageTask>(
    renderImageTask,
    options,
  )
  assert.equal(state, 'done')
  return await findDone(deps.sql, id)
}

/** The id of a task at the upstream, and how often it was sent again. */
const readSubmission = async (id: string): Promise<unknown[]> => {
  const [row] = await place.deps.sql`select upstream_id, resubmissions from task where id = ${id}`
  return [row?.['upstream_id'], row?.['resubmissions']]
}

/** The error of the engine of a task, and whether its caller may read it. */
const readEngineError = async (id: string): Promise<unknown[]> => {
  const [row] = await place.deps.sql`
    select engine_error, engine_error_shown from task where id = ${id}
  `
  return [row?.['engine_error'], row?.['engine_error_shown']]
}

/** The status of a task, as the upstream says it. */
const isIn = (status: string, more: object = {}): Step =>
  said(200, { task_id: 'x', status, ...more })
const NEW = isIn('NEW')

describe('an image task of an upstream', { concurrency: true }, () => {
  test('is sent on with its bytes and its key, and what comes back is stored', async () => {
    const { fake, deps, id } = await start()
    const rendered = await render(deps, id)
    const [create] = fake.asked
    assert.equal(create?.path, '/proxy/imgvendor/v1/ai/image-upscaler')
    assert.equal(create.headers.authorization, `Bearer ${KEY}`)
    assert.equal(create.headers['idempotency-key'], id)
    const image = (await makePicture()).toString('base64')
    assert.deepEqual(create.body, { scale_factor: '2x', image })
    assert.equal(fake.asked[1]?.path, `${create.path}/${fake.tasks.get(id)}`)
    const file = fake.asked.at(-1)
    assert.deepEqual([file?.path, file?.headers.authorization], ['/files/a.png', undefined])
    const [result] = rendered.results
    assert.equal(result?.storageKey, `results/${id}/1/result-1.png`)
    assert.equal(result?.bytes, picture.length)
    assert.ok(rendered.thumbnail)
    const [row] = await place.deps.sql`select upstream_id from task where id = ${id}`
    assert.equal(row?.['upstream_id'], fake.tasks.get(id))
  })

  test('is encoded once more where the task wishes for another format', async () => {
    const { deps, id } = await start()
    await place.deps
      .sql`update task set output = '{"format": "webp", "quality": 40}' where id = ${id}`
    const [result] = (await render(deps, id)).results
    assert.deepEqual(result && [result.storageKey, result.contentType], [
      `results/${id}/1/result-1.webp`,
      'image/webp',
    ])
  })

  const PASSING: Record<string, Options['steps'] & object> = {
    'a creation without a connection': { create: ['drop'] },
    'a creation whose response is lost': { create: ['lose'] },
    'a creation in flight': { create: [said(409, { error: 'idempotency_in_flight' })] },
    'too many creations': { create: [said(429, {}, { 'retry-after': '1' })] },
    'a creation that took too long': { create: [said(408)] },
    'a creation with an error of the upstream': { create: [said(503)] },
    'a creation with an unreadable response': { create: [said(200, ['<html>'])] },
    'a status without a connection': { status: ['drop'] },
    'a status with an error of the upstream': { status: [said(500)] },
    'a status that is rejected': { status: [said(401)] },
    'a status that cannot be read': { status: [said(200, { data: { status: 5 } })] },
    'a word that is no end': { status: [isIn(' In_Progress '), isIn('new-word')] },
    'a result that is not there yet': { status: [isIn('done')] },
    'a result without a connection': { file: ['drop'] },
    'a link that has expired': { file: [said(403)] },
    'a result with an error of the upstream': { file: [said(502)] },
  }
  for (const [name, steps] of Object.entries(PASSING))
    test(`waits out ${name}`, async () => {
      const { fake, deps, id } = await start({ steps: structuredClone(steps) })
      assert.equal((await render(deps, id)).results.length, 1)
      assert.deepEqual([...fake.tasks.keys()], [id], 'one task there')
    })

  const message = `see https://upstream.internal/x and ${KEY}`
  const issues = { message: 'Two issues.', details: ['/scale_factor must be 2x'] }
  const listed = 'Two issues. /scale_factor must be 2x'
  const dark = { task_id: 'x', status: 'FAILED', error: { message: 'Too dark.' } }
  const elsewhere = { location: 'http://169.254.169.254/latest' }
  const other = { generated: ['http://127.0.0.1:9/a.png'] }
  type At = keyof (Options['steps'] & object)
  const REJECTED: [name: string, At, Step, code: string, message?: string][] = [
    ['400', 'create', said(400, issues), 'upstream_rejected', listed],
    ['404', 'create', said(404), 'upstream_rejected'],
    ['409', 'create', said(409, { error: 'other' }), 'upstream_rejected'],
    ['413', 'create', said(413), 'upstream_rejected'],
    ['415', 'create', said(415), 'upstream_rejected'],
    ['422', 'create', said(422, { message }), 'upstream_rejected', 'see (address) and (key)'],
    ['302', 'create', said(302, {}, { location: '/x' }), 'upstream_rejected'],
    ['401', 'create', said(401, { message }), 'upstream_unauthorized'],
    ['403', 'create', said(403), 'upstream_unauthorized'],
    ['402', 'create', said(402), 'upstream_no_credits'],
    ['an unknown task', 'status', said(404), 'upstream_lost'],
    ['a failed task', 'status', said(200, { data: dark }), 'upstream_failed', 'Too dark.'],
    ['a cancelled task', 'status', isIn('canceled'), 'upstream_failed'],
    ['a result that is gone', 'file', said(410), 'upstream_lost'],
    ['a result that leads elsewhere', 'file', said(302, {}, elsewhere), 'upstream_failed'],
    ['a link to another address', 'status', isIn('done', other), 'upstream_failed'],
  ]
  for (const [name, at, step, code, words] of REJECTED)
    test(`ends with ${code} at ${name}`, async () => {
      const { deps, id } = await start({ steps: { [at]: [step] } })
      const error = { ...forGood(code), ...(words !== undefined && { message: words }) }
      await assert.rejects(render(deps, id), error)
      assert.equal((await see(place.database, id)).failures, 0)
    })

  test('is tried again when the result is damaged, which counts as a failure', async () => {
    const { deps, id } = await start({ files: { 'a.png': picture.subarray(0, 60) } })
    await assert.rejects(render(deps, id), again('attempt_failed'))
    assert.equal((await see(place.database, id)).failures, 1)
  })

  test('is one task there, when the worker is lost before it could store the id', async () => {
    const { fake, deps, id } = await start()
    const gone = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
    const sql = intercept(deps.sql, 'upstream_id', () => Promise.reject(gone))
    await assert.rejects(render({ ...deps, sql }, id), again('unavailable'))
    assert.equal((await render(deps, id)).fence, 2)
    assert.deepEqual([fake.count('create'), fake.tasks.size], [2, 1])
    const [first, second] = fake.asked.filter(({ method }) => method === 'POST')
    assert.deepEqual(first?.body, second?.body)
  })

  test('is asked for at once, and not sent again, by the next worker', async () => {
    const { fake, deps, id } = await start({ steps: { status: [NEW] } })
    const environment = makeEnvironment()
    const stop = waitUntilSubmitted(environment).then((details) => {
      stopRun(environment)
      return details
    })
    const timing = { ...TIMING, heartbeatSeconds: 2 }
    await assert.rejects(render(deps, id, { environment, timing }), again('worker_stopped'))
    const details = { step: 'waiting for the upstream', percent: 0 }
    assert.deepEqual(await stop, { ...details, upstream_id: fake.tasks.get(id) })
    // Its inputs are not read again.
    await deps.storage.remove(`inputs/${id}/image.png`)
    assert.equal((await render(deps, id)).fence, 2)
    assert.deepEqual([fake.count('create'), fake.count('cancel')], [1, 0])
  })

  const FORGOTTEN: Record<string, Options['steps'] & object> = {
    'its task': { status: [said(404)] },
    'its result': { file: [said(410)] },
  }
  for (const [what, steps] of Object.entries(FORGOTTEN))
    test(`is sent again under another key to an upstream that has forgotten ${what}`, async () => {
      const { fake, deps, id } = await start({ steps: structuredClone(steps) }, { resubmit: 1 })
      assert.equal((await render(deps, id)).results.length, 1)
      assert.deepEqual([...fake.tasks.keys()], [id, `${id}-1`])
      const [first, second] = fake.asked.filter(({ method }) => method === 'POST')
      assert.deepEqual(first?.body, second?.body)
      assert.deepEqual(await readSubmission(id), [fake.tasks.get(`${id}-1`), 1])
    })

  test('is lost once it was sent again as often as it may be', async () => {
    const steps = { status: [said(404)] }
    const { fake, deps, id } = await start({ steps, forever: 'status' }, { resubmit: 2 })
    await assert.rejects(render(deps, id), forGood('upstream_lost'))
    assert.deepEqual([...fake.tasks.keys()], [id, `${id}-1`, `${id}-2`])
    assert.deepEqual(await readSubmission(id), [fake.tasks.get(`${id}-2`), 2])
  })

  const LOST: [when: string, statement: string, nth: number, isRun: boolean][] = [
    ['before it is counted', 'resubmissions + 1', 1, false],
    ['once it is counted', 'resubmissions + 1', 1, true],
    ['once it is sent again', 'set upstream_id = ,', 2, false],
  ]
  for (const [when, statement, nth, isRun] of LOST)
    test(`is sent again once when the worker is lost ${when}`, async () => {
      const { fake, deps, id } = await start({ steps: { status: [said(404)] } }, { resubmit: 1 })
      let left = nth
      const sql = intercept(deps.sql, statement, async (run) => {
        left -= 1
        if (left > 0 || isRun) await run()
        if (left === 0) throw Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
        return { count: 1 }
      })
      await assert.rejects(render({ ...deps, sql }, id), again('unavailable'))
      // It stays forgotten.
      fake.tasks.delete(id)
      assert.equal((await render(deps, id)).fence, 2)
      assert.deepEqual([...fake.tasks.keys()], [`${id}-1`])
      assert.deepEqual(await readSubmission(id), [fake.tasks.get(`${id}-1`), 1])
    })

  test('is not sent again by an attempt that has lost the fence', async () => {
    const { fake, deps, id } = await start({ steps: { status: [said(404)] } }, { resubmit: 1 })
    const sql = intercept(deps.sql, 'resubmissions + 1', async (run) => {
      await deps.sql`update task set fence = fence + 1 where id = ${id}`
      return await run()
    })
    await assert.rejects(render({ ...deps, sql }, id), again('attempt_failed'))
    assert.deepEqual([...fake.tasks.keys()], [id])
  })

  test('says of its upstream, and the setting that leads there, that it has not responded yet', async () => {
    const { fake, deps, id } = await start({ steps: { status: ['hang'] } }, { silenceMs: 10 })
    const environment = makeEnvironment()
    const rendering = render(deps, id, { environment })
    const { host } = new URL(fake.url)
    const silent = new RegExp(
      `^the upstream at ${host} \\(VENDOR_IMAGE_URL\\) has not responded since \\S+Z$`,
    )
    for await (const [{ reason = '' }] of on(environment, 'heartbeat') as AsyncIterable<
      [{ reason?: string }]
    >)
      if (silent.test(reason)) break
    stopRun(environment)
    await assert.rejects(rendering)
  })

  test('is asked for below the prefix of the upstream', async () => {
    const { fake, deps, id } = await start(
      {},
      { prefix: { here: '/proxy/imgvendor/v1/ai', there: '/v2' } },
    )
    await render(deps, id)
    const paths = fake.asked.map(({ path }) => path)
    const read = `/v2/image-upscaler/${fake.tasks.get(id)}`
    assert.deepEqual(paths, ['/v2/image-upscaler', read, '/files/a.png'])
  })

  test('keeps what its upstream says of a failure, without secrets and the prompt', async () => {
    const prompt = 'a very quiet harbour at dawn'
    const words = `No ${prompt} at /srv/models/a.bin with ${KEY}, see https://x.internal/y`
    const failed = isIn('FAILED', { error: { message: words } })
    for (const showsErrors of [false, true]) {
      const { deps, id } = await start({ steps: { status: [failed] } }, { showsErrors })
      await deps.sql`
        update task set settings = settings || jsonb_build_object('prompt', ${prompt}::text) where id = ${id}
      `
      await assert.rejects(render(deps, id), forGood('upstream_failed'))
      assert.deepEqual(await readEngineError(id), [
        'status FAILED: No (text) at (path)/a.bin with (key), see (address)',
        showsErrors,
      ])
    }
  })

  test('is cancelled there when it is cancelled here', async () => {
    const { fake, deps, id } = await start({ steps: { status: [NEW] }, forever: 'status' })
    const environment = makeEnvironment()
    const timing = { ...TIMING, heartbeatSeconds: 2 }
    void waitUntilSubmitted(environment).then(() => cancelRun(environment))
    await assert.rejects(render(deps, id, { environment, timing }), { name: 'CancelledFailure' })
    const [cancel] = fake.asked.filter(({ path }) => path.endsWith('/cancel'))
    assert.match(cancel?.path ?? '', new RegExp(`/image-upscaler/${fake.tasks.get(id)}/cancel$`))
  })

  test('is cancelled there at its deadline', async (context) => {
    const { fake, deps, id } = await start({ steps: { status: [said(503)] }, forever: 'status' })
    // No other test has as long, and it passes when the task is there; the age of the task is within a second.
    const timing = { heartbeatSeconds: 2, deadlineSeconds: TIMING.deadlineSeconds + 1 }
    const deadline = new AbortController()
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    context.mock.method(AbortSignal, 'timeout', (ms: number) =>
      ms > TIMING.deadlineSeconds * 1000 && ms <= timing.deadlineSeconds * 1000
        ? deadline.signal
        : timeout(ms),
    )
    const environment = makeEnvironment()
    void waitUntilSubmitted(environment).then(() => deadline.abort())
    await assert.rejects(render(deps, id, { environment, timing }), forGood('timeout'))
    assert.equal(fake.count('cancel'), 1)
  })

  test('is cancelled there when it ended here while it was being sent', async () => {
    const { fake, deps, id } = await start()
    const end = () => cancelTasks(deps.sql, [id])
    const sql = intercept(deps.sql, 'set upstream_id', (run) => end().then(run))
    await assert.rejects(render({ ...deps, sql }, id), again('attempt_failed'))
    assert.equal(fake.count('cancel'), 1)
  })
})

describe('a video task of an upstream', { concurrency: true }, () => {
  const startVideo = async (given: NewVideo = {}, options: Options = {}) => {
    const started = await startAny({
      done: (id, base) => ({ id, state: 'success', creations: [creationAt(base)] }),
      files: { 'video.mp4': MP4, 'cover.jpg': await makePicture({ format: 'jpeg' }) },
      ...options,
    })
    const id = await getVideo(place.database, given)
    await enterVideo(place.database, id, 1000)
    return { ...started, id }
  }

  const renderVideo = async (deps: VendorDependencies, id: string): Promise<Done> => {
    const { renderVideoTask } = createVendorActivities(deps)
    if (!renderVideoTask) throw new Error('no upstream of videos')
    const admission = await admissionOf(deps.sql, id)
    type Args = [AttemptOptions<typeof VIDEO_TIMING>]
    const { state } = await makeEnvironment().run<Args, TaskStanding, typeof renderVideoTask>(
      renderVideoTask,
      { taskId: id, admission, timing: VIDEO_TIMING },
    )
    assert.equal(state, 'done')
    return await findDone(deps.sql, id)
  }

  const storeInput = async (name: string, bytes: Buffer): Promise<string> => {
    const path = join(place.root, randomUUID())
    await writeFile(path, bytes)
    const key = `results/${randomUUID()}/1/${name}`
    await place.deps.storage.putFile(key, path)
    return key
  }

  test('is sent on without what stays here, and its progress is taken over', async () => {
    const running = said(200, { state: 'processing', progress: 41 })
    const given = { payload: 'mine', webhookUrl: 'https://receiver.example.com/' }
    const { fake, deps, id } = await startVideo(given, { steps: { status: [running] } })
    await assert.rejects(renderVideo(losing(deps), id), again('attempt_failed'))
    assert.equal((await seeVideo(place.database, id)).progress, 41)
    const rendered = await renderVideo(deps, id)
    const [create] = fake.asked
    assert.equal(create?.path, '/proxy/vidvendor/text2video')
    const { model, prompt, seed, payload, callback_url: callback, images } = create.body
    assert.deepEqual([model, prompt, typeof seed], ['videoq1', 'ocean', 'number'])
    assert.deepEqual([payload, callback, images], [undefined, undefined, undefined])
    assert.deepEqual(rendered.creation, { seconds: 4, fps: 24, width: 96, height: 64 })
    const names = rendered.results.map(({ name }) => name)
    assert.deepEqual(names, ['video.mp4', 'cover.jpg'])
    assert.ok(rendered.thumbnail)
  })

  test('has first and last image sent as they are, and a watermark as a link of ours', async () => {
    const [first, last] = [await makePicture({ shade: 1 }), await makePicture({ shade: 2 })]
    const stored = async (field: string, bytes: Buffer) => ({
      field,
      storageKey: await storeInput('a.png', bytes),
    })
    const url = 'https://caller.example.com/mark.png'
    const inputs = [
      await stored('images', first),
      await stored('end_image', last),
      { ...(await stored('wm_url', await makePicture({ shade: 3 }))), url },
    ]
    const settings = applyTextToVideoDefaults({ watermark: true, wm_url: url }, () => 0.5)
    const { fake, deps, id } = await startVideo({ inputs, settings })
    await renderVideo(deps, id)
    const [create] = fake.asked
    assert.equal(create?.path, '/proxy/vidvendor/start-end2video')
    const sent = [first, last].map((image) => image.toString('base64'))
    assert.deepEqual(create.body['images'], sent)
    assert.ok(await findLinked(create.body['wm_url']))
  })

  test('continues a video by a link of ours, under our id', async () => {
    const source = { field: 'video_url', storageKey: await storeInput('a.mp4', MP4) }
    const url = 'https://caller.example.com/a.mp4'
    const settings = { model: 'videoq2-pro', duration: 3, resolution: '540p', video_url: url }
    const inputs = [{ ...source, url }]
    const { fake, deps, id } = await startVideo({ kind: 'extend', settings, inputs })
    await renderVideo(deps, id)
    const [create] = fake.asked
    assert.equal(create?.path, '/proxy/vidvendor/extend')
    assert.equal(create.body['video_creation_id'], id)
    assert.equal(await findLinked(create.body['video_url']), source.storageKey)
  })

  test('keeps no more than the last copy that was cut on the disk', async () => {
    const kept: number[] = []
    let folder = ''
    const done: Options['done'] = (upstreamId, base) => {
      const names = readdirSync(folder, { recursive: true }).map(String)
      kept.push(names.filter((name) => name.endsWith('video.mp4')).length)
      return { id: upstreamId, state: 'success', creations: [creationAt(base)] }
    }
    const steps = { file: [said(200, MP4), said(502), said(200, MP4), said(502)] }
    const { deps, id } = await startVideo({}, { steps, done })
    folder = join(deps.scratchDir, `${id}-1`)
    assert.equal((await renderVideo(deps, id)).results.length, 2)
    assert.deepEqual(kept, [0, 1, 1])
  })

  const failed = (code: string): Step =>
    said(200, { state: 'failed', err_code: code, err_msg: 'Why.' })
  const rejected = (word: string): Step => said(400, { message: 'Why.', details: [word, 'Why.'] })
  const ENDS: [
    name: string,
    steps: Options['steps'] & object,
    code: string,
    reason: string,
    message?: string,
  ][] = [
    [
      'a code of ours',
      { status: [failed('ImageSizeInvalid')] },
      'ImageSizeInvalid',
      'state failed: ImageSizeInvalid: Why.',
      'Why.',
    ],
    [
      'a word that is none',
      { status: [failed('AuditSubmitIllegal')] },
      'upstream_failed',
      'state failed: AuditSubmitIllegal: Why.',
    ],
    [
      'a cancellation there',
      { status: [failed('UserCancelled')] },
      'upstream_failed',
      'state failed: UserCancelled: Why.',
    ],
    [
      'our code',
      { create: [rejected('ImageFormatInvalid')] },
      'ImageFormatInvalid',
      'status 400: Why. ImageFormatInvalid',
    ],
    [
      'another word',
      { create: [rejected('FieldInvalid')] },
      'upstream_rejected',
      'status 400: Why. FieldInvalid',
    ],
    ['no credits there', { create: [said(402)] }, 'upstream_no_credits', 'status 402'],
  ]
  for (const [name, steps, code, reason, words] of ENDS)
    test(`ends with ${code} at ${name}, and keeps why`, async () => {
      const { deps, id } = await startVideo({}, { steps })
      const error = { ...forGood(code), ...(words !== undefined && { message: words }) }
      await assert.rejects(renderVideo(deps, id), error)
      assert.deepEqual(await readEngineError(id), [reason, false])
    })

  for (const [name, bytes] of [
    ['cut', MP4.subarray(0, -1)],
    ['no MP4', Buffer.from('<html>')],
  ] as const)
    test(`is tried again when its video is ${name}`, async () => {
      const cover = await makePicture({ format: 'jpeg' })
      const files = { 'video.mp4': bytes, 'cover.jpg': cover }
      const { deps, id } = await startVideo({}, { files })
      await assert.rejects(renderVideo(deps, id), again('attempt_failed'))
      assert.equal((await seeVideo(place.database, id)).failures, 1)
    })
})

describe('an upstream', { concurrency: true }, () => {
  test('is sent a large file in pieces, padded at its end alone, of the announced length', async () => {
    const bytes = randomBytes(200_002)
    const path = join(place.root, randomUUID())
    await writeFile(path, bytes)
    const files = { image: { path }, images: [{ path }, { path }] }
    const body = await makeBody({ prompt: '“é”' }, files)
    const sent = await buffer(body.open())
    const image = bytes.toString('base64')
    assert.deepEqual(JSON.parse(sent.toString()), { prompt: '“é”', image, images: [image, image] })
    assert.equal(sent.length, body.bytes)
    assert.deepEqual(await buffer(body.open()), sent, 'again')
  })

  test('is asked no more often, and no more at once, than is set', async () => {
    const limiter = makeLimiter({ perSecond: 100, atOnce: 2 })
    const { signal } = new AbortController()
    const start = performance.now()
    let lastAt = 0
    let running = 0
    let most = 0
    const work = async (): Promise<void> => {
      lastAt = performance.now()
      most = Math.max(most, ++running)
      await sleep(25)
      running -= 1
    }
    await Promise.all(Array.from({ length: 6 }, () => limiter.run(signal, work)))
    assert.equal(most, 2)
    assert.ok(lastAt - start >= 50, `five pauses of 10 ms took ${lastAt - start}`)
  })

  test('keeps the tasks that were made for it when they are started again', async () => {
    const id = await insertTask(place)
    await place.deps.sql`update task set engine = 'vendor' where id = ${id}`
    const task = await findTask(place.deps.sql, id)
    assert.ok(task)
    const offPeak = { ...task, family: 'video' as const, offPeak: true }
    const argsOf = (given: typeof task) => startOf(given).args
    const input = { taskId: id, admission: 1, timing: TIMING }
    assert.deepEqual(argsOf(task), [{ ...input, engine: 'vendor' }])
    const timing = { ...VIDEO_TIMING, deadlineSeconds: VIDEO_TIMING.offPeakSeconds }
    assert.deepEqual(argsOf(offPeak), [{ ...input, timing, engine: 'vendor' }])
    assert.deepEqual(argsOf({ ...task, engine: 'local' }), [input])
  })
})
