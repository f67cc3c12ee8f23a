// Every index below lies inside its array by construction.
/* oxlint-disable typescript/no-non-null-assertion */
import assert from 'node:assert/strict'

/** Decoded pixels, interleaved, levels 0..255. */
export interface Pixels {
  width: number
  height: number
  channels: number
  data: Uint8Array
}

/** A plane of levels. */
export interface Plane {
  width: number
  height: number
  values: Float64Array
}

const planeOf = (
  { width, height, channels, data }: Pixels,
  read: (r: number, g: number, b: number) => number,
): Plane => {
  const values = new Float64Array(width * height)
  for (let i = 0; i < values.length; i++) {
    const at = i * channels
    values[i] = read(data[at]!, data[at + 1]!, data[at + 2]!)
  }
  return { width, height, values }
}

/** Rec. 709 luma. */
export const luma = (pixels: Pixels): Plane =>
  planeOf(pixels, (r, g, b) => 0.2126 * r + 0.7152 * g + 0.0722 * b)

export const mean = (values: ArrayLike<number>): number => {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum / values.length
}

export const variance = (values: ArrayLike<number>): number => {
  const middle = mean(values)
  return mean(Float64Array.from(values).map((value) => (value - middle) ** 2))
}

export const deviation = (values: ArrayLike<number>): number => Math.sqrt(variance(values))

export const meanLuma = (pixels: Pixels): number => mean(luma(pixels).values)

export const stdLuma = (pixels: Pixels): number => deviation(luma(pixels).values)

/** The level below which a share of the pixels' luma lies. */
export const percentile = (pixels: Pixels, share: number): number => quantile(luma(pixels), share)

/** Variance of Y − Gaussian(Y, σ 2 px), over all pixels or those of a selection. */
export const fineVariance = (pixels: Pixels, selected?: (index: number) => boolean): number => {
  const y = luma(pixels)
  const blurred = gaussian(y, 2)
  const band = y.values.map((value, i) => value - blurred.values[i]!)
  return variance(selected ? band.filter((_, i) => selected(i)) : band)
}

/** Makes the test of an index: true where the plane's value is one of those looked for. */
export const where =
  (plane: Plane, test: (value: number) => boolean): ((index: number) => boolean) =>
  (index) =>
    test(plane.values[index]!)

/** The value below which a share of a plane's values lies. */
export const quantile = (plane: Plane, share: number): number => {
  const sorted = plane.values.toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}

/** Mean of a plane over some of its pixels. */
export const meanWhere = (plane: Plane, selected: (index: number) => boolean): number =>
  mean(plane.values.filter((_, i) => selected(i)))

/** Mean standard deviation of luma in blocks of 32 × 32 pixels. */
export const localDeviation = (pixels: Pixels): number => {
  const y = luma(pixels)
  const deviations = []
  for (let top = 0; top + 32 <= y.height; top += 32)
    for (let left = 0; left + 32 <= y.width; left += 32)
      deviations.push(
        deviation(
          Array.from({ length: 1024 }, (_, i) => {
            const at = (top + Math.floor(i / 32)) * y.width + left + (i % 32)
            return y.values[at]!
          }),
        ),
      )
  return mean(deviations)
}

/** Mean of the largest less the smallest colour. */
export const chroma = (pixels: Pixels): number =>
  mean(planeOf(pixels, (r, g, b) => Math.max(r, g, b) - Math.min(r, g, b)).values)

/** Mean absolute difference of two planes. */
export const planeDifference = (a: Plane, b: Plane): number =>
  mean(a.values.map((value, i) => Math.abs(value - b.values[i]!)))

/** Mean absolute difference of luma. */
export const difference = (
  a: Pixels,
  b: Pixels,
  selected: (index: number) => boolean = () => true,
): number => {
  const other = luma(b).values
  const gaps = luma(a).values.map((value, i) => Math.abs(value - other[i]!))
  return mean(gaps.filter((_, i) => selected(i)))
}

export const redOverBlue = (pixels: Pixels): number =>
  mean(planeOf(pixels, (r, _, b) => r - b).values)

