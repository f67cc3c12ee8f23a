/** Points, directions and linear colours. Distance fields take bare numbers instead: they are called too often for arrays. */
export type Vec = readonly [number, number, number]

export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const subtract = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
export const scale = (a: Vec, s: number): Vec => [a[0] * s, a[1] * s, a[2] * s]
export const multiply = (a: Vec, b: Vec): Vec => [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const length = (a: Vec): number => Math.sqrt(dot(a, a))
export const normalize = (a: Vec): Vec => scale(a, 1 / Math.max(length(a), 1e-12))

export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

/** `direction` mirrored at a surface with this normal. */
export const reflect = (direction: Vec, normal: Vec): Vec =>
  subtract(direction, scale(normal, 2 * dot(direction, normal)))

export const blend = (a: Vec, b: Vec, t: number): Vec => [
  a[0] + (b[0] - a[0]) * t,
  a[1] + (b[1] - a[1]) * t,
  a[2] + (b[2] - a[2]) * t,
]

export const mix = (a: number, b: number, t: number): number => a + (b - a) * t
export const clamp = (x: number, low = 0, high = 1): number => Math.min(high, Math.max(low, x))

/** 0 at `from`, 1 at `to`, with flat ends; `from` may be the larger one. */
export function smoothstep(from: number, to: number, x: number): number {
  const t = clamp((x - from) / (to - from))
  return t * t * (3 - 2 * t)
}

/** A bell of height 1 about `centre`, down to 0.37 at `width`. */
export function bell(x: number, centre: number, width: number): number {
  const d = (x - centre) / width
  return Math.exp(-d * d)
}

/** Two directions that make an orthonormal frame with `normal`. */
export function tangents(normal: Vec): readonly [Vec, Vec] {
  const helper: Vec = Math.abs(normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0]
  const tangent = normalize(cross(helper, normal))
  return [tangent, cross(normal, tangent)]
}

/** Linear colour of an sRGB triple given as 0xRRGGBB. */
export const rgb = (hex: number): Vec => [
  linear((hex >> 16) & 255),
  linear((hex >> 8) & 255),
  linear(hex & 255),
]

function linear(byte: number): number {
  const s = byte / 255
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4
}
