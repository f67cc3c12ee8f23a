import type { Size } from '../size.ts'

/** Half of a Gaussian kernel: weights of distance 0, 1, … ceil(3 σ), normalised so that the whole sums to 1. */
export const gaussianKernel = (sigma: number): Float64Array => {
  const half = Float64Array.from({ length: gaussianReach(sigma) + 1 }, (_, distance) =>
    sigma > 0 ? Math.exp(-(distance * distance) / (2 * sigma * sigma)) : 1,
  )
  const sum = half.reduce((total, weight, distance) => total + weight * (distance ? 2 : 1), 0)
  return half.map((weight) => weight / sum)
}

/** Pixels to each side that a Gaussian reads; beyond 3 σ lies 0.3 % of its weight. */
export const gaussianReach = (sigma: number): number => Math.ceil(3 * sigma)

/**
 * Gaussian of a plane, edges repeated. `through` is scratch of the same size; `from` and `into` may be one plane, and
 * `from` is left as it is otherwise. Costs about 1 ns for each tap and pixel, so wide blurs go through a coarse map.
 */
export const blurPlane = (
  { from, through, into }: { from: Float32Array; through: Float32Array; into: Float32Array },
  size: Size,
  kernel: Float64Array,
): void => {
  blurRows(from, through, size, kernel)
  blurColumns(through, into, size, kernel)
}

const blurRows = (
  from: Float32Array,
  into: Float32Array,
  { width, height }: Size,
  kernel: Float64Array,
): void => {
  const reach = kernel.length - 1
  const line = new Float32Array(width + 2 * reach)
  for (let row = 0; row < height; row++) {
    const start = row * width
    line.set(from.subarray(start, start + width), reach)
    line.fill(from[start]!, 0, reach)
    line.fill(from[start + width - 1]!, reach + width)
    for (let x = 0; x < width; x++) {
      const centre = x + reach
      let sum = kernel[0]! * line[centre]!
      for (let tap = 1; tap <= reach; tap++)
        sum += kernel[tap]! * (line[centre - tap]! + line[centre + tap]!)
      into[start + x] = sum
    }
  }
}

const blurColumns = (
  from: Float32Array,
  into: Float32Array,
  { width, height }: Size,
  kernel: Float64Array,
): void => {
  const reach = kernel.length - 1
  const sums = new Float64Array(width)
  for (let row = 0; row < height; row++) {
    const start = row * width
    for (let x = 0; x < width; x++) sums[x] = kernel[0]! * from[start + x]!
    for (let tap = 1; tap <= reach; tap++) {
      const weight = kernel[tap]!
      const above = Math.max(0, row - tap) * width
      const below = Math.min(height - 1, row + tap) * width
      for (let x = 0; x < width; x++)
        sums[x] = sums[x]! + weight * (from[above + x]! + from[below + x]!)
    }
    into.set(sums, start)
  }
}
