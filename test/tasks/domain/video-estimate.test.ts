import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  estimateExtend,
  estimateTextToVideo,
} from '../../../src/tasks/domain/video/video-estimate.ts'

const settings = {
  duration: 5,
  resolution: '720p',
  aspect_ratio: '16:9',
  hasStartImage: false,
} as const

describe('the estimate of a video task', () => {
  test('grows with length and size, and is less for a still than for a scene', () => {
    // 0.9216 megapixels × 5 s × 1.3
    assert.equal(estimateTextToVideo(settings, undefined), 6)
    assert.equal(estimateTextToVideo({ ...settings, duration: 10 }, undefined), 12)
    assert.equal(estimateTextToVideo({ ...settings, resolution: '1080p' }, undefined), 14)
    assert.equal(estimateTextToVideo({ ...settings, hasStartImage: true }, undefined), 4)
  })

  test('goes by the ratio of the start image, and by 16:9 while that is not known', () => {
    const still = { ...settings, hasStartImage: true, aspect_ratio: '1:1', duration: 8 } as const
    assert.equal(estimateTextToVideo(still, undefined), 6)
    assert.equal(estimateTextToVideo(still, { width: 100, height: 100 }), 3)
    assert.equal(estimateTextToVideo(still, { width: 100, height: 400 }), 12)
  })

  test('of an extension counts what is added', () => {
    assert.equal(estimateExtend({ duration: 7, resolution: '1080p' }), 11)
  })

  test('is a second at least', () => {
    const least = { ...settings, duration: 1, resolution: '360p' } as const
    assert.equal(estimateTextToVideo(least, undefined), 1)
  })
})
