import { Value } from 'typebox/value'

import { RelightSettings } from './image-settings.ts'
import { parsePrompt } from './prompt-weight.ts'

/** Light that the words of a prompt ask for; all neutral without a known word. */
export interface PromptLight {
  /**
   * Slopes of L across, down and around the middle: L is 1 ± slope at the sides, positive is brighter at the left, the
   * top or the middle.
   */
  across: number[]
  down: number[]
  around: number[]
  /** Factor on red and divisor on blue of the gain. */
  warmth: number
  /** Factor on L. */
  brightness: number
  /** Factor on the contrast of L about its mean. */
  contrast: number
}

type Effect = (light: PromptLight, weight: number) => void

const RAMP = 0.4
// Under 6 % a grey wall of a cool photo stays cyan in the light of a sunset; 15 % on red and blue is about 4,000 K.
const WARMTH = 0.15
const BRIGHTNESS = 0.15
const CONTRAST = 0.3

/** Words that ask for the same, the commonest first. Directions lead, each beside its opposite. */
const EFFECTS: [words: string, effect: Effect][] = [
  ['left', (light, weight) => light.across.push(RAMP * weight)],
  ['right', (light, weight) => light.across.push(-RAMP * weight)],
  ['top above overhead', (light, weight) => light.down.push(RAMP * weight)],
  ['bottom below beneath underneath', (light, weight) => light.down.push(-RAMP * weight)],
  ['front frontal', (light, weight) => light.around.push(RAMP * weight)],
  ['behind back backlit backlight rim', (light, weight) => light.around.push(-RAMP * weight)],
  [
    'warm golden sunset sunrise evening candle candles candlelight lamp lamplight lantern torch fire firelight fireplace campfire bonfire flame flames orange amber',
    (light, weight) => (light.warmth *= 1 + WARMTH * weight),
  ],
  [
    'cool cold blue moonlight moon moonlit neon',
    (light, weight) => (light.warmth /= 1 + WARMTH * weight),
  ],
  [
    'bright sunny daylight sunlight sunshine sunlit noon',
    (light, weight) => (light.brightness *= 1 + BRIGHTNESS * weight),
  ],
  [
    'dark dim night moody darkness midnight',
    (light, weight) => (light.brightness /= 1 + BRIGHTNESS * weight),
  ],
  ['hard dramatic harsh deep', (light, weight) => (light.contrast *= 1 + CONTRAST * weight)],
  ['soft diffuse diffused gentle', (light, weight) => (light.contrast /= 1 + CONTRAST * weight)],
]

const DIRECTIONS = 6

/** Row of each word. */
const EFFECT_OF = new Map(
  EFFECTS.flatMap(([words], row) => words.split(' ').map((word) => [word, row] as const)),
)

const SHADOWS = /^(shadows?|shadowy|shaded?|dark|darker|darkness|dim|unlit)$/
const LIGHTS =
  /light|^(lit|lamp|bulb|sun|sun(set|rise|shine|lit|ny)|moon|neon|window|lantern|torch|beam|rim|backlit|warm|golden|bright|brighter)$|^(glow|shin|candle|fire|campfire|bonfire|flame)/

/** A few words of each effect, for a message. */
const KNOWN_WORDS = EFFECTS.map(([words]) => words.split(' ').slice(0, 3).join(', ')).join(', ')

/**
 * Reads a prompt by its known English words. Words of one effect count once, at the highest weight; unknown words count
 * nothing. A phrase names the direction of light or of shadow: shadow on the right is light from the left.
 */
export const readPrompt = (prompt: string): PromptLight => {
  const light = { across: [], down: [], around: [], warmth: 1, brightness: 1, contrast: 1 }
  const weights = new Map<number, number>()
  for (const { row, weight } of findEffects(prompt))
    weights.set(row, Math.max(weight, weights.get(row) ?? 0))
  for (const [row, weight] of weights) EFFECTS[row]?.[1](light, weight)
  return light
}

const findEffects = (prompt: string): { row: number; weight: number }[] => {
  const found = splitPhrases(prompt).flatMap((phrase) => {
    const sources = listSources(phrase.map(({ word }) => word))
    return phrase.flatMap(({ word, weight }, index) => {
      const row = EFFECT_OF.get(word)
      if (row === undefined) return []
      if (row >= DIRECTIONS) return [{ row, weight, isAlone: false }]
      const source = sources[index]
      const isAlone = source === undefined
      return [{ row: source === 'shadow' ? row ^ 1 : row, weight, isAlone }]
    })
  })
  // "A ball on the left, sun from the right": beside a direction of light, one of a thing says nothing.
  const isLit = found.some(({ row, isAlone }) => row < DIRECTIONS && !isAlone)
  return found.filter(({ isAlone }) => !(isLit && isAlone))
}

type Source = 'light' | 'shadow' | undefined

const sourceOf = (word: string): Source =>
  SHADOWS.test(word) ? 'shadow' : LIGHTS.test(word) ? 'light' : undefined

/** Lists what a direction at each word belongs to: the last light or shadow up to it, else the first of its phrase. */
const listSources = (words: string[]): Source[] => {
  const sources = words.map(sourceOf)
  let last = sources.find((source) => source !== undefined)
  return sources.map((source) => (last = source ?? last))
}

const PHRASE_END = /[,;.!?\n]|\b(?:and|with|while|but)\b/u

const splitPhrases = (prompt: string) => {
  const phrases: { word: string; weight: number }[][] = [[]]
  for (const { text, weight } of parsePrompt(prompt).parts)
    for (const [index, piece] of text.toLowerCase().split(PHRASE_END).entries()) {
      if (index > 0) phrases.push([])
      const words = piece.match(/[\p{L}\p{N}]+/gu) ?? []
      phrases.at(-1)?.push(...words.map((word) => ({ word, weight })))
    }
  return phrases
}

/** True when the words do not change the light. */
export const isNeutral = (light: PromptLight): boolean =>
  [...light.across, ...light.down, ...light.around].length === 0 &&
  light.warmth === 1 &&
  light.brightness === 1 &&
  light.contrast === 1

/**
 * Lists what the local engine leaves undone of a relight: it understood nothing of a prompt, or nothing was asked of it.
 * @param fields members of the request, settings with their defaults; null of what another engine or kind does
 */
export const listRelightWarnings = (fields: Record<string, unknown> | null): string[] => {
  if (fields === null) return []
  const { prompt, style, advanced_settings: advanced } = fields
  const isGiven = typeof prompt === 'string' && prompt.trim() !== ''
  if (isGiven && !isNeutral(readPrompt(prompt))) return []
  const isUnchanged =
    Value.Equal([style, advanced], [DEFAULTS.style, DEFAULTS.advanced_settings]) &&
    !Object.keys(fields).some((name) => name.startsWith('transfer_light_from_'))
  if (!isGiven && !isUnchanged) return []
  const cause = isGiven ? 'nothing in the prompt was understood' : 'there is no prompt'
  const effect = isUnchanged ? 'the picture is unchanged' : 'it changes nothing'
  return [`${cause}, so ${effect}; words that count are, for example: ${KNOWN_WORDS}`]
}

const DEFAULTS = Value.Default(RelightSettings, {}) as RelightSettings
