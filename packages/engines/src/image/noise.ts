import { areaLength, type Block } from './block.ts'
import { addToColours } from './luma.ts'
import type { Stage } from './stage.ts'

/** Two 32-bit words that decide every pixel of the grain. */
export type NoiseSeed = readonly [number, number]

export interface Grain {
  seed: NoiseSeed
  /** Standard deviation in levels of 255. */
  levels: number
  /** Gathers what `weight` needs from the blocks of the source. */
  survey?: (block: Block) => void
  ready?: () => void
  /** Share of the grain at each pixel of the block's area, 0..1; everywhere 1 when absent. */
  weight?: (block: Block) => Float32Array
}

// The sum of four bytes: mean 510, variance 4 (256² − 1) / 12. Near enough to a Gaussian, and one hash a pixel.
const MEAN = 510
const DEVIATION = Math.sqrt((4 * (256 ** 2 - 1)) / 12)

/**
 * Adds luma noise. A pixel's value depends on seed and position alone, so neither the order nor the size of the blocks
 * shows in the result.
 */
export const grainStages = (grain: Grain): Stage[] => {
  if (grain.levels <= 0) return []
  const { survey, ready } = grain
  const apply = (block: Block) => {
    const weights = grain.weight?.(block)
    fillNoise(block, block.v, grain)
    if (weights) multiply(block.v, weights, areaLength(block))
    addToColours(block, block.v)
  }
  return [{ ...(survey && { survey, surveysSource: true }), ...(ready && { ready }), apply }]
}

const fillNoise = ({ area, image }: Block, into: Float32Array, { seed, levels }: Grain): void => {
  const scale = levels / 255 / DEVIATION
  let target = 0
  for (let row = 0; row < area.height; row++) {
    const start = (area.top + row) * image.width + area.left
    for (let column = 0; column < area.width; column++) {
      const bits = hash(start + column, seed[0], seed[1])
      const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24)
      into[target++] = (sum - MEAN) * scale
    }
  }
}

// The finaliser of MurmurHash3, with one seed word before each half.
export const hash = (value: number, first: number, second: number): number => {
  let bits = Math.imul(value ^ first, 0x9e3779b1)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b) ^ second
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

const multiply = (plane: Float32Array, factors: Float32Array, length: number): void => {
  for (let i = 0; i < length; i++) plane[i] = plane[i]! * factors[i]!
}
