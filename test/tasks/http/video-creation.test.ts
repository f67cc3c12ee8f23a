import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import {
  TEXT,
  columnsOf,
  expectStatus,
  makeClient,
  pluck,
  readResponse,
} from '../../support/client.ts'
import type { VideoTask } from '../../support/client.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { EXTEND, TASKS, create, createId, idOf, read } from './video-task-support.ts'

const IMAGE_URL = 'https://images.example.com/a.png'
const VIDEO_URL = 'https://videos.example.com/a.mp4'
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

// No worker: every task waits in created.
const service = useService({ roles: ['api'] })
const { sql, anonymous } = service

const taskRow = async (id: string): Promise<Record<string, unknown>> => {
  const [row] = await sql`select settings, webhook_url, payload, credits from task where id = ${id}`
  return row ?? {}
}

interface InputRow {
  field: string
  name: string | null
  storage_key: string | null
  url: string | null
}

const inputsOf = async (id: string): Promise<InputRow[]> => [
  ...(await sql<InputRow[]>`
    select field, name, storage_key, url from task_input where task_id = ${id} order by field
  `),
]

describe('a text-to-video creation', () => {
  test('a text-to-video creation returns the record with its defaults, and where to read it', async () => {
    const client = service.client()
    const body = { prompt: 'a harbour', duration: 4, resolution: '540p', seed: 9, payload: 'p' }
    const result = await create(client, { ...body, callback_url: 'https://hooks.example.com/v' })
    const { task_id: id, created_at: createdAt, ...rest } = result.body as Record<string, unknown>
    assert.match(String(id), UUID)
    assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < PATIENCE_MS, String(createdAt))
    assert.deepEqual(rest, {
      ...body,
      state: 'created',
      credits: 36,
      model: 'videoq3-pro',
      aspect_ratio: '16:9',
      bgm: false,
      movement_amplitude: 'auto',
      off_peak: false,
      style: 'general',
      watermark: false,
    })
    const { headers } = result
    const location = headers.get('location') ?? ''
    assert.equal(location, `${service.baseUrl}${TASKS}/${String(id)}/creations`)
    assert.equal(headers.get('x-credits-used'), '36')
    // 0.5184 megapixels × 4 s × 1.3
    assert.equal(headers.get('x-estimated-duration-seconds'), '3')
    assert.deepEqual((await client.get(location.slice(service.baseUrl.length))).body, {
      id,
      state: 'queueing',
      err_code: '',
      err_msg: '',
      credits: 36,
      payload: 'p',
      bgm: false,
      off_peak: false,
      progress: 0,
      creations: [],
    })
  })

  test('stores the settings, and what is not one of them apart', async () => {
    const client = service.client()
    const id = await createId(client, {
      model: 'videoq2-pro',
      images: [IMAGE_URL],
      seed: 0,
      voice_id: 'v',
      payload: 'p',
      meta_data: '{"a":1}',
      callback_url: 'https://hooks.example.com/v',
      unknown: 1,
    })
    const { settings, ...row } = await taskRow(id)
    const { seed, ...rest } = settings as Record<string, unknown>
    assert.ok(Number(seed) >= 1 && Number(seed) <= 2_147_483_647, `seed ${String(seed)}`)
    assert.deepEqual(row, { webhook_url: 'https://hooks.example.com/v', payload: 'p', credits: 55 })
    assert.deepEqual(rest, {
      model: 'videoq2-pro',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
      audio: false,
      audio_type: 'all',
      voice_id: 'v',
      bgm: false,
      movement_amplitude: 'auto',
      style: 'general',
      off_peak: false,
      is_rec: false,
      watermark: false,
      wm_position: 3,
      meta_data: '{"a":1}',
    })
  })

  test('takes null and, where it may, an empty text for absent', async () => {
    const client = service.client()
    const none = { prompt: '', meta_data: '', images: null, model: null, duration: null, seed: 3 }
    const result = await create(client, { ...none, payload: null, callback_url: null })
    const plain = await create(client, { seed: 3, images: [] })
    const { settings: left } = await taskRow(idOf(result))
    assert.deepEqual(left, (await taskRow(idOf(plain)))['settings'])
    for (const name of ['prompt', 'images', 'payload'])
      assert.ok(!(name in result.body), `${name} is in the record`)
    const warning = 'no prompt: neither /prompt nor /images says what the video shows'
    assert.deepEqual(result.body['warnings'], [warning])
  })

  test('keeps an inline image, and shows a link to it', async () => {
    const client = service.client()
    const bytes = await makePicture({ width: 32, height: 18, format: 'jpeg' })
    const result = await create(client, { images: [bytes.toString('base64')], resolution: '2K' })
    const [link = ''] = result.body['images'] as never as string[]
    const start = `${service.baseUrl}/files/${idOf(result)}/input-images.jpg?expires=`
    assert.ok(link.startsWith(start), link)
    assert.deepEqual(Buffer.from(await (await fetch(link)).arrayBuffer()), bytes)
    const id = idOf(result)
    assert.deepEqual(await inputsOf(id), [
      {
        field: 'images',
        name: 'input-images.jpg',
        storage_key: `inputs/${id}/images.jpg`,
        url: null,
      },
    ])
    // 2560×1440 × 5 s × 0.7
    assert.equal(result.headers.get('x-estimated-duration-seconds'), '13')
  })

  test('shows how the video is made, and names or rejects what was asked for otherwise', async () => {
    const client = service.client()
    const square = await base64({ width: 40, height: 40 })
    const asked = { aspect_ratio: '9:16', bgm: true, movement_amplitude: 'large', style: 'anime' }
    const made = { aspect_ratio: '16:9', bgm: false, movement_amplitude: 'auto', style: 'general' }
    const old = { model: 'videoq1', audio: false, ...asked }
    const { aspect_ratio: _, ...withoutRatio } = made
    for (const [body, record, ignored] of [
      [asked, { ...made, aspect_ratio: '9:16' }, '/bgm, /movement_amplitude, /style'],
      [made, made, null],
      [old, asked, null],
      [{ ...old, images: [square] }, { ...asked, aspect_ratio: '1:1' }, '/aspect_ratio'],
      [{ images: [square], aspect_ratio: '1:1' }, { ...made, aspect_ratio: '1:1' }, null],
      [{ images: [square] }, { ...made, aspect_ratio: '1:1' }, null],
      [{ images: [IMAGE_URL], aspect_ratio: '1:1' }, withoutRatio, '/aspect_ratio'],
    ] as const) {
      const result = await create(client, { prompt: 'sea', ...body })
      const shown = Object.keys(made).flatMap((name) =>
        name in result.body ? [[name, result.body[name]]] : [],
      )
      assert.deepEqual(Object.fromEntries(shown), record, JSON.stringify(body))
      assert.equal(result.headers.get('ignored-fields'), ignored)
      assert.equal((await read(client, idOf(result))).bgm, record.bgm)
    }
    const strict = { prefer: 'handling=strict' }
    const rejected = await client.post(TEXT, { images: [square], ...asked }, strict)
    assert.equal(rejected.status, 400)
    assert.deepEqual(rejected.body.details?.slice(0, 2), [
      'FieldUnwanted',
      '/aspect_ratio must be absent, because the video has the ratio of its start image (got "9:16")',
    ])
  })

  test('shows the URL of an image as it was given, also one of this service', async () => {
    const client = service.client()
    const first = await create(client, { images: [await base64()] })
    const [link = ''] = first.body['images'] as never as string[]
    for (const url of [IMAGE_URL, link]) {
      const result = await create(client, { images: [url] })
      assert.deepEqual(result.body['images'], [url])
      const key = url === link ? `inputs/${idOf(first)}/images.png` : null
      assert.deepEqual(await inputsOf(idOf(result)), [
        { field: 'images', name: null, storage_key: key, url },
      ])
    }
  })

  test('needs the image of a watermark only when one is asked for', async () => {
    const client = service.client()
    const without = await createId(client, { wm_url: IMAGE_URL })
    const marked = await createId(client, { wm_url: IMAGE_URL, watermark: true })
    const plain = await createId(client, { watermark: true })
    assert.deepEqual((await inputsOf(without)).length, 0)
    assert.deepEqual((await inputsOf(marked))[0]?.field, 'wm_url')
    assert.deepEqual((await inputsOf(plain)).length, 0)
  })

  test('takes a prompt of 2,000 emoji', async () => {
    const prompt = '🌊'.repeat(2000)
    assert.equal((await create(service.client(), { prompt })).body['prompt'], prompt)
  })

  test('takes a payload of 1,048,576 escaped emoji, and gives it back untouched', async () => {
    const token = await service.token(`user-${randomUUID()}`)
    const client = makeClient(service.baseUrl, token)
    const body = `{"model":"videoq2-turbo","payload":"${'\\ud83c\\udf0a'.repeat(1_048_576)}"}`
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': 'emoji',
    }
    const payload = '🌊'.repeat(1_048_576)
    for (const replayed of [null, 'true']) {
      const response = await fetch(service.baseUrl + TEXT, { method: 'POST', headers, body })
      assert.equal(response.headers.get('idempotent-replayed'), replayed)
      const result = await readResponse(response, { method: 'POST', path: TEXT })
      assert.equal(result.status, 200, result.body.message)
      assert.ok(result.body['payload'] === payload, 'the record has another payload')
      const read = await client.get(`${TASKS}/${idOf(result)}/creations`)
      assert.ok(read.body['payload'] === payload, 'the task has another payload')
    }
    const listed = (await client.get(TASKS)).body['tasks'] as never as VideoTask[]
    assert.deepEqual(
      listed.map((task) => task.payload === payload),
      [true],
    )
    const outbox = await sql`select from outbox where octet_length(args::text) > 500`
    assert.equal(outbox.length, 0)
  })

  test('lists all issues after the reason word, in the order of the documentation', async () => {
    const { status, body } = await anonymous.post(TEXT, {
      callback_url: 'http://example.com/',
      payload: 5,
      meta_data: '{',
      wm_url: 'https://10.0.0.1/',
      wm_position: 0,
      off_peak: true,
      audio: true,
      seed: '1',
      style: 'x',
      aspect_ratio: '4:3',
      resolution: '720p',
      duration: 4,
      images: ['QUJD!'],
      prompt: 'x'.repeat(2001),
      model: 'videoq1',
    })
    assert.deepEqual([status, body.error], [400, 'validation_failed'])
    assert.deepEqual(
      body.details?.map((detail) => detail.split(/[ :]/)[0]),
      [
        'FieldInvalid',
        '/prompt',
        '/images/0',
        '/duration',
        '/resolution',
        '/aspect_ratio',
        '/style',
        '/seed',
        '/off_peak',
        '/wm_position',
        '/wm_url',
        '/meta_data',
        '/payload',
        '/callback_url',
      ],
      body.details?.join('\n'),
    )
    assert.equal(body.message, body.details?.[1])
  })
})

