import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeValidator, sortIssues } from '../../../src/platform/domain/validate.ts'
import {
  ExtendInput,
  TextToVideoInput,
  VIDEO_EMPTY_IS_ABSENT,
} from '../../../src/tasks/domain/video/video-input.ts'
import {
  validateExtend,
  validateTextToVideo,
} from '../../../src/tasks/domain/video/video-validation.ts'
import type { ExtendSource } from '../../../src/tasks/domain/video/video-validation.ts'
import { issueReason } from '../../../src/tasks/domain/video/video-reason.ts'

const readText = makeValidator(TextToVideoInput, VIDEO_EMPTY_IS_ABSENT)
const readExtend = makeValidator(ExtendInput, VIDEO_EMPTY_IS_ABSENT)

/** Lists every issue of a body, in the order in which a caller gets them. */
const validateText = (body: object) => {
  const { value, issues } = readText(body)
  return sortIssues(TextToVideoInput, [...issues, ...validateTextToVideo(value as object as never)])
}

const validateExtension = (body: object, source: ExtendSource = 'both') => {
  const { value, issues } = readExtend(body)
  return sortIssues(ExtendInput, [...issues, ...validateExtend(value as object as never, source)])
}

const messages = (issues: { message: string }[]) => issues.map((issue) => issue.message)

const fieldsOf = (issues: { field: string }[]) =>
  issues.map(({ field }) => field.replace('/0', '').slice(1)).join(' ')

/** A body in which each of the members is wrong, the last first. */
const makeWrong = (members: string): object =>
  Object.fromEntries(
    members
      .split(' ')
      .toReversed()
      .map((name) => [name, name === 'images' ? [{}] : {}]),
  )

const EMOJI = '😀'
const png = 'iVBORw0KGgo='

describe('a text-to-video body', () => {
  const good: [string, object][] = [
    ['may be empty', {}],
    ['may have a prompt of 2000 emoji', { prompt: EMOJI.repeat(2000) }],
    ['may have an empty prompt', { prompt: '' }],
    ['may have a payload of 1048576 emoji', { payload: EMOJI.repeat(1_048_576) }],
    ['may have an empty payload', { payload: '' }],
    ['may have an empty list of images', { images: [] }],
    ['may have one image', { images: [png] }],
    ['may have null anywhere', { model: null, images: null, duration: null, payload: null }],
    ['may ask for 2K with a start image', { resolution: '2K', images: [png] }],
    ['may ask for off-peak with audio on q3', { off_peak: true, audio: true }],
    ['may ask for off-peak on q2 without naming audio', { model: 'videoq2-pro', off_peak: true }],
    ['may ask for 720p of video2.0 at 8 s', { model: 'video2.0', duration: 8, resolution: '720p' }],
    ['may have the seeds 0 and 2147483647', { seed: 2_147_483_647 }],
    ['may have any JSON text as meta_data', { meta_data: ' [1, "a"] ' }],
    ['may have empty meta_data', { meta_data: '' }],
    ['may have the least priority', { priority: -2_147_483_648, enhance: false }],
    ['may have members this service does not know', { colour: 'red' }],
  ]
  for (const [title, body] of good) test(title, () => assert.deepEqual(validateText(body), []))

  /** One of each kind of rule; which values each member takes is asked at its route. */
  const payload = '/payload must be a string of at most 1048576 characters, got'
  const bad: [object, string][] = [
    [
      { prompt: 'a'.repeat(2001) },
      `/prompt must be a string of at most 2000 characters, got "${'a'.repeat(78)}…`,
    ],
    [{ payload: 'secret'.padEnd(1_048_577) }, `${payload} 1048577 characters`],
    [{ payload: { a: 'secret' } }, `${payload} an object`],
    [
      { model: 'VideoQ3-Pro' },
      '/model must be one of videoq3-pro, videoq2-pro-fast, videoq3-turbo, videoq2, videoq2-pro, videoq2-turbo, videoq1, videoq1-classic, video2.0, got "VideoQ3-Pro"; did you mean videoq3-pro?',
    ],
    [{ duration: '5' }, '/duration must be a whole number from 1 to 16 with videoq3-pro, got "5"'],
    [{ model: 'videoq1', duration: 4 }, '/duration must be 5 with videoq1, got 4'],
    [{ model: 'video2.0', duration: 5 }, '/duration must be 4 or 8 with video2.0, got 5'],
    [
      { resolution: '2K', images: [] },
      '/resolution must be one of 540p, 720p, 1080p, 2K (only with a start image) with videoq3-pro, got "2K"',
    ],
    [
      { model: 'video2.0', duration: 8, resolution: '1080p' },
      '/resolution must be 720p with video2.0 at 8 s, got "1080p"',
    ],
    [
      { model: 'videoq1-classic', aspect_ratio: '4:3' },
      '/aspect_ratio must be one of 16:9, 9:16, 1:1 with videoq1-classic, got "4:3"',
    ],
    [{ images: [png, png] }, '/images must be a list of 1 image, got 2'],
    [
      { images: [''] },
      '/images/0 must be an image in Base64, a data: URI or an https URL, got an empty one',
    ],
    [{ seed: 2_147_483_648 }, '/seed must be a whole number from 0 to 2147483647, got 2147483648'],
    [{ meta_data: '{a:1}' }, '/meta_data must be a JSON text, got "{a:1}"'],
    [{ meta_data: ' ' }, '/meta_data must be a JSON text, got " "'],
    [{ audio: 'yes' }, '/audio must be true or false, got "yes"'],
    [
      { priority: 2_147_483_648 },
      '/priority must be a whole number from -2147483648 to 2147483647, got 2147483648',
    ],
  ]
  for (const [body, message] of bad)
    test(`is rejected: ${message.slice(0, 110)}`, () => {
      const issues = validateText(body)
      assert.deepEqual(messages(issues), [message])
      assert.equal(issues[0]?.code, 'validation_failed')
    })

  test('may not ask for off-peak and audio together off q3', () => {
    for (const model of ['videoq2-pro-fast', 'videoq2-pro', 'videoq2-turbo', 'videoq1', 'video2.0'])
      assert.deepEqual(validateText({ model, off_peak: true, audio: true }), [
        {
          field: '/off_peak',
          code: 'incompatible_fields',
          message: `/off_peak must be false when /audio is true with ${model}, got true`,
        },
      ])
  })

  test('a text-to-video body with an unknown model is validated by what any model takes', () => {
    const body = { model: 'x', duration: 17, resolution: '4K', aspect_ratio: '5:9' }
    assert.deepEqual(messages(validateText(body)).slice(1), [
      '/duration must be a whole number from 1 to 16, got 17',
      '/resolution must be one of 360p, 540p, 720p, 1080p, 2K, got "4K"',
      '/aspect_ratio must be one of 16:9, 9:16, 1:1, 4:3, 3:4, got "5:9"',
    ])
    const taken = { duration: 1, resolution: '2K', aspect_ratio: '1:1' }
    assert.equal(validateText({ ...body, ...taken }).length, 1)
  })

  test('with a name every object has as its model is rejected, not found', () => {
    for (const model of ['constructor', '__proto__', 'toString'])
      assert.equal(fieldsOf(validateText({ model })), 'model')
  })

  test('a text-to-video body with a wrong length is validated by all resolutions of the model', () => {
    assert.deepEqual(messages(validateText({ model: 'video2.0', duration: 5, resolution: '2K' })), [
      '/duration must be 4 or 8 with video2.0, got 5',
      '/resolution must be one of 360p, 720p, 1080p with video2.0, got "2K"',
    ])
  })

  test('a text-to-video body with a broken image gets no issue that 2K wants one', () => {
    const [issue, ...others] = validateText({ resolution: '2K', images: [5] })
    assert.deepEqual([issue?.field, others], ['/images/0', []])
  })

  test('a text-to-video body gets every issue, in the order of the documentation', () => {
    const members =
      'model prompt images duration resolution aspect_ratio audio audio_type voice_id bgm ' +
      'movement_amplitude style seed off_peak is_rec watermark wm_position wm_url meta_data ' +
      'payload callback_url enhance priority'
    assert.equal(fieldsOf(validateText(makeWrong(members))), members)
  })
})

