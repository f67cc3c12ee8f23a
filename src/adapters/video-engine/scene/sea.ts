import { between, makeRandom } from '../random.ts'
import type { Random } from '../random.ts'
import { css, mix } from './colour.ts'
import { fill, stop, verticalGradient } from './layer.ts'
import type { Layer, Setting } from './layer.ts'
import { makeRidge, toPath } from './outline.ts'

const WAVES = 4

/** Open water with the light's path on it, and swells that roll to and fro, larger towards us. */
export const drawSea = (setting: Setting): Layer[] => [
  drawWater(setting),
  ...Array.from({ length: WAVES }, (_, index) => drawSwell(setting, index)),
]

const drawWater = (setting: Setting): Layer => {
  const { frame, palette, horizon } = setting
  const random = makeRandom(setting.seed, 'water')
  const gradient = verticalGradient('water', horizon, frame.height, [
    stop(0, css(mix(palette.far, palette.sky[2], 0.55))),
    stop(0.12, css(mix(palette.far, palette.sky[2], 0.2))),
    stop(0.5, css(mix(palette.far, palette.near, 0.25))),
    stop(1, css(mix(palette.far, palette.near, 0.6))),
  ])
  const colour = `<defs>${gradient}</defs>${fill(frame, 'url(#water)')}${drawRipples(random, setting)}${drawGlitter(random, setting, 240, 0)}`
  const mask = `<rect y="${horizon}" width="${frame.width}" height="${frame.height - horizon + 2}" fill="#fff"/>`
  return { colour, mask, top: horizon, depth: 0.3 }
}

/** Short dashes under the light, wider and farther apart towards us. @param from share of the way to us */
const drawGlitter = (
  random: Random,
  { frame, palette, horizon, light }: Setting,
  count: number,
  from: number,
): string => {
  const depth = frame.height - horizon
  return Array.from({ length: count }, () => {
    const near = from + (1 - from) * random() ** 1.7
    const y = horizon + depth * near * 0.95 + 1
    const spread = light.radius * (0.7 + 3.2 * near)
    const x = light.x + spread * (random() + random() - 1)
    const half = light.radius * between(random, 0.08, 0.4) * (0.35 + 1.3 * near)
    const thick = depth * (0.002 + 0.0045 * near) * between(random, 0.6, 1.2)
    const opacity = between(random, 0.25, 0.85) * (1 - 0.55 * near)
    return dash({ x, y, half, thick }, css(palette.light), opacity)
  }).join('')
}

const drawRipples = (random: Random, { frame, palette, horizon }: Setting): string => {
  const depth = frame.height - horizon
  return Array.from({ length: 170 }, (_, i) => {
    const near = random() ** 1.5
    const y = horizon + depth * near + 1
    const half = frame.width * between(random, 0.01, 0.05) * (0.3 + near)
    const thick = depth * (0.0015 + 0.006 * near)
    const paint = i % 3 === 0 ? palette.near : palette.sky[1]
    return dash({ x: between(random, 0, frame.width), y, half, thick }, css(paint), 0.18)
  }).join('')
}

const dash = (
  { x, y, half, thick }: { x: number; y: number; half: number; thick: number },
  paint: string,
  opacity: number,
): string =>
  `<ellipse cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" rx="${half.toFixed(1)}" ry="${thick.toFixed(2)}" fill="${paint}" opacity="${opacity.toFixed(2)}"/>`

const drawSwell = (setting: Setting, index: number): Layer => {
  const { frame, palette, horizon } = setting
  const random = makeRandom(setting.seed, `swell ${index}`)
  const nearness = (index + 1) / WAVES
  const depth = frame.height - horizon
  const level = horizon + depth * (0.22 + 0.58 * nearness ** 1.25)
  const outline = makeRidge(random, {
    width: frame.width,
    level,
    relief: depth * (0.03 + 0.085 * nearness),
    bumps: Math.max(1.5, (frame.width / frame.height) * (4.5 - 2.2 * nearness)),
    roughness: 0.25,
    octaves: 3,
  })
  const crest = Math.min(...outline.heights)
  const body = mix(palette.far, palette.near, 0.3 + 0.6 * nearness)
  const gradient = verticalGradient('swell', crest, crest + depth * (0.2 + 0.25 * nearness), [
    stop(0, css(mix(body, palette.mist, 0.62 - 0.3 * nearness))),
    stop(0.35, css(mix(body, palette.mist, 0.16))),
    stop(1, css(body)),
  ])
  const foam = `<path d="${toPath(outline)}" fill="none" stroke="${css(mix(palette.mist, palette.light, 0.7))}" stroke-width="${(depth * (0.004 + 0.008 * nearness)).toFixed(1)}" stroke-opacity="${(0.5 - 0.15 * nearness).toFixed(2)}"/>`
  return {
    colour: `<defs>${gradient}</defs>${fill(frame, 'url(#swell)')}${drawGlitter(random, setting, 46, 0.25 + 0.5 * nearness)}${foam}`,
    mask: `<path d="${toPath(outline)}V${frame.height + 2}H0Z" fill="#fff"/>`,
    top: Math.max(0, Math.floor(crest) - 2),
    depth: 0.4 + 0.6 * nearness,
    sway: {
      x: (0.012 + 0.022 * nearness) * (index % 2 === 0 ? 1 : -1),
      y: 0.004 + 0.006 * nearness,
      swings: 1,
      phase: random(),
    },
  }
}
