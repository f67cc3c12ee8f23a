import { parsePrompt } from '../../../domain/image-task/prompt-weight.ts'

/** Light that the words of a prompt ask for; all neutral without a known word. */
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

/** Words that ask for the same. */
const EFFECTS: [words: string, effect: Effect][] = [
  ['left', (light, weight) => light.across.push(RAMP * weight)],
  ['right', (light, weight) => light.across.push(-RAMP * weight)],
  ['top above', (light, weight) => light.down.push(RAMP * weight)],
  ['bottom below', (light, weight) => light.down.push(-RAMP * weight)],
  ['warm golden sunset candle', (light, weight) => (light.warmth *= 1 + WARMTH * weight)],
  ['cool cold blue moonlight', (light, weight) => (light.warmth /= 1 + WARMTH * weight)],
  ['bright sunny daylight', (light, weight) => (light.brightness *= 1 + BRIGHTNESS * weight)],
  ['dark dim night moody', (light, weight) => (light.brightness /= 1 + BRIGHTNESS * weight)],
  ['hard dramatic', (light, weight) => (light.contrast *= 1 + CONTRAST * weight)],
  ['soft diffuse', (light, weight) => (light.contrast /= 1 + CONTRAST * weight)],
]

const EFFECT_OF = new Map(
  EFFECTS.flatMap(([words, effect]) => words.split(' ').map((word) => [word, effect] as const)),
)

/** Reads a prompt by its known English words. Each counts once, at the highest weight it is given; all others count nothing. */
export const readPrompt = (prompt: string): PromptLight => {
  const light: PromptLight = { across: [], down: [], warmth: 1, brightness: 1, contrast: 1 }
  for (const [word, weight] of weighWords(prompt)) EFFECT_OF.get(word)?.(light, weight)
  return light
}

const weighWords = (prompt: string): Map<string, number> => {
  const weights = new Map<string, number>()
  for (const { text, weight } of parsePrompt(prompt).parts)
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu))
      weights.set(word, Math.max(weight, weights.get(word) ?? 0))
  return weights
}

/** True when the words do not change the light. */
export const isNeutral = (light: PromptLight): boolean =>
  light.across.length === 0 &&
  light.down.length === 0 &&
  light.warmth === 1 &&
  light.brightness === 1 &&
  light.contrast === 1
