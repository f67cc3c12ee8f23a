import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeValidator } from '../../../src/platform/domain/validate.ts'
import type { ExtendBody, TextToVideoBody } from '../../../src/tasks/domain/video/video-body.ts'
import { ExtendBody as ExtendSchema } from '../../../src/tasks/domain/video/video-body.ts'
import {
  applyExtendDefaults,
  applyTextToVideoDefaults,
  effectiveVideoSettings,
  resolveSeed,
} from '../../../src/tasks/domain/video/video-defaults.ts'
import {
  VIDEO_EMPTY_IS_ABSENT,
  TextToVideoInput,
} from '../../../src/tasks/domain/video/video-input.ts'
import { EXTEND_MODELS, VIDEO_MODEL_NAMES } from '../../../src/tasks/domain/video/video-model.ts'

const random = () => 0.5
const read = makeValidator(TextToVideoInput, VIDEO_EMPTY_IS_ABSENT)

/** Settings of a body as it goes through the service. */
const settingsOf = (body: TextToVideoBody | Record<string, unknown>) =>
  applyTextToVideoDefaults(read(body).value as TextToVideoBody, random)

const effective = (body: TextToVideoBody) => effectiveVideoSettings(settingsOf(body))

describe('the defaults of text to video', () => {
  test('of an empty body are those of videoq3-pro', () => {
    assert.deepEqual(settingsOf({}), {
      model: 'videoq3-pro',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
      audio: true,
      audio_type: 'all',
      bgm: false,
      movement_amplitude: 'auto',
      style: 'general',
      seed: 1_073_741_824,
      off_peak: false,
      is_rec: false,
      watermark: false,
      wm_position: 3,
    })
  })

  test('are the same without the schema’s, for a body that never passed it', () => {
    assert.deepEqual(applyTextToVideoDefaults({}, random), settingsOf({}))
  })

  test('of length, resolution and audio go by the model', () => {
    const EXPECTED = { videoq3: [5, '720p', true], videoq2: [5, '720p', false] }
    const OLD = { videoq1: [5, '1080p', false], 'video2.0': [4, '360p', false] }
    const families = new Map(Object.entries({ ...EXPECTED, ...OLD }))
    for (const model of VIDEO_MODEL_NAMES) {
      const { duration, resolution, audio } = settingsOf({ model })
      const expected = families.get(model.replace(/-.*/, ''))
      assert.deepEqual([duration, resolution, audio], expected, model)
    }
  })

  test('of resolution goes by the length where a model wants that', () => {
    assert.equal(settingsOf({ model: 'video2.0', duration: 4 }).resolution, '360p')
    assert.equal(settingsOf({ model: 'video2.0', duration: 8 }).resolution, '720p')
  })

  test('leave what was given, also where it has no effect', () => {
    const given: TextToVideoBody = {
      model: 'videoq3-pro',
      prompt: 'a red fox',
      images: ['https://images.example.com/a.png'],
      duration: 16,
      resolution: '2K',
      aspect_ratio: '3:4',
      audio: false,
      audio_type: 'speech_only',
      voice_id: 'anna',
      bgm: true,
      movement_amplitude: 'large',
      style: 'anime',
      seed: 7,
      off_peak: true,
      is_rec: true,
      watermark: true,
      wm_position: 1,
      wm_url: 'https://images.example.com/mark.png',
      meta_data: '{"a":1}',
      payload: '',
      callback_url: 'https://hooks.example.com/',
      enhance: true,
      priority: -3,
    }
    assert.deepEqual(settingsOf(given), given)
  })

  test('take null, an empty prompt, empty meta_data and an empty list of images as absent', () => {
    const body = { prompt: '', meta_data: '', images: [], model: null, seed: null, audio: null }
    assert.deepEqual(settingsOf(body), settingsOf({}))
  })

  test('draw a seed from 1 to 2147483647 for none and for 0', () => {
    const CASES: [given: number | undefined, random: number, seed: number][] = [
      [undefined, 0, 1],
      [0, 1 - 2 ** -53, 2_147_483_647],
      [2_147_483_647, 0, 2_147_483_647],
      [1, 0.7, 1],
    ]
    for (const [given, random, seed] of CASES)
      assert.equal(
        resolveSeed(given, () => random),
        seed,
      )
  })
})

