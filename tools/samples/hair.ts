import { noise } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { ellipsoid, join } from './shapes.ts'
import { braincase } from './skull.ts'
import { clamp, rgb, scale, smoothstep } from './vector.ts'

/** How far inside the hairline a point of the scalp lies: negative on the face. */
export function insideHairline(x: number, y: number, z: number): number {
  const ax = Math.abs(x)
  const low = -0.24 + 0.42 * smoothstep(-0.1, 0.3, y) + 0.3 * smoothstep(0.2, 0.5, y)
  const front = low + 0.6 * smoothstep(0.42, 0.8, y)
  const temple = 0.1 * smoothstep(0.2, 0.5, ax) * smoothstep(0.35, 0.65, y)
  return front - temple - z
}

/** Long hair combed back behind the ears: the outside of its mass, without strands. */
export function hairMass(x: number, y: number, z: number): number {
  const far = ellipsoid(x, y + 0.35, z + 0.25, 1.1, 1.85, 1.25)
  if (far > 0.1) return far
  const inside = insideHairline(x, y, z)
  const grown = smoothstep(-0.02, 0.42, inside)
  const full = 0.06 + 0.11 * smoothstep(0.35, 1, y)
  const cap = braincase(x, y, z) - full * grown + 0.015
  const wave = 0.03 * Math.sin(x * 6 + y * 2) * Math.sin(y * 3.5 + x) * smoothstep(-0.3, -0.8, y)
  const fall = ellipsoid(x, y + 0.75, z + 0.56, 0.83, 1.35, 0.4) + wave
  return join(cap, fall, 0.15)
}

/** The mass fills the gaps between the strands and casts their shadow. */
export function makeHairMass(): Part {
  return {
    colour: scale(HAIR, 0.4),
    distance: (x, y, z) => hairMass(x, y, z) * 0.8,
    surface: (point, normal, footprint) => ({
      albedo: scale(HAIR, 0.8),
      normal: relief(point, normal, footprint, ([x, y, z]) => 0.02 * noise(x * 26, y * 3, z * 10)),
      roughness: 0.8,
      reflectance: 0.01,
      scatter: 0,
    }),
  }
}

/** Dark, cool brown: outside the colours of skin. */
export const HAIR = rgb(0x3e3b3e)

/** Share of light left at this height above the mass: strands below others are dark. */
export const buried = (offset: number): number => 0.35 + 0.65 * clamp(offset / 0.05)
