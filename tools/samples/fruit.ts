import { cells, noise, octaves, patches, trait } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { join, limb, overlap, sphere } from './shapes.ts'
import type { Joint } from './shapes.ts'
import type { Surface } from './scene.ts'
import {
  bell,
  blend,
  clamp,
  dot,
  length,
  rgb,
  scale,
  smoothstep,
  subtract,
  tangents,
} from './vector.ts'
import type { Vec } from './vector.ts'

/** An orange, a little flat at the poles; `r` is its radius. */
export function makeOrange(centre: Vec, r: number): Part {
  const [cx, cy, cz] = centre
  return {
    colour: rgb(0xd9781e),
    bound: [cx, cy, cz, r * 1.03],
    distance: (x, y, z) => sphere(x - cx, (y - cy) * 1.04, z - cz, r) * 0.95,
    surface: (point, normal, footprint) => zest(subtract(point, centre), normal, footprint),
  }
}

const UNRIPE = rgb(0xd2660f)
const RIPE = rgb(0xef9424)

function zest(p: Vec, normal: Vec, footprint: number): Surface {
  const [x, y, z] = p
  const pit = smoothstep(0.4, 0.1, cells(x * PITS, y * PITS, z * PITS).distance)
  const tone = blend(UNRIPE, RIPE, patches(x * 3, y * 3, z * 3, 3))
  return {
    albedo: scale(tone, 1 - 0.14 * pit),
    normal: relief(p, normal, footprint, peel),
    roughness: 0.36,
    reflectance: 0.045,
    scatter: 0.25,
  }
}

/** Oil glands to a unit. */
const PITS = 36

const peel = ([x, y, z]: Vec): number =>
  0.01 * noise(x * 4, y * 4, z * 4) -
  0.005 * smoothstep(0.5, 0.1, cells(x * PITS, y * PITS, z * PITS).distance)

/** Half an orange; its cut face looks along `facing`. */
export function makeHalfOrange(centre: Vec, r: number, facing: Vec): Part {
  const [cx, cy, cz] = centre
  return {
    colour: rgb(0xe0902c),
    bound: [cx, cy, cz, r * 1.03],
    distance: (x, y, z) => {
      const [px, py, pz] = [x - cx, y - cy, z - cz]
      return overlap(sphere(px, py, pz, r), px * facing[0] + py * facing[1] + pz * facing[2], 0.02)
    },
    surface: (point, normal, footprint) => {
      const p = subtract(point, centre)
      return dot(p, facing) > -0.012
        ? flesh(p, r, facing, normal, footprint)
        : zest(p, normal, footprint)
    },
  }
}

const PITH = rgb(0xf4e4bc)
const JUICE = rgb(0xee8d1c)
const DEEP_JUICE = rgb(0xd96a0c)

function flesh(p: Vec, r: number, facing: Vec, normal: Vec, footprint: number): Surface {
  const out = length(p) / r
  const wet = segment(p, r, facing)
  const rim = smoothstep(0.965, 0.985, out)
  const pulp = blend(JUICE, DEEP_JUICE, clamp(sacs(p, r, facing) + 0.5 * (out - 0.5)))
  return {
    albedo: blend(blend(PITH, pulp, wet), UNRIPE, rim),
    normal: relief(
      p,
      normal,
      footprint,
      (q) => 0.02 * segment(q, r, facing) * (0.6 + sacs(q, r, facing)),
    ),
    roughness: 0.6 - 0.35 * wet,
    reflectance: 0.04,
    scatter: 0.35,
  }
}

/** 1 within a segment, 0 on the skins between them, in the core and in the pith. */
function segment(p: Vec, r: number, facing: Vec): number {
  const [out, angle] = polar(p, r, facing)
  const turn = (angle / (2 * Math.PI)) * 10 + 0.12 * noise(angle * 2, out, 5)
  const across = Math.abs(turn - Math.floor(turn) - 0.5) * out * 0.63
  const inside = smoothstep(0.315 * out - 0.006, 0.315 * out - 0.03, across)
  return inside * smoothstep(0.1, 0.16, out) * smoothstep(0.9, 0.86, out)
}

/** The juice sacs, drop-shaped along the radius. */
function sacs(p: Vec, r: number, facing: Vec): number {
  const [out, angle] = polar(p, r, facing)
  return clamp(0.5 + 0.7 * noise(angle * 14, out * 7 + noise(angle * 9, 2, 1), 3))
}

function polar(p: Vec, r: number, facing: Vec): readonly [number, number] {
  const [a, b] = tangents(facing)
  const u = dot(p, a)
  const v = dot(p, b)
  return [Math.sqrt(u * u + v * v) / r, Math.atan2(v, u) + Math.PI]
}

const BELLY: Joint = [0, 0, 0, 0.36]
const NECK: Joint = [0.04, 0.5, 0, 0.17]
const STALK: Joint = [0.05, 0.64, 0, 0.022]
const STALK_END: Joint = [0.12, 0.86, 0.02, 0.028]

/** A pear that stands; `foot` is the middle of its belly. */
export function makePear(centre: Vec): Part {
  return {
    colour: rgb(0x9a9a3c),
    bound: [centre[0], centre[1] + 0.25, centre[2], 0.7],
    distance: (x, y, z) => pear(x - centre[0], y - centre[1], z - centre[2]),
    surface: (point, normal, footprint) => {
      const p = subtract(point, centre)
      return {
        albedo: pearSkin(p),
        normal: relief(
          p,
          normal,
          footprint,
          (q) => 0.008 * octaves(q[0] * 7, q[1] * 7, q[2] * 7, 3),
        ),
        roughness: 0.42,
        reflectance: 0.04,
        scatter: 0.2,
      }
    },
  }
}

function pear(x: number, y: number, z: number): number {
  const body = join(sphere(x, y * 1.06, z, BELLY[3]) * 0.95, limb(x, y, z, BELLY, NECK), 0.25)
  return Math.min(body + 0.02 * bell(y, 0.68, 0.05), limb(x, y, z, STALK, STALK_END))
}

const GREEN = rgb(0x8f9a35)
const YELLOW = rgb(0xc9b24a)
const BLUSH = rgb(0xb4612f)
const RUSSET = rgb(0x6b4a24)

function pearSkin(p: Vec): Vec {
  const [x, y, z] = p
  if (y > 0.6 && limb(x, y, z, STALK, STALK_END) < 0.01) return RUSSET
  const lenticel = cells(x * 24, y * 24, z * 24)
  const dot1 = smoothstep(0.26, 0.12, lenticel.distance) * (0.3 + 0.7 * trait(lenticel, 1))
  const tone = blend(GREEN, YELLOW, patches(x * 2.4, y * 2.4 + 2, z * 2.4, 4))
  const warm = blend(tone, BLUSH, 0.55 * smoothstep(0, 0.36, x) * patches(x * 4, y * 4, z * 4, 3))
  return blend(
    warm,
    RUSSET,
    clamp(0.55 * dot1 + 0.7 * smoothstep(0.52, 0.68, y) * patches(x * 9, y * 9, z * 9, 3)),
  )
}
