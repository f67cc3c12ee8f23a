import { carve, ellipsoid, join, limb, sphere } from './shapes.ts'
import type { Joint } from './shapes.ts'
import { bell, clamp, smoothstep } from './vector.ts'

/**
 * A head, measured on itself: units of 10 cm, y up, z forward, +x the sitter's left; the eyes lie at y = 0. Sizes follow
 * the mean of adult heads: 23 cm high, 15.5 cm wide, 19.5 cm deep.
 */
export const EYE = { x: 0.315, y: 0, z: 0.69, r: 0.125 } as const

/** `x` without its sign, smooth at 0, so that the two halves of a face meet without a crease. */
const sided = (x: number): number => Math.sqrt(x * x + 0.0004)

export function head(x: number, y: number, z: number): number {
  const far = Math.min(
    ellipsoid(x, y, z - 0.02, 0.98, 1.32, 1.3),
    limb(x, y, z, NAPE, NECK_FOOT) - 0.25,
  )
  return far > 0.1 ? far : join(earless(x, y, z), ear(sided(x), y, z), 0.05)
}

/** Hair lies on this: behind the ears, not over them. */
export function earless(x: number, y: number, z: number): number {
  const ax = sided(x)
  let d = bones(x, ax, y, z)
  d = eyelids(d, ax, y, z)
  d = nose(d, x, ax, y, z)
  d = mouth(d, x, ax, y, z)
  return join(d, neck(x, ax, y, z), 0.16)
}

/** The braincase alone: hair grows on it. */
export const braincase = (x: number, y: number, z: number): number =>
  join(
    ellipsoid(x, y - 0.38, z + 0.15, 0.75, 0.77, 0.94),
    ellipsoid(x, y - 0.4, z - 0.26, 0.58, 0.52, 0.56),
    0.25,
  )

function bones(x: number, ax: number, y: number, z: number): number {
  let d = braincase(x, y, z)
  d = join(d, ellipsoid(x, y + 0.3, z - 0.26, 0.58, 0.74, 0.56), 0.2)
  d = join(d, ellipsoid(ax - 0.42, y + 0.12, z + 0.12, 0.28, 0.5, 0.4), 0.25)
  d = join(d, limb(ax, y, z, JAW_ANGLE, JAW_FRONT), 0.3)
  d = join(d, ellipsoid(x, y + 1.02, z - 0.66, 0.15, 0.12, 0.15), 0.2)
  d = join(d, ellipsoid(ax - 0.43, y + 0.2, z - 0.5, 0.2, 0.14, 0.24), 0.22)
  d = join(d, ellipsoid(ax - 0.34, y + 0.5, z - 0.52, 0.2, 0.24, 0.24), 0.22)
  d = join(d, limb(ax, y, z, BROW_IN, BROW_OUT), 0.16)
  return carve(d, ellipsoid(ax - EYE.x, y + 0.01, z - 0.95, 0.21, 0.13, 0.14), 0.14)
}

const JAW_ANGLE: Joint = [0.47, -0.52, 0.02, 0.12]
const JAW_FRONT: Joint = [0.13, -0.98, 0.58, 0.11]
const BROW_IN: Joint = [0.12, 0.19, 0.77, 0.07]
const BROW_OUT: Joint = [0.45, 0.18, 0.59, 0.05]

/** Height of the lid edges above the middle of the eye; `out` runs from the inner (−) to the outer corner (+). */
export const upperLid = (out: number): number => 0.059 * arch(out, 0.172) + 0.07 * out
export const lowerLid = (out: number): number => -0.043 * arch(out, 0.172) + 0.07 * out

const arch = (at: number, half: number): number => 1 - (at / half) ** 2

function eyelids(face: number, ax: number, y: number, z: number): number {
  const out = ax - EYE.x
  if (Math.abs(out) > 0.35 || Math.abs(y) > 0.3 || z < 0.4) return face
  const up = upperLid(out)
  const near = smoothstep(0.24, 0.12, Math.abs(out))
  let d = join(face, sphere(out, y, z - EYE.z, 0.15), 0.06)
  d += 0.014 * near * bell(y, up + 0.052 - 0.06 * out, 0.014)
  d += 0.008 * near * bell(y, lowerLid(out) - 0.075, 0.022)
  const opening = Math.max((y - up) * 0.8, (lowerLid(out) - y) * 0.8, 0.7 - z)
  return carve(d, opening, 0.014)
}

