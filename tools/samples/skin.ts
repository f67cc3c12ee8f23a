import { cells, noise, octaves, trait } from './noise.ts'
import { relief } from './parts.ts'
import type { Surface } from './scene.ts'
import { EYE, lowerLid, lowerRim, mouthLine, upperLid, upperRim } from './skull.ts'
import { bell, blend, clamp, mix, multiply, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** Skin of a head (see `skull.ts` for its measure): tones, freckles, blemishes, pores, lines, and the lips. */
export function skin(point: Vec, normal: Vec, footprint: number): Surface {
  const lip = lips(point)
  const oily = zone(point, [0, 0.35, 0.85], 0.4) + zone(point, [0, -0.25, 1.0], 0.3)
  return {
    albedo: blend(complexion(point), lipTone(point), lip),
    normal: relief(point, normal, Math.max(footprint, 0.0015), (p) => texture(p)),
    roughness: mix(
      clamp(0.5 - 0.1 * oily + 0.05 * noise(point[0] * 9, point[1] * 9, point[2] * 9)),
      0.36,
      lip,
    ),
    reflectance: 0.03,
    scatter: 1,
  }
}

const BASE = rgb(0xdcae93)
const FLUSH = rgb(0xc9806c)
const SALLOW = rgb(0xe0b894)
const SHADE = rgb(0xa8786c)

/** Pores to a unit: one in 2 mm, coarser than real ones, which would be smaller than a pixel. */
const PORES = 46

/** A soft ball of the face, 1 in its middle; both sides alike. */
function zone([x, y, z]: Vec, [cx, cy, cz]: Vec, r: number): number {
  const dx = Math.abs(x) - cx
  const dy = y - cy
  const dz = z - cz
  return Math.exp(-(dx * dx + dy * dy + dz * dz) / (r * r))
}

function complexion(p: Vec): Vec {
  const [x, y, z] = p
  const mottle = octaves(x * 5, y * 5, z * 5, 4)
  const fine = octaves(x * 26, y * 26, z * 26, 3)
  const flush =
    0.75 * zone(p, [0.42, -0.34, 0.62], 0.22) +
    0.7 * zone(p, [0, -0.4, 1.08], 0.14) +
    0.6 * zone(p, [0.13, -0.47, 0.95], 0.08) +
    0.8 * zone(p, [0.82, -0.1, -0.12], 0.25) +
    0.35 * zone(p, [0, -1.03, 0.8], 0.16)
  const sallow = 0.6 * zone(p, [0, 0.5, 0.8], 0.4)
  const tired =
    0.5 * bell(y, -0.12, 0.05) * bell(Math.abs(x), EYE.x - 0.03, 0.12) * smoothstep(0.4, 0.7, z)
  const lid = 0.35 * lidMask(p)
  const even = blend(
    blend(BASE, SALLOW, sallow),
    FLUSH,
    clamp(flush * (0.85 + 0.5 * mottle) + 0.22 * mottle + lid),
  )
  const pore =
    (0.1 + 0.16 * zone(p, [0.2, -0.3, 0.9], 0.4)) *
    smoothstep(0.42, 0.12, cells(x * PORES, y * PORES, z * PORES).distance)
  const uneven = scale(blend(even, SHADE, clamp(tired)), 1 + 0.07 * mottle + 0.09 * fine - pore)
  return spots(p, uneven)
}

function lidMask([x, y, z]: Vec): number {
  const out = Math.abs(x) - EYE.x
  if (z < 0.6 || Math.abs(out) > 0.22) return 0
  return bell(y, upperLid(out) + 0.02, 0.05) + 0.7 * bell(y, lowerLid(out) - 0.02, 0.03)
}

/** Freckles in two sizes over nose and cheeks, some all over, then moles and blemishes at fixed places. */
function spots(p: Vec, tone: Vec): Vec {
  const [x, y, z] = p
  const sunny =
    0.15 +
    zone(p, [0.34, -0.24, 0.75], 0.3) +
    zone(p, [0, -0.2, 0.98], 0.25) +
    0.4 * zone(p, [0, 0.4, 0.8], 0.4)
  const ragged: Vec = [x + 0.012 * noise(x * 25, y * 25, z * 25), y, z]
  const brown = clamp(
    0.75 * freckle(ragged, 17, 0.3, sunny) + 0.6 * freckle(ragged, 31, 0.36, sunny),
  )
  let colour = multiply(tone, blend(WHITE, FRECKLE, brown))
  for (const mole of MOLES) colour = multiply(colour, blend(WHITE, MOLE, fixed(p, mole, 2.2)))
  for (const spot of BLEMISHES) {
    colour = multiply(colour, blend(WHITE, SORE, 0.85 * fixed(p, spot, 1)))
  }
  return colour
}

function freckle([x, y, z]: Vec, grain: number, size: number, sunny: number): number {
  const cell = cells(x * grain, y * grain, z * grain)
  if (trait(cell, 1) > sunny * 0.75) return 0
  const r = size * (0.5 + 0.8 * trait(cell, 3))
  return (0.35 + 0.65 * trait(cell, 2)) * smoothstep(r, r * 0.35, cell.distance)
}

/** What spots leave of the light that skin sends back. */
const WHITE: Vec = [1, 1, 1]
const FRECKLE: Vec = [0.62, 0.47, 0.38]
const MOLE: Vec = [0.42, 0.29, 0.23]
const SORE: Vec = [0.86, 0.5, 0.46]

/** x, y and radius on the front of the head; x with its sign, for no face is the same on both sides. */
const MOLES = [
  [-0.34, -0.63, 0.016],
  [0.53, -0.32, 0.014],
  [0.2, 0.42, 0.014],
  [0.12, -1.35, 0.018],
] as const
const BLEMISHES = [
  [-0.12, 0.5, 0.036],
  [-0.44, -0.5, 0.036],
  [-0.4, -0.58, 0.022],
  [0.16, -0.95, 0.034],
  [0.42, -0.56, 0.034],
  [0.34, -0.66, 0.024],
  [0.28, 0.36, 0.028],
  [0.4, 0.5, 0.018],
  [0.07, -0.27, 0.02],
] as const

/** 1 in the middle of a spot, with a ragged edge; `sharp` 1 fades like a bell, higher has an edge. */
function fixed(
  [x, y, z]: Vec,
  [cx, cy, r]: readonly [number, number, number],
  sharp: number,
): number {
  const near = Math.hypot(x - cx, y - cy) / r
  if (z < 0 || near > 3) return 0
  const ragged = 1 + 0.25 * noise(x * 40, y * 40, z * 40)
  return Math.exp(-((near / ragged) ** (2 * sharp)))
}

/** 1 on the lips, 0 off them. */
function lips([x, y, z]: Vec): number {
  const ax = Math.abs(x)
  if (z < 0.6 || ax > 0.3 || y > -0.6 || y < -0.9) return 0
  const soft = 0.014 + 0.01 * noise(x * 30, y * 30, 2)
  const up = smoothstep(soft, -soft, y - upperRim(ax))
  const down = smoothstep(-soft, soft, y - lowerRim(ax))
  return up * down * smoothstep(0.29, 0.24, ax) * 0.92
}

const LIP = rgb(0xb9675c)
const LIP_LIGHT = rgb(0xcb8274)

function lipTone([x, y, z]: Vec): Vec {
  const lines = 0.5 + 0.5 * noise(x * 45, y * 6, z * 4)
  const depth = bell(y, mouthLine(Math.abs(x)), 0.02)
  return scale(blend(LIP, LIP_LIGHT, lines * 0.7), 1 - 0.45 * depth)
}

/** Height of the fine relief in units: pores, fine lines, lip creases, raised blemishes. */
function texture(p: Vec): number {
  const [x, y, z] = p
  const ax = Math.abs(x)
  const lip = lips(p)
  const nosey = zone(p, [0, -0.3, 0.98], 0.28) + zone(p, [0.34, -0.3, 0.75], 0.22)
  const pit = smoothstep(0.5, 0.1, cells(x * PORES, y * PORES, z * PORES).distance)
  const pores = -0.0032 * (0.45 + 0.9 * nosey) * pit
  const soft = 0.0018 * octaves(x * 38, y * 38, z * 38, 2)
  const brow = bell(y, 0.45, 0.22) * smoothstep(0.5, 0.2, ax)
  const lines =
    -0.003 * brow * smoothstep(0.45, 0.85, noise(x * 2, y * 17 + 0.6 * noise(x * 3, 1, 2), 5))
  const below = bell(y, -0.13, 0.06) * bell(ax, EYE.x, 0.14)
  const crepe = 0.0016 * below * noise(x * 14 + y * 20, y * 55 - ax * 12, z * 5)
  const crease = 0.0035 * noise(x * 42, y * 7, 3)
  let bumps = 0
  for (const spot of BLEMISHES) bumps += 0.005 * fixed(p, spot, 1.2)
  return mix(pores + soft + lines + crepe + bumps, crease, lip)
}
