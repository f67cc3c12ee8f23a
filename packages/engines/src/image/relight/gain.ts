import type { PromptLight } from '../../image-settings.ts'
import type { Size } from '../../size.ts'
import type { Coarse } from '../coarse.ts'
import { LUMA } from '../luma.ts'
import type { LightShape } from './tables.ts'
import { stretchPlane, type LightPlanes } from './light-map.ts'

export interface GainRequest {
  image: Size
  words: PromptLight
  /** The wanted light, blurred already; without one it is the picture's own. */
  light: LightPlanes | undefined
  shape: LightShape
  /** The gain stays between 1 / limit and limit. */
  limit: number
  /** Exponent on the gain: strength, transfer_light_a and the engine's power in one. */
  power: number
}

export interface Gains {
  r: Coarse
  g: Coarse
  b: Coarse
}

// Keeps the ratio of two lights finite where both are near black.
const FLOOR = 0.05
// The same for a colour over its luma; and no channel of the light's colour counts for more than this ratio.
const COLOUR_FLOOR = 0.01
const COLOUR_LIMIT = 4
// Exponent on the warmth of a prompt where the light is strongest.
const WARMEST = 1.4

/**
 * The factor on each colour, as maps of the picture's size: G = clamp((L + 0.05) / (B + 0.05)), times the colour of the
 * light, to the power that strength and the tone of B ask for.
 * @param own B, the picture's own light: its blurred luma
 */
export const makeGains = (own: Coarse, request: GainRequest): Gains => {
  const wanted = readWanted(own, request)
  const like = (): Coarse => ({ ...own, values: new Float32Array(own.values.length) })
  const gains = { r: like(), g: like(), b: like() }
  for (let i = 0; i < own.values.length; i++) {
    const ratio = (wanted.luma[i]! + FLOOR) / (own.values[i]! + FLOOR)
    const gain = Math.min(request.limit, Math.max(1 / request.limit, ratio))
    const power = request.power * readTone(request.shape.tones, own.values[i]!)
    // Where the light falls it colours more than in its shadow.
    const warmth = request.words.warmth ** Math.min(WARMEST, gain)
    gains.r.values[i] = (gain * wanted.r[i]! * warmth) ** power
    gains.g.values[i] = (gain * wanted.g[i]!) ** power
    gains.b.values[i] = ((gain * wanted.b[i]!) / warmth) ** power
  }
  return gains
}

/** L under the words of the prompt, and the light's colour as factors whose luma is 1. */
const readWanted = (own: Coarse, request: GainRequest): Wanted => {
  const places = {
    across: listMiddles(own.width, own.cell, request.image.width),
    down: listMiddles(own.height, own.cell, request.image.height),
  }
  const wanted = request.light
    ? readMap(request.light, places, request.shape.colour)
    : { luma: own.values.slice(), r: ones(own), g: ones(own), b: ones(own) }
  applyWords(wanted.luma, places, request.words)
  return wanted
}

interface Wanted {
  luma: Float32Array
  r: Float32Array
  g: Float32Array
  b: Float32Array
}

/** Middles of the cells, 0..1 of the picture's width and height. */
interface Places {
  across: Float64Array
  down: Float64Array
}

const listMiddles = (cells: number, cell: number, length: number): Float64Array =>
  Float64Array.from(
    { length: cells },
    (_, i) => (i * cell + Math.min(length, (i + 1) * cell)) / 2 / length,
  )

const ones = (own: Coarse): Float32Array => new Float32Array(own.values.length).fill(1)

const readMap = (map: LightPlanes, places: Places, colour: number): Wanted => {
  const r = stretchPlane(map.r, map, places)
  const g = stretchPlane(map.g, map, places)
  const b = stretchPlane(map.b, map, places)
  const luma = new Float32Array(r.length)
  for (let i = 0; i < luma.length; i++) {
    const level = LUMA.r * r[i]! + LUMA.g * g[i]! + LUMA.b * b[i]!
    luma[i] = level
    r[i] = colourFactor(r[i]!, level) ** colour
    g[i] = colourFactor(g[i]!, level) ** colour
    b[i] = colourFactor(b[i]!, level) ** colour
    // A coloured light must not change how bright a grey thing becomes: that is L's part.
    const sum = LUMA.r * r[i]! + LUMA.g * g[i]! + LUMA.b * b[i]!
    r[i] = r[i]! / sum
    g[i] = g[i]! / sum
    b[i] = b[i]! / sum
  }
  return { luma, r, g, b }
}

const colourFactor = (value: number, luma: number): number => {
  const ratio = (value + COLOUR_FLOOR) / (luma + COLOUR_FLOOR)
  return Math.min(COLOUR_LIMIT, Math.max(1 / COLOUR_LIMIT, ratio))
}

const applyWords = (luma: Float32Array, { across, down }: Places, words: PromptLight): void => {
  const mean = luma.reduce((sum, value) => sum + value, 0) / luma.length
  const columns = across.map((x) => ramps(words.across, x))
  let index = 0
  for (const y of down) {
    const row = ramps(words.down, y) * words.brightness
    for (const [at, column] of columns.entries()) {
      const contrasted = Math.max(0, mean + (luma[index]! - mean) * words.contrast)
      // The square of the distance from the middle has no tip there: 1 in the corners.
      const distance = 2 * ((across[at]! - 0.5) ** 2 + (y - 0.5) ** 2)
      luma[index++] = contrasted * row * column * ramps(words.around, distance)
    }
  }
}

const ramps = (slopes: number[], position: number): number =>
  slopes.reduce((factor, slope) => factor * (1 + slope * (1 - 2 * position)), 1)

const readTone = (tones: LightShape['tones'], own: number): number => {
  const value = Math.min(1, Math.max(0, own)) * 2
  return value < 1
    ? tones[0] + value * (tones[1] - tones[0])
    : tones[1] + (value - 1) * (tones[2] - tones[1])
}
