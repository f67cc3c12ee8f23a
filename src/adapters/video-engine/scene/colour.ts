/** Red, green, blue, 0..255, not rounded. */
export type Rgb = readonly [number, number, number]

/** @param hue degrees; @param saturation, lightness 0..1 */
export const hsl = (hue: number, saturation: number, lightness: number): Rgb => {
  const chroma = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number): number => {
    const k = (offset + (((hue % 360) + 360) % 360) / 30) % 12
    return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)))
  }
  return [channel(0), channel(8), channel(4)]
}

/** Of two colours the share 0..1 of the second. */
export const mix = (one: Rgb, other: Rgb, share: number): Rgb => [
  one[0] + (other[0] - one[0]) * share,
  one[1] + (other[1] - one[1]) * share,
  one[2] + (other[2] - one[2]) * share,
]

/** As CSS and SVG write it. */
export const css = (colour: Rgb): string =>
  `rgb(${colour.map((value) => Math.round(value)).join(',')})`
