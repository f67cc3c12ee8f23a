import { hash } from './noise.ts'
import type { Picture } from './render.ts'

/** 8-bit sRGB, interleaved rows. */
export interface Bitmap {
  width: number
  height: number
  /** 3, or 4 with alpha. */
  channels: 3 | 4
  data: Buffer
}

/** Exposes a picture like film, halves it (2 × 2 means) and encodes it as sRGB. */
export const develop = (picture: Picture): Bitmap => encode(picture, 3)

/** The same with alpha: the share of the 2 × 2 pixels that show a thing; only those count for the colour. */
export const developCutout = (picture: Picture): Bitmap => encode(picture, 4)

function encode(picture: Picture, channels: 3 | 4): Bitmap {
  const width = picture.width >> 1
  const height = picture.height >> 1
  const data = Buffer.alloc(width * height * channels)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const i = y * 2 * picture.width + x * 2
      const four = [i, i + 1, i + picture.width, i + picture.width + 1]
      const shown = channels === 3 ? four : four.filter((k) => (picture.depth[k] ?? 0) < Infinity)
      const to = (y * width + x) * channels
      for (let c = 0; c < 3; c += 1) data[to + c] = level(mean(picture, shown, c), hash(x, y, 0))
      if (channels === 4) data[to + 3] = Math.round((shown.length / 4) * 255)
    }
  }
  return { width, height, channels, data }
}

function mean(picture: Picture, pixels: readonly number[], channel: number): number {
  let sum = 0
  for (const k of pixels) sum += film(picture.light[k * 3 + channel] ?? 0)
  return sum / Math.max(1, pixels.length)
}

/** Linear in the darks and mids, then a soft shoulder that never reaches white. */
function film(x: number): number {
  if (x < SHOULDER) return Math.max(0, x)
  const over = (x - SHOULDER) / (1 - SHOULDER)
  return SHOULDER + (1 - SHOULDER) * (1 - Math.exp(-over))
}

/** Above it lie only highlights: white paper in the key light comes to about 0.8. */
const SHOULDER = 0.55

/** sRGB byte of a linear value; a dither of under half a level keeps soft gradients free of bands. */
function level(linear: number, dither: number): number {
  const s = linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055
  return Math.max(0, Math.min(255, Math.round(s * 255 + (dither / 4294967296 - 0.5) * 0.8)))
}
