/**
 * Signed distances from a point to solids: negative inside. Those of stretched solids are bounds, close near the surface.
 * Formulas are the usual closed forms of Euclidean geometry.
 */
export const sphere = (x: number, y: number, z: number, r: number): number =>
  Math.sqrt(x * x + y * y + z * z) - r

/** Radii a, b, c along the axes. */
export function ellipsoid(
  x: number,
  y: number,
  z: number,
  a: number,
  b: number,
  c: number,
): number {
  const px = x / a
  const py = y / b
  const pz = z / c
  const qx = px / a
  const qy = py / b
  const qz = pz / c
  const k0 = Math.sqrt(px * px + py * py + pz * pz)
  const k1 = Math.sqrt(qx * qx + qy * qy + qz * qz)
  return k1 < 1e-9 ? -Math.min(a, b, c) : (k0 * (k0 - 1)) / k1
}

/** A rounded box with half sides a, b, c. */
export function box(
  x: number,
  y: number,
  z: number,
  a: number,
  b: number,
  c: number,
  r: number,
): number {
  const qx = Math.abs(x) - a + r
  const qy = Math.abs(y) - b + r
  const qz = Math.abs(z) - c + r
  const ox = Math.max(qx, 0)
  const oy = Math.max(qy, 0)
  const oz = Math.max(qz, 0)
  return Math.sqrt(ox * ox + oy * oy + oz * oz) + Math.min(Math.max(qx, qy, qz), 0) - r
}

/** A limb from one point to another with a radius at each end: [x, y, z, radius]. */
export type Joint = readonly [number, number, number, number]

export function limb(x: number, y: number, z: number, from: Joint, to: Joint): number {
  const bx = to[0] - from[0]
  const by = to[1] - from[1]
  const bz = to[2] - from[2]
  const px = x - from[0]
  const py = y - from[1]
  const pz = z - from[2]
  const along = (px * bx + py * by + pz * bz) / (bx * bx + by * by + bz * bz)
  const t = along < 0 ? 0 : along > 1 ? 1 : along
  const dx = px - bx * t
  const dy = py - by * t
  const dz = pz - bz * t
  return Math.sqrt(dx * dx + dy * dy + dz * dz) - (from[3] + (to[3] - from[3]) * t)
}

/** A ring in the xz plane, radius `big`, thickness `small`. */
export function torus(x: number, y: number, z: number, big: number, small: number): number {
  const q = Math.sqrt(x * x + z * z) - big
  return Math.sqrt(q * q + y * y) - small
}

/** Union with a fillet about `k` wide. */
export function join(a: number, b: number, k: number): number {
  const h = k - Math.abs(a - b)
  return h > 0 ? Math.min(a, b) - (h * h) / (4 * k) : Math.min(a, b)
}

/** `a` without `b`, the edge rounded over about `k`. */
export const carve = (a: number, b: number, k: number): number => -join(-a, b, k)

/** What `a` and `b` share, the edge rounded over about `k`. */
export const overlap = (a: number, b: number, k: number): number => -join(-a, -b, k)
