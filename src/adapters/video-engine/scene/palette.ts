import { hashText } from '../random.ts'
import { hsl, mix } from './colour.ts'
import type { Rgb } from './colour.ts'

/** What a scene shows and in which colours. */
export interface Palette {
  shape: 'mountains' | 'forest' | 'ocean'
  /** From the top of the sky to the horizon. */
  sky: readonly [Rgb, Rgb, Rgb]
  light: Rgb
  /** The colour of the farthest land, and of the nearest. */
  far: Rgb
  near: Rgb
  /** What lies in the valleys. */
  mist: Rgb
  stars: boolean
  /** Of the light's disc, 0..1 of the height of the sky from the horizon up. */
  lightHeight: number
}

type Shape = Palette['shape']

/** What a word decides; a prompt may name a colour, a time of day and a place. */
interface Meaning {
  shape?: Shape
  tones?: Omit<Palette, 'shape'>
}

/**
 * Chooses by the English words of a prompt (whole words, any case): the first colour or time of day decides the colours,
 * the first place the shapes. Without one the hue comes from the prompt's hash.
 */
export const choosePalette = (prompt: string): Palette => {
  const meanings = [...prompt.toLowerCase().matchAll(/\p{L}+/gu)].flatMap(
    ([word]) => WORDS.get(word) ?? [],
  )
  const shape = meanings.find((meaning) => meaning.shape)?.shape
  const tones =
    meanings.find((meaning) => meaning.tones && !meaning.shape)?.tones ??
    meanings.find((meaning) => meaning.tones)?.tones ??
    hashTones(prompt)
  return { shape: shape ?? 'mountains', ...tones }
}

/** Tones about one hue: a deep sky that lightens to the horizon, mist, and land that darkens towards us. */
const hueTones = (hue: number, saturation = 0.62): Omit<Palette, 'shape'> => ({
  sky: [
    hsl(hue + 14, saturation, 0.27),
    hsl(hue + 4, saturation * 0.95, 0.5),
    hsl(hue - 12, saturation * 1.15, 0.78),
  ],
  light: hsl(hue - 18, 0.9, 0.93),
  far: hsl(hue + 6, saturation * 0.6, 0.56),
  near: hsl(hue + 12, saturation * 0.9, 0.09),
  mist: hsl(hue - 8, saturation * 0.75, 0.74),
  stars: false,
  lightHeight: 0.42,
})

/** Hues a sky may have; one of yellow or grass green looks like poison. */
const SKY_HUES = [186, 200, 212, 224, 240, 258, 276, 296, 322, 340, 356, 12, 24]

const hashTones = (prompt: string): Omit<Palette, 'shape'> =>
  hueTones(SKY_HUES[hashText(prompt) % SKY_HUES.length] ?? 0, 0.55)

const rgb = (hex: number): Rgb => [hex >> 16, (hex >> 8) & 255, hex & 255]

const SUNSET: Omit<Palette, 'shape'> = {
  sky: [rgb(0x2c2255), rgb(0xc2476b), rgb(0xffb35c)],
  light: rgb(0xfff0c4),
  far: rgb(0xa9496b),
  near: rgb(0x150d22),
  mist: rgb(0xf7a06a),
  stars: false,
  lightHeight: 0.16,
}

const NIGHT: Omit<Palette, 'shape'> = {
  sky: [rgb(0x050a1e), rgb(0x14224d), rgb(0x3a5486)],
  light: rgb(0xeef3ff),
  far: rgb(0x2c4069),
  near: rgb(0x04070f),
  mist: rgb(0x405a88),
  stars: true,
  lightHeight: 0.66,
}

const FOREST: Omit<Palette, 'shape'> = {
  sky: [rgb(0x6f9aa3), rgb(0xb4cfc2), rgb(0xf3efcf)],
  light: rgb(0xfffbe3),
  far: rgb(0x86a894),
  near: rgb(0x08170f),
  mist: rgb(0xd5e0c4),
  stars: false,
  lightHeight: 0.5,
}

const OCEAN: Omit<Palette, 'shape'> = {
  sky: [rgb(0x2f6fb0), rgb(0x7fbbdc), rgb(0xffe6bf)],
  light: rgb(0xfffbea),
  far: rgb(0x3f8fb5),
  near: rgb(0x06283f),
  mist: rgb(0x9fd3dc),
  stars: false,
  lightHeight: 0.3,
}

const BLACK: Omit<Palette, 'shape'> = {
  sky: [rgb(0x07080a), rgb(0x17191d), rgb(0x3b3e45)],
  light: rgb(0xd9dde3),
  far: rgb(0x2b2e34),
  near: rgb(0x020203),
  mist: rgb(0x34373d),
  stars: true,
  lightHeight: 0.6,
}

const WHITE: Omit<Palette, 'shape'> = {
  sky: [rgb(0xb9c7d6), rgb(0xdbe4ec), rgb(0xfaf7f2)],
  light: rgb(0xffffff),
  far: rgb(0xcdd7e0),
  near: rgb(0x74869a),
  mist: rgb(0xf4f6f8),
  stars: false,
  lightHeight: 0.45,
}

/** Yellow and orange hues look muddy unless the sky stays light: they lean on the sunset's violet. */
const warmTones = (hue: number): Omit<Palette, 'shape'> => {
  const tones = hueTones(hue, 0.8)
  const [top, middle, horizon] = tones.sky
  return {
    ...tones,
    sky: [mix(top, hsl(hue - 30, 0.6, 0.34), 0.5), mix(middle, hsl(hue, 0.9, 0.6), 0.5), horizon],
  }
}

const WORDS = new Map<string, Meaning>(
  Object.entries({
    red: { tones: hueTones(356, 0.72) },
    orange: { tones: warmTones(26) },
    yellow: { tones: warmTones(46) },
    green: { tones: hueTones(135, 0.5) },
    blue: { tones: hueTones(214, 0.68) },
    indigo: { tones: hueTones(242, 0.6) },
    violet: { tones: hueTones(278, 0.55) },
    purple: { tones: hueTones(286, 0.55) },
    pink: { tones: hueTones(334, 0.62) },
    black: { tones: BLACK },
    white: { tones: WHITE },
    sunset: { tones: SUNSET },
    night: { tones: NIGHT },
    forest: { shape: 'forest', tones: FOREST },
    ocean: { shape: 'ocean', tones: OCEAN },
  } satisfies Record<string, Meaning>),
)
