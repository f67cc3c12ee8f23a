import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ImageRequest } from '../../../src/tasks/domain/image/image-kind.ts'
import { pixelLimitIssue } from '../../../src/tasks/domain/image/image-size.ts'

const CASES: [kind: string, factor: string | number, largest: [number, number]][] = [
  ['upscale', '2x', [2530, 2500]],
  ['upscale', '16x', [250, 395]],
  ['upscale_precision', 2, [5030, 5030]],
  ['upscale_precision', 10, [1006, 1]],
]
for (const [kind, scale_factor, [width, height]] of CASES)
  test(`a picture of ${width}×${height} is the largest for ${kind} by ${scale_factor}`, () => {
    const request = { kind, settings: { scale_factor } } as ImageRequest
    assert.equal(pixelLimitIssue(request, { width, height }), undefined)
    assert.match(pixelLimitIssue(request, { width: width + 1, height }) ?? '', /small enough/)
  })
