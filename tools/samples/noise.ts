import { clamp, mix } from './vector.ts'

/** A fixed pseudo-random 32-bit number for a cell of the integer lattice. */
export function hash(x: number, y: number, z: number): number {
  let h = Math.imul(x | 0, 0x9e3779b1) ^ Math.imul(y | 0, 0x85ebca77) ^ Math.imul(z | 0, 0xc2b2ae3d)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
  return (h ^ (h >>> 15)) >>> 0
}

/** The same as a fraction in 0..1. */
export const random = (x: number, y: number, z: number): number => hash(x, y, z) / 4294967296

/** A stream of fractions in 0..1 that depends on the seed only. */
export function makeRandom(seed: number): () => number {
  let count = 0
  return () => random(seed, (count += 1), 0x51ed)
}

/**
 * Gradient noise, about −1..1, features one unit wide. No local function here or in other hot places: tsx keeps their
 * names by a call that costs more than the noise.
 */
export function noise(x: number, y: number, z: number): number {
  const ix = Math.floor(x)
  const iy = Math.floor(y)
  const iz = Math.floor(z)
  const fx = x - ix
  const fy = y - iy
  const u = fade(fx)
  const v = fade(fy)
  const near = layer(ix, iy, iz, fx, fy, z - iz, u, v)
  return mix(near, layer(ix, iy, iz + 1, fx, fy, z - iz - 1, u, v), fade(z - iz))
}

function layer(
  ix: number,
  iy: number,
  iz: number,
  fx: number,
  fy: number,
  fz: number,
  u: number,
  v: number,
): number {
  const a = slope(hash(ix, iy, iz), fx, fy, fz)
  const b = slope(hash(ix + 1, iy, iz), fx - 1, fy, fz)
  const c = slope(hash(ix, iy + 1, iz), fx, fy - 1, fz)
  const d = slope(hash(ix + 1, iy + 1, iz), fx - 1, fy - 1, fz)
  return mix(mix(a, b, u), mix(c, d, u), v)
}

const fade = (t: number): number => t * t * t * (t * (t * 6 - 15) + 10)

function slope(h: number, x: number, y: number, z: number): number {
  const a = (h & 1023) / 511.5 - 1
  const b = ((h >>> 10) & 1023) / 511.5 - 1
  const c = ((h >>> 20) & 1023) / 511.5 - 1
  return a * x + b * y + c * z
}

/** Noise summed over octaves, each twice as fine and half as strong; about −1..1. */
export function octaves(x: number, y: number, z: number, count: number): number {
  let sum = 0
  let weight = 1
  let total = 0
  for (let i = 0; i < count; i += 1) {
    const f = 2 ** i
    sum += weight * noise(x * f + i * 17.3, y * f - i * 9.1, z * f + i * 4.7)
    total += weight
    weight /= 2
  }
  return (sum / total) * 1.4
}

export interface Cell {
  /** Distance to the nearest scattered point, in cells: 0 at the point, about 1 far from any. */
  distance: number
  /** Which point that is: a random number fixed for it. */
  id: number
}

/** The nearest of points scattered one to a unit cube: pores, freckles, pits, pebbles. */
export function cells(x: number, y: number, z: number): Cell {
  const ix = Math.floor(x)
  const iy = Math.floor(y)
  const iz = Math.floor(z)
  let best = 9
  let id = 0
  for (let k = iz - 1; k <= iz + 1; k += 1) {
    for (let j = iy - 1; j <= iy + 1; j += 1) {
      for (let i = ix - 1; i <= ix + 1; i += 1) {
        const h = hash(i, j, k)
        const dx = i + (h & 1023) / 1023 - x
        const dy = j + ((h >>> 10) & 1023) / 1023 - y
        const dz = k + ((h >>> 20) & 1023) / 1023 - z
        const d = dx * dx + dy * dy + dz * dz
        if (d < best) {
          best = d
          id = h
        }
      }
    }
  }
  return { distance: Math.sqrt(best), id: Math.imul(id, 0x2545f491) >>> 0 }
}

/** Another fraction in 0..1 for the same cell. */
export const trait = (cell: Cell, which: number): number => random(cell.id, which, 7)

/** Noise brought to 0..1 with more contrast. */
export const patches = (x: number, y: number, z: number, count: number): number =>
  clamp(0.5 + 0.8 * octaves(x, y, z, count))
