import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { assert as check, constantFrom, integer, property, record } from 'fast-check'

import { ASPECT_RATIOS, RESOLUTIONS } from '../../../src/tasks/domain/video/video-model.ts'
import {
  sizeLike,
  sizeOfRatio,
  startImageIssue,
} from '../../../src/tasks/domain/video/video-size.ts'

const SIZES = {
  '16:9': ['640×360', '960×540', '1280×720', '1920×1080', '2560×1440'],
  '9:16': ['360×640', '540×960', '720×1280', '1080×1920', '1440×2560'],
  '4:3': ['480×360', '720×540', '960×720', '1440×1080', '1920×1440'],
  '3:4': ['360×480', '540×720', '720×960', '1080×1440', '1440×1920'],
  '1:1': ['360×360', '540×540', '720×720', '1080×1080', '1440×1440'],
}

const text = ({ width, height }: { width: number; height: number }) => `${width}×${height}`

describe('the size of a video', () => {
  test('is the table’s for each ratio and resolution', () => {
    for (const ratio of ASPECT_RATIOS)
      assert.deepEqual(
        RESOLUTIONS.map((resolution) => text(sizeOfRatio(resolution, ratio))),
        SIZES[ratio],
      )
  })

  test('keeps the ratio of an image: short side of the resolution, long side the nearest even', () => {
    const cases: [number, number, string][] = [
      [1920, 1080, '1280×720'],
      [1080, 1920, '720×1280'],
      [100, 100, '720×720'],
      [1, 1, '720×720'],
      [4000, 1000, '2880×720'],
      [1000, 4000, '720×2880'],
      [1000, 999, '720×720'],
      [1001, 700, '1030×720'],
      [700, 1001, '720×1030'],
      // 720 × 721 / 720 is as near to 720 as to 722.
      [721, 720, '722×720'],
      // So is 1281 to 1280 and 1282.
      [854, 480, '1282×720'],
      [852, 480, '1278×720'],
    ]
    for (const [width, height, expected] of cases)
      assert.equal(text(sizeLike('720p', { width, height })), expected, `${width}×${height}`)
  })

  test('has even sides, and a long one within 1 pixel of the exact ratio', () => {
    const side = integer({ min: 1, max: 20_000 })
    const cases = record({ width: side, height: side, resolution: constantFrom(...RESOLUTIONS) })
    check(
      property(cases, ({ resolution, ...like }) => {
        const { width, height } = sizeLike(resolution, like)
        const ratio = Math.max(like.width, like.height) / Math.min(like.width, like.height)
        const exact = Math.min(width, height) * ratio
        const isTurned = like.width < like.height ? width <= height : width >= height
        const isEven = width % 2 === 0 && height % 2 === 0
        return isEven && isTurned && Math.abs(Math.max(width, height) - exact) <= 1
      }),
      { seed: 11, numRuns: 2000 },
    )
  })
})

describe('a start image', () => {
  test('is taken from 1:4 to 4:1', () => {
    for (const size of ['4×1', '1×4', '4000×1000', '640×480']) {
      const [width = 0, height = 0] = size.split('×').map(Number)
      assert.equal(startImageIssue({ width, height }), undefined)
    }
  })

  test('beyond is rejected with its size', () => {
    assert.equal(
      startImageIssue({ width: 4001, height: 1000 }),
      'must have an aspect ratio from 1:4 to 4:1, got 4001×1000',
    )
    assert.match(startImageIssue({ width: 1, height: 5 }) ?? '', /got 1×5$/)
  })
})
