import { cells, noise, octaves, patches, trait } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { torus } from './shapes.ts'
import { blend, clamp, mix, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A thrown vase of speckled stoneware, 2.45 high, under a blue glaze that ran down; `foot` is the middle of its base. */
export function makeVase([fx, fy, fz]: Vec): Part {
  return {
    colour: rgb(0x3f6c7c),
    bound: [fx, fy + 1.22, fz, 1.42],
    distance: (x, y, z) => vase(x - fx, y - fy, z - fz),
    surface: (point, normal, footprint) => {
      const local: Vec = [point[0] - fx, point[1] - fy, point[2] - fz]
      const { albedo, glazed } = coat(local)
      return {
        albedo,
        normal: relief(local, normal, footprint, (p) => turning(p) + 0.006 * coat(p).glazed),
        roughness: mix(0.75, 0.16, glazed),
        reflectance: 0.045,
        scatter: 0,
      }
    },
  }
}

/** Height and radius of the outline, from the foot to the lip. */
const OUTLINE = [
  [0, 0.4],
  [0.12, 0.46],
  [0.5, 0.68],
  [0.95, 0.83],
  [1.35, 0.74],
  [1.75, 0.44],
  [2.02, 0.29],
  [2.25, 0.29],
  [2.45, 0.4],
] as const

const HEIGHT = 2.45
const WALL = 0.035

function vase(x: number, y: number, z: number): number {
  const r = Math.sqrt(x * x + z * z)
  const at = clamp(y, 0, HEIGHT)
  const radius = outline(at)
  const slope = (outline(Math.min(HEIGHT, at + 0.01)) - outline(Math.max(0, at - 0.01))) / 0.02
  const side = (r - radius) / Math.sqrt(1 + slope * slope)
  const shell = y > 1.5 ? Math.abs(side + WALL) - WALL : side
  const cut = Math.max(y - HEIGHT, -y)
  const body = cut > 0 ? Math.hypot(Math.max(shell, 0), cut) : Math.max(shell, cut)
  return Math.min(body * 0.9, torus(x, y - HEIGHT, z, 0.4 - WALL, WALL * 1.3))
}

/** Radius at a height: a Catmull-Rom curve through the outline. */
function outline(y: number): number {
  const last = OUTLINE.length - 1
  let i = 0
  while (i < last - 1 && y > (OUTLINE[i + 1]?.[0] ?? 9)) i += 1
  const a = OUTLINE[i] ?? OUTLINE[0]
  const b = OUTLINE[i + 1] ?? a
  const p = OUTLINE[i - 1] ?? a
  const q = OUTLINE[i + 2] ?? b
  const span = b[0] - a[0]
  const t = clamp((y - a[0]) / span)
  const left = ((b[1] - p[1]) / Math.max(1e-6, b[0] - p[0])) * span
  const right = ((q[1] - a[1]) / Math.max(1e-6, q[0] - a[0])) * span
  const t2 = t * t
  const t3 = t2 * t
  return (
    (2 * t3 - 3 * t2 + 1) * a[1] +
    (t3 - 2 * t2 + t) * left +
    (3 * t2 - 2 * t3) * b[1] +
    (t3 - t2) * right
  )
}

const STONE = rgb(0xb59a7a)
const IRON = rgb(0x4a3424)
const DEEP = rgb(0x14394f)
const MILKY = rgb(0x6fa3a6)
const BREAK = rgb(0xa97c4e)

/** Glaze stands thick in the middle and breaks to brown at the lip and along the throwing rings. */
function coat([x, y, z]: Vec): { albedo: Vec; glazed: number } {
  const angle = Math.atan2(z, x)
  const ring = [Math.cos(angle), Math.sin(angle)] as const
  const drip =
    0.62 + 0.22 * noise(ring[0] * 2.2, ring[1] * 2.2, 3) + 0.09 * noise(ring[0] * 6, ring[1] * 6, 8)
  const glazed = smoothstep(drip - 0.01, drip + 0.03, y)
  const speck = cells(x * 15, y * 15, z * 15)
  const iron = smoothstep(0.22, 0.1, speck.distance) * (trait(speck, 1) > 0.55 ? 1 : 0)
  const clay = scale(STONE, 0.85 + 0.25 * octaves(x * 12, y * 30, z * 12, 3))
  const run = patches(ring[0] * 5, y * 0.9, ring[1] * 5, 4)
  const mottle = patches(x * 6, y * 4, z * 6, 4)
  const blue = blend(DEEP, MILKY, clamp(0.55 * run + 0.5 * mottle - 0.15 + 0.3 * (y - 1.4)))
  const thin = clamp(
    smoothstep(2.3, 2.48, y) +
      0.35 * Math.max(0, Math.sin(y * 34 + noise(x, y, z))) ** 6 +
      0.5 * bead(y, drip),
  )
  const glaze = blend(blend(blue, BREAK, thin), IRON, iron * 0.55)
  return { albedo: blend(blend(clay, IRON, iron * 0.8), glaze, glazed), glazed }
}

/** The lower edge of the glaze, where it is thin. */
const bead = (y: number, edge: number): number => smoothstep(edge + 0.09, edge + 0.03, y)

/** The grooves that the potter's fingers left. */
const turning = ([x, y, z]: Vec): number =>
  0.0035 * Math.sin(y * 34 + noise(x, y, z)) + 0.0008 * noise(x * 20, y * 60, z * 20)
