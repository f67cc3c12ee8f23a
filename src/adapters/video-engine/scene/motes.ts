import { between, makeRandom } from '../random.ts'
import { css, mix } from './colour.ts'
import { fill, radialGradient, stop } from './layer.ts'
import type { Layer, Setting } from './layer.ts'

const MOTES = 46

/** Specks of light near the lens, out of focus, that drift faster than anything behind them. */
export const drawMotes = ({ frame, palette, seed }: Setting): Layer => {
  const random = makeRandom(seed, 'motes')
  const unit = Math.min(frame.width, frame.height)
  const motes = Array.from({ length: MOTES }, () => {
    const size = random() ** 5
    const radius = unit * (0.0022 + 0.022 * size)
    const y = frame.height * between(random, 0.18, 1)
    // The larger the fainter: the light of a speck out of focus is spread.
    const opacity = between(random, 0.35, 0.9) * (1 - 0.75 * Math.sqrt(size))
    return `<circle cx="${between(random, 0, frame.width).toFixed(1)}" cy="${y.toFixed(1)}" r="${radius.toFixed(1)}" fill="url(#mote)" opacity="${opacity.toFixed(2)}"/>`
  })
  const gradient = radialGradient('mote', [
    stop(0, '#fff'),
    stop(0.5, '#fff', 0.6),
    stop(1, '#fff', 0),
  ])
  return {
    colour: fill(frame, css(mix(palette.light, palette.sky[2], 0.35))),
    mask: `<defs>${gradient}</defs>${motes.join('')}`,
    top: 0,
    depth: 1.4,
    sway: { x: 0.012, y: 0.03, swings: 0.5, phase: 0.25 },
  }
}
