import type { ExtendSettings, TextToVideoSettings } from './video-defaults.ts'
import { sizeLike, sizeOfRatio } from './video-size.ts'
import type { Size } from '../../../platform/domain/size.ts'

/**
 * Seconds of the local engine for each megapixel and second of the result: about twice what `npm run bench --
 * video-engine` measured on one core, for slower machines. A drawn scene moves several layers, a still only one.
 */
const SECONDS_PER_MEGAPIXEL_SECOND = { scene: 1.3, still: 0.7 }

const LONGEST_SECONDS = 86_400

/**
 * X-Estimated-Duration-Seconds of a text-to-video task: a whole number from 1 to 86400.
 * @param startImage its size; undefined when there is none, or none that is known yet: 16:9 then stands for its ratio
 */
export const estimateTextToVideo = (
  {
    duration,
    resolution,
    aspect_ratio: ratio,
    hasStartImage,
  }: Pick<TextToVideoSettings, 'duration' | 'resolution' | 'aspect_ratio'> & {
    hasStartImage: boolean
  },
  startImage: Size | undefined,
): number => {
  if (!hasStartImage) return estimate('scene', sizeOfRatio(resolution, ratio), duration)
  const size = startImage ? sizeLike(resolution, startImage) : sizeOfRatio(resolution, '16:9')
  return estimate('still', size, duration)
}

/**
 * X-Estimated-Duration-Seconds of an extension. It counts the added part at 16:9, because length and ratio of the
 * source are not known yet.
 */
export const estimateExtend = ({
  duration,
  resolution,
}: Pick<ExtendSettings, 'duration' | 'resolution'>): number =>
  estimate('still', sizeOfRatio(resolution, '16:9'), duration)

const estimate = (
  what: keyof typeof SECONDS_PER_MEGAPIXEL_SECOND,
  { width, height }: Size,
  duration: number,
): number => {
  const megapixelSeconds = ((width * height) / 1_000_000) * duration
  const seconds = Math.ceil(megapixelSeconds * SECONDS_PER_MEGAPIXEL_SECOND[what])
  return Math.min(LONGEST_SECONDS, Math.max(1, seconds))
}
