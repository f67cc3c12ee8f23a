import { makeBranch } from './branch.ts'
import { makeCloth } from './cloth.ts'
import { makeHalfOrange, makeOrange, makePear } from './fruit.ts'
import { makeScene } from './parts.ts'
import type { Stage } from './parts.ts'
import type { Scene } from './scene.ts'
import { makeTable } from './table.ts'
import { makeVase } from './vase.ts'
import { blend, normalize, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'
import { makeWall } from './wall.ts'

/** A table by a wall with a vase, fruit and a cloth, in the even light of an overcast day. Units of 10 cm. */
export function makeStillLife(): Scene {
  return makeScene({
    parts: [
      makeTable(),
      makeWall(-2.2),
      makeVase(VASE),
      ...BRANCHES.map(([tip, sag], i) => makeBranch(MOUTH, tip, sag, i + 1)),
      makeCloth(FRUIT),
      makeOrange([0.42, 0.42, 0.05], 0.39),
      makePear([1.22, 0.4, -0.15]),
      makeHalfOrange([0.95, 0.33, 0.72], 0.37, normalize([-0.12, 0.5, 0.8])),
      makeOrange([1.95, 0.4, 0.35], 0.37),
    ],
    ...DAY,
  })
}

/** The vase alone with nothing around it. */
export const makeVaseAlone = (): Scene => makeScene({ parts: [makeVase(VASE)], ...DAY })

export const TABLE_VIEW = { eye: [0.3, 3.3, 8.6], target: [0.05, 1.38, 0], angle: 29 } as const
export const VASE_VIEW = { eye: [-1, 2.6, 8.6], target: [-1.2, 1.24, -0.5], angle: 17.5 } as const

const VASE: Vec = [-1.2, 0, -0.5]
const MOUTH: Vec = [-1.2, 2.15, -0.5]
const BRANCHES: readonly (readonly [Vec, number])[] = [
  [[-2.35, 3.3, -0.6], 0.12],
  [[-1.55, 3.95, -0.75], 0.02],
  [[-0.55, 3.75, -0.45], 0.08],
  [[0.15, 3.05, -0.2], 0.2],
]
const FRUIT = [
  [0.42, 0.05],
  [1.22, -0.15],
  [0.95, 0.6],
  [1.95, 0.35],
] as const

const PANE = rgb(0xf4f8ff)
const FLOOR = rgb(0x6d675f)
const CEILING = rgb(0xb4b8be)

/** A bright room; two window panes to the left show in everything that shines. */
function daylight([x, y, z]: Vec, roughness: number): Vec {
  const room = blend(FLOOR, CEILING, smoothstep(-0.6, 0.9, y))
  if (z <= 0) return room
  const soft = 0.02 + roughness * 0.8
  const u = x / Math.max(0.05, z)
  const v = y / Math.max(0.05, z)
  const panes = between(u, -1.6, -1, soft) + between(u, -0.92, -0.35, soft)
  const seen = panes * between(v, 0.25, 1.5, soft)
  const glare = 2.6 + 14 * smoothstep(0.4, 0.1, roughness)
  return blend(room, scale(PANE, glare), Math.min(1, seen) / (1 + 2 * roughness))
}

const DAY: Omit<Stage, 'parts'> = {
  sky: daylight,
  backdrop: () => [0, 0, 0],
  lights: [
    { direction: normalize([-0.55, 0.75, 0.7]), spread: 0.3, colour: scale(rgb(0xfff4e4), 0.8) },
  ],
  far: 30,
  bleeding: 0.45,
}

/** 1 from `low` to `high`, with edges this soft. */
const between = (at: number, low: number, high: number, soft: number): number =>
  smoothstep(low - soft, low + soft, at) * smoothstep(high + soft, high - soft, at)
