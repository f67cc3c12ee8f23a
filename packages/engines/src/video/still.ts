import sharp from 'sharp'
import type { Sharp } from 'sharp'
import { InputError } from '../input-error.ts'
import { probeImage } from '../image-probe.ts'
import type { Picture } from './picture.ts'

export interface StillOptions {
  width: number
  height: number
  maxPixels: number
}

/**
 * Decodes a caller's picture in its normal form (EXIF orientation applied, sRGB, 8 bits), scaled to cover a frame; what
 * is transparent shows white.
 * @throws InputError `image_invalid`, `pixel_limit`
 */
export const readStill = async (path: string, options: StillOptions): Promise<Picture> => {
  const { width, height } = options
  const picture = await open(path, options)
  return toPicture(
    picture.flatten({ background: '#fff' }).resize(width, height, { fit: 'cover' }),
    3,
  )
}

/**
 * Decodes a caller's watermark, scaled to fit a box with its shape kept, with alpha.
 * @throws InputError as `readStill`
 */
export const readMark = async (path: string, options: StillOptions): Promise<Picture> => {
  const { width, height } = options
  const picture = await open(path, options)
  return toPicture(picture.ensureAlpha().resize(width, height, { fit: 'inside' }), 4)
}

const open = async (path: string, { maxPixels }: StillOptions): Promise<Sharp> => {
  await probeImage(path, { maxPixels }).catch(reject)
  return sharp(path, { limitInputPixels: maxPixels, failOn: 'error' }).autoOrient()
}

const toPicture = async (picture: Sharp, channels: 3 | 4): Promise<Picture> => {
  const raw = picture.toColourspace('srgb').raw({ depth: 'uchar' })
  const { data, info } = await raw.toBuffer({ resolveWithObject: true }).catch(reject)
  if (info.channels !== channels) throw new InputError('image_invalid')
  return { data, width: info.width, height: info.height, channels }
}

const reject = (cause: unknown): never => {
  if (cause instanceof InputError) throw cause
  const { message, code } = cause as NodeJS.ErrnoException
  // A file that cannot be opened says nothing about the picture; it may be there at the next attempt.
  if (code !== undefined) throw cause
  const word = message.includes('exceeds pixel limit') ? 'pixel_limit' : 'image_invalid'
  throw new InputError(word, undefined, { cause })
}
