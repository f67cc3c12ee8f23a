import { join } from 'node:path'

import sharp from 'sharp'
import type { Sharp } from 'sharp'

import type { Size } from './size.ts'
import { InputError } from './input-error.ts'
import type { Raster } from './image/raster.ts'
import type { Output, OutputFormat, RenderedImage } from './image-job.ts'

/**
 * Decodes a picture into its normal form: first frame, EXIF orientation applied, ICC profile converted to sRGB, 8 bits.
 * @throws InputError `image_invalid` when it does not decode, `pixel_limit` over `maxPixels`
 */
export const readRaster = (file: Buffer, maxPixels: number): Promise<Raster> =>
  decode(file, maxPixels, (picture) => picture)

/** The same, reduced to at most `side` pixels a side. */
export const readReduced = (file: Buffer, maxPixels: number, side: number): Promise<Raster> =>
  decode(file, maxPixels, (picture) =>
    // A triangle has no negative lobes, which would ring at hard edges of a map.
    picture.resize(side, side, { fit: 'inside', withoutEnlargement: true, kernel: 'linear' }),
  )

/** A GIF decodes with an alpha channel whether it has transparent pixels or not: without any the channel goes. */
export const dropEmptyAlpha = (raster: Raster): Raster => {
  const { data, channels, width, height } = raster
  if (channels === 3) return raster
  for (let i = 3; i < data.length; i += 4) if (data[i] !== 255) return raster
  const colours = new Uint8Array(width * height * 3)
  let target = 0
  for (let i = 0; i < data.length; i += 4) {
    colours[target++] = data[i]!
    colours[target++] = data[i + 1]!
    colours[target++] = data[i + 2]!
  }
  return { ...raster, data: colours, channels: 3 }
}

const decode = async (
  file: Buffer,
  maxPixels: number,
  change: (picture: Sharp) => Sharp,
): Promise<Raster> => {
  // Real files often carry harmless defects, so warnings pass; truncation is an error.
  const picture = sharp(file, { limitInputPixels: maxPixels, failOn: 'error' }).autoOrient()
  const raw = change(picture).toColourspace('srgb').raw({ depth: 'uchar' })
  const { data, info } = await raw.toBuffer({ resolveWithObject: true }).catch(reject)
  const { width, height, channels } = info
  if (channels === 3 || channels === 4) return { data, width, height, channels }
  throw new InputError('image_invalid')
}

const reject = (cause: unknown): never => {
  const message = cause instanceof Error ? cause.message : ''
  if (message.includes('exceeds pixel limit'))
    throw new InputError('pixel_limit', undefined, { cause })
  throw new InputError('image_invalid', undefined, { cause })
}

/** Limits of the encoders on a side. */
export const MAX_SIDES = { png: Infinity, jpg: 65_535, webp: 16_383 } as const

/** True of an ending that a result may have. */
export const isOutputFormat = (extension: string): extension is OutputFormat =>
  extension in MAX_SIDES

const CONTENT_TYPES = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' } as const

// Filtered rows at level 4 take as long as libvips's default of unfiltered ones at 6, for half the bytes on enlarged pictures.
const PNG = { compressionLevel: 4, adaptiveFiltering: true } as const
// Huffman tables of its own would make the file 4 % smaller, for 6 bytes a pixel of memory and two to three times the time.
const JPEG = { quality: 95, chromaSubsampling: '4:4:4', optimiseCoding: false } as const

const WEBP_QUALITY = 90

/** A result that is encoded: its format, and what a response says of it. */
export interface Encoded {
  extension: OutputFormat
  contentType: RenderedImage['contentType']
}

/** Chooses the format that is wished for; else PNG when the input is one or has an alpha channel, else JPEG. */
export const chooseFormat = (
  input: { format: string; hasAlpha: boolean },
  output: Output = {},
): OutputFormat => output.format ?? (input.format === 'png' || input.hasAlpha ? 'png' : 'jpg')

const encode = (picture: Sharp, format: OutputFormat, quality?: number): Sharp => {
  if (format === 'png') return picture.png(PNG)
  if (format === 'webp') return picture.webp({ quality: quality ?? WEBP_QUALITY })
  return picture.flatten({ background: '#fff' }).jpeg({ ...JPEG, ...(quality && { quality }) })
}

/**
 * Copies a picture into its normal form, without what stands in a file beside the pixels.
 * @throws Error when it does not decode
 */
export const copyPicture = async (
  from: string,
  to: string,
  { format, quality }: Output & { format: OutputFormat },
): Promise<Size & Encoded> => {
  const picture = sharp(from, { limitInputPixels: false, failOn: 'error' }).autoOrient()
  const plain = picture.toColourspace('srgb')
  const { width, height } = await encode(plain, format, quality).toFile(to)
  return { extension: format, contentType: CONTENT_TYPES[format], width, height }
}

/** Most pixels of a result that stays in memory: 4 MiB at most, beside a raster that was as large. */
const MAX_IN_MEMORY = 2 ** 20

/** Encodes a raster as sRGB, 8 bit, no metadata; a large one as `result-1` in a folder. */
export const writeRaster = async (
  raster: Raster,
  { format, quality }: Output & { format: OutputFormat },
  folder: string,
): Promise<RenderedImage> => {
  const { width, height, channels } = raster
  const picture = sharp(raster.data, { raw: { width, height, channels }, limitInputPixels: false })
  const encoded = encode(picture, format, quality)
  const path = join(folder, `result-1.${format}`)
  const isSmall = width * height <= MAX_IN_MEMORY
  const file = isSmall ? await encoded.toBuffer() : (await encoded.toFile(path), path)
  return { file, contentType: CONTENT_TYPES[format], extension: format, width, height }
}
