import { add, dot, subtract } from './vector.ts'
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
  const rows = rotation(radians(turn), radians(nod), radians(tilt))
  const columns = transpose(rows)
  return {
    into: (p) => add(apply(columns, subtract(p, PIVOT)), PIVOT),
    out: (p) => add(apply(rows, subtract(p, PIVOT)), PIVOT),
    intoDirection: (d) => apply(columns, d),
    outDirection: (d) => apply(rows, d),
  }
}

/** Three rows. */
type Matrix = readonly [Vec, Vec, Vec]

const radians = (degrees: number): number => (degrees * Math.PI) / 180

const apply = ([a, b, c]: Matrix, v: Vec): Vec => [dot(a, v), dot(b, v), dot(c, v)]

const transpose = ([a, b, c]: Matrix): Matrix => [
  [a[0], b[0], c[0]],
  [a[1], b[1], c[1]],
  [a[2], b[2], c[2]],
]

/** About y by `a`, after about x by `b`, after about z by `c`. */
function rotation(a: number, b: number, c: number): Matrix {
  const [ca, cb, cc] = [Math.cos(a), Math.cos(b), Math.cos(c)]
  const [sa, sb, sc] = [Math.sin(a), Math.sin(b), Math.sin(c)]
  return [
    [ca * cc + sa * sb * sc, sa * sb * cc - ca * sc, sa * cb],
    [cb * sc, cb * cc, -sb],
    [ca * sb * sc - sa * cc, sa * sc + ca * sb * cc, ca * cb],
  ]
}
