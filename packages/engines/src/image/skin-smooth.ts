import type { Size } from '../size.ts'
import { areaLength, type Block } from './block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse, type Coarse } from './coarse.ts'
import { LUMA } from './luma.ts'
import { blurSigma } from './raster.ts'
import { fillSkin, type SkinMask } from './skin-mask.ts'
import type { Stage } from './stage.ts'

/** Per cent of the longer side beyond which detail is form, not texture. */
const BASE_BLUR = 0.4
/** The same for the colour of skin, where make-up is wider than texture. */
const COLOUR_BLUR = 1
// Differences of this size are an eye, a lip or an outline rather than texture or make-up: they fade out of the smoothing
// as exp(−(d / edge)²). Without it a low skin_detail blurs the whole face.
const TEXTURE_EDGE = 80 / 255
const COLOUR_EDGE = 25 / 255

/**
 * Inside the mask: base + k (S − base). The first stage, so that mask and base come from the source.
 * @param kept k, the share of texture that stays
 */
export const smoothStage = (image: Size, mask: SkinMask, kept: number): Stage => {
  const base = makeSkinColours(image, BASE_BLUR)
  return {
    survey: (block) => {
      mask.survey(block)
      if (kept < 1) base.survey(block)
    },
    ready: () => {
      mask.ready()
      if (kept < 1) base.ready()
    },
    apply: (block) => {
      if (kept === 1) return
      const colours = base.read(block)
      smooth(block, mask.read(block, block.y), colours, 1 - kept)
    },
  }
}

interface Colours {
  r: Float32Array
  g: Float32Array
  b: Float32Array
}

const smooth = (block: Block, weights: Float32Array, base: Colours, share: number): void => {
  const { r, g, b } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) {
    if (weights[i] === 0) continue
    const [red, green, blue] = [base.r[i]! - r[i]!, base.g[i]! - g[i]!, base.b[i]! - b[i]!]
    const far = Math.max(Math.abs(red), Math.abs(green), Math.abs(blue))
    const weight = weights[i]! * share * Math.exp(-((far / TEXTURE_EDGE) ** 2))
    r[i] = r[i]! + weight * red
    g[i] = g[i]! + weight * green
    b[i] = b[i]! + weight * blue
  }
}

/** Inside the mask: Cb and Cr of the blurred skin, luma as it is. */
export const evenColourStage = (image: Size, mask: SkinMask): Stage => {
  const even = makeSkinColours(image, COLOUR_BLUR)
  return {
    survey: even.survey,
    ready: even.ready,
    apply: (block) => {
      const colours = even.read(block)
      evenColours(block, mask.read(block, block.y), colours)
    },
  }
}

const evenColours = (block: Block, weights: Float32Array, even: Colours): void => {
  const { r, g, b } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) {
    if (weights[i] === 0) continue
    const [red, green, blue] = [even.r[i]! - r[i]!, even.g[i]! - g[i]!, even.b[i]! - b[i]!]
    const luma = LUMA.r * red + LUMA.g * green + LUMA.b * blue
    const far = Math.max(Math.abs(red - luma), Math.abs(green - luma), Math.abs(blue - luma))
    const weight = weights[i]! * Math.exp(-((far / COLOUR_EDGE) ** 2))
    r[i] = r[i]! + weight * (red - luma)
    g[i] = g[i]! + weight * (green - luma)
    b[i] = b[i]! + weight * (blue - luma)
  }
}

interface SkinColours {
  survey: (block: Block) => void
  ready: () => void
  /** The colours over the block's area, in its planes `t`, `u` and `v`. */
  read: (block: Block) => Colours
}

/**
 * Blurred colours of the skin alone (each pixel weighted by the mask before the feather): hair, eyes and background next
 * to skin don't shine into it, which would draw halos along its outline.
 */
const makeSkinColours = (image: Size, percent: number): SkinColours => {
  const sigma = blurSigma(image, percent)
  const map = () => makeCoarse(image, cellFor(sigma))
  const [weight, r, g, b] = [map(), map(), map(), map()]
  return {
    survey: (block) => {
      const skin = fillSkin(block, block.y)
      addToCoarse(weight, block, skin)
      addToCoarse(r, block, product(block, block.r, skin))
      addToCoarse(g, block, product(block, block.g, skin))
      addToCoarse(b, block, product(block, block.b, skin))
    },
    ready: () => {
      for (const coarse of [weight, r, g, b]) blurCoarse(coarse, sigma)
      for (const coarse of [r, g, b]) divide(coarse, weight)
    },
    read: (block) => ({
      r: readCoarse(r, block, block.t),
      g: readCoarse(g, block, block.u),
      b: readCoarse(b, block, block.v),
    }),
  }
}

const product = (block: Block, plane: Float32Array, skin: Float32Array): Float32Array => {
  const { t } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) t[i] = plane[i]! * skin[i]!
  return t
}

// Further than the blur reaches from any skin there is no colour of skin; the mask is next to 0 there.
const LEAST_WEIGHT = 1e-3

const divide = (coarse: Coarse, weight: Coarse): void => {
  for (const [i, value] of coarse.values.entries())
    coarse.values[i] = value / Math.max(LEAST_WEIGHT, weight.values[i]!)
}