const IMAGE = TEXT.replace('text2video', 'img2video')

test('an image-to-video creation is a text-to-video one whose start image must be there', async () => {
  const body = { model: 'videoq3-turbo', images: [IMAGE_URL], resolution: '540p', duration: 2 }
  const result = expectStatus(await anonymous.post(IMAGE, body), 200)
  const made = result.body as Record<string, unknown>
  assert.deepEqual([made['images'], made['credits']], [[IMAGE_URL], 14])
  assert.equal((await anonymous.get(`${TASKS}/${String(made['task_id'])}/creations`)).status, 200)
  for (const [images, reason] of [
    [undefined, 'FieldLacking'],
    [[], 'FieldItemCountOutOfRange'],
    [[IMAGE_URL, IMAGE_URL], 'FieldItemCountOutOfRange'],
  ] as const) {
    const rejected = await anonymous.post(IMAGE, { ...body, images })
    assert.deepEqual([rejected.status, rejected.body.details?.[0]], [400, reason])
    assert.match(rejected.body.details?.[1] ?? '', /^\/images must be a list of 1 image/)
  }
})

describe('a creation from the first and the last frame', () => {
  const FRAMES = TEXT.replace('text2video', 'start-end2video')
  const body = { model: 'videoq2', resolution: '540p', duration: 2 }

  test('keeps both, and echoes both in their order', async () => {
    const images = [IMAGE_URL, await base64({ width: 90, height: 60 })]
    const result = expectStatus(await anonymous.post(FRAMES, { ...body, images }), 200)
    const made = result.body as { task_id?: string; images?: string[] }
    assert.equal(made.images?.[0], IMAGE_URL)
    assert.match(made.images?.[1] ?? '', /input-end_image\.png/)
    assert.deepEqual(pluck(await inputsOf(made.task_id ?? ''), 'field'), ['end_image', 'images'])
  })

  test('takes two images of about one ratio, no more and no fewer', async () => {
    const wide = await base64({ width: 90, height: 60 })
    const tall = await base64({ width: 60, height: 90 })
    for (const [images, reason, message] of [
      [[IMAGE_URL], 'FieldItemCountOutOfRange', /^\/images must be a list of 2 images, got 1/],
      [[IMAGE_URL, IMAGE_URL, IMAGE_URL], 'FieldItemCountOutOfRange', /list of 2 images, got 3/],
      [[IMAGE_URL, 'ftp://x.org/a'], 'FieldInvalid', /^\/images\/1 /],
      [[wide, tall], 'ImageSizeInvalid', /^\/images\/1 must have 0\.8 to 1\.25 times .*60×90/],
    ] as const) {
      const rejected = await anonymous.post(FRAMES, { ...body, images })
      assert.deepEqual([rejected.status, rejected.body.details?.[0]], [400, reason])
      assert.match(rejected.body.details?.[1] ?? '', message)
    }
  })
})

