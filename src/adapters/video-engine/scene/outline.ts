import { between } from '../random.ts'
import type { Random } from '../random.ts'

/** Heights in pixels from the top of the frame, one every `step` pixels, past the right side. */
export interface Outline {
  step: number
  heights: number[]
}

export interface RidgeOptions {
  width: number
  /** The middle height, and how far the ridge leaves it. */
  level: number
  relief: number
  /** Bumps across the frame of the coarsest octave. */
  bumps: number
  /** Share of an octave's height that the next finer one has: 0.3 hills, 0.5 rocks. */
  roughness: number
  octaves: number
}

/** A ridge: octaves of smooth noise, their crests sharpened the more the rougher it is. */
export const makeRidge = (random: Random, options: RidgeOptions): Outline => {
  const { width, level, relief, bumps, roughness, octaves } = options
  const layers = Array.from({ length: octaves }, (_, octave) => ({
    noise: makeNoise(random, bumps * 2 ** octave + 4),
    frequency: bumps * 2 ** octave,
    height: roughness ** octave,
  }))
  const whole = layers.reduce((sum, { height }) => sum + height, 0)
  const step = Math.max(1, Math.round(width / 640))
  const count = Math.ceil(width / step) + 2
  const heights = Array.from({ length: count }, (_, i) => {
    const at = (i * step) / width
    const sum = layers.reduce((sum, { noise, frequency, height }) => {
      const value = noise(at * frequency)
      return sum + height * (roughness > 0.4 ? 1 - 2 * Math.abs(value) : value)
    }, 0)
    return level - (relief * sum) / whole
  })
  return { step, heights }
}

/** Smooth noise of −1..1 over 0..count. */
const makeNoise = (random: Random, count: number): ((at: number) => number) => {
  const values = Array.from({ length: Math.ceil(count) + 2 }, () => between(random, -1, 1))
  return (at) => {
    const i = Math.floor(at)
    const share = at - i
    const eased = share * share * (3 - 2 * share)
    const [from = 0, to = 0] = [values[i], values[i + 1]]
    return from + (to - from) * eased
  }
}

/** The height of an outline at a place. */
export const heightAt = ({ step, heights }: Outline, x: number): number =>
  heights[Math.min(heights.length - 1, Math.max(0, Math.round(x / step)))] ?? 0

/** The outline as an SVG path, without what closes it. */
export const toPath = ({ step, heights }: Outline): string =>
  heights.map((y, i) => `${i === 0 ? 'M' : 'L'}${i * step} ${y.toFixed(1)}`).join('')
