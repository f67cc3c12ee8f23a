import { between, makeRandom } from '../random.ts'
import type { Random } from '../random.ts'
import { css, mix } from './colour.ts'
import { fill, radialGradient, stop, verticalGradient } from './layer.ts'
import type { Layer, Setting } from './layer.ts'

/** Gradient, stars, the sun or moon with its glow, and thin clouds. */
export const drawSky = (setting: Setting): Layer => {
  const { frame, palette, horizon } = setting
  const random = makeRandom(setting.seed, 'sky')
  const [top, middle, low] = palette.sky
  const gradient = verticalGradient('sky', 0, horizon, [
    stop(0, css(top)),
    stop(0.3, css(mix(top, middle, 0.55))),
    stop(0.58, css(middle)),
    stop(0.82, css(mix(middle, low, 0.7))),
    stop(1, css(low)),
  ])
  const colour = [
    `<defs>${gradient}</defs>`,
    fill(frame, 'url(#sky)'),
    palette.stars ? drawStars(random, setting) : '',
    drawLight(setting),
    drawClouds(random, setting),
  ]
  return { colour: colour.join(''), top: 0, depth: 0.3 }
}

const STARS = 260

const drawStars = (random: Random, { frame, palette, horizon }: Setting): string => {
  const unit = Math.min(frame.width, frame.height)
  return Array.from({ length: STARS }, () => {
    const [x, y] = [between(random, 0, frame.width), horizon * random() ** 1.3]
    // Few bright ones among many faint.
    const size = random() ** 4
    const radius = unit * (0.0008 + 0.0016 * size)
    const opacity = (0.25 + 0.75 * size) * (1 - 0.7 * (y / horizon))
    return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius.toFixed(2)}" fill="${css(palette.light)}" opacity="${opacity.toFixed(2)}"/>`
  }).join('')
}

const drawLight = ({ frame, palette, light }: Setting): string => {
  const colour = css(palette.light)
  const warm = css(mix(palette.light, palette.sky[2], 0.45))
  const strength = palette.stars ? 0.5 : 1
  const gradients = [
    radialGradient('glow', [
      stop(0, warm, 0.75 * strength),
      stop(0.25, warm, 0.38 * strength),
      stop(0.55, warm, 0.12 * strength),
      stop(1, warm, 0),
    ]),
    radialGradient('halo', [
      stop(0, colour, 0.85 * strength),
      stop(0.45, colour, 0.3 * strength),
      stop(1, colour, 0),
    ]),
    // A soft rim: a hard one shows steps while it moves.
    radialGradient('disc', [stop(0, colour), stop(0.94, colour), stop(1, colour, 0)]),
  ]
  const circle = (radius: number, paint: string): string =>
    `<circle cx="${light.x.toFixed(1)}" cy="${light.y.toFixed(1)}" r="${radius.toFixed(1)}" fill="url(#${paint})"/>`
  const glow = Math.max(frame.width, frame.height) * 0.55
  return `<defs>${gradients.join('')}</defs>${circle(glow, 'glow')}${circle(light.radius * 3.2, 'halo')}${circle(light.radius, 'disc')}`
}

const CLOUDS = 9
const PUFFS = 7

/** Streaks of flat ellipses, lit from the light's side; denser towards the horizon. */
const drawClouds = (random: Random, setting: Setting): string => {
  const { frame, palette, horizon } = setting
  const lit = css(mix(palette.sky[2], palette.light, 0.5))
  const strength = palette.stars ? 0.1 : 0.3
  const gradient = radialGradient('cloud', [
    stop(0, lit, strength),
    stop(0.5, lit, strength * 0.5),
    stop(1, lit, 0),
  ])
  const clouds = Array.from({ length: CLOUDS }, () => {
    const y = horizon * (0.15 + 0.75 * Math.sqrt(random()))
    const x = between(random, -0.1, 1.1) * frame.width
    const length = frame.width * between(random, 0.1, 0.3)
    return Array.from({ length: PUFFS }, () => {
      const rx = length * between(random, 0.2, 0.6)
      const ry = horizon * between(random, 0.008, 0.03)
      const at = [x + length * between(random, -0.7, 0.7), y + ry * between(random, -1.6, 1.6)]
      return `<ellipse cx="${at[0]?.toFixed(1)}" cy="${at[1]?.toFixed(1)}" rx="${rx.toFixed(1)}" ry="${ry.toFixed(1)}" fill="url(#cloud)"/>`
    }).join('')
  })
  return `<defs>${gradient}</defs>${clouds.join('')}`
}
