import { areaLength } from '../block.ts'
import type { Block } from '../block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse } from '../coarse.ts'
import type { Coarse } from '../coarse.ts'
import { blurPlane, gaussianKernel, gaussianReach } from '../gaussian.ts'
import { addToColours, readLuma, readSourceLuma } from '../luma.ts'
import { blurSigma } from '../raster.ts'
import { SKIN_FEATHER, fillSkin } from '../skin-mask.ts'
import type { Stage } from '../stage.ts'
import { makeGains } from './gain.ts'
import type { GainRequest, Gains } from './gain.ts'

/** Multiplies the light into the picture. `blur` is that of B, in per cent of the longer side. */
export const lightStage = (request: GainRequest, blur: number): Stage => {
  const { image } = request
  const sigma = blurSigma(image, blur)
  const feather = blurSigma(image, SKIN_FEATHER)
  const cell = cellFor(request.skinPower ? feather : sigma)
  const own = makeCoarse(image, cell)
  const skin = request.skinPower ? makeCoarse(image, cell) : undefined
  const made: { gains?: Gains } = {}
  return {
    survey: (block) => {
      addToCoarse(own, block, readLuma(block))
      if (skin) addToCoarse(skin, block, fillSkin(block, block.y))
    },
    ready: () => {
      blurCoarse(own, sigma)
      if (skin) blurCoarse(skin, feather)
      made.gains = makeGains(own, skin, request)
    },
    apply: (block) => {
      if (made.gains) multiplyGains(block, made.gains)
    },
  }
}

const multiplyGains = (block: Block, gains: Gains): void => {
  multiply(block, block.r, gains.r)
  multiply(block, block.g, gains.g)
  multiply(block, block.b, gains.b)
}

const multiply = (block: Block, plane: Float32Array, map: Coarse): void => {
  const factors = readCoarse(map, block, block.t)
  const length = areaLength(block)
  for (let i = 0; i < length; i++) plane[i] = plane[i]! * factors[i]!
}

const DETAIL_SIGMA = 2

/** Replaces the band Y − Gaussian(Y, σ 2 px) by the source's. */
export const keepDetailStage = (): Stage => {
  const kernel = gaussianKernel(DETAIL_SIGMA)
  return {
    reach: gaussianReach(DETAIL_SIGMA),
    apply: (block) => {
      const { y, t, u, v, area } = block
      const length = areaLength(block)
      readLuma(block)
      readSourceLuma(block, v)
      // The bands' difference is the band of the difference: one filter in place of two.
      for (let i = 0; i < length; i++) v[i] = v[i]! - y[i]!
      blurPlane({ from: v, through: t, into: u }, area, kernel)
      for (let i = 0; i < length; i++) v[i] = v[i]! - u[i]!
      addToColours(block, v)
    },
  }
}