function nose(face: number, x: number, ax: number, y: number, z: number): number {
  if (z < 0.5 || y > 0.4 || y < -0.8) return face
  let d = join(face, limb(x, y, z, NOSE_ROOT, NOSE_END), 0.13)
  d = join(d, ellipsoid(x, y + 0.405, z - 1.045, 0.092, 0.082, 0.09), 0.07)
  d = join(d, ellipsoid(ax - 0.112, y + 0.445, z - 0.94, 0.062, 0.066, 0.1), 0.08)
  d = join(d, limb(x, y, z, COLUMELLA, NOSE_FOOT), 0.05)
  d += 0.012 * bell(ax, 0.19, 0.025) * bell(y, -0.44, 0.07) * smoothstep(0.7, 0.85, z)
  return carve(d, ellipsoid(ax - 0.06, y + 0.51, z - 0.985, 0.035, 0.032, 0.055), 0.03)
}

const NOSE_ROOT: Joint = [0, 0.12, 0.82, 0.055]
const NOSE_END: Joint = [0, -0.36, 1.04, 0.075]
const COLUMELLA: Joint = [0, -0.43, 1.07, 0.045]
const NOSE_FOOT: Joint = [0, -0.5, 0.92, 0.045]

/** Height of the line between the lips, the bow of the upper and the rim of the lower lip, at a distance from the middle. */
export const mouthLine = (ax: number): number =>
  -0.74 + 0.028 * smoothstep(0.1, 0.27, ax) - 0.012 * bell(ax, 0, 0.06)
export const upperRim = (ax: number): number =>
  mouthLine(ax) + 0.082 * clamp(1 - (ax / 0.265) ** 1.7) - 0.016 * bell(ax, 0, 0.035)
export const lowerRim = (ax: number): number =>
  mouthLine(ax) - 0.105 * clamp(1 - (ax / 0.25) ** 2.2)

function mouth(face: number, x: number, ax: number, y: number, z: number): number {
  if (z < 0.4 || y > -0.4 || y < -1.15) return face
  let d = join(face, ellipsoid(x, y + 0.72, z - 0.6, 0.33, 0.27, 0.29), 0.16)
  d = join(d, limb(ax, y, z, UPPER_IN, UPPER_OUT), 0.05)
  d = join(d, limb(ax, y, z, LOWER_IN, LOWER_OUT), 0.05)
  const across = smoothstep(0.3, 0.2, ax)
  d += 0.035 * across * bell(y, mouthLine(ax), 0.014)
  d += 0.018 * bell(ax, 0.285, 0.035) * bell(y, mouthLine(0.27), 0.05)
  d += 0.02 * bell(x, 0, 0.035) * smoothstep(-0.68, -0.62, y) * smoothstep(-0.48, -0.56, y)
  d += 0.022 * bell(x, 0, 0.2) * bell(y, -0.895, 0.045)
  return (
    d +
    0.012 *
      bell(ax, 0.2 + 0.5 * (-0.42 - y), 0.035) *
      smoothstep(-0.44, -0.5, y) *
      smoothstep(-0.74, -0.6, y)
  )
}

const UPPER_IN: Joint = [0.045, -0.7, 0.925, 0.042]
const UPPER_OUT: Joint = [0.23, -0.725, 0.8, 0.018]
const LOWER_IN: Joint = [0.03, -0.785, 0.905, 0.055]
const LOWER_OUT: Joint = [0.2, -0.745, 0.8, 0.022]

function neck(x: number, ax: number, y: number, z: number): number {
  let d = limb(x, y, z, NAPE, NECK_FOOT)
  d = join(d, limb(ax, y, z, MASTOID, STERNUM), 0.16)
  return join(d, limb(x, y, z, THROAT, THROAT_FOOT), 0.2)
}

const NAPE: Joint = [0, -0.5, -0.25, 0.45]
const NECK_FOOT: Joint = [0, -2, -0.45, 0.54]
const MASTOID: Joint = [0.52, -0.42, -0.22, 0.09]
const STERNUM: Joint = [0.1, -2, 0.12, 0.08]
const THROAT: Joint = [0, -1, 0.1, 0.14]
const THROAT_FOOT: Joint = [0, -2, 0, 0.2]

function ear(ax: number, y: number, z: number): number {
  const px = ax - 0.725
  const py = y + 0.14
  const pz = z + 0.12
  if (px * px + py * py + pz * pz > 0.3) return 1
  const u = px * 0.94 + pz * 0.34
  const w = pz * 0.94 - px * 0.34
  const v = py + 0.18 * w
  const wide = 0.155 + 0.05 * clamp(v * 3, -1, 1)
  let d = ellipsoid(u, v, w, 0.06, 0.29, wide)
  d = carve(d, ellipsoid(u - 0.055, v - 0.03, w - 0.015, 0.045, 0.2, wide * 0.66), 0.03)
  d = join(d, ellipsoid(u - 0.01, v - 0.05, w - 0.03, 0.035, 0.15, 0.05), 0.03)
  d = carve(d, ellipsoid(u - 0.03, v + 0.06, w - 0.07, 0.06, 0.09, 0.06), 0.03)
  return join(d, ellipsoid(u - 0.01, v + 0.04, w - 0.155, 0.04, 0.06, 0.03), 0.04)
}
