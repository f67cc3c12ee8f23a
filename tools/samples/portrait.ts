import { makePullover } from './clothes.ts'
import { makeEyes } from './eyes.ts'
import { makeHairMass } from './hair.ts'
import { octaves } from './noise.ts'
import type { Part } from './parts.ts'
import { makeScene } from './parts.ts'
import { makePose } from './pose.ts'
import type { Pose } from './pose.ts'
import type { Scene } from './scene.ts'
import { skin } from './skin.ts'
import { head } from './skull.ts'
import { add, blend, normalize, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

export const PORTRAIT_VIEW = {
  eye: [-0.18, -0.05, 13],
  target: [-0.18, -0.42, 0],
  angle: 17,
} as const
export const POSE = makePose(-17, 2, 3)

/** Head and shoulders, lit by a large soft lamp from the upper left. Units of 10 cm. */
export function makePortrait(): Scene {
  const face: Part = {
    colour: rgb(0xc99078),
    distance: (x, y, z) => head(x, y, z) * 0.85,
    surface: skin,
  }
  return makeScene({
    parts: [
      turned(face, POSE, [0, -0.35, 0, 1.9]),
      turned(makeEyes(POSE.into(PORTRAIT_VIEW.eye)), POSE, [0, 0, 0.5, 0.6]),
      turned(makeHairMass(), POSE, [0, -0.4, -0.35, 1.95]),
      makePullover(),
    ],
    sky: studio,
    backdrop: canvas,
    lights: [
      {
        direction: normalize([-0.62, 0.52, 0.66]),
        spread: 0.3,
        colour: scale(rgb(0xfff0e0), 1.15),
      },
      { direction: normalize([0.85, 0.35, -0.5]), spread: 0.15, colour: scale(rgb(0xdce8ff), 0.5) },
    ],
    far: 18,
    bleeding: 0.3,
  })
}

/** A part that turns with the head. */
function turned(part: Part, pose: Pose, ball: readonly [number, number, number, number]): Part {
  const [x, y, z] = pose.out([ball[0], ball[1], ball[2]])
  return {
    colour: part.colour,
    bound: [x, y, z, ball[3]],
    distance: (px, py, pz) => {
      const p = pose.into([px, py, pz])
      return part.distance(p[0], p[1], p[2])
    },
    surface: (point, normal, footprint) => {
      const local = part.surface(pose.into(point), pose.intoDirection(normal), footprint)
      return { ...local, normal: pose.outDirection(local.normal) }
    },
  }
}

const FLOOR = rgb(0x3a3c40)
const CEILING = rgb(0x8a8f98)
const SOFTBOX = rgb(0xfff4e8)
const REFLECTOR = rgb(0xffe8d0)

/** A dim room with a softbox at the upper left and a reflector low on the right. */
function studio([x, y, z]: Vec, roughness: number): Vec {
  const room = blend(FLOOR, CEILING, smoothstep(-0.5, 0.9, y))
  const soft = 0.03 + 0.5 * roughness
  const box =
    smoothstep(0.26 + soft, 0.26 - soft, Math.abs(x + 0.55)) *
    smoothstep(0.28 + soft, 0.28 - soft, Math.abs(y - 0.42)) *
    smoothstep(0, 0.2, z)
  const reflector = 0.25 * smoothstep(0.5, 0.9, x - 0.2 * y) * smoothstep(-0.2, 0.3, z)
  const glare = box * (4 / (1 + 3 * roughness) + 26 * smoothstep(0.35, 0.1, roughness))
  return add(scale(room, 1.1), add(scale(SOFTBOX, glare), scale(REFLECTOR, reflector)))
}

const CANVAS = rgb(0x38474f)
const CANVAS_LIGHT = rgb(0x5f7480)

/** A painted canvas out of focus. */
function canvas(u: number, v: number): Vec {
  const cloud = 0.5 + 0.5 * octaves(u * 2.2, v * 2.6, 4, 4)
  const halo = Math.exp(-((u - 0.62) ** 2 + (v - 0.42) ** 2) * 4)
  return scale(blend(CANVAS, CANVAS_LIGHT, cloud), 0.28 + 0.75 * halo)
}
