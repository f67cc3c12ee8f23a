import type { Size } from '../size.ts'
import type { UpscaleSettings, UpscalePrecisionSettings } from '../image-settings.ts'
import { areaLength, type Block } from './block.ts'
import { claheStage } from './clahe.ts'
import { addToCoarse, blurCoarse, makeCoarse, readCoarse } from './coarse.ts'
import { detailStages } from './detail.ts'
import { grainStages, type Grain, type NoiseSeed } from './noise.ts'
import { readLuma } from './luma.ts'
import { blurSigma } from './raster.ts'
import type { Stage } from './stage.ts'
import { mixStage } from './tone.ts'

/** Offsets on the sliders creativity, fractality and hdr. */
interface UpscaleOffsets {
  creativity: number
  fractality: number
  hdr: number
}

const offsets = (creativity: number, fractality: number, hdr: number): UpscaleOffsets => ({
  creativity,
  fractality,
  hdr,
})

const UPSCALE_ENGINES: Record<UpscaleSettings['engine'], UpscaleOffsets> = {
  automatic: offsets(0, 0, 0),
  vendor_illusio: offsets(-2, -3, 0),
  vendor_sharpy: offsets(-1, 4, 1),
  vendor_sparkle: offsets(0, 1, 4),
}

const UPSCALE_SUBJECTS: Record<UpscaleSettings['optimized_for'], UpscaleOffsets> = {
  standard: offsets(0, 0, 0),
  soft_portraits: offsets(-2, -2, -2),
  hard_portraits: offsets(0, 2, 1),
  art_n_illustration: offsets(-1, 2, 1),
  videogame_assets: offsets(-2, 3, 1),
  nature_n_landscapes: offsets(1, 2, 2),
  films_n_photography: offsets(1, 0, 0),
  '3d_renders': offsets(-3, 2, 1),
  science_fiction_n_horror: offsets(2, 1, 3),
}

interface Flavor {
  /** Factor on ultra_detail. */
  ultraDetail: number
  /** True when a 3 × 3 median runs before the enlargement. */
  median: boolean
}

export const FLAVORS: Record<UpscalePrecisionSettings['flavor'], Flavor> = {
  sublime: { ultraDetail: 1.25, median: false },
  photo: { ultraDetail: 1, median: false },
  photo_denoiser: { ultraDetail: 1, median: true },
}

/**
 * The steps on P, the plain enlargement by `factor`; none at resemblance 10, where the result is P.
 * @param image size of the result
 */
export const planUpscale = (
  image: Size,
  settings: UpscaleSettings,
  { factor, seed }: { factor: number; seed: NoiseSeed },
): Stage[] => {
  const plain = (settings.resemblance + 10) / 20
  if (plain === 1) return []
  const { creativity, fractality, hdr } = readSliders(settings)
  const softness = creativity < 0 ? 0.05 * -creativity * factor : 0
  const grain = { seed, levels: 0.6 * creativity, ...textureWeight(image, factor) }
  return [
    ...detailStages(image, [
      { sigma: blurSigma(image, 1), amount: 0.04 * hdr },
      { sigma: 0.6 * factor, amount: 0.4 + 0.06 * fractality },
    ]),
    ...(hdr > 0 ? [claheStage(image, 0.04 * hdr)] : []),
    ...detailStages(image, [{ sigma: softness, amount: -1 }]),
    ...grainStages(grain),
    ...(plain === 0 ? [] : [mixStage(1 - plain)]),
  ]
}

const readSliders = (settings: UpscaleSettings) => {
  const engine = UPSCALE_ENGINES[settings.engine]
  const subject = UPSCALE_SUBJECTS[settings.optimized_for]
  const clamped = (name: 'creativity' | 'fractality' | 'hdr') =>
    Math.min(10, Math.max(-10, settings[name] + engine[name] + subject[name]))
  return {
    creativity: clamped('creativity'),
    fractality: clamped('fractality'),
    hdr: clamped('hdr'),
  }
}

// Half of the grain where the local standard deviation is 4 levels: flat sky stays clean, fabric and foliage get it all.
const HALF_TEXTURE = 4 / 255

/** Weight by local texture of P: its standard deviation s within σ 2 n px, as s / (s + 4 levels). */
const textureWeight = (
  image: Size,
  factor: number,
): Required<Pick<Grain, 'survey' | 'ready' | 'weight'>> => {
  const mean = makeCoarse(image, factor)
  const square = makeCoarse(image, factor)
  const survey = (block: Block) => {
    const y = readLuma(block)
    addToCoarse(mean, block, y)
    for (let i = 0; i < areaLength(block); i++) y[i] = y[i]! * y[i]!
    addToCoarse(square, block, y)
  }
  const ready = () => {
    blurCoarse(mean, 2 * factor)
    blurCoarse(square, 2 * factor)
    for (const [i, value] of mean.values.entries()) {
      const deviation = Math.sqrt(Math.max(0, square.values[i]! - value * value))
      mean.values[i] = deviation / (deviation + HALF_TEXTURE)
    }
  }
  return { survey, ready, weight: (block) => readCoarse(mean, block, block.u) }
}

/**
 * The steps on P, the plain enlargement.
 * @param image size of the result
 */
export const planPrecision = (
  image: Size,
  settings: UpscalePrecisionSettings,
  seed: NoiseSeed,
): Stage[] => {
  const factor = settings.scale_factor
  const ultraDetail = settings.ultra_detail * FLAVORS[settings.flavor].ultraDetail
  return [
    ...detailStages(image, [
      { sigma: 0.6 * factor, amount: settings.sharpen / 50 },
      { sigma: 2 * factor, amount: ultraDetail / 125 },
    ]),
    ...grainStages({ seed, levels: 0.08 * settings.smart_grain }),
  ]
}
