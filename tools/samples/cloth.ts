import { noise } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { bell, blend, clamp, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A chequered linen cloth on the table, pushed together a little; flat in a ring of 0.5 about each point of `under`. */
export function makeCloth(under: readonly (readonly [number, number])[]): Part {
  return {
    colour: rgb(0xb9bcc4),
    bound: [MIDDLE[0], 0, MIDDLE[1], 1.95],
    distance: (x, y, z) => cloth(x, y, z, under),
    surface: (point, normal, footprint) => {
      const [u, v] = along(point[0], point[2])
      return {
        albedo: dyed(u, v),
        normal: relief(point, normal, footprint, (p) => 0.006 * weave(p)),
        roughness: 0.92,
        reflectance: 0.02,
        scatter: 0,
      }
    },
  }
}

const MIDDLE = [0.85, 0.62] as const
const HALF = [1.42, 0.98] as const
const TURN = [Math.cos(0.22), Math.sin(0.22)] as const

/** Position on the cloth, counted from its middle. */
function along(x: number, z: number): readonly [number, number] {
  const px = x - MIDDLE[0]
  const pz = z - MIDDLE[1]
  return [px * TURN[0] - pz * TURN[1], px * TURN[1] + pz * TURN[0]]
}

function cloth(
  x: number,
  y: number,
  z: number,
  under: readonly (readonly [number, number])[],
): number {
  const [u, v] = along(x, z)
  const au = Math.abs(u) - HALF[0] + 0.03 * noise(v * 1.7, 2, 4)
  const av = Math.abs(v) - HALF[1] + 0.03 * noise(u * 1.7, 6, 4)
  const side = Math.max(au, av)
  if (side > 0.2 || y > 0.5) return Math.max(side, y - 0.35)
  const top = y - height(x, z, u, v, under) * (1 - 0.7 * smoothstep(-0.3, 0, side))
  const edge = Math.hypot(Math.max(side + 0.02, 0), Math.max(top + 0.02, 0)) - 0.02
  return Math.max(edge, Math.min(Math.max(side, top), 0)) * 0.7
}

function height(
  x: number,
  z: number,
  u: number,
  v: number,
  under: readonly (readonly [number, number])[],
): number {
  let free = 1
  for (const [cx, cz] of under) free *= 1 - bell(Math.hypot(x - cx, z - cz), 0, 0.5)
  const ridge = Math.abs(noise(u * 1.05 + 0.35 * v, v * 0.75 - 0.5 * u, 2))
  const crease = Math.abs(noise(u * 2.1 + 4, v * 2.3 + u, 7))
  const fold = 0.19 * clamp(1 - ridge * 4) ** 2 + 0.05 * clamp(1 - crease * 5) ** 2
  return 0.055 + fold * free
}

const INDIGO = rgb(0x2c4373)
const LINEN = rgb(0xe9e3d6)
const RED = rgb(0xa63a3a)

/** Broad indigo bars in both ways, twice as dark where they cross, with a red line between. */
function dyed(u: number, v: number): Vec {
  const slub = 0.93 + 0.1 * noise(u * 3, v * 60, 1) + 0.1 * noise(u * 60, v * 3, 2)
  const blue = 0.46 * bar(u) + 0.46 * bar(v)
  const line = Math.max(thin(u), thin(v))
  return scale(blend(blend(LINEN, INDIGO, blue), RED, 0.75 * line), slub)
}

const SQUARE = 0.3

function bar(at: number): number {
  const t = Math.abs(at / SQUARE - Math.floor(at / SQUARE) - 0.5)
  return smoothstep(0.26, 0.23, t)
}

function thin(at: number): number {
  const t = at / SQUARE - Math.floor(at / SQUARE)
  return smoothstep(0.035, 0.015, Math.min(t, 1 - t))
}

const THREAD = 0.034

/** Height of the threads, 0..1: warp and weft by turns on top. */
function weave([x, , z]: Vec): number {
  const [u, v] = along(x, z)
  const a = Math.sin((u / THREAD) * Math.PI * 2)
  const b = Math.sin((v / THREAD) * Math.PI * 2)
  return 0.5 + 0.5 * a * b
}
