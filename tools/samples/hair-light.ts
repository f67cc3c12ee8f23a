import { march } from './march.ts'
import type { Scene } from './scene.ts'
import { add, clamp, dot, normalize, scale, subtract } from './vector.ts'
import type { Vec } from './vector.ts'

export interface Fibre {
  tint: Vec
  /** 0..1, less for hairs below others. */
  open: number
  /** Moves the highlight along the hair, about −0.2..0.2. */
  shift: number
  /** Strength of the highlight. */
  shine: number
}

/** Colours along a hair in the room, lit as a thin cylinder (Kajiya and Kay): bright where it lies across the light. */
export function lightFibre(scene: Scene, eye: Vec, points: readonly Vec[], fibre: Fibre): Vec[] {
  let inSight: readonly number[] = []
  return points.map((point, i) => {
    if (i % 4 === 0) inSight = scene.lights.map((lamp) => shadowAt(scene, point, lamp.direction))
    const before = points[Math.max(0, i - 1)] ?? point
    const after = points[Math.min(points.length - 1, i + 1)] ?? point
    const tangent = normalize(subtract(after, before))
    const view = normalize(subtract(eye, point))
    return fibreColour(scene, { tangent, view, inSight }, fibre)
  })
}

/** Starts clear of the mass the hair lies on. */
function shadowAt(scene: Scene, point: Vec, direction: Vec): number {
  const ray = { near: 0.09, far: 4, width: 0.001, slack: 0.001 }
  return march(scene.distance, point, direction, ray) === Infinity ? 1 : 0
}

interface Spot {
  tangent: Vec
  view: Vec
  inSight: readonly number[]
}

function fibreColour(scene: Scene, { tangent, view, inSight }: Spot, fibre: Fibre): Vec {
  let sum = scale(fibre.tint, 0.2)
  scene.lights.forEach((lamp, n) => {
    const half = normalize(add(lamp.direction, view))
    const across = sine(dot(tangent, lamp.direction))
    const white = sine(dot(tangent, half) + fibre.shift - 0.1) ** 90
    const tinted = sine(dot(tangent, half) + fibre.shift + 0.12) ** 18
    const strength = 0.5 * across ** 2 + 1.9 * fibre.shine * tinted
    const own = add(scale(fibre.tint, strength), scale([1, 1, 1], 0.1 * fibre.shine * white))
    const arriving = scale(lamp.colour, inSight[n] ?? 0)
    sum = add(sum, [own[0] * arriving[0], own[1] * arriving[1], own[2] * arriving[2]])
  })
  return scale(sum, fibre.open)
}

const sine = (cosine: number): number => Math.sqrt(1 - clamp(cosine, -1, 1) ** 2)
