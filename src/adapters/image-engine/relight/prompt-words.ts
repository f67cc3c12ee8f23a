import { parsePrompt } from '../../../domain/image-task/prompt-weight.ts'

/** What the words of a prompt ask of the light; all neutral without a known word. */
export interface PromptLight {
  /** Slope of L across and down: L is 1 ± slope at the sides, positive is brighter at the left or top. */
  across: number[]
  down: number[]
  /** Factor on red and divisor on blue of the gain. */
  warmth: number
  /** Factor on L. */
  brightness: number
  /** Factor on the contrast of L about its mean. */
  contrast: number
}

type Effect = (light: PromptLight, weight: number) => void

const RAMP = 0.4
const WARMTH = 0.06
const BRIGHTNESS = 0.15
const CONTRAST = 0.3

const left: Effect = (light, weight) => light.across.push(RAMP * weight)
const right: Effect = (light, weight) => light.across.push(-RAMP * weight)
const top: Effect = (light, weight) => light.down.push(RAMP * weight)
const bottom: Effect = (light, weight) => light.down.push(-RAMP * weight)
const warm: Effect = (light, weight) => void (light.warmth *= 1 + WARMTH * weight)
const cool: Effect = (light, weight) => void (light.warmth /= 1 + WARMTH * weight)
const bright: Effect = (light, weight) => void (light.brightness *= 1 + BRIGHTNESS * weight)
const dark: Effect = (light, weight) => void (light.brightness /= 1 + BRIGHTNESS * weight)
const hard: Effect = (light, weight) => void (light.contrast *= 1 + CONTRAST * weight)
const soft: Effect = (light, weight) => void (light.contrast /= 1 + CONTRAST * weight)

const WORDS = new Map<string, Effect>([
  ['left', left],
  ['right', right],
  ['top', top],
  ['above', top],
  ['bottom', bottom],
  ['below', bottom],
  ['warm', warm],
  ['golden', warm],
  ['sunset', warm],
  ['candle', warm],
  ['cool', cool],
  ['cold', cool],
  ['blue', cool],
  ['moonlight', cool],
  ['bright', bright],
  ['sunny', bright],
  ['daylight', bright],
  ['dark', dark],
  ['dim', dark],
  ['night', dark],
  ['moody', dark],
  ['hard', hard],
  ['dramatic', hard],
  ['soft', soft],
  ['diffuse', soft],
])

/** Reads a prompt by its known English words. Each counts once, at the highest weight it is given; all others count nothing. */
export const readPrompt = (prompt: string): PromptLight => {
  const light: PromptLight = { across: [], down: [], warmth: 1, brightness: 1, contrast: 1 }
  for (const [word, weight] of weighWords(prompt)) WORDS.get(word)?.(light, weight)
  return light
}

const weighWords = (prompt: string): Map<string, number> => {
  const weights = new Map<string, number>()
  for (const { text, weight } of parsePrompt(prompt).parts)
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu))
      weights.set(word, Math.max(weight, weights.get(word) ?? 0))
  return weights
}

/** Whether the words change the light at all. */
export const isNeutral = (light: PromptLight): boolean =>
  light.across.length === 0 &&
  light.down.length === 0 &&
  light.warmth === 1 &&
  light.brightness === 1 &&
  light.contrast === 1
