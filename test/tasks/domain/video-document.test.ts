import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import { makeValidator } from '../../../src/platform/domain/validate.ts'
import {
  makeExtendDocument,
  makeTextToVideoDocument,
} from '../../../src/tasks/domain/video/video-document.ts'
import { ExtendInput, TextToVideoInput } from '../../../src/tasks/domain/video/video-input.ts'
import {
  validateExtend,
  validateTextToVideo,
} from '../../../src/tasks/domain/video/video-validation.ts'
import { VIDEO_MODEL_NAMES } from '../../../src/tasks/domain/video/video-model.ts'

type Body = Record<string, unknown>

const readText = makeValidator(TextToVideoInput)
const readExtend = makeValidator(ExtendInput)

const takesText = (body: Body, frames?: 1 | 2): boolean => {
  const { value, issues } = readText(body)
  return issues.length === 0 && validateTextToVideo(value as Body, frames).length === 0
}

/** Every body that one value for each member makes; undefined leaves a member out. */
const combine = (members: Record<string, readonly unknown[]>): Body[] =>
  Object.entries(members).reduce<Body[]>(
    (bodies, [name, values]) =>
      bodies.flatMap((body) =>
        values.map((value) => (value === undefined ? body : { ...body, [name]: value })),
      ),
    [{}],
  )

const agrees = (document: TSchema, takes: (body: Body) => boolean, bodies: Body[]): void => {
  const documented = Compile(document)
  const taken = bodies.filter((body) => takes(body))
  assert.ok(taken.length > 0 && taken.length < bodies.length)
  for (const body of bodies)
    assert.equal(
      documented.Check(body),
      takes(body),
      `otherwise documented: ${JSON.stringify(body)}`,
    )
}

const models = [undefined, ...VIDEO_MODEL_NAMES, 'videoq4']

describe('the documented text-to-video body', () => {
  test('takes the lengths and resolutions that the service takes, and no others', () => {
    const bodies = combine({
      model: models,
      duration: [undefined, 0, 1, 2, 4, 5, 5.5, 7, 8, 9, 10, 11, 16, 17, '5'],
      resolution: [undefined, '360p', '540p', '720p', '1080p', '2K', '4K', 720],
      images: [undefined, [], ['aGVsbG8=']],
    })
    agrees(makeTextToVideoDocument(), takesText, bodies)
  })

  test('takes the ratios that the service takes, and off-peak with audio where it does', () => {
    const bodies = combine({
      model: models,
      aspect_ratio: [undefined, '16:9', '9:16', '1:1', '4:3', '3:4', '5:9', ''],
      off_peak: [undefined, true, false, 'x'],
      audio: [undefined, true, false],
    })
    agrees(makeTextToVideoDocument(), takesText, bodies)
  })

  test('of one or two frames takes what the service takes', () => {
    const bodies = combine({
      model: [undefined, 'videoq2'],
      images: [undefined, [], ['a'], ['a', 'b']],
      duration: [undefined, 5, 99],
    })
    for (const frames of [1, 2] as const)
      agrees(makeTextToVideoDocument(frames), (body) => takesText(body, frames), bodies)
  })

  test('takes the other values that the service takes', () => {
    const bodies = combine({
      images: [undefined, [], ['a'], [''], [5], ['a', 'b'], 'a'],
      seed: [undefined, 0, -1, 2_147_483_647, 2_147_483_648],
      wm_position: [undefined, 0, 1, 4, 5],
    })
    agrees(makeTextToVideoDocument(), takesText, bodies)
    const payload = [undefined, '', 5, '😀'.repeat(1_048_576), 'x'.repeat(1_048_577)]
    agrees(makeTextToVideoDocument(), takesText, combine({ payload }))
  })

  test('describes every member', () => {
    for (const rules of [makeTextToVideoDocument(), makeExtendDocument('both')])
      for (const [name, rule] of Object.entries(rules.properties))
        assert.match((rule as { description?: string }).description ?? '', /\w.*\.$/, name)
  })

  test('names the values of each model', () => {
    type Described = Record<string, { description: string }>
    const { duration, resolution } = makeTextToVideoDocument().properties as Described
    assert.equal(
      duration?.description,
      'Length in seconds, by model (default): videoq3-pro 1 to 16 (5); videoq2-pro-fast 1 to 10 (5); videoq3-turbo 1 to 16 (5); videoq2 1 to 10 (5); videoq2-pro 1 to 8 (5); videoq2-turbo 1 to 8 (5); videoq1 5 (5); videoq1-classic 5 (5); video2.0 4 or 8 (4).',
    )
    assert.match(
      resolution?.description ?? '',
      /videoq3-pro 540p, 720p, 1080p, 2K \(only with a start image\) \(720p\);.*video2\.0 360p, 720p, 1080p at 4 s \(360p\), 720p at 8 s \(720p\)\.$/,
    )
  })
})

describe('the documented extend body', () => {
  for (const source of ['both', 'any'] as const)
    test(`takes the sources that the service takes under ${source}`, () => {
      const takes = (body: Body): boolean => {
        const { value, issues } = readExtend(body)
        return issues.length === 0 && validateExtend(value as Body, source).length === 0
      }
      const bodies = combine({
        model: [undefined, 'videoq2-pro', 'videoq2-turbo', 'videoq3-pro'],
        video_creation_id: [undefined, 'a', ''],
        video_url: [undefined, 'https://videos.example.com/a.mp4', 5],
        duration: [undefined, 0, 1, 5.5, 7, 8],
        resolution: [undefined, '360p', '540p', '1080p', '2K'],
      })
      agrees(makeExtendDocument(source), takes, bodies)
    })
})
