import type { Picture } from './render.ts'
import { hash } from './noise.ts'

/** 8-bit sRGB, three bytes a pixel. */
export interface Bitmap {
  width: number
  height: number
  data: Buffer
}

/** Halves the picture in linear light (2 × 2 means), then exposes it like film and encodes it as sRGB. */
export function develop(picture: Picture, exposure: number): Bitmap {
  const width = picture.width >> 1
  const height = picture.height >> 1
  const data = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (let c = 0; c < 3; c += 1) {
        const i = (y * 2 * picture.width + x * 2) * 3 + c
        const j = i + picture.width * 3
        let sum = 0
        for (const k of [i, i + 3, j, j + 3]) sum += film((picture.light[k] ?? 0) * exposure)
        const mean = sum / 4
        data[(y * width + x) * 3 + c] = level(mean, hash(x, y, 0))
      }
    }
  }
  return { width, height, data }
}

/** Linear in the darks and mids, a soft shoulder above 0.55 that never reaches white. */
export function film(x: number): number {
  if (x < SHOULDER) return Math.max(0, x)
  const over = (x - SHOULDER) / (1 - SHOULDER)
  return SHOULDER + (1 - SHOULDER) * (1 - Math.exp(-over))
}

const SHOULDER = 0.55

/** sRGB byte of a linear value; a dither of half a level keeps soft gradients free of bands. */
export function level(linear: number, dither: number): number {
  const s = linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055
  return Math.max(0, Math.min(255, Math.round(s * 255 + (dither / 4294967296 - 0.5) * 0.8)))
}