describe('an extend creation', () => {
  const SOURCE = { video_creation_id: randomUUID(), video_url: VIDEO_URL }

  test('an extension returns the record', async () => {
    const client = service.client()
    const body = { model: 'videoq2-pro', ...SOURCE, images: [IMAGE_URL], prompt: 'on', payload: '' }
    const result = await create(client, body, EXTEND)
    const { task_id: id, created_at: _, ...rest } = result.body as Record<string, unknown>
    const defaults = { state: 'created', credits: 70, duration: 5, resolution: '720p' }
    assert.deepEqual(rest, { ...body, ...defaults })
    assert.equal(result.headers.get('x-credits-used'), '70')
    // 1280×720 × 5 s × 0.7
    assert.equal(result.headers.get('x-estimated-duration-seconds'), '4')
    const { bgm, off_peak: offPeak, payload } = await read(client, String(id))
    assert.deepEqual({ bgm, offPeak, payload }, { bgm: false, offPeak: false, payload: '' })
    assert.deepEqual(columnsOf(await inputsOf(String(id)), 'field', 'url'), [
      ['images', IMAGE_URL],
      ['video_url', VIDEO_URL],
    ])
  })

  test('fetches the URL when the id names no finished video', async () => {
    const client = service.client()
    const unfinished = await createId(client)
    for (const id of [unfinished, unfinished.toUpperCase(), 'of-another-service']) {
      const body = { model: 'videoq2-turbo', video_creation_id: id, video_url: VIDEO_URL }
      const result = await create(client, body, EXTEND)
      assert.equal(result.body['video_creation_id'], id)
      const inputs = await inputsOf(idOf(result))
      assert.deepEqual(columnsOf(inputs, 'field', 'url'), [['video_url', VIDEO_URL]])
    }
  })

  test('names both sources when they are missing', async () => {
    const { status, body } = await anonymous.post(EXTEND, { model: 'videoq2-pro' })
    assert.equal(status, 400)
    assert.deepEqual(body.details, [
      'FieldLacking',
      '/video_creation_id must be given, but is absent',
      '/video_url must be given, but is absent',
    ])
  })
})
