import type { Size } from '../size.ts'
import { areaLength, type Block } from './block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse } from './coarse.ts'
import { blurSigma } from './raster.ts'

/** Per cent of the longer side that the edge of the mask is feathered by. */
const FEATHER = 0.5

export interface SkinMask {
  /** Takes in a block that still has the colours of the source. */
  survey: (block: Block) => void
  ready: () => void
  /** 0 (no skin) to 1 over the block's area. */
  read: (block: Block, into: Float32Array) => Float32Array
}

export const makeSkinMask = (image: Size): SkinMask => {
  const sigma = blurSigma(image, FEATHER)
  const map = makeCoarse(image, cellFor(sigma))
  return {
    survey: (block) => addToCoarse(map, block, fillSkin(block, block.y)),
    ready: () => blurCoarse(map, sigma),
    read: (block, into) => readCoarse(map, block, into),
  }
}

/**
 * Writes 1 for a skin colour, else 0: Cb 77..127 and Cr 133..173 in 8-bit BT.601 full range (Chai and Ngan 1999).
 * Luma has no bound, so that all complexions count.
 */
export const fillSkin = (block: Block, into: Float32Array): Float32Array => {
  const { r, g, b } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) into[i] = isSkin(r[i]! * 255, g[i]! * 255, b[i]! * 255) ? 1 : 0
  return into
}

const isSkin = (r: number, g: number, b: number): boolean => {
  const cb = 128 - 0.168736 * r - 0.331264 * g + 0.5 * b
  const cr = 128 + 0.5 * r - 0.418688 * g - 0.081312 * b
  return cb >= 77 && cb <= 127 && cr >= 133 && cr <= 173
}
