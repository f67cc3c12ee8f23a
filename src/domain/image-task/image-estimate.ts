import type { ImageTaskKind } from './image-kind.ts'

/**
 * Seconds of the local engine for each megapixel of the result, decoding and encoding included: one and a half to two
 * and a half times what `npm run bench -- image-engine` measured (0.08 to 0.17 for 4 megapixels of JPEG on one core), for
 * slower machines and for PNG.
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
