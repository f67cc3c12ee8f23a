import type { Size } from '../../../platform/domain/size.ts'
import type { ImageRequest, ImageTaskKind } from './image-kind.ts'

/** Most pixels that a result may have, and on each side (interface, Limits). */
export const RESULT_LIMITS: Partial<Record<ImageTaskKind, { pixels?: number; side?: number }>> = {
  upscale: { pixels: 25_300_000 },
  upscale_precision: { side: 10_060 },
}

/** Width and height of the result in pixels. */
export const resultSize = (request: ImageRequest, source: Size): Size => {
  const factor = scaleFactor(request)
  return { width: source.width * factor, height: source.height * factor }
}

/** The sentence that rejects a result of this size, or undefined when it is allowed. */
export const pixelLimitIssue = (request: ImageRequest, source: Size): string | undefined => {
  const { width, height } = resultSize(request, source)
  const { pixels = Infinity, side = Infinity } = RESULT_LIMITS[request.kind] ?? {}
  if (request.kind === 'upscale' && width * height > pixels)
    return `must be small enough that the result has at most ${pixels} pixels; ${source.width}×${source.height} at ${request.settings.scale_factor} gives ${width * height}`
  if (request.kind === 'upscale_precision' && Math.max(width, height) > side)
    return `must be small enough that each side of the result has at most ${side} pixels; ${source.width}×${source.height} at factor ${request.settings.scale_factor} gives ${width}×${height}`
  return undefined
}

const scaleFactor = (request: ImageRequest): number => {
  if (request.kind === 'upscale') return Number.parseInt(request.settings.scale_factor, 10)
  return request.kind === 'upscale_precision' ? request.settings.scale_factor : 1
}

/**
 * Seconds of the local engine for each megapixel of the result, decoding and encoding included: one and a half to two
 * and a half times what was measured (0.08 to 0.17 for 4 megapixels of JPEG on one core), for slower machines and for
 * PNG.
 */
const SECONDS_PER_MEGAPIXEL: Record<ImageTaskKind, number> = {
  relight: 0.2,
  upscale: 0.2,
  upscale_precision: 0.2,
  skin_flexible: 0.25,
  skin_creative: 0.25,
  skin_faithful: 0.25,
}

/** The estimate while the size of a picture is not known, because it must still be fetched. */
const UNKNOWN_SECONDS = 10

const LONGEST_SECONDS = 86_400

/**
 * X-Estimated-Duration-Seconds of an image task: a whole number from 1 to 86400.
 * @param resultMegapixels size of the result in millions of pixels; undefined when it is not known yet
 */
export const estimateSeconds = (
  kind: ImageTaskKind,
  resultMegapixels: number | undefined,
): number => {
  if (resultMegapixels === undefined) return UNKNOWN_SECONDS
  const seconds = Math.ceil(resultMegapixels * SECONDS_PER_MEGAPIXEL[kind])
  return Math.min(LONGEST_SECONDS, Math.max(1, seconds))
}
