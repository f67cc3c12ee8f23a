import { noise } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { ellipsoid, join, limb, torus } from './shapes.ts'
import type { Joint } from './shapes.ts'
import { blend, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A knitted pullover with a ribbed collar, in the measure of the head but not turned with it. */
export function makePullover(): Part {
  return {
    colour: rgb(0x2c4f55),
    distance: (x, y, z) => join(body(x, y, z), collar(x, y, z), 0.05) * 0.9,
    surface: (point, normal, footprint) => {
      const yarn = stitch(point)
      const tone = 0.75 + 0.5 * yarn + 0.12 * noise(point[0] * 40, point[1] * 40, point[2] * 40)
      return {
        albedo: scale(blend(YARN, YARN_LIGHT, yarn), tone),
        normal: relief(point, normal, footprint, (p) => 0.022 * stitch(p)),
        roughness: 0.95,
        reflectance: 0.02,
        scatter: 0,
      }
    },
  }
}

const YARN = rgb(0x24454b)
const YARN_LIGHT = rgb(0x3c6a6c)

function body(x: number, y: number, z: number): number {
  const ax = Math.sqrt(x * x + 0.01)
  const chest = ellipsoid(x, y + 3.3, z + 0.4, 1.7, 1.5, 0.85)
  const shoulders = join(chest, limb(ax, y, z, COLLARBONE, SHOULDER), 0.45)
  const throat = join(shoulders, limb(x, y, z, THROAT, CHEST), 0.3)
  const arm = join(throat, limb(ax, y, z, SHOULDER, ELBOW), 0.3)
  const folds = 0.025 * Math.sin(x * 2.6 + y * 1.7) * Math.sin(y * 2.9 - x * 1.3)
  return arm + folds
}

const COLLARBONE: Joint = [0.35, -1.72, -0.55, 0.26]
const SHOULDER: Joint = [1.55, -2.15, -0.5, 0.36]
const ELBOW: Joint = [1.95, -4, -0.45, 0.36]
const THROAT: Joint = [0, -1.66, -0.33, 0.5]
const CHEST: Joint = [0, -2.7, -0.35, 0.8]

/** The collar lies on a plane that sinks towards the chest. */
function collar(x: number, y: number, z: number): number {
  const sunk = y + 1.52 + 0.3 * (z + 0.3)
  return torus(x, sunk * 0.62, z + 0.33, 0.58, 0.095)
}

const ROW = 0.058

/** Height of the yarn, 0..1: columns of V-shaped stitches, on the collar ribs. */
function stitch([x, y, z]: Vec): number {
  if (collar(x, y, z) < body(x, y, z)) {
    const round = Math.atan2(x, z + 0.33) * 0.62
    const rib = 0.5 + 0.5 * Math.cos((round / 0.075) * Math.PI * 2)
    return 0.25 + 0.75 * Math.sqrt(rib) * (0.8 + 0.2 * Math.cos((y / 0.05) * Math.PI * 2))
  }
  const along = x + 0.12 * noise(x * 0.8, y * 0.8, 3)
  const column = along / ROW - Math.floor(along / ROW) - 0.5
  const slant = (y + 0.05 * noise(x * 0.7, y * 0.9, 8)) / (ROW * 0.8) - Math.abs(column) * 1.5
  const within = slant - Math.floor(slant) - 0.5
  const loop = Math.sqrt(Math.max(0, 1 - (within * 2) ** 2))
  const side = smoothstep(0, 0.13, Math.abs(column)) * smoothstep(0.5, 0.42, Math.abs(column))
  return loop * (0.35 + 0.65 * side)
}
