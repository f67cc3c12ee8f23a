import { noise, octaves } from './noise.ts'
import type { Part } from './parts.ts'
import { join, sphere } from './shapes.ts'
import { EYE } from './skull.ts'
import { bell, blend, dot, normalize, rgb, scale, smoothstep, subtract } from './vector.ts'
import type { Vec } from './vector.ts'

/** Both eyeballs, looking at `target` (a point in the measure of the head). */
export function makeEyes(target: Vec): Part {
  const left = gaze(1, target)
  const right = gaze(-1, target)
  return {
    colour: rgb(0xd8cdc6),
    distance: (x, y, z) => (x > 0 ? eyeball(left, x, y, z) : eyeball(right, x, y, z)),
    surface: (point, normal) => {
      const eye = point[0] > 0 ? left : right
      const local = subtract(point, eye.centre)
      return {
        albedo: iris(eye, local),
        normal,
        roughness: 0.08,
        reflectance: 0.035,
        scatter: 0,
      }
    },
  }
}

interface Eye {
  centre: Vec
  /** Where it looks. */
  forward: Vec
  side: number
}

function gaze(side: number, target: Vec): Eye {
  const centre: Vec = [side * EYE.x, EYE.y, EYE.z]
  return { centre, forward: normalize(subtract(target, centre)), side }
}

/** The cornea stands out of the ball by about 2 mm. */
function eyeball({ centre, forward }: Eye, x: number, y: number, z: number): number {
  const px = x - centre[0]
  const py = y - centre[1]
  const pz = z - centre[2]
  const ball = sphere(px, py, pz, EYE.r)
  const out = 0.066
  return join(
    ball,
    sphere(px - forward[0] * out, py - forward[1] * out, pz - forward[2] * out, 0.076),
    0.02,
  )
}

const IRIS = 0.067
const WHITE = rgb(0xe6ddd8)
const FLESH = rgb(0xd09a8c)
const SLATE = rgb(0x3c5a5c)
const SEA = rgb(0x86a39a)
const AMBER = rgb(0xa07a3c)
const PUPIL = rgb(0x050506)

function iris({ forward, side }: Eye, local: Vec): Vec {
  const along = dot(local, forward)
  const flat = subtract(local, scale(forward, along))
  const r = Math.sqrt(dot(flat, flat)) / IRIS
  const angle = Math.atan2(flat[1], flat[0])
  const inner = smoothstep(-0.05, -0.13, local[0] * side)
  const veins = smoothstep(0.35, 0.6, octaves(local[0] * 30, local[1] * 60, side * 3, 3)) * 0.35
  const corner = smoothstep(0.07, 0.14, Math.abs(local[0]))
  const white = blend(WHITE, FLESH, 0.12 + 0.4 * corner * (0.5 + veins) + 0.6 * inner)
  const ring = [Math.cos(angle) * 7, Math.sin(angle) * 7] as const
  const fibres = 0.5 + 0.5 * noise(ring[0] * 1.6, ring[1] * 1.6, r * 1.5 + side * 9)
  const outer = blend(SLATE, SEA, fibres)
  const collar = blend(outer, AMBER, 0.75 * bell(r, 0.45, 0.16) * (0.4 + fibres))
  const rimmed = scale(collar, 1 - 0.8 * smoothstep(0.72, 1, r))
  const pupil = blend(PUPIL, rimmed, smoothstep(0.36, 0.42, r))
  const shaded = scale(white, 0.85 - 0.3 * smoothstep(0.02, 0.06, local[1]))
  return along > 0 ? blend(pupil, shaded, smoothstep(0.94, 1.1, r)) : shaded
}
