import type { Size } from '../size.ts'
import { areaLength } from './block.ts'
import { addToCoarse, blurCoarse, cellFor, makeCoarse, readCoarse, type Coarse } from './coarse.ts'
import { blurSigma } from './raster.ts'
import type { Stage } from './stage.ts'

export interface ColourBlur extends Required<Pick<Stage, 'survey' | 'ready'>> {
  maps: { r: Coarse; g: Coarse; b: Coarse }
}

/** A blur of all colours by so many per cent of the longer side. */
const makeColourBlur = (image: Size, percent: number): ColourBlur => {
  const sigma = blurSigma(image, percent)
  const map = () => makeCoarse(image, cellFor(sigma))
  const maps = { r: map(), g: map(), b: map() }
  return {
    maps,
    survey: (block) => {
      addToCoarse(maps.r, block, block.r)
      addToCoarse(maps.g, block, block.g)
      addToCoarse(maps.b, block, block.b)
    },
    ready: () => Object.values(maps).forEach((coarse) => blurCoarse(coarse, sigma)),
  }
}

/** Combines each colour with its own blur: how a soft focus is made. */
export const softFocusStage = (
  image: Size,
  percent: number,
  combine: (value: number, blurred: number) => number,
): Stage => {
  const { maps, survey, ready } = makeColourBlur(image, percent)
  return {
    survey,
    ready,
    apply: (block) => {
      const length = areaLength(block)
      for (const name of ['r', 'g', 'b'] as const) {
        const blurred = readCoarse(maps[name], block, block.t)
        const plane = block[name]
        for (let i = 0; i < length; i++) plane[i] = combine(plane[i]!, blurred[i]!)
      }
    },
  }
}

/** Moves a share of the way to the blur. */
export const blend =
  (share: number) =>
  (value: number, blurred: number): number =>
    value + share * (blurred - value)

/** Moves a share of the way to the screen of both, 1 − (1 − a)(1 − b). */
export const screen =
  (share: number) =>
  (value: number, blurred: number): number =>
    value + share * Math.min(1, Math.max(0, blurred)) * (1 - Math.min(1, value))