describe('the defaults of extend', () => {
  test('are 5 s at 720p with each model, as the schema says', () => {
    for (const model of Object.keys(EXTEND_MODELS)) {
      const body = { model, images: [] } as unknown as ExtendBody
      assert.deepEqual(applyExtendDefaults(body), { model, duration: 5, resolution: '720p' })
    }
    const { duration, resolution } = ExtendSchema.properties
    const defaults = [duration, resolution].map((rule) => (rule as { default?: unknown }).default)
    assert.deepEqual(defaults, [5, '720p'])
  })

  test('leave what was given', () => {
    const given: ExtendBody = {
      model: 'videoq2-turbo',
      video_url: 'https://videos.example.com/a.mp4',
      duration: 7,
      resolution: '1080p',
      images: ['aGVsbG8='],
    }
    assert.deepEqual(applyExtendDefaults(given), given)
  })
})

describe('the settings that take effect', () => {
  test('of sound are all that audio gives on q3, whatever its kind', () => {
    assert.equal(effective({ audio_type: 'speech_only' }).audio_type, 'all')
    assert.equal(effective({ audio: false }).audio_type, undefined)
    const audio_type = 'sound_effect_only'
    for (const model of VIDEO_MODEL_NAMES.filter((name) => !name.startsWith('videoq3'))) {
      assert.equal(effective({ model }).audio_type, undefined)
      assert.equal(effective({ model, audio: true, audio_type }).audio_type, audio_type)
    }
  })

  test('include music only off q3, without audio, and on q2 below 9 s', () => {
    const cases: [TextToVideoBody, boolean][] = [
      [{ model: 'videoq3-pro', bgm: true }, false],
      [{ model: 'videoq3-pro', bgm: true, audio: false }, false],
      [{ model: 'videoq2-pro-fast', bgm: true, duration: 8 }, true],
      [{ model: 'videoq2-pro-fast', bgm: true, duration: 9 }, false],
      [{ model: 'videoq2-pro-fast', bgm: true, duration: 10 }, false],
      [{ model: 'videoq2-pro', bgm: true }, true],
      [{ model: 'videoq2-pro', bgm: true, audio: true }, false],
      [{ model: 'videoq1', bgm: true }, true],
      [{ model: 'video2.0', bgm: true, duration: 8 }, true],
      [{ model: 'video2.0' }, false],
    ]
    for (const [body, expected] of cases)
      assert.equal(effective(body).bgm, expected, JSON.stringify(body))
  })

  test('include movement and style only off q2 and q3', () => {
    for (const model of VIDEO_MODEL_NAMES) {
      const found = effective({ model, movement_amplitude: 'large', style: 'anime' })
      const isOld = ['videoq1', 'videoq1-classic', 'video2.0'].includes(model)
      const expected = isOld ? ['large', 'anime'] : ['auto', 'general']
      assert.deepEqual([found.movement_amplitude, found.style], expected, model)
    }
  })

  test('of the picture are the image’s when there is one, else prompt and ratio', () => {
    const read = (body: TextToVideoBody) => {
      const { prompt, recommended, aspect_ratio: ratio } = effective({ prompt: 'a fox', ...body })
      return [prompt, recommended, ratio]
    }
    assert.deepEqual(read({ aspect_ratio: '1:1' }), ['a fox', false, '1:1'])
    assert.deepEqual(read({ images: ['aGVsbG8='], is_rec: true }), [undefined, false, undefined])
  })

  test('have a recommended prompt when it is asked for, and with neither prompt nor image', () => {
    for (const body of [{}, { prompt: '' }, { images: [] }, { prompt: 'a fox', is_rec: true }]) {
      const { prompt, recommended } = effective(body)
      assert.deepEqual([prompt, recommended], [undefined, true], JSON.stringify(body))
    }
  })

  test('have a watermark only when it is asked for', () => {
    const url = 'https://images.example.com/mark.png'
    const placed = { wm_position: 1, wm_url: url } as const
    assert.equal(effective(placed).watermark, undefined)
    assert.deepEqual(effective({ watermark: true }).watermark, { position: 3 })
    assert.deepEqual(effective({ watermark: true, ...placed }).watermark, { position: 1, url })
  })

  test('keep meta_data byte for byte', () => {
    assert.equal(effective({ meta_data: ' {"a":  1}\n' }).meta_data, ' {"a":  1}\n')
    assert.equal('meta_data' in effective({}), false)
  })
})
