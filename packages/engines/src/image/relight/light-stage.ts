import { areaLength, type Block } from '../block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse, type Coarse } from '../coarse.ts'
import { blurPlane, gaussianKernel, gaussianReach } from '../gaussian.ts'
import { addToColours, readLuma, readSourceLuma } from '../luma.ts'
import { hash } from '../noise.ts'
import { blurSigma } from '../raster.ts'
import { makeSkinMask } from '../skin-mask.ts'
import type { Stage } from '../stage.ts'
import { makeGains, type GainRequest, type Gains } from './gain.ts'

/**
 * Multiplies the light into the picture.
 * @param blur the blur of B, in per cent of the longer side
 * @param faces how much more of the gain's exponent skin gets: 0.25 is a quarter more
 */
export const lightStage = (
  request: GainRequest,
  { blur, faces }: { blur: number; faces: number },
): Stage => {
  const { image } = request
  const sigma = blurSigma(image, blur)
  const own = makeCoarse(image, cellFor(sigma))
  const skin = faces > 0 ? makeSkinMask(image) : undefined
  const made: { gains?: Gains } = {}
  return {
    survey: (block) => {
      addToCoarse(own, block, readLuma(block))
      skin?.survey(block)
    },
    ready: () => {
      blurCoarse(own, sigma)
      skin?.ready()
      made.gains = makeGains(own, request)
    },
    apply: (block) => {
      if (!made.gains) return
      const raise = skin && { mask: skin.read(block, block.u), faces }
      multiply(block, block.r, made.gains.r, raise)
      multiply(block, block.g, made.gains.g, raise)
      multiply(block, block.b, made.gains.b, raise)
    },
  }
}

const multiply = (
  block: Block,
  plane: Float32Array,
  map: Coarse,
  raise: { mask: Float32Array; faces: number } | undefined,
): void => {
  const factors = readCoarse(map, block, block.t)
  const length = areaLength(block)
  if (raise) raiseInSkin(factors, length, raise)
  for (let i = 0; i < length; i++) plane[i] = brighten(plane[i]!, factors[i]!)
}

/**
 * v·f / (1 + v⁴ (f⁴ − 1))^¼ of a factor above 1: darks take all of it and white stays white, so that a bright thing keeps
 * its colour where a product would cut off its channels one by one.
 */
const brighten = (value: number, factor: number): number => {
  if (factor <= 1 || value <= 0) return value * factor
  const rest = 1 + value ** 4 * (factor ** 4 - 1)
  return (value * factor) / Math.sqrt(Math.sqrt(rest))
}

const raiseInSkin = (
  factors: Float32Array,
  length: number,
  { mask, faces }: { mask: Float32Array; faces: number },
): void => {
  for (let i = 0; i < length; i++)
    if (mask[i]! > 0) factors[i] = factors[i]! ** (1 + faces * mask[i]!)
}

const DETAIL_SIGMA = 2

/** Replaces the band Y − Gaussian(Y, σ 2 px) by the source's. */
export const keepDetailStage = (): Stage => {
  const kernel = gaussianKernel(DETAIL_SIGMA)
  return {
    reach: gaussianReach(DETAIL_SIGMA),
    apply: (block) => {
      const { r, g, b, y, t, u, v, area } = block
      const length = areaLength(block)
      readLuma(block)
      readSourceLuma(block, v)
      // The bands' difference is the band of the difference: one filter in place of two.
      for (let i = 0; i < length; i++) v[i] = v[i]! - y[i]!
      blurPlane({ from: v, through: t, into: u }, area, kernel)
      for (let i = 0; i < length; i++) {
        // No more detail than there is room for below white: beyond, the colours would be cut off one by one.
        const room = Math.max(0, 254 / 255 - Math.max(r[i]!, g[i]!, b[i]!))
        v[i] = Math.max(-Math.min(r[i]!, g[i]!, b[i]!), Math.min(room, v[i]! - u[i]!))
      }
      addToColours(block, v)
    },
  }
}

/** Spreads the rounding to levels over neighbours, where a smooth light would show as bands. Whole levels stay as they are. */
export const ditherStage = (): Stage => ({
  apply: (block) => {
    const { r, g, b, area, image } = block
    let index = 0
    for (let row = 0; row < area.height; row++)
      for (let column = 0; column < area.width; column++) {
        const noise = hash((area.top + row) * image.width + area.left + column, 1, 2) / 2 ** 40
        r[index] = r[index]! + noise
        g[index] = g[index]! + noise
        b[index] = b[index]! + noise
        index++
      }
  },
})
