import { between, makeRandom } from '../random.ts'
import type { Frame, Layer, Setting } from './layer.ts'
import { drawLand } from './land.ts'
import { drawMotes } from './motes.ts'
import { choosePalette } from './palette.ts'
import { drawSea } from './sea.ts'
import { drawSky } from './sky.ts'

/** A scene that a prompt's known words and a seed describe, from back to front; the first layer fills the frame. */
export const makeScene = (prompt: string, seed: number, frame: Frame): Layer[] => {
  const setting = arrange(prompt, seed, frame)
  const ground = setting.palette.shape === 'ocean' ? drawSea(setting) : drawLand(setting)
  return [drawSky(setting), ...ground, drawMotes(setting)]
}

const arrange = (prompt: string, seed: number, frame: Frame): Setting => {
  const palette = choosePalette(prompt)
  const random = makeRandom(seed, 'setting')
  // Even, because a layer that begins there is laid on rows of chroma.
  const horizon = 2 * Math.round(frame.height * between(random, 0.25, 0.29))
  const side = random() < 0.5 ? 1 : -1
  const unit = Math.min(frame.width, frame.height)
  const light = {
    x: frame.width * (0.5 + side * between(random, 0.1, 0.26)),
    y: horizon * (1 - palette.lightHeight * between(random, 0.85, 1.15)),
    radius: unit * (palette.stars ? 0.04 : 0.052) * between(random, 0.9, 1.2),
  }
  return { frame, seed, palette, horizon, light }
}
