import type { Size } from '../../size.ts'
import { blurPlane, gaussianKernel } from '../gaussian.ts'
import type { Raster } from '../raster.ts'

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

/** Reads a plane of a map at cells over the picture, stretched to its sides; `across` and `down` are positions 0..1. */
export const stretchPlane = (
  plane: Float32Array,
  map: Size,
  { across, down }: { across: Float64Array; down: Float64Array },
): Float32Array => {
  const result = new Float32Array(across.length * down.length)
  let target = 0
  for (const y of down) {
    const row = clampPosition(y * map.height - 0.5, map.height)
    const upper = Math.floor(row) * map.width
    const lower = Math.min(map.height - 1, Math.floor(row) + 1) * map.width
    for (const x of across) {
      const column = clampPosition(x * map.width - 0.5, map.width)
      const left = Math.floor(column)
      const right = Math.min(map.width - 1, left + 1)
      const top = lerp(plane[upper + left]!, plane[upper + right]!, column - left)
      const bottom = lerp(plane[lower + left]!, plane[lower + right]!, column - left)
      result[target++] = lerp(top, bottom, row - Math.floor(row))
    }
  }
  return result
}

const clampPosition = (position: number, length: number): number =>
  Math.min(length - 1, Math.max(0, position))

const lerp = (from: number, to: number, share: number): number => from + share * (to - from)
