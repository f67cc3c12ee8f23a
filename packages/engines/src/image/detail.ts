import type { Size } from '../size.ts'
import { areaLength, type Block } from './block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse } from './coarse.ts'
import { blurPlane, gaussianKernel, gaussianReach } from './gaussian.ts'
import { addToColours, readLuma } from './luma.ts'
import type { Stage } from './stage.ts'

/** A band of luma, Y − Gaussian(Y, σ px), and how much of it to add; −1 leaves the Gaussian alone. */
export interface DetailBand {
  sigma: number
  amount: number
}

/**
 * Adds bands of luma detail, all taken from the picture as it enters the stage. Working on luma alone gives the same luma
 * as working on each colour and leaves no coloured fringes.
 */
export const detailStages = (image: Size, bands: DetailBand[]): Stage[] => {
  const used = bands.filter(({ sigma, amount }) => amount !== 0 && sigma > 0)
  if (used.length === 0) return []
  const blurs = used.map(({ sigma }) => lumaBlur(image, sigma))
  const surveying = blurs.filter((blur) => blur.survey)
  const survey = (block: Block) => {
    readLuma(block)
    for (const blur of surveying) blur.survey?.(block)
  }
  return [
    {
      reach: Math.max(...blurs.map((blur) => blur.reach)),
      ...(surveying.length > 0 && { survey }),
      ready: () => surveying.forEach((blur) => blur.ready?.()),
      apply: (block) => addBands(block, used, blurs),
    },
  ]
}

const addBands = (block: Block, bands: DetailBand[], blurs: LumaBlur[]): void => {
  const y = readLuma(block)
  const delta = block.v
  const length = areaLength(block)
  delta.fill(0, 0, length)
  for (const [index, { amount }] of bands.entries()) {
    const blurred = blurs[index]!.read(block)
    for (let i = 0; i < length; i++) delta[i] = delta[i]! + amount * (y[i]! - blurred[i]!)
  }
  addToColours(block, delta)
}

/** A Gaussian of `block.y`, read into `block.u` through `block.t`. */
interface LumaBlur {
  reach: number
  survey?: (block: Block) => void
  ready?: () => void
  read: (block: Block) => Float32Array
}

// Up to here a direct filter (at most 29 taps) is faster than another pass over the picture.
const WIDEST_DIRECT_SIGMA = 4.5

const lumaBlur = (image: Size, sigma: number): LumaBlur =>
  sigma > WIDEST_DIRECT_SIGMA ? coarseBlur(image, sigma) : directBlur(sigma)

const directBlur = (sigma: number): LumaBlur => {
  const kernel = gaussianKernel(sigma)
  return {
    reach: gaussianReach(sigma),
    read: ({ y, t, u, area }) => {
      blurPlane({ from: y, through: t, into: u }, area, kernel)
      return u
    },
  }
}

const coarseBlur = (image: Size, sigma: number): LumaBlur => {
  // At least 2 bounds the map to a quarter of the picture.
  const map = makeCoarse(image, Math.max(2, cellFor(sigma)))
  return {
    reach: 0,
    survey: (block) => addToCoarse(map, block, block.y),
    ready: () => blurCoarse(map, sigma),
    read: (block) => readCoarse(map, block, block.u),
  }
}
