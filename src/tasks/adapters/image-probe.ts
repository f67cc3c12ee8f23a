import { probeImage as probe, type ProbedImage } from '../../../packages/engines/src/image-probe.ts'
import { toTaskError } from './input-error.ts'

/**
 * Reads format and size of an image file, by its path or its bytes, without decoding its pixels.
 * @throws TaskError `image_invalid`, `pixel_limit`
 */
export const probeImage = (
  file: string | Buffer,
  limits: { maxPixels: number },
): Promise<ProbedImage> =>
  probe(file, limits).catch((error: unknown) => {
    throw toTaskError(error)
  })
