import { blurPlane, gaussianKernel } from '../gaussian.ts'
import { LUMA } from '../luma.ts'
import type { Raster, Size } from '../raster.ts'

/** Planes of a small picture, 0..1. */
export interface LightPlanes extends Size {
  r: Float32Array
  g: Float32Array
  b: Float32Array
}

/** Splits a small raster into planes; transparent parts count as unlit. */
export const toLightPlanes = ({ width, height, data, channels }: Raster): LightPlanes => {
  const plane = (channel: number) =>
    Float32Array.from({ length: width * height }, (_, i) => {
      const alpha = channels === 4 ? data[i * 4 + 3]! / 255 : 1
      return (data[i * channels + channel]! / 255) * alpha
    })
  return { width, height, r: plane(0), g: plane(1), b: plane(2) }
}

/** Blurs a map by so many per cent of its longer side. */
export const blurLight = (light: LightPlanes, percent: number): LightPlanes => {
  const kernel = gaussianKernel((Math.max(light.width, light.height) * percent) / 100)
  const through = new Float32Array(light.width * light.height)
  const blur = (from: Float32Array) => {
    const into = new Float32Array(from.length)
    blurPlane({ from, through, into }, light, kernel)
    return into
  }
  return { ...light, r: blur(light.r), g: blur(light.g), b: blur(light.b) }
}

/** The light at a point of the picture, both coordinates 0..1, stretched to its sides. */
export const readLight = (light: LightPlanes, x: number, y: number) => {
  const left = clampIndex(x * light.width - 0.5, light.width)
  const top = clampIndex(y * light.height - 0.5, light.height)
  const read = (plane: Float32Array) => sample(plane, light, left, top)
  const [r, g, b] = [read(light.r), read(light.g), read(light.b)]
  return { r, g, b, luma: LUMA.r * r + LUMA.g * g + LUMA.b * b }
}

const clampIndex = (position: number, length: number): number =>
  Math.min(length - 1, Math.max(0, position))

const sample = (plane: Float32Array, { width, height }: Size, x: number, y: number): number => {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const right = Math.min(width - 1, left + 1)
  const bottom = Math.min(height - 1, top + 1)
  const upper = lerp(plane[top * width + left]!, plane[top * width + right]!, x - left)
  const lower = lerp(plane[bottom * width + left]!, plane[bottom * width + right]!, x - left)
  return lerp(upper, lower, y - top)
}

const lerp = (from: number, to: number, share: number): number => from + share * (to - from)