/** Peak signal-to-noise ratio over all colours, in decibels. */
export const psnr = (a: Pixels, b: Pixels): number =>
  10 *
  Math.log10(255 ** 2 / mean(Float64Array.from(a.data, (value, i) => (value - b.data[i]!) ** 2)))

/** blur(x): Gaussian with σ = x % of the longer side. */
export const blurPercent = (plane: Plane, percent: number): Plane =>
  gaussian(plane, (Math.max(plane.width, plane.height) * percent) / 100)

/** Gaussian with repeated edges, kernel to 4 σ. */
export const gaussian = (plane: Plane, sigma: number): Plane => {
  const reach = Math.ceil(4 * sigma)
  const weights = Float64Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * sigma * sigma)),
  )
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const kernel = weights.map((weight) => weight / total)
  // Blurring the columns of the turned plane, twice, ends with the plane as it was.
  return turn(blurColumns(turn(blurColumns(plane, kernel)), kernel))
}

const blurColumns = ({ width, height, values }: Plane, kernel: Float64Array): Plane => {
  const reach = (kernel.length - 1) / 2
  const result = new Float64Array(values.length)
  for (let y = 0; y < height; y++)
    for (let step = 0; step < kernel.length; step++) {
      const from = Math.min(height - 1, Math.max(0, y + step - reach)) * width
      for (let x = 0; x < width; x++)
        result[y * width + x] = result[y * width + x]! + kernel[step]! * values[from + x]!
    }
  return { width, height, values: result }
}

const turn = ({ width, height, values }: Plane): Plane => {
  const turned = new Float64Array(values.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) turned[x * height + y] = values[y * width + x]!
  return { width: height, height: width, values: turned }
}

/** Cb and Cr of 8-bit BT.601, full range. */
export const colourDifferences = (pixels: Pixels): { cb: Plane; cr: Plane } => ({
  cb: planeOf(pixels, (r, g, b) => 128 - 0.168736 * r - 0.331264 * g + 0.5 * b),
  cr: planeOf(pixels, (r, g, b) => 128 + 0.5 * r - 0.418688 * g - 0.081312 * b),
})

const within = (value: number, low: number, high: number): boolean => value >= low && value <= high

/** The skin mask of the design: 1 for Cb 77..127 and Cr 133..173, feathered by blur(0.5). */
export const skinMask = (pixels: Pixels): Plane => {
  const { cb, cr } = colourDifferences(pixels)
  const hard = cb.values.map((value, i) =>
    within(value, 77, 127) && within(cr.values[i]!, 133, 173) ? 1 : 0,
  )
  return blurPercent({ width: cb.width, height: cb.height, values: hard }, 0.5)
}

/** Never down by more than 0.5 %, and the last above the first by at least `margin`. */
export const assertRises = (values: number[], margin: number, message: string): void => {
  const shown = `${message}: ${values.map((value) => value.toFixed(3)).join(', ')}`
  for (const [i, value] of values.slice(1).entries())
    assert.ok(value >= values[i]! - 0.005 * Math.abs(values[i]!), `falls: ${shown}`)
  const [first = 0, last = 0] = [values[0], values.at(-1)]
  assert.ok(last - first >= margin, `rises by less than ${margin}: ${shown}`)
}

export const last = (values: number[]): number => values.at(-1) ?? Number.NaN

export const assertFalls = (values: number[], margin: number, message: string): void =>
  assertRises(
    values.map((value) => -value),
    margin,
    message,
  )

/** The first is below the second. */
export const assertBelow = (value: number, limit: number, message: string): void =>
  assert.ok(value < limit, `${message}: ${value} is not below ${limit}`)

export const assertSamePixels = (a: Pixels, b: Pixels): void => {
  assert.deepEqual([a.width, a.height, a.channels], [b.width, b.height, b.channels])
  const at = a.data.findIndex((value, i) => value !== b.data[i])
  assert.equal(at, -1, `values differ first at ${at}: ${a.data[at]} and ${b.data[at]}`)
}
