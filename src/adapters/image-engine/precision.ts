import type { Size } from '../../domain/shared/size.ts'
import type { UpscalePrecisionSettings } from '../../domain/image-task/image-settings.ts'
import { detailStages } from './detail.ts'
import { grainStages, type NoiseSeed } from './noise.ts'
import type { Stage } from './stage.ts'
import { FLAVORS } from './tables.ts'

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
