import type { Size } from '../size.ts'
import type { Raster } from './raster.ts'

/** A rectangle in pixels of the whole image. */
export interface Area extends Size {
  left: number
  top: number
}

/**
 * A rectangle of the image in work, as planes of 32-bit floats (0..1, values outside are kept until the end). `area` is
 * what the planes hold, row by row; `inner` is the part that counts, the margin around it feeds the filters.
 */
export interface Block {
  area: Area
  inner: Area
  image: Size
  source: Raster
  r: Float32Array
  g: Float32Array
  b: Float32Array
  /** Scratch of a stage: nothing in it outlives the stage. */
  y: Float32Array
  t: Float32Array
  u: Float32Array
  v: Float32Array
}

// 1024 × 256 keeps one plane at 1 MiB; larger blocks were no faster (measured up to 4 MiB), smaller ones waste margins.
const BLOCK_WIDTH = 1024
const BLOCK_HEIGHT = 256

/** Cuts an image into blocks, each with a margin of `reach` pixels where the image has them. */
export const listBlockAreas = (image: Size, reach: number): { area: Area; inner: Area }[] => {
  const areas = []
  for (let top = 0; top < image.height; top += BLOCK_HEIGHT) {
    for (let left = 0; left < image.width; left += BLOCK_WIDTH) {
      const width = Math.min(BLOCK_WIDTH, image.width - left)
      const inner = { left, top, width, height: Math.min(BLOCK_HEIGHT, image.height - top) }
      areas.push({ inner, area: grow(inner, reach, image) })
    }
  }
  return areas
}

const grow = (inner: Area, reach: number, image: Size): Area => {
  const left = Math.max(0, inner.left - reach)
  const top = Math.max(0, inner.top - reach)
  const right = Math.min(image.width, inner.left + inner.width + reach)
  const bottom = Math.min(image.height, inner.top + inner.height + reach)
  return { left, top, width: right - left, height: bottom - top }
}

/** Planes for the largest block of an image; one set serves all its blocks in turn. */
export const makeBlock = (source: Raster, reach: number): Block => {
  const width = Math.min(source.width, BLOCK_WIDTH + 2 * reach)
  const height = Math.min(source.height, BLOCK_HEIGHT + 2 * reach)
  const plane = () => new Float32Array(width * height)
  const area = { left: 0, top: 0, width, height }
  const planes = { r: plane(), g: plane(), b: plane() }
  const scratch = { y: plane(), t: plane(), u: plane(), v: plane() }
  return { area, inner: area, image: source, source, ...planes, ...scratch }
}

// A float32 of i / 255 times 255 rounds back to i for all 256 levels.
const LEVELS = Float32Array.from({ length: 256 }, (_, level) => level / 255)

/** Fills the colour planes of a block with the pixels of its area. */
export const loadBlock = (block: Block): void => {
  const { area, source, r, g, b } = block
  const { data, channels } = source
  let target = 0
  for (let row = 0; row < area.height; row++) {
    let from = ((area.top + row) * source.width + area.left) * channels
    for (let column = 0; column < area.width; column++) {
      r[target] = LEVELS[data[from]!]!
      g[target] = LEVELS[data[from + 1]!]!
      b[target] = LEVELS[data[from + 2]!]!
      target++
      from += channels
    }
  }
}

/** Writes the inner part of a block into a result of the same size; alpha comes from the source. */
export const storeBlock = (block: Block, result: Uint8ClampedArray): void => {
  const { area, inner, source, r, g, b } = block
  const { channels } = source
  for (let row = inner.top; row < inner.top + inner.height; row++) {
    let from = (row - area.top) * area.width + inner.left - area.left
    let target = (row * source.width + inner.left) * channels
    for (let column = 0; column < inner.width; column++) {
      result[target] = r[from]! * 255
      result[target + 1] = g[from]! * 255
      result[target + 2] = b[from]! * 255
      if (channels === 4) result[target + 3] = source.data[target + 3]!
      from++
      target += channels
    }
  }
}

/** Number of values of each plane in the block's area. */
export const areaLength = (block: Block): number => block.area.width * block.area.height
