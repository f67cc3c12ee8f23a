import { cells, noise, octaves, patches, random, trait } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { blend, clamp, mix, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A brick wall under worn whitewash, its face at z = `at`. */
export function makeWall(at: number): Part {
  return {
    colour: rgb(0xb9aa98),
    distance: (x, y, z) => {
      const rough = z - at - 0.1
      return rough > 0.15 ? rough : (z - at - depth(x, y)) * 0.75
    },
    surface: (point, normal, footprint) => ({
      albedo: colour(point),
      normal: relief(point, normal, footprint, (p) => 0.9 * grit(p)),
      roughness: 0.9,
      reflectance: 0.03,
      scatter: 0,
    }),
  }
}

const LONG = 0.98
const HIGH = 0.36

interface Brick {
  /** Distance from the nearest joint, negative in it. */
  inside: number
  row: number
  column: number
}

function brickAt(x: number, y: number): Brick {
  const wavyY = y + 0.012 * noise(x * 2.1, y * 2.3, 4)
  const row = Math.floor(wavyY / HIGH)
  const shifted = x / LONG + (row & 1) * 0.5 + 0.05 * (random(row, 2, 8) - 0.5)
  const column = Math.floor(shifted)
  const across = Math.abs(shifted - column - 0.5) * LONG
  const up = Math.abs(wavyY / HIGH - row - 0.5) * HIGH
  const edge = 0.022 + 0.008 * noise(x * 9, y * 9, 1)
  return { inside: Math.min(LONG / 2 - across, HIGH / 2 - up) - edge, row, column }
}

function depth(x: number, y: number): number {
  const { inside, row, column } = brickAt(x, y)
  const face = 0.05 + 0.03 * random(row, column, 3) + 0.008 * noise(x * 4, y * 5, 2)
  return face * smoothstep(-0.012, 0.03, inside) + 0.006 * noise(x * 14, y * 14, 6)
}

function grit([x, y]: Vec): number {
  const pits = smoothstep(0.45, 0.12, cells(x * 11, y * 11, 0.3).distance)
  return 0.006 * octaves(x * 22, y * 22, 3, 3) - 0.012 * pits
}

const CLAYS = [rgb(0x9a5a42), rgb(0x86472f), rgb(0xa86a4c), rgb(0x6f4234)] as const
const MORTAR = rgb(0xb7aea0)
const WHITEWASH = rgb(0xdcd6ca)

function colour(point: Vec): Vec {
  const [x, y] = point
  const { inside, row, column } = brickAt(x, y)
  const clay = CLAYS[Math.floor(random(row, column, 5) * CLAYS.length)] ?? CLAYS[0]
  const speck = cells(x * 24, y * 24, 1)
  const fired = scale(
    clay,
    0.75 + 0.4 * patches(x * 5, y * 5, row, 4) + 0.25 * (trait(speck, 1) - 0.5),
  )
  const bare = blend(MORTAR, fired, smoothstep(-0.01, 0.012, inside))
  const worn = patches(x * 0.9 + 3, y * 0.9, 7, 5) + 0.25 * (random(row, column, 11) - 0.5)
  const flaked = worn + 0.25 * octaves(x * 7, y * 7, 9, 3)
  const washed = smoothstep(0.34, 0.5, flaked) * 0.92
  const soiled = mix(0.8, 1, patches(x * 2.3, y * 2.3, 5, 4)) * clamp(0.75 + 0.2 * y + 0.2 * inside)
  return scale(blend(bare, WHITEWASH, washed), clamp(soiled))
}
