import { noise, octaves, random } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { blend, clamp, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** An oak table: planks along x, 0.85 wide, with dark joints; its top is y = 0. */
export function makeTable(): Part {
  return {
    colour: rgb(0x9c6b42),
    distance: (_x, y) => y,
    surface: (point, normal, footprint) => {
      const { tone, pore } = wood(point)
      return {
        albedo: scale(
          blend(blend(LIGHT, DARK, tone), PORE, pore * 0.7),
          1 - 0.75 * joint(point[2]),
        ),
        normal: relief(point, normal, footprint, (p) => {
          const there = wood(p)
          return -0.012 * joint(p[2]) - 0.0025 * there.pore - 0.002 * there.tone
        }),
        roughness: clamp(0.42 + 0.2 * tone + 0.1 * noise(point[0], 3, point[2])),
        reflectance: 0.04,
        scatter: 0,
      }
    },
  }
}

const LIGHT = rgb(0xc99a66)
const DARK = rgb(0x85552f)
const PORE = rgb(0x3d2413)
const PLANK = 0.85

function joint(z: number): number {
  const across = z / PLANK - Math.floor(z / PLANK)
  return 1 - smoothstep(0, 0.018, Math.min(across, 1 - across))
}

/** Growth rings of a trunk cut lengthwise, another trunk for each plank, and the fine pores along the grain. */
function wood([x, , z]: Vec): { tone: number; pore: number } {
  const plank = Math.floor(z / PLANK)
  const shift = random(plank, 3, 1) * 40
  const across = z - plank * PLANK - 0.43
  const wobble = 0.16 * noise(x * 0.45 + shift, z * 1.3, 5) + 0.02 * noise(x * 2 + shift, z * 9, 8)
  const depth = 0.35 + random(plank, 5, 2) * 0.5 + 0.12 * noise(x * 0.22 + shift, 1, 2)
  const ring = Math.sqrt((across + wobble) ** 2 + depth * depth) * 26
  const late = ring - Math.floor(ring)
  const grain = late ** 2.5 * (1 - smoothstep(0.92, 1, late))
  const streak = 0.5 + 0.5 * octaves(x * 1.6 + shift, z * 30, 2, 3)
  const pore = smoothstep(0.32, 0.6, noise(x * 5 + shift, z * 110, 4)) * (0.4 + 0.6 * grain)
  const plankTone = 0.3 * (random(plank, 9, 4) - 0.5)
  return { tone: clamp(0.1 + plankTone + 0.5 * grain + 0.4 * streak), pore }
}
