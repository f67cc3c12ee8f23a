import type { Size } from '../../../platform/domain/size.ts'
import { IMAGE_KINDS, type ImageRequest, type ImageTaskKind } from './image-kind.ts'

/** The row of a kind; undefined of a kind of an operator's own, whose fields mean what its engine says. */
const rowOf = (kind: string): (typeof IMAGE_KINDS)[ImageTaskKind] | undefined =>
  Object.hasOwn(IMAGE_KINDS, kind) ? IMAGE_KINDS[kind as ImageTaskKind] : undefined

/** Width and height of the result in pixels. */
export const resultSize = ({ kind, settings }: ImageRequest, source: Size): Size => {
  const isScaled = rowOf(kind) && 'scale_factor' in settings
  const factor = isScaled ? Number.parseInt(String(settings.scale_factor), 10) : 1
  return { width: source.width * factor, height: source.height * factor }
}

/** The sentence that rejects a result of this size, or undefined when it is allowed. */
export const pixelLimitIssue = (request: ImageRequest, source: Size): string | undefined => {
  const { width, height } = resultSize(request, source)
  const { pixels = Infinity, side = Infinity } = rowOf(request.kind)?.maxResult ?? {}
  const factor = 'scale_factor' in request.settings ? request.settings.scale_factor : 1
  if (width * height > pixels)
    return `must be small enough that the result has at most ${pixels} pixels; ${source.width}×${source.height} at ${factor} gives ${width * height}`
  if (Math.max(width, height) > side)
    return `must be small enough that each side of the result has at most ${side} pixels; ${source.width}×${source.height} at factor ${factor} gives ${width}×${height}`
  return undefined
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
  const perMegapixel = rowOf(kind)?.secondsPerMegapixel
  if (perMegapixel === undefined) return UNKNOWN_SECONDS
  const seconds = Math.ceil(resultMegapixels * perMegapixel)
  return Math.min(LONGEST_SECONDS, Math.max(1, seconds))
}
