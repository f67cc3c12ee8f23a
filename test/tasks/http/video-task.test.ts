import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import sharp from 'sharp'

import type { TaskDetail } from '../../../src/tasks/domain/task-item.ts'
import { VIDEO_API, makeClient, pluck, type VideoTask } from '../../support/client.ts'
import { startReceiver, type Receiver } from '../../support/network.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { runVideoFieldClient } from '../../platform/http/field-client.ts'

const TEXT = `${VIDEO_API}/text2video`
const EXTEND = `${VIDEO_API}/extend`

/** The least that a model renders. */
const SHORT = { model: 'videoq2-turbo', duration: 1, resolution: '540p', seed: 7 }
const LONGER = { model: 'videoq2-turbo', duration: 1, resolution: '540p' }

let any: { baseUrl: string }
let receiver: Receiver
let film: VideoTask

// A render that is silent for longer counts as lost, and a second attempt would show.
const env = { OVERRIDE_HEARTBEAT_SECONDS: '600' }
const service = useService({ env }, async ({ startSecondApi }) => {
  any = await startSecondApi({ VIDEO_EXTEND_SOURCE: 'any' })
  receiver = await startReceiver((_request, response) => response.writeHead(404).end())
  film = await make(TEXT, {
    ...SHORT,
    duration: 4,
    watermark: true,
    payload: 'p',
    images: [await base64()],
  })
})
const alice = service.client('alice')

after(() => receiver?.close())

const make = async (path: string, body: object, client = alice): Promise<VideoTask> => {
  const created = await client.create(path, body)
  return await client.untilVideoEnded(String(created.body['task_id']))
}

const inputsOf = async (id: string): Promise<string[]> => {
  const rows = await service.sql<{ field: string }[]>`
    select field from task_input where task_id = ${id} order by field
  `
  return rows.map(({ field }) => field)
}

const secondsOf = ({ creations }: VideoTask): number | undefined => creations[0]?.video.duration

describe('a video task', () => {
  test('ends with a video, its first frame and a copy with a watermark', async () => {
    const { id, creations, ...rest } = film
    assert.deepEqual(rest, {
      state: 'success',
      err_code: '',
      err_msg: '',
      credits: 12,
      payload: 'p',
      bgm: false,
      off_peak: false,
      progress: 100,
    })
    const [creation] = creations
    assert.deepEqual(creation?.video, {
      duration: 4,
      fps: 24,
      resolution: { width: 540, height: 540 },
    })
    assert.deepEqual(creation?.moderation_url, [])
    assert.notEqual(creation?.id, id)
    const { width, height } = await sharp(await fetchBytes(creation?.cover_url)).metadata()
    assert.deepEqual([width, height], [540, 540])
    const { headers } = await fetch(creation?.url ?? '', { method: 'HEAD' })
    assert.equal(headers.get('content-type'), 'video/mp4')
    const [clean, marked] = [
      await fetchBytes(creation?.url),
      await fetchBytes(creation?.watermarked_url),
    ]
    assert.equal(clean.subarray(4, 8).toString(), 'ftyp')
    assert.equal(marked.subarray(4, 8).toString(), 'ftyp')
    assert.notDeepEqual(clean, marked)
  })

  test('shows its files, its attempts and a small picture of its cover', async () => {
    const { body } = await alice.get(`/tasks/${film.id}`)
    const task = body as unknown as TaskDetail
    assert.deepEqual(pluck(task.results, 'name'), ['video.mp4', 'cover.jpg', 'watermarked.mp4'])
    assert.deepEqual(pluck(task.attempts, 'outcome'), ['done'])
    const { width } = await sharp(await fetchBytes(task.thumbnail_url)).metadata()
    assert.equal(width, 256)
  })
})

const fetchBytes = async (link = ''): Promise<Buffer> => {
  const response = await fetch(link)
  assert.equal(response.status, 200, link)
  return Buffer.from(await response.arrayBuffer())
}

describe('an extension', () => {
  const url = () => `http://127.0.0.1:${receiver.port}/a.mp4`

  test('of an own video takes it from the store, by the id of its task or its creation', async () => {
    for (const id of [film.id, film.creations[0]?.id]) {
      const task = await make(EXTEND, { ...LONGER, video_creation_id: id, video_url: url() })
      assert.equal(task.state, 'success', task.err_msg)
      assert.deepEqual(await inputsOf(task.id), ['video_creation_id'])
      assert.equal(secondsOf(task), 5)
    }
  })

  test('of another owner’s video fetches the URL', async () => {
    const bob = service.client('bob')
    const body = { ...LONGER, video_creation_id: film.id, video_url: url() }
    const task = await make(EXTEND, body, bob)
    assert.deepEqual([task.state, task.err_code], ['failed', 'VideoDownloadFailure'])
    assert.deepEqual(await inputsOf(task.id), ['video_url'])
  })

  test('needs one source only where the service is set so', async () => {
    const own = makeClient(any.baseUrl, await service.token('alice'))
    const created = await own.create(EXTEND, { ...LONGER, video_creation_id: film.id })
    assert.equal('video_url' in created.body, false)
    const task = await own.untilVideoEnded(String(created.body['task_id']))
    assert.equal(task.state, 'success', task.err_msg)
  })
})

describe('a client as they are in the field', () => {
  test('gets its video from a prompt, without a credential', async () => {
    // `prompt` is empty where a node has an image only.
    const body = { ...SHORT, prompt: '', images: [await base64()], payload: '{"a":1}' }
    const files = await runVideoFieldClient({ baseUrl: service.baseUrl, path: 'text2video', body })
    assert.deepEqual([...files.keys()], ['video.mp4', 'cover.jpg'])
  })

  test('gets its extension by the link of a video alone, where one source is enough', async () => {
    const token = await service.token('alice')
    // The node sends no id.
    const body = { ...LONGER, video_url: film.creations[0]?.url }
    const rejected = await alice.post(EXTEND, body)
    assert.deepEqual([rejected.status, rejected.body.details?.[0]], [400, 'FieldLacking'])
    const { baseUrl } = any
    const link = String(body.video_url).replace(service.baseUrl, baseUrl)
    const files = await runVideoFieldClient({
      baseUrl,
      path: 'extend',
      body: { ...body, video_url: link },
      token,
    })
    assert.deepEqual([...files.keys()], ['video.mp4', 'cover.jpg'])
  })
})
