import { areaLength, type Block } from './block.ts'

/** Rec. 709 weights of red, green and blue in luma (ITU-R BT.709, 3.2). */
export const LUMA = { r: 0.2126, g: 0.7152, b: 0.0722 } as const

/** Fills `block.y` with the luma of the picture as it stands. */
export const readLuma = (block: Block): Float32Array => {
  const { r, g, b, y } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) y[i] = LUMA.r * r[i]! + LUMA.g * g[i]! + LUMA.b * b[i]!
  return y
}

/** Fills a plane with the luma of the source's pixels in the block's area. */
export const readSourceLuma = (block: Block, into: Float32Array): void => {
  const { area, source } = block
  const { data, channels } = source
  let target = 0
  for (let row = 0; row < area.height; row++) {
    let from = ((area.top + row) * source.width + area.left) * channels
    for (let column = 0; column < area.width; column++) {
      into[target++] =
        (LUMA.r * data[from]! + LUMA.g * data[from + 1]! + LUMA.b * data[from + 2]!) / 255
      from += channels
    }
  }
}

/** Adds a plane to all three colours: changes luma by it and leaves colour differences as they are. */
export const addToColours = (block: Block, delta: Float32Array): void => {
  const { r, g, b } = block
  const length = areaLength(block)
  for (let i = 0; i < length; i++) {
    const value = delta[i]!
    r[i] = r[i]! + value
    g[i] = g[i]! + value
    b[i] = b[i]! + value
  }
}
