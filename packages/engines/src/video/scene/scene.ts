import type { Size } from '../../size.ts'
import { between, makeRandom, type Random } from '../random.ts'
import type { Layer } from './layer.ts'
import { choosePalette, mix, type Palette, type Rgb } from './palette.ts'

/** Draws the scene that a prompt's known words and a seed describe, from back to front; the first layer fills the frame. */
export const makeScene = (prompt: string, seed: number, frame: Size): Layer[] => {
  const palette = choosePalette(prompt)
  const random = makeRandom(seed, 'setting')
  const horizon = Math.round(frame.height * between(random, 0.5, 0.58))
  const x = frame.width * (0.5 + (random() < 0.5 ? 1 : -1) * between(random, 0.1, 0.26))
  const setting = { palette, frame, horizon, light: { x, y: horizon * between(random, 0.3, 0.6) } }
  const draw = (near: number) => drawRidge(near, setting, makeRandom(seed, `ridge ${near}`))
  return [drawSky(setting, makeRandom(seed, 'sky')), ...[0.05, 0.36, 0.66, 1].map(draw)]
}

/** Parts of the scene; the horizon is the row at which the sky ends, the light the middle of the sun or moon, in pixels. */
interface Setting {
  palette: Palette
  frame: Size
  horizon: number
  light: { x: number; y: number }
}

/** Level, relief, bumps, roughness and trees of the farthest ridge and of the nearest; those between lie between. */
const RIDGES: Record<Palette['shape'], Record<'farthest' | 'nearest', readonly number[]>> = {
  mountains: { farthest: [-0.2, 0.5, 2.4, 0.52, -0.3], nearest: [0.75, 0.2, 1.6, 0.3, 0.13] },
  forest: { farthest: [-0.1, 0.3, 1.8, 0.3, 0.05], nearest: [0.94, 0.12, 1.4, 0.3, 0.38] },
  ocean: { farthest: [-0.04, 0, 8, 0.25, 0], nearest: [0.78, 0.11, 4, 0.25, 0] },
}

/** Draws the gradient, the stars and the light with its glow. */
const drawSky = ({ palette, frame, horizon, light }: Setting, random: Random): Layer => {
  const isNight = palette.sky[1][1] < 40
  const unit = Math.min(frame.width, frame.height)
  const stars = Array.from({ length: isNight ? 160 : 0 }, () => {
    const radius = unit * between(random, 0.0008, 0.0022)
    return circle(random() * frame.width, random() * horizon, radius, 'rgb(255,255,255,0.6)')
  })
  const shine = (opacity: number) => css(palette.light, isNight ? opacity / 2 : opacity)
  const glow = `<defs><radialGradient id="glow"><stop stop-color="${shine(0.9)}"/><stop offset="0.3" stop-color="${shine(0.35)}"/><stop offset="1" stop-color="${shine(0)}"/></radialGradient></defs>`
  const disc = circle(light.x, light.y, unit * 0.052, css(palette.light))
  const halo = glow + circle(light.x, light.y, unit * 0.75, 'url(#glow)')
  const sky = gradient(0, horizon, palette.sky) + stars.join('')
  return { colour: sky + halo + disc, top: 0, depth: 0.3 }
}

/** Draws the light's path: short dashes, wider and farther apart towards the viewer. */
const drawPath = ({ palette, frame, horizon, light }: Setting, random: Random): string => {
  const dashes = Array.from({ length: 150 }, () => {
    const share = random() ** 1.7
    const half = frame.width * between(random, 0.003, 0.012) * (0.4 + share)
    const x = light.x + frame.width * (0.02 + 0.1 * share) * (random() + random() - 1)
    const y = horizon + (frame.height - horizon) * share
    return `<ellipse cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" rx="${half.toFixed(1)}" ry="${(half / 7).toFixed(2)}"/>`
  })
  return `<g fill="${css(palette.light, 0.5)}">${dashes.join('')}</g>`
}

