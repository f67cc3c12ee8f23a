import { areaLength, type Block } from './block.ts'
import { LUMA, addToColours, readLuma } from './luma.ts'
import type { Stage } from './stage.ts'

const STEPS = 4096

/** Applies a curve of 0..1 to each colour, from a table with linear interpolation; values outside are clamped first. */
export const curveStage = (curve: (value: number) => number): Stage => {
  const table = Float32Array.from({ length: STEPS + 2 }, (_, i) => curve(Math.min(1, i / STEPS)))
  return eachColour((plane, length) => {
    for (let i = 0; i < length; i++) {
      const position = Math.min(1, Math.max(0, plane[i]!)) * STEPS
      const step = Math.floor(position)
      const value = table[step]!
      plane[i] = value + (position - step) * (table[step + 1]! - value)
    }
  })
}

export const gammaStage = (gamma: number): Stage => curveStage((value) => value ** gamma)

/**
 * Steepens the mids of luma and flattens both ends: so much of the way to smoothstep, whose slope in the middle is 1.5.
 * On each colour it would saturate skin to orange.
 */
export const sCurveStage = (share: number): Stage => ({
  apply: (block) => {
    const y = readLuma(block)
    const length = areaLength(block)
    for (let i = 0; i < length; i++) y[i] = share * (smoothstep(y[i]!) - y[i]!)
    addToColours(block, y)
  },
})

/** Multiplies the distance to 0.5. */
export const contrastStage = (factor: number): Stage =>
  eachColour((plane, length) => {
    for (let i = 0; i < length; i++) plane[i] = (plane[i]! - 0.5) * factor + 0.5
  })

export const brightnessStage = (offset: number): Stage =>
  eachColour((plane, length) => {
    for (let i = 0; i < length; i++) plane[i] = plane[i]! + offset
  })

/** Multiplies red, green and blue by a factor each. */
export const channelStage = (factors: { r: number; g: number; b: number }): Stage => ({
  apply: (block) => {
    scale(block.r, areaLength(block), factors.r)
    scale(block.g, areaLength(block), factors.g)
    scale(block.b, areaLength(block), factors.b)
  },
})

/** Multiplies the distance of each colour to luma; 0 is grey. */
export const saturationStage = (factor: number): Stage => ({
  apply: ({ r, g, b, area }) => {
    const length = area.width * area.height
    for (let i = 0; i < length; i++) {
      const luma = LUMA.r * r[i]! + LUMA.g * g[i]! + LUMA.b * b[i]!
      r[i] = luma + (r[i]! - luma) * factor
      g[i] = luma + (g[i]! - luma) * factor
      b[i] = luma + (b[i]! - luma) * factor
    }
  },
})

/** Rounds each colour to one of so many levels, the ends among them. */
export const posteriseStage = (levels: number): Stage =>
  eachColour((plane, length) => {
    for (let i = 0; i < length; i++) plane[i] = Math.round(plane[i]! * (levels - 1)) / (levels - 1)
  })

/** Adds `lift` to the darks (1 − smoothstep 0..½ of luma) and multiplies the lights (smoothstep ½..1) by 1 + `gain`. */
export const endsStage = ({ lift, gain }: { lift: number; gain: number }): Stage => ({
  apply: (block) => {
    const { r, g, b } = block
    const y = readLuma(block)
    const length = areaLength(block)
    for (let i = 0; i < length; i++) {
      const luma = y[i]!
      const factor = 1 + gain * smoothstep(2 * luma - 1)
      const offset = lift * (1 - smoothstep(2 * luma))
      r[i] = (r[i]! + offset) * factor
      g[i] = (g[i]! + offset) * factor
      b[i] = (b[i]! + offset) * factor
    }
  },
})

const BINS = 1024

/** Stretches each colour so that the given share of luma at either end becomes black or white, blended by `weight`. */
export const levelsStage = ({ share, weight }: { share: number; weight: number }): Stage => {
  const counts = new Float64Array(BINS)
  const range = { low: 0, high: 1 }
  const stretch = eachColour((plane, length) => {
    const factor = 1 / Math.max(range.high - range.low, 1 / 255)
    for (let i = 0; i < length; i++) {
      const value = plane[i]!
      plane[i] = value + weight * ((value - range.low) * factor - value)
    }
  })
  return {
    survey: (block) => countLuma(block, counts),
    ready: () => {
      range.low = findPercentile(counts, share)
      range.high = findPercentile(counts, 1 - share)
    },
    apply: (block) => {
      // A picture of one tone has nothing to stretch.
      if (range.high > range.low) stretch.apply(block)
    },
  }
}

const countLuma = (block: Block, counts: Float64Array): void => {
  const y = readLuma(block)
  const { area, inner } = block
  for (let row = inner.top - area.top; row < inner.top - area.top + inner.height; row++) {
    const start = row * area.width + inner.left - area.left
    for (let i = start; i < start + inner.width; i++) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.round(y[i]! * (BINS - 1))))
      counts[bin] = counts[bin]! + 1
    }
  }
}

const findPercentile = (counts: Float64Array, share: number): number => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let seen = 0
  const bin = counts.findIndex((count) => (seen += count) >= total * share && seen > 0)
  return Math.max(0, bin) / (BINS - 1)
}

/** Mixes the picture back towards the source; `share` is what stays of the stages before. */
export const mixStage = (share: number): Stage => ({
  apply: ({ r, g, b, area, source }) => {
    let index = 0
    for (let row = 0; row < area.height; row++) {
      let from = ((area.top + row) * source.width + area.left) * source.channels
      for (let column = 0; column < area.width; column++) {
        r[index] = mix(source.data[from]! / 255, r[index]!, share)
        g[index] = mix(source.data[from + 1]! / 255, g[index]!, share)
        b[index] = mix(source.data[from + 2]! / 255, b[index]!, share)
        index++
        from += source.channels
      }
    }
  },
})

// The result is clamped as it would be on its own, or the mix would not lie between the two pictures.
const mix = (source: number, result: number, share: number): number =>
  source + share * (Math.min(1, Math.max(0, result)) - source)

/** 3 t² − 2 t³ of t clamped to 0..1. */
const smoothstep = (value: number): number => {
  const t = value <= 0 ? 0 : value >= 1 ? 1 : value
  return t * t * (3 - 2 * t)
}

const scale = (plane: Float32Array, length: number, factor: number): void => {
  if (factor === 1) return
  for (let i = 0; i < length; i++) plane[i] = plane[i]! * factor
}

const eachColour = (change: (plane: Float32Array, length: number) => void): Stage => ({
  apply: (block) => {
    for (const plane of [block.r, block.g, block.b]) change(plane, areaLength(block))
  },
})
