import sharp from 'sharp'
import type { Sharp } from 'sharp'
import type { Raster } from './raster.ts'

/**
 * P, the plain enlargement: sharp's `lanczos3`, which libvips does by bicubic interpolation when it enlarges. Colours
 * are premultiplied by alpha meanwhile, so that transparent pixels do not bleed.
 */
export const enlarge = async (source: Raster, factor: number): Promise<Raster> => {
  const [width, height] = [source.width * factor, source.height * factor]
  const resized = toSharp(source).resize(width, height, { kernel: 'lanczos3', fit: 'fill' })
  return { ...source, width, height, data: await resized.raw().toBuffer() }
}

/** A 3 × 3 median of the colours; alpha stays. */
export const denoise = async (source: Raster): Promise<Raster> => {
  const { width, height, channels, data } = source
  const filtered = await toSharp(source).removeAlpha().median(3).raw().toBuffer()
  if (channels === 3) return { ...source, data: filtered }
  const joined = new Uint8Array(data)
  for (let i = 0; i < width * height; i++) joined.set(filtered.subarray(i * 3, i * 3 + 3), i * 4)
  return { ...source, data: joined }
}

const toSharp = ({ width, height, channels, data }: Raster): Sharp =>
  sharp(data, { raw: { width, height, channels }, limitInputPixels: false })