describe('an extend body', () => {
  const source = { video_creation_id: 'a', video_url: 'https://videos.example.com/a.mp4' }
  const base = { model: 'videoq2-pro', ...source }

  test('is taken with model and both sources', () => {
    for (const extra of [{}, { images: [] }, { images: [png] }, { duration: 7, prompt: '' }])
      assert.deepEqual(validateExtension({ ...base, ...extra }), [])
  })

  const bad: [object, string][] = [
    [source, '/model must be one of videoq2-pro, videoq2-turbo, but is absent'],
    [
      { ...base, model: 'videoq2-turbo', duration: 8 },
      '/duration must be a whole number from 1 to 7 with videoq2-turbo, got 8',
    ],
    [
      { ...base, resolution: '360p' },
      '/resolution must be one of 540p, 720p, 1080p with videoq2-pro, got "360p"',
    ],
  ]
  for (const [body, message] of bad)
    test(`is rejected: ${message}`, () =>
      assert.deepEqual(messages(validateExtension(body)), [message]))

  test('must have both sources, or any, as the setting says', () => {
    const { video_creation_id: id, video_url: url } = source
    const model = 'videoq2-pro'
    const fields = (body: object, source: ExtendSource) =>
      validateExtension({ model, ...body }, source).map((issue) => issue.field)
    assert.deepEqual(fields({}, 'both'), ['/video_creation_id', '/video_url'])
    assert.deepEqual(fields({ video_url: url }, 'both'), ['/video_creation_id'])
    assert.deepEqual(fields({ video_creation_id: id }, 'both'), ['/video_url'])
    assert.deepEqual(fields({}, 'any'), ['/video_creation_id'])
    assert.deepEqual(fields({ video_url: url }, 'any'), [])
    assert.deepEqual(fields({ video_creation_id: id }, 'any'), [])
    assert.deepEqual(fields({ video_creation_id: null, video_url: url }, 'any'), [])
  })

  test('an extend body without a source gets the issue that a field is lacking', () => {
    for (const setting of ['both', 'any'] as const) {
      const body = { model: 'videoq2-pro' }
      const [issue] = validateExtension(body, setting)
      assert.ok(issue)
      assert.match(issue.message, /^\/video_creation_id must be given.*absent$/)
      assert.equal(issueReason(issue, body), 'FieldLacking')
    }
  })

  test('an extend body gets every issue, in the order of the documentation', () => {
    const members =
      'model video_creation_id video_url duration resolution images prompt payload callback_url'
    assert.equal(fieldsOf(validateExtension(makeWrong(members))), members)
  })
})
