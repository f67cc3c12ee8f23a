import type { Size } from '../size.ts'
import type { Block } from './block.ts'
import { blurPlane, gaussianKernel } from './gaussian.ts'

/**
 * A plane of the whole picture at reduced size: means of square cells. A wide blur leaves nothing that needs full
 * resolution, so it is computed here and read back by linear interpolation. Its cost does not grow with σ, nor its
 * memory with the picture.
 */
export interface Coarse extends Size {
  /** Side of a cell in pixels of the picture. */
  cell: number
  values: Float32Array
}

/** Cells of a third of σ: linear interpolation between them is then within 1 % of the blurred signal. */
export const cellFor = (sigma: number): number => Math.max(1, Math.floor(sigma / 3))

export const makeCoarse = (image: Size, cell: number): Coarse => {
  const width = Math.ceil(image.width / cell)
  const height = Math.ceil(image.height / cell)
  return { width, height, cell, values: new Float32Array(width * height) }
}

/** Adds the inner part of a block, each pixel by its share of its cell: after all blocks the values are means. */
export const addToCoarse = (coarse: Coarse, block: Block, plane: Float32Array): void => {
  const { cell, values } = coarse
  const { area, inner, image } = block
  const right = inner.left + inner.width
  for (let row = inner.top; row < inner.top + inner.height; row++) {
    const gridRow = Math.floor(row / cell)
    const rows = Math.min(cell, image.height - gridRow * cell)
    const offset = (row - area.top) * area.width - area.left
    let column = inner.left
    while (column < right) {
      const gridColumn = Math.floor(column / cell)
      const end = Math.min(right, (gridColumn + 1) * cell)
      const columns = Math.min(cell, image.width - gridColumn * cell)
      let sum = 0
      for (; column < end; column++) sum += plane[offset + column]!
      const index = gridRow * coarse.width + gridColumn
      values[index] = values[index]! + sum / (rows * columns)
    }
  }
}

/** Blurs a map in place, σ in pixels of the picture. */
export const blurCoarse = (coarse: Coarse, sigma: number): void => {
  const { cell, values } = coarse
  // The cells' means and the interpolation between them blur too: variances cell² / 12 and cell² / 6.
  const own = (cell * cell - 1) / 12 + (cell > 1 ? (cell * cell) / 6 : 0)
  const rest = Math.sqrt(Math.max(0, sigma * sigma - own)) / cell
  const through = new Float32Array(values.length)
  blurPlane({ from: values, through, into: values }, coarse, gaussianKernel(rest))
}

/** Reads a map over a block's area into a plane, by linear interpolation between the centres of its cells. */
export const readCoarse = (coarse: Coarse, block: Block, into: Float32Array): Float32Array => {
  const { area } = block
  const across = interpolate(area.left, area.width, coarse.cell, coarse.width)
  const down = interpolate(area.top, area.height, coarse.cell, coarse.height)
  const line = new Float32Array(coarse.width + 1)
  const first = across.index[0]!
  const last = Math.min(coarse.width - 1, across.index[area.width - 1]! + 1)
  for (let row = 0; row < area.height; row++) {
    const upper = down.index[row]! * coarse.width
    const lower = Math.min(coarse.height - 1, down.index[row]! + 1) * coarse.width
    const share = down.share[row]!
    for (let x = first; x <= last; x++) {
      const value = coarse.values[upper + x]!
      line[x] = value + share * (coarse.values[lower + x]! - value)
    }
    line[last + 1] = line[last]!
    const start = row * area.width
    for (let x = 0; x < area.width; x++) {
      const value = line[across.index[x]!]!
      into[start + x] = value + across.share[x]! * (line[across.index[x]! + 1]! - value)
    }
  }
  return into
}

const interpolate = (start: number, length: number, cell: number, cells: number) => {
  const index = new Int32Array(length)
  const share = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    const position = Math.min(cells - 1, Math.max(0, (start + i + 0.5) / cell - 0.5))
    index[i] = Math.floor(position)
    share[i] = position - index[i]!
  }
  return { index, share }
}
