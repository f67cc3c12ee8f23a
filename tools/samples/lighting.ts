import type { Camera } from './camera.ts'
import type { Geometry } from './march.ts'
import { march } from './march.ts'
import { random } from './noise.ts'
import type { Scene } from './scene.ts'
import { add, dot, normalize, scale, tangents } from './vector.ts'
import type { Vec } from './vector.ts'

/**
 * Light that arrives, on a grid of half the resolution: it changes slowly, and each ray costs as much as a pixel.
 * `values` has per cell one share of each light's disc in sight, then red, green and blue from all around.
 */
export interface Lighting {
  width: number
  height: number
  channels: number
  values: Float32Array
  /** Index of the pixel that stands for the cell, −1 when it sees nothing. */
  pixel: Int32Array
}

export interface Effort {
  /** Rays to each light, and rays to all sides, per cell; the filter joins 25 cells. */
  shadow: number
  ambient: number
  /** How far away things still darken and tint each other. */
  reach: number
}

export function light(scene: Scene, camera: Camera, seen: Geometry, effort: Effort): Lighting {
  const width = seen.width >> 1
  const height = seen.height >> 1
  const channels = scene.lights.length + 3
  const values = new Float32Array(width * height * channels)
  const pixel = new Int32Array(width * height).fill(-1)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const i = firstHit(seen, x * 2, y * 2)
      if (i < 0) continue
      pixel[y * width + x] = i
      const spot = spotOf(camera, seen, i, (x & 3) * 4 + (y & 3))
      const cell = (y * width + x) * channels
      scene.lights.forEach((_, n) => (values[cell + n] = inSight(scene, spot, n, effort.shadow)))
      values.set(ambient(scene, spot, effort), cell + scene.lights.length)
    }
  }
  return smooth({ width, height, channels, values, pixel }, seen)
}

function firstHit(seen: Geometry, x: number, y: number): number {
  for (const [dx, dy] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const) {
    const i = (y + dy) * seen.width + x + dx
    if ((seen.depth[i] ?? Infinity) < Infinity) return i
  }
  return -1
}

interface Spot {
  point: Vec
  normal: Vec
  /** Which of 16 ray patterns, so that neighbours take different rays. */
  turn: number
}

function spotOf(camera: Camera, seen: Geometry, i: number, turn: number): Spot {
  const depth = seen.depth[i] ?? 0
  const direction = camera.ray((i % seen.width) + 0.5, Math.floor(i / seen.width) + 0.5)
  const normal: Vec = [
    seen.normal[i * 3] ?? 0,
    seen.normal[i * 3 + 1] ?? 0,
    seen.normal[i * 3 + 2] ?? 0,
  ]
  const point = add(add(camera.eye, scale(direction, depth)), scale(normal, LIFT))
  return { point, normal, turn }
}

/** Start of a secondary ray above its surface, so that it does not meet that surface at once. */
const LIFT = 0.006

function inSight(scene: Scene, { point, normal, turn }: Spot, n: number, count: number): number {
  const lamp = scene.lights[n]
  if (!lamp || dot(lamp.direction, normal) < -lamp.spread) return 0
  const [a, b] = tangents(lamp.direction)
  let free = 0
  for (let k = 0; k < count; k += 1) {
    const r = lamp.spread * Math.sqrt((k + random(turn, k, 1)) / count)
    const turnBy = 2.399963 * (k * 16 + turn)
    const aim = normalize(
      add(lamp.direction, add(scale(a, r * Math.cos(turnBy)), scale(b, r * Math.sin(turnBy)))),
    )
    if (march(scene.distance, point, aim, SHADOW) === Infinity) free += 1
  }
  return free / count
}

const SHADOW = { near: 0.004, far: 7, width: 0.0005, slack: 0.0012 }

/** Mean over the hemisphere, weighted by the cosine: 1 under a white sky. */
function ambient(scene: Scene, { point, normal, turn }: Spot, effort: Effort): Vec {
  const [a, b] = tangents(normal)
  let sum: Vec = [0, 0, 0]
  for (let k = 0; k < effort.ambient; k += 1) {
    const share = (k + random(turn, k, 2)) / effort.ambient
    const r = Math.sqrt(share)
    const turnBy = 2.399963 * (k * 16 + turn)
    const flat = add(scale(a, r * Math.cos(turnBy)), scale(b, r * Math.sin(turnBy)))
    const aim = add(flat, scale(normal, Math.sqrt(1 - share)))
    const ray = { near: 0.004, far: effort.reach, width: 0.01, slack: 0.0012 }
    const t = march(scene.distance, point, aim, ray)
    sum = add(sum, t < Infinity ? scene.glow(add(point, scale(aim, t))) : scene.sky(aim, 1))
  }
  return scale(sum, 1 / effort.ambient)
}

/** Mean over 5 × 5 cells of the same surface, the outermost half: each of the 16 ray patterns counts alike, so none shows. */
function smooth(raw: Lighting, seen: Geometry): Lighting {
  const { width, height, channels, values, pixel } = raw
  const out = new Float32Array(values.length)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const own = pixel[y * width + x] ?? -1
      if (own < 0) continue
      const cells: [number, number][] = []
      for (let j = Math.max(0, y - 2); j <= Math.min(height - 1, y + 2); j += 1) {
        for (let i = Math.max(0, x - 2); i <= Math.min(width - 1, x + 2); i += 1) {
          const other = pixel[j * width + i] ?? -1
          const weight = other < 0 ? 0 : likeness(seen, own, other) * rim(i - x) * rim(j - y)
          if (weight > 0.01) cells.push([j * width + i, weight])
        }
      }
      average(values, out, channels, y * width + x, cells)
    }
  }
  return { ...raw, values: out }
}

const rim = (offset: number): number => (Math.abs(offset) === 2 ? 0.5 : 1)

function average(
  from: Float32Array,
  to: Float32Array,
  channels: number,
  cell: number,
  others: readonly (readonly [number, number])[],
): void {
  const total = others.reduce((sum, [, weight]) => sum + weight, 0)
  for (let c = 0; c < channels; c += 1) {
    let sum = 0
    for (const [other, weight] of others) sum += weight * (from[other * channels + c] ?? 0)
    to[cell * channels + c] = sum / total
  }
}

/** 1 for two pixels of one smooth surface, near 0 across an edge or a depth step. */
export function likeness(seen: Geometry, a: number, b: number): number {
  const n = seen.normal
  let facing = 0
  for (let c = 0; c < 3; c += 1) facing += (n[a * 3 + c] ?? 0) * (n[b * 3 + c] ?? 0)
  const step = Math.abs((seen.depth[a] ?? 0) - (seen.depth[b] ?? 0)) * 12
  return Math.max(0, facing) ** 6 / (1 + step * step * 8)
}
