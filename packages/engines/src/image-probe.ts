import sharp from 'sharp'
import type { Metadata } from 'sharp'

import { InputError } from './input-error.ts'
import { hasFewParts, peekInto } from './image-parts.ts'

/** Header of an image file. */
export interface ProbedImage {
  format: 'jpeg' | 'png' | 'webp' | 'avif' | 'tiff' | 'gif'
  /** Without the dot. */
  extension: string
  contentType: string
  /** Pixels after EXIF orientation; of an animation its first frame. */
  width: number
  height: number
  hasAlpha: boolean
  /** Frames of an animation, or pages of a TIFF; the first is the picture. */
  frames: number
  /** A PNG, JPEG or WebP of one frame, upright, without a profile, of 8 bits: any program sees the same picture. */
  isPlain: boolean
}

/**
 * Reads format and size of an image file, by its path or its bytes, without decoding its pixels, so a file that breaks
 * later on passes.
 *
 * @throws InputError `image_invalid` for anything but a JPEG, PNG, WebP, AVIF, TIFF or GIF with a sound header, and
 * `pixel_limit` when width × height is over `maxPixels`. The messages name no path. Errors of the disk pass through.
 */
export const probeImage = async (
  file: string | Buffer,
  { maxPixels }: { maxPixels: number },
): Promise<ProbedImage> => {
  const format = await peekInto(file, async (peek) => {
    const head = await peek(0, HEAD_BYTES)
    const claimed = findFormat(head)
    // The decoders of SVG, PDF, HEIC and of whatever else libvips was built with never see a file.
    if (claimed === undefined) throw new InputError('image_invalid', notSupported(head))
    if (await hasFewParts(peek, claimed)) return claimed
    throw new InputError('image_invalid', TOO_MANY_PARTS)
  })
  const metadata = await readMetadata(file)
  if (familyOf(metadata) !== format) throw new InputError('image_invalid', BROKEN_HEADER)
  const { width, height } = metadata.autoOrient
  requirePixels(width, height, maxPixels)
  const frames = metadata.pages ?? 1
  const isPlain =
    PLAIN.has(format) &&
    (metadata.orientation ?? 1) === 1 &&
    frames === 1 &&
    !metadata.hasProfile &&
    metadata.depth === 'uchar'
  const { hasAlpha } = metadata
  return { format, ...FORMATS[format], width, height, hasAlpha, frames, isPlain }
}

const PLAIN: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp'])

const FORMATS = {
  jpeg: { extension: 'jpg', contentType: 'image/jpeg' },
  png: { extension: 'png', contentType: 'image/png' },
  webp: { extension: 'webp', contentType: 'image/webp' },
  avif: { extension: 'avif', contentType: 'image/avif' },
  tiff: { extension: 'tiff', contentType: 'image/tiff' },
  gif: { extension: 'gif', contentType: 'image/gif' },
} as const

const TOO_MANY_PARTS = 'The image has too many frames, pages, fields or compressed texts.'
const BROKEN_HEADER = 'The header of the image is broken.'

const notSupported = (head: Buffer): string =>
  head.length === 0
    ? 'The image is empty.'
    : 'The file is not a JPEG, PNG, WebP, AVIF, TIFF or GIF image.'

// Brands of an AVIF stand in its first box, which is rarely longer than 40 bytes.
const HEAD_BYTES = 256

/** The format that the first bytes claim. */
const findFormat = (head: Buffer): ProbedImage['format'] | undefined => {
  const text = head.toString('latin1')
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (/^GIF8[79]a/.test(text)) return 'gif'
  if (/^RIFF[^]{4}WEBP/.test(text)) return 'webp'
  if (/^(II[*+]\0|MM\0[*+])/.test(text)) return 'tiff'
  return isAvif(head, text) ? 'avif' : undefined
}

/** An ISO media file that has an AV1 image brand, as major or as compatible one; HEIC has others. */
const isAvif = (head: Buffer, text: string): boolean => {
  if (text.slice(4, 8) !== 'ftyp') return false
  const end = Math.min(head.readUInt32BE(0), head.length)
  const brands = [text.slice(8, 12)]
  for (let at = 16; at + 4 <= end; at += 4) brands.push(text.slice(at, at + 4))
  return brands.includes('avif') || brands.includes('avis')
}

const readMetadata = async (file: string | Buffer): Promise<Metadata> => {
  // libvips keeps files open and results in memory otherwise. The setting belongs to the process, and setting it again
  // costs nothing.
  sharp.cache(false)
  try {
    // sharp's own pixel limit is an error without a code, so a header over the limit is read and then checked here.
    return await sharp(file, { limitInputPixels: false, failOn: 'none' }).metadata()
  } catch (cause) {
    throw new InputError('image_invalid', BROKEN_HEADER, { cause })
  }
}

const familyOf = (metadata: Metadata): string | undefined =>
  metadata.format === 'heif' && metadata.compression === 'av1' ? 'avif' : metadata.format

const requirePixels = (width: number, height: number, maxPixels: number): void => {
  if (width * height <= maxPixels) return
  throw new InputError(
    'pixel_limit',
    `The image has ${width} × ${height} pixels, more than ${maxPixels} in all.`,
  )
}
