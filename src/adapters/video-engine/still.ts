import sharp from 'sharp'
import type { Sharp } from 'sharp'
import { TaskError } from '../../domain/task/task-error.ts'
import { toVideoError, VideoError } from '../../domain/video-task/video-error.ts'
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
 * @throws VideoError `ImageFormatInvalid`, `ImageSizeInvalid`
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
 * @throws VideoError as `readStill`
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
  if (info.channels !== channels) throw new VideoError('ImageFormatInvalid')
  return { data, width: info.width, height: info.height, channels }
}

const reject = (cause: unknown): never => {
  if (cause instanceof TaskError) throw toVideoError(cause, 'image')
  const { message, code } = cause as NodeJS.ErrnoException
  // A file that cannot be opened says nothing about the picture; it may be there at the next attempt.
  if (code !== undefined) throw cause
  const word = message.includes('exceeds pixel limit') ? 'ImageSizeInvalid' : 'ImageFormatInvalid'
  throw new VideoError(word, undefined, { cause })
}
