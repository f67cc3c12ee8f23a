import type { Size } from '../size.ts'
import type { ImageRequest } from '../image-job.ts'
import type { SkinFlexibleSettings } from '../image-settings.ts'
import { claheStage } from './clahe.ts'
import { detailStages } from './detail.ts'
import { grainStages, type NoiseSeed } from './noise.ts'
import { blurSigma } from './raster.ts'
import { makeSkinMask } from './skin-mask.ts'
import { evenColourStage, smoothStage } from './skin-smooth.ts'
import type { Stage } from './stage.ts'
import { gammaStage, sCurveStage, saturationStage } from './tone.ts'

/** Changes that an aim of the flexible mode adds; 0 and 1 are neutral. */
interface SkinAim {
  gamma: number
  /** Share of the equalised luma (CLAHE). */
  equalise: number
  /** Added to the sliders. */
  sharpen: number
  smartGrain: number
  /** Share of Y − blur(1) that is added. */
  localContrast: number
  saturation: number
  /** True when the colour of skin is smoothed by blur(1). */
  evenColour: boolean
}

const NO_SKIN_AIM: SkinAim = {
  gamma: 1,
  equalise: 0,
  sharpen: 0,
  smartGrain: 0,
  localContrast: 0,
  saturation: 1,
  evenColour: false,
}

const SKIN_AIMS: Record<SkinFlexibleSettings['optimized_for'], SkinAim> = {
  enhance_skin: NO_SKIN_AIM,
  improve_lighting: { ...NO_SKIN_AIM, gamma: 0.9, equalise: 0.2 },
  enhance_everything: { ...NO_SKIN_AIM, sharpen: 15, localContrast: 0.2 },
  transform_to_real: { ...NO_SKIN_AIM, smartGrain: 6, saturation: 0.92 },
  no_make_up: { ...NO_SKIN_AIM, evenColour: true },
}

// A tenth more contrast in the mids: more would bring back the texture that the mode takes away.
const CREATIVE_CURVE = 0.2

export type SkinRequest = Extract<ImageRequest, { kind: `skin_${string}` }>

/** The steps of a skin enhancement in their order; none when the settings leave the picture as it is. */
export const planSkin = (image: Size, request: SkinRequest, seed: NoiseSeed): Stage[] => {
  const { settings } = request
  const aim =
    request.kind === 'skin_flexible' ? SKIN_AIMS[request.settings.optimized_for] : NO_SKIN_AIM
  const mask = makeSkinMask(image)
  const kept = keptDetail(request)
  const levels = 0.1 * (settings.smart_grain + aim.smartGrain)
  const masked = kept < 1 || aim.evenColour || levels > 0
  return [
    ...(masked ? [smoothStage(image, mask, kept)] : []),
    ...(request.kind === 'skin_creative'
      ? [sCurveStage(CREATIVE_CURVE), saturationStage(1.1)]
      : []),
    ...(aim.gamma === 1 ? [] : [gammaStage(aim.gamma)]),
    ...(aim.equalise === 0 ? [] : [claheStage(image, aim.equalise)]),
    ...(aim.saturation === 1 ? [] : [saturationStage(aim.saturation)]),
    ...(aim.evenColour ? [evenColourStage(image, mask)] : []),
    ...detailStages(image, [
      { sigma: 1, amount: (settings.sharpen + aim.sharpen) / 50 },
      { sigma: blurSigma(image, 1), amount: aim.localContrast },
    ]),
    ...grainStages({ seed, levels, weight: (block) => mask.read(block, block.u) }),
  ]
}

/** k: the share of skin texture that stays. */
const keptDetail = (request: SkinRequest): number => {
  if (request.kind === 'skin_faithful') return request.settings.skin_detail / 100
  return request.kind === 'skin_flexible' ? 0.7 : 0.4
}
