import type { Vec } from './vector.ts'

/** A turn about the pivot of a head: between the measure of the room and that of the head. */
export interface Pose {
  into(point: Vec): Vec
  out(point: Vec): Vec
  /** The same for directions. */
  intoDirection(direction: Vec): Vec
  outDirection(direction: Vec): Vec
}

const PIVOT: Vec = [0, -1.1, -0.25]

/** Angles in degrees: `turn` to the sitter's left, `nod` downwards, `tilt` towards the sitter's right shoulder. */
export function makePose(turn: number, nod: number, tilt: number): Pose {
  const m = rotation(turn, nod, tilt)
  const apply = (rows: readonly Vec[], [x, y, z]: Vec): Vec => [
    row(rows[0], x, y, z),
    row(rows[1], x, y, z),
    row(rows[2], x, y, z),
  ]
  const inverse: readonly Vec[] = [0, 1, 2].map((i) => [
    m[0]?.[i] ?? 0,
    m[1]?.[i] ?? 0,
    m[2]?.[i] ?? 0,
  ])
  return {
    into: (p) => shift(apply(inverse, shift(p, -1)), 1),
    out: (p) => shift(apply(m, shift(p, -1)), 1),
    intoDirection: (d) => apply(inverse, d),
    outDirection: (d) => apply(m, d),
  }
}

const row = (r: Vec | undefined, x: number, y: number, z: number): number =>
  r ? r[0] * x + r[1] * y + r[2] * z : 0

const shift = (p: Vec, sign: number): Vec => [
  p[0] + sign * PIVOT[0],
  p[1] + sign * PIVOT[1],
  p[2] + sign * PIVOT[2],
]

/** Rows of Ry(turn) · Rx(nod) · Rz(tilt). */
function rotation(turn: number, nod: number, tilt: number): readonly Vec[] {
  const [a, b, c] = [turn, nod, tilt].map((degrees) => (degrees * Math.PI) / 180) as [
    number,
    number,
    number,
  ]
  const [ca, sa, cb, sb, cc, sc] = [
    Math.cos(a),
    Math.sin(a),
    Math.cos(b),
    Math.sin(b),
    Math.cos(c),
    Math.sin(c),
  ]
  return [
    [ca * cc + sa * sb * sc, sa * sb * cc - ca * sc, sa * cb],
    [cb * sc, cb * cc, -sb],
    [ca * sb * sc - sa * cc, sa * sc + ca * sb * cc, ca * cb],
  ]
}
