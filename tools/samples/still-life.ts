import { makeTable } from './table.ts'
import { makeWall } from './wall.ts'
import { makeVase } from './vase.ts'
import { makeOrange } from './fruit.ts'
import { makeScene } from './parts.ts'
import type { Scene } from './scene.ts'
import { blend, normalize, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A table by a wall with a vase, fruit and a cloth, in the even light of an overcast day. Units of 10 cm. */
export function makeStillLife(): Scene {
  return makeScene({
    parts: [
      makeTable(),
      makeWall(-2.4),
      makeVase([-1.15, 0, -0.5]),
      makeOrange([0.55, 0.4, 0.2], 0.4),
      makeOrange([1.35, 0.38, -0.2], 0.38),
    ],
    sky: daylight,
    backdrop: () => [0.3, 0.3, 0.3],
    lights: [
      { direction: normalize([-0.55, 0.75, 0.7]), spread: 0.3, colour: scale(rgb(0xfff4e4), 0.75) },
    ],
    far: 30,
    bleeding: 0.55,
  })
}

const PANE = rgb(0xf4f8ff)

/** A bright room; two window panes to the left show in everything that shines. */
function daylight([x, y, z]: Vec, roughness: number): Vec {
  const room = blend(rgb(0x6d675f), rgb(0xb4b8be), smoothstep(-0.6, 0.9, y))
  const soft = 0.02 + roughness * 0.8
  const u = x / Math.max(0.05, z)
  const v = y / Math.max(0.05, z)
  const inPane = (from: number, to: number): number =>
    smoothstep(from - soft, from + soft, u) * smoothstep(to + soft, to - soft, u)
  const high = smoothstep(0.25 - soft, 0.25 + soft, v) * smoothstep(1.5 + soft, 1.5 - soft, v)
  const seen = z > 0 ? (inPane(-1.6, -1.0) + inPane(-0.92, -0.35)) * high : 0
  return blend(room, scale(PANE, 2.6), Math.min(1, seen) / (1 + 2 * roughness))
}
