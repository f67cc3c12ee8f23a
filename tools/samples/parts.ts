import { clamp, normalize, scale, subtract, add, tangents } from './vector.ts'
import type { Vec } from './vector.ts'
import type { Field, Scene, Surface } from './scene.ts'

/** One thing in a scene: its shape, its looks, and a ball around it that spares rays far away its exact shape. */
export interface Part {
  distance: Field
  surface(point: Vec, normal: Vec, footprint: number): Surface
  /** Mean colour, for what others see of it in a reflection or as bleeding colour. */
  colour: Vec
  /** Centre and radius; absent for what has no end. */
  bound?: readonly [number, number, number, number]
}

export interface Stage {
  parts: readonly Part[]
  sky: Scene['sky']
  backdrop: Scene['backdrop']
  lights: Scene['lights']
  far: number
  /** Share of its own colour a thing sends on to others: the mean light in the room. */
  bleeding: number
}

export function makeScene({ parts, bleeding, ...rest }: Stage): Scene {
  const distance: Field = (x, y, z) => {
    let best = 1e9
    for (const part of parts) best = nearer(part, best, x, y, z)
    return best
  }
  const nearest = ([x, y, z]: Vec): Part | undefined => {
    const gaps = parts.map((part) => part.distance(x, y, z))
    return parts[gaps.indexOf(Math.min(...gaps))]
  }
  return {
    ...rest,
    distance,
    surface: (point, normal, footprint) => {
      const part = nearest(point)
      if (!part) throw new Error('a scene needs at least one part')
      return part.surface(point, normal, footprint)
    },
    glow: (point) => scale(nearest(point)?.colour ?? [0, 0, 0], bleeding),
  }
}

/** Past this gap the ball stands for the part: well above the fillets between parts. */
const NEAR = 0.12

function nearer({ bound, distance }: Part, best: number, x: number, y: number, z: number): number {
  if (bound) {
    const dx = x - bound[0]
    const dy = y - bound[1]
    const dz = z - bound[2]
    const gap = Math.sqrt(dx * dx + dy * dy + dz * dz) - bound[3]
    if (gap > NEAR) return gap < best ? gap : best
  }
  const d = distance(x, y, z)
  return d < best ? d : best
}

/** The normal tilted as a relief of this height would tilt it; `e` is the finest step that still shows. */
export function relief(point: Vec, normal: Vec, e: number, height: (point: Vec) => number): Vec {
  const [a, b] = tangents(normal)
  const h = height(point)
  const da = clamp((height(add(point, scale(a, e))) - h) / e, -2, 2)
  const db = clamp((height(add(point, scale(b, e))) - h) / e, -2, 2)
  return normalize(subtract(normal, add(scale(a, da), scale(b, db))))
}
