import type { Coarse } from '../coarse.ts'
import { LUMA } from '../luma.ts'
import type { Size } from '../raster.ts'
import type { LightShape } from '../tables.ts'
import { readLight } from './light-map.ts'
import type { LightPlanes } from './light-map.ts'
import type { PromptLight } from './prompt-words.ts'

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
  /** Added to `power` where the skin mask is 1. */
  skinPower: number
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

/**
 * The factor on each colour, as maps of the picture's size: G = clamp((L + 0.05) / (B + 0.05)), times the colour of the
 * light, to the power that strength, tone of B and skin ask for.
 * @param own B, the picture's own light: its blurred luma
 * @param skin the skin mask on the same cells, where it is needed
 */
export const makeGains = (own: Coarse, skin: Coarse | undefined, request: GainRequest): Gains => {
  const wanted = readWanted(own, request)
  const like = (): Coarse => ({ ...own, values: new Float32Array(own.values.length) })
  const gains = { r: like(), g: like(), b: like() }
  for (let i = 0; i < own.values.length; i++) {
    const ratio = (wanted.luma[i]! + FLOOR) / (own.values[i]! + FLOOR)
    const gain = Math.min(request.limit, Math.max(1 / request.limit, ratio))
    const power =
      (request.power + request.skinPower * (skin?.values[i] ?? 0)) *
      readTone(request.shape.tones, own.values[i]!)
    gains.r.values[i] = (gain * wanted.r[i]! * request.words.warmth) ** power
    gains.g.values[i] = (gain * wanted.g[i]!) ** power
    gains.b.values[i] = ((gain * wanted.b[i]!) / request.words.warmth) ** power
  }
  return gains
}

/** L under the words of the prompt, and the light's colour as factors whose luma is 1. */
const readWanted = (own: Coarse, request: GainRequest) => {
  const length = own.values.length
  const ones = () => new Float32Array(length).fill(1)
  const wanted = { luma: own.values.slice(), r: ones(), g: ones(), b: ones() }
  if (request.light) readMap(wanted, own, request.light, request)
  applyWords(wanted.luma, own, request)
  return wanted
}

type Wanted = ReturnType<typeof readWanted>

const readMap = (wanted: Wanted, grid: Coarse, map: LightPlanes, request: GainRequest): void => {
  for (let i = 0; i < grid.values.length; i++) {
    const light = readLight(map, ...centre(grid, request.image, i))
    const part = (value: number) => colourFactor(value, light.luma) ** request.shape.colour
    const [r, g, b] = [part(light.r), part(light.g), part(light.b)]
    // A coloured light must not change how bright a grey thing becomes: that is L's part.
    const luma = LUMA.r * r + LUMA.g * g + LUMA.b * b
    wanted.luma[i] = light.luma
    wanted.r[i] = r / luma
    wanted.g[i] = g / luma
    wanted.b[i] = b / luma
  }
}

const colourFactor = (value: number, luma: number): number => {
  const ratio = (value + COLOUR_FLOOR) / (luma + COLOUR_FLOOR)
  return Math.min(COLOUR_LIMIT, Math.max(1 / COLOUR_LIMIT, ratio))
}

const applyWords = (luma: Float32Array, grid: Coarse, { image, words }: GainRequest): void => {
  const mean = luma.reduce((sum, value) => sum + value, 0) / luma.length
  for (let i = 0; i < luma.length; i++) {
    const [x, y] = centre(grid, image, i)
    const contrasted = Math.max(0, mean + (luma[i]! - mean) * words.contrast)
    luma[i] = contrasted * words.brightness * ramps(words.across, x) * ramps(words.down, y)
  }
}

const ramps = (slopes: number[], position: number): number =>
  slopes.reduce((factor, slope) => factor * (1 + slope * (1 - 2 * position)), 1)

/** The middle of a cell, both coordinates 0..1 of the picture. */
const centre = (grid: Coarse, image: Size, index: number): [number, number] => {
  const column = index % grid.width
  const row = Math.floor(index / grid.width)
  const middle = (cell: number, length: number) =>
    (cell * grid.cell + Math.min(length, (cell + 1) * grid.cell)) / 2 / length
  return [middle(column, image.width), middle(row, image.height)]
}

const readTone = (tones: LightShape['tones'], own: number): number => {
  const value = Math.min(1, Math.max(0, own)) * 2
  return value < 1
    ? tones[0] + value * (tones[1] - tones[0])
    : tones[1] + (value - 1) * (tones[2] - tones[1])
}