/** Draws a ridge, the paler the farther it is, with mist at its foot, or a swell with foam on its crest. */
const drawRidge = (near: number, setting: Setting, random: Random): Layer => {
  const { palette, frame, horizon } = setting
  const { farthest, nearest } = RIDGES[palette.shape]
  const [level = 0, relief = 0, bumps = 0, roughness = 0, trees = 0] = farthest.map(
    (value, i) => value + ((nearest[i] ?? 0) - value) * near,
  )
  const rows = frame.height - horizon
  const outline = makeOutline(random, {
    level: horizon + level * rows,
    relief: relief * rows,
    // An upright frame shows a part of what a wide one shows.
    bumps: bumps * Math.max(0.5, Math.min(1.2, frame.width / frame.height / 1.6)),
    roughness,
  })
  const mean = Math.max(0, trees) * Math.min(frame.height, 0.9 * frame.width)
  const crest = Math.min(...outline) - 1.3 * mean
  const low = crest + (frame.height - crest) * (0.4 + 0.5 * near)
  const body = mix(palette.far, palette.near, near)
  const pale = mix(palette.sky[2], palette.far, 0.3)
  const path = toPath(outline, frame.width)
  const mask = `<path d="${path}V${frame.height + 2}H0Z" fill="#fff"/>`
  const [top, depth] = [Math.max(0, Math.floor(crest) - 2), 0.35 + 0.65 * near]
  if (palette.shape === 'ocean') {
    const foam = `<path d="${path}" fill="none" stroke="${css(pale, 0.5)}" stroke-width="${(frame.height / 250).toFixed(1)}"/>`
    const colour = gradient(crest, low, [mix(body, pale, 0.4), body])
    const sway = { x: between(random, -0.03, 0.03), y: 0.01 * near, swings: 1, phase: random() }
    return { colour: colour + drawPath(setting, random) + foam, mask, top, depth, sway }
  }
  const colour = gradient(crest, low, [body, mix(body, pale, 0.7 * (1 - near ** 1.6))])
  // Two paths: turning opposite ways, one would cut holes into the other.
  const wood = mean > 0 ? drawTrees(random, outline, frame.width, mean) : ''
  return { colour, mask: `${mask}<path d="${wood}" fill="#fff"/>`, top, depth }
}

const css = (colour: Rgb, opacity = 1): string =>
  `rgb(${colour.map((value) => Math.round(value)).join(',')},${opacity})`

const circle = (x: number, y: number, radius: number, paint: string): string =>
  `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius.toFixed(2)}" fill="${paint}"/>`

/** Fills the frame with colours that change between two rows, evenly. */
const gradient = (from: number, to: number, colours: readonly Rgb[]): string => {
  const stops = colours.map(
    (colour, i) => `<stop offset="${i / (colours.length - 1)}" stop-color="${css(colour)}"/>`,
  )
  return `<defs><linearGradient id="rows" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${from.toFixed(1)}" y2="${to.toFixed(1)}">${stops.join('')}</linearGradient></defs><rect width="100%" height="20000" fill="url(#rows)"/>`
}

/** Parts that the width of a frame is drawn in. */
const COUNT = 640

/**
 * Makes a ridge of octaves of smooth noise: heights in pixels from the top of the frame, one for each part and one more. A
 * roughness of 0.3 gives hills, 0.5 rocks, whose crests are sharp.
 */
const makeOutline = (
  random: Random,
  { level, relief, bumps, roughness }: Record<'level' | 'relief' | 'bumps' | 'roughness', number>,
): number[] => {
  const octaves = Array.from({ length: 5 }, (_, octave) => {
    const frequency = bumps * 2 ** octave
    const values = Array.from({ length: Math.ceil(frequency) + 3 }, () => between(random, -1, 1))
    return { frequency, values, height: roughness ** octave * (1 - roughness) }
  })
  return Array.from({ length: COUNT + 2 }, (_, place) =>
    octaves.reduce((y, { frequency, values, height }) => {
      const at = (place / COUNT) * frequency
      const share = at % 1
      const [from = 0, to = 0] = [values[at - share], values[at - share + 1]]
      const value = from + (to - from) * share * share * (3 - 2 * share)
      return y - relief * height * (roughness > 0.4 ? 1 - 2 * Math.abs(value) : value)
    }, level),
  )
}

/** Writes the outline as an SVG path, without its closing. */
const toPath = (outline: number[], width: number): string =>
  outline.map((y, i) => `${i === 0 ? 'M' : 'L'}${(i * width) / COUNT} ${y.toFixed(1)}`).join('')

/** Draws silhouettes of conifers along an outline, in groves. @param mean height of a tree, pixels */
const drawTrees = (random: Random, outline: number[], width: number, mean: number) => {
  let path = ''
  for (let x = 0; x < width; x += mean * (random() < 0.75 ? between(random, 0.1, 0.3) : 0.8)) {
    const tall = mean * (0.5 + 0.8 * random() ** 1.5)
    const foot = (outline[Math.round((x / width) * COUNT)] ?? 0) + tall * 0.1
    // Tiers of branches, each wider than the one above it.
    for (let tier = 1; tier <= 6; tier++) {
      const half = tall * 0.03 * tier * between(random, 0.8, 1.1)
      const [y, top] = [foot - tall * (1 - tier * 0.16), foot - tall * (1.06 - tier * 0.12)]
      path += `M${(x - half).toFixed(1)} ${y.toFixed(1)}h${(2 * half).toFixed(1)}L${x.toFixed(1)} ${top.toFixed(1)}Z`
    }
  }
  return path
}
