import type { Size } from '../size.ts'

/** Interleaved 8-bit sRGB, rows top down, with alpha (not premultiplied) as fourth channel when there is one. */
export interface Raster extends Size {
  data: Uint8Array
  channels: 3 | 4
}

/** Standard deviation in pixels of the design's `blur(x)`: x per cent of the longer side. */
export const blurSigma = (size: Size, percent: number): number =>
  (Math.max(size.width, size.height) * percent) / 100
