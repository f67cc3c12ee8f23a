import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeVideoJob } from '../../../activities/engines/video-job.ts'
import type { TextToVideoBody } from '../../../src/tasks/domain/video/video-body.ts'
import {
  applyExtendDefaults,
  applyTextToVideoDefaults,
} from '../../../src/tasks/domain/video/video-defaults.ts'
import { VideoError } from '../../../src/tasks/domain/video/video-error.ts'
import { RECOMMENDED_PROMPTS } from '../../../src/tasks/domain/video/video-prompt.ts'

const PLACE = { scratchDir: '/scratch', deadlineMs: 5000, tiny: false }
/** Members of a job that say nothing else. */
const USUAL = {
  ...PLACE,
  taskId: 'id',
  seconds: 5,
  movement: 'auto',
  style: 'general',
  audio: 'none',
  bgm: false,
}
const WIDE = { path: '/wide', width: 320, height: 180 }
const TALL = { path: '/tall', width: 90, height: 160 }

/** The job of a text-to-video request, whose settings are stored without the image. */
const film = (body: TextToVideoBody, inputs = {}) => {
  const { images: _, ...settings } = applyTextToVideoDefaults(body, () => 0)
  return makeVideoJob({ id: 'id', kind: 'text2video', settings }, inputs, PLACE)
}

describe('the job of a text-to-video task', () => {
  test('has what takes effect, every default applied', () => {
    const given = { width: 1920, height: 1080, seed: 9, prompt: 'red' }
    assert.deepEqual(film({ model: 'videoq1', prompt: 'red', seed: 9 }), { ...USUAL, ...given })
  })

  test('has the seed that was drawn', () => {
    assert.equal(film({ prompt: 'red' }).seed, 1)
  })

  const PROMPTS: [what: string, body: TextToVideoBody, prompt: string | undefined][] = [
    ['the prompt given', { prompt: 'red', seed: 3 }, 'red'],
    ['a recommended one instead', { prompt: 'red', seed: 3, is_rec: true }, RECOMMENDED_PROMPTS[3]],
    ['the same one for the same seed', { seed: 8 + 3, is_rec: true }, RECOMMENDED_PROMPTS[3]],
    ['a recommended one where none is given', { seed: 6 }, RECOMMENDED_PROMPTS[6]],
    ['one also for the greatest seed', { seed: 2_147_483_647 }, RECOMMENDED_PROMPTS[7]],
  ]
  for (const [what, body, prompt] of PROMPTS)
    test(`draws ${what}`, () => {
      assert.equal(film(body).prompt, prompt)
    })

  test('ends on a last frame, whose ratio must be near that of the first', () => {
    const end = { ...WIDE, path: '/end', width: 300 }
    const job = film({ images: ['x'] }, { images: WIDE, end_image: end })
    assert.deepEqual([job.startImage, job.endImage], [{ path: '/wide' }, { path: '/end' }])
    assert.throws(
      () => film({ images: ['x'] }, { images: WIDE, end_image: TALL }),
      (error: VideoError) => error.code === 'ImageSizeInvalid' && /\/images\/1/.test(error.message),
    )
  })

  test('draws no prompt beside a start image, whose shape it has', () => {
    const body = { prompt: 'red', resolution: '720p', aspect_ratio: '1:1' } as const
    for (const is_rec of [false, true]) {
      const { prompt, startImage, width, height } = film({ ...body, is_rec }, { images: TALL })
      assert.deepEqual([prompt, startImage], ['', { path: '/tall' }])
      assert.deepEqual([width, height], [720, 1280])
    }
  })

  test('takes a start image that is four times as long as wide, and none that is longer', () => {
    const image = (width: number) => ({ images: { path: '/image', width, height: 100 } })
    assert.equal(film({ resolution: '720p' }, image(400)).width, 2880)
    const message = '/images/0 must have an aspect ratio from 1:4 to 4:1, got 401×100'
    const error = new VideoError('ImageSizeInvalid', message)
    assert.throws(() => film({ resolution: '720p' }, image(401)), error)
  })

  const NO_EFFECT: [what: string, body: TextToVideoBody][] = [
    ['movement and style on q3', { model: 'videoq3-pro', movement_amplitude: 'large' }],
    ['movement and style on q2', { model: 'videoq2-pro', style: 'anime', seed: 1 }],
    ['music on q3', { model: 'videoq3-pro', bgm: true, audio: false }],
    ['music on q2 for its longest', { model: 'videoq2-pro-fast', duration: 9, bgm: true }],
    ['music beside sound', { model: 'videoq1', bgm: true, audio: true }],
    ['the kind of sound without sound', { model: 'videoq1', audio_type: 'speech_only' }],
    ['the place of a mark without a mark', { model: 'videoq1', wm_position: 1 }],
    ['what is accepted only', { model: 'videoq1', enhance: true, priority: 5, voice_id: 'v' }],
  ]
  for (const [what, body] of NO_EFFECT)
    test(`lets ${what} be`, () => {
      const { movement, style, bgm, watermark } = film({ prompt: 'x', ...body })
      assert.deepEqual([movement, style, bgm, watermark], ['auto', 'general', false, undefined])
    })

  test('has movement, style, music and sound where they take effect', () => {
    const given = { movement_amplitude: 'large', style: 'anime', bgm: true } as const
    const { movement, style, bgm } = film({ model: 'videoq1', ...given })
    assert.deepEqual([movement, style, bgm], ['large', 'anime', true])
    const received = { audio: true, audio_type: 'speech_only' } as const
    assert.equal(film({ model: 'videoq1', ...received }).audio, 'speech_only')
    assert.equal(film({ model: 'videoq3-pro', ...received }).audio, 'all')
    assert.equal(film({ model: 'videoq3-pro', audio: false }).audio, 'none')
  })

  test('has the mark of its own or the built-in one, and metadata as given', () => {
    const body = { watermark: true, wm_position: 2, meta_data: '{"a": 1}' } as const
    assert.deepEqual(film(body).watermark, { position: 2 })
    assert.deepEqual(film(body, { wm_url: WIDE }).watermark, { position: 2, path: '/wide' })
    assert.equal(film(body).metaData, '{"a": 1}')
    assert.equal('metaData' in film({}), false)
  })
})

describe('the job of an extension', () => {
  const extend = (inputs: object) => {
    const settings = applyExtendDefaults({ model: 'videoq2-pro', prompt: 'x', resolution: '540p' })
    return makeVideoJob({ id: 'id', kind: 'extend', settings }, { ...inputs }, PLACE)
  }

  test('has the source’s shape and no seed, so that an equal request gives an equal video', () => {
    const given = { width: 960, height: 540, seed: 0, prompt: '' }
    const source = { path: '/wide', isOwn: false }
    assert.deepEqual(extend({ video_url: WIDE }), { ...USUAL, ...given, source })
  })

  test('ends on an image of any shape, and may continue a stored video', () => {
    const image = { path: '/image', width: 1000, height: 10 }
    const { source, endImage, width, height } = extend({ video_creation_id: TALL, images: image })
    assert.deepEqual([source, endImage], [{ path: '/tall', isOwn: true }, { path: '/image' }])
    assert.deepEqual([width, height], [540, 960])
  })

  test('is none for a source so narrow that no video would have its shape', () => {
    const narrow = { path: '/narrow', width: 16, height: 4096 }
    assert.throws(
      () => extend({ video_url: narrow }),
      (error) => error instanceof VideoError && error.code === 'VideoFormatInvalid',
    )
  })

  test('is none without a source', () => {
    assert.throws(() => extend({ images: WIDE }), { message: 'an extension without a source' })
  })
})
