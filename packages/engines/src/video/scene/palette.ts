import { hashText } from '../random.ts'

/** Red, green, blue, 0..255, not rounded. */
export type Rgb = readonly [number, number, number]

/** Shape and colours of a scene: the sky from its top to the horizon, sun or moon, the farthest land and the nearest. */
export interface Palette {
  shape: 'mountains' | 'forest' | 'ocean'
  sky: readonly [Rgb, Rgb, Rgb]
  light: Rgb
  far: Rgb
  near: Rgb
}

/** Mixes two colours; `share` 0..1 is the second colour's. */
export const mix = (one: Rgb, other: Rgb, share: number): Rgb => {
  const channel = (i: 0 | 1 | 2): number => one[i] + (other[i] - one[i]) * share
  return [channel(0), channel(1), channel(2)]
}

/** Top, middle and foot of the sky, light, far and near land, by the word of a colour, a time of day or a place. */
const TONES: Record<string, string> = {
  red: '762413 d72828 f39ab2 fddde9 bf625e 260c08',
  orange: '6d2a2e e0742c ffb48a fff0e0 c08a62 2a1406',
  yellow: '8a5a1c e6b422 ffe27a fffbe0 b9a45c 262108',
  green: '226744 43bc69 a8e6ab dffddd 6db085 0d2116',
  blue: '162974 2d6ad2 9dd2f1 ddf5fd 6180bd 090f25',
  indigo: '321c6e 4537c8 a2aeec dde6fd 7166b7 100b23',
  violet: '611f6b 9a3dc2 c2a5e9 e8ddfd a06ab4 1f0c22',
  purple: '6b1f6b ac3dc2 cba5e9 ecddfd aa6ab4 220c22',
  pink: '701a2b cb346b eda1d1 fdddf5 b96581 240a10',
  black: '07080a 17191d 3b3e45 d9dde3 2b2e34 020203',
  white: 'b9c7d6 dbe4ec faf7f2 ffffff cdd7e0 74869a',
  sunset: '2c2255 c2476b ffb35c fff0c4 a9496b 150d22',
  night: '050a1e 14224d 3a5486 eef3ff 2c4069 04070f',
  forest: '6f9aa3 b4cfc2 f3efcf fffbe3 86a894 08170f',
  ocean: '2f6fb0 7fbbdc ffe6bf fffbea 3f8fb5 06283f',
}

const OTHERS = ['blue', 'sunset', 'indigo', 'pink', 'red', 'violet', 'orange', 'night']

/**
 * Chooses by the English words of a prompt (whole words, any case): the first colour or time of day decides the colours,
 * the first place the shape. Without either the prompt's hash chooses among OTHERS.
 */
export const choosePalette = (prompt: string): Palette => {
  const words: string[] = prompt.toLowerCase().match(/\p{L}+/gu) ?? []
  const place = words.find((word) => word === 'forest' || word === 'ocean')
  const tone = words.find((word) => word !== 'forest' && word !== 'ocean' && TONES[word])
  const other = OTHERS[hashText(prompt) % OTHERS.length] ?? ''
  const colours = (TONES[tone ?? place ?? other] ?? '').split(' ')
  const rgb = (at: number): Rgb => {
    const hex = Number.parseInt(colours[at] ?? '', 16)
    return [hex >> 16, (hex >> 8) & 255, hex & 255]
  }
  const sky = [rgb(0), rgb(1), rgb(2)] as const
  return { shape: place ?? 'mountains', sky, light: rgb(3), far: rgb(4), near: rgb(5) }
}
