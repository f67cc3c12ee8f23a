import type { Picture } from './render.ts'
import type { Size } from './march.ts'
import type { Vec } from './vector.ts'

/** A picture painted point by point: linear colour by u (left to right) and v (top to bottom), both 0..1. */
export function paint({ width, height }: Size, colour: (u: number, v: number) => Vec): Picture {
  const light = new Float32Array(width * height * 3)
  for (let i = 0; i < width * height; i += 1) {
    light.set(colour(((i % width) + 0.5) / width, (Math.floor(i / width) + 0.5) / height), i * 3)
  }
  return { width, height, light, depth: new Float32Array(width * height) }
}
