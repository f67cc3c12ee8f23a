import type { Size } from '../shared/size.ts'
import type { ImageRequest } from './image-kind.ts'

/** An upscaled result may hold this many pixels (interface, Limits). */
const UPSCALE_MAX_PIXELS = 25_300_000
/** A precision result may be this long on each side. */
const PRECISION_MAX_SIDE = 10_060

/** Width and height of the result in pixels. */
export const resultSize = (request: ImageRequest, source: Size): Size => {
  const factor = scaleFactor(request)
  return { width: source.width * factor, height: source.height * factor }
}

/** The sentence that refuses a result of this size, or undefined when it is allowed. */
export const pixelLimitFault = (request: ImageRequest, source: Size): string | undefined => {
  const { width, height } = resultSize(request, source)
  if (request.kind === 'upscale' && width * height > UPSCALE_MAX_PIXELS)
    return `must be small enough that the result has at most ${UPSCALE_MAX_PIXELS} pixels; ${source.width}×${source.height} at ${request.settings.scale_factor} gives ${width * height}`
  if (request.kind === 'upscale_precision' && Math.max(width, height) > PRECISION_MAX_SIDE)
    return `must be small enough that each side of the result has at most ${PRECISION_MAX_SIDE} pixels; ${source.width}×${source.height} at factor ${request.settings.scale_factor} gives ${width}×${height}`
  return undefined
}

const scaleFactor = (request: ImageRequest): number => {
  if (request.kind === 'upscale') return Number.parseInt(request.settings.scale_factor, 10)
  return request.kind === 'upscale_precision' ? request.settings.scale_factor : 1
}
