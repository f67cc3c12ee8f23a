import type { Size } from '../size.ts'
import type { ImageRequest } from '../image-job.ts'
import { claheStage } from './clahe.ts'
import { detailStages } from './detail.ts'
import { grainStages, type NoiseSeed } from './noise.ts'
import { blurSigma } from './raster.ts'
import { makeSkinMask } from './skin-mask.ts'
import { evenColourStage, smoothStage } from './skin-smooth.ts'
import type { Stage } from './stage.ts'
import { NO_SKIN_AIM, SKIN_AIMS } from './tables.ts'
import { gammaStage, sCurveStage, saturationStage } from './tone.ts'

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
