// Every index below lies inside its array by construction.
/* oxlint-disable typescript/no-non-null-assertion */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listBlockAreas, makeBlock, type Block } from '../../src/image/block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse } from '../../src/image/coarse.ts'
import { blurPlane, gaussianKernel } from '../../src/image/gaussian.ts'
import { deviation, gaussian, type Plane } from './measure.ts'

/** Noise of 0..1 with a step in the middle, larger than one block. */
const makePlane = (width: number, height: number): Plane => {
  let state = 7
  const random = () =>
    ((state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) >> 15) / 65_536
  const values = Float64Array.from(
    { length: width * height },
    (_, i) => random() * 0.5 + (i % width > width / 2 ? 0.5 : 0),
  )
  return { width, height, values }
}

/** Runs over a plane block by block, with the part of it that each block covers. */
const eachBlock = (plane: Plane, visit: (block: Block, values: Float32Array) => void): void => {
  const { width, height } = plane
  const block = makeBlock({ width, height, channels: 3, data: new Uint8Array() }, 5)
  for (const { area, inner } of listBlockAreas(plane, 5)) {
    const values = Float32Array.from({ length: area.width * area.height }, (_, i) => {
      const row = area.top + Math.floor(i / area.width)
      return plane.values[row * width + area.left + (i % area.width)]!
    })
    visit({ ...block, area, inner }, values)
  }
}

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0)

describe('blurs', () => {
  test('a direct Gaussian is a Gaussian', () => {
    const plane = makePlane(60, 40)
    for (const sigma of [0.6, 1, 2, 4.5]) {
      const from = Float32Array.from(plane.values)
      const into = new Float32Array(from.length)
      blurPlane(
        { from, through: new Float32Array(from.length), into },
        plane,
        gaussianKernel(sigma),
      )
      assert.ok(largestGap(into, gaussian(plane, sigma).values) < 0.003, `σ ${sigma}`)
    }
  })

  test('a coarse map is a Gaussian within 1 % of the signal, across blocks and at any σ', () => {
    const plane = makePlane(1100, 300)
    for (const sigma of [2, 5, 9, 22]) {
      const map = makeCoarse(plane, cellFor(sigma))
      eachBlock(plane, (block, values) => addToCoarse(map, block, values))
      blurCoarse(map, sigma)
      const exact = gaussian(plane, sigma)
      const gaps: number[] = []
      eachBlock(plane, (block, values) => {
        readCoarse(map, block, values)
        for (const [i, value] of values.entries()) {
          const x = block.area.left + (i % block.area.width)
          const y = block.area.top + Math.floor(i / block.area.width)
          // Nearer to the edge both repeat it, but one its pixels and the other its cells.
          const inner = Math.min(x, y, plane.width - 1 - x, plane.height - 1 - y) > 3 * sigma
          if (inner && i % 7 === 0) gaps.push(value - exact.values[y * plane.width + x]!)
        }
      })
      assert.ok(deviation(gaps) < 0.01 * deviation(exact.values), `σ ${sigma}: ${deviation(gaps)}`)
    }
  })
})
