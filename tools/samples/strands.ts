import type { Camera } from './camera.ts'
import type { Picture } from './render.ts'
import { mix } from './vector.ts'
import type { Vec } from './vector.ts'

/** A hair: points in space with a thickness and a linear colour each. */
export interface Strand {
  points: readonly Vec[]
  colours: readonly Vec[]
  /** Thickness in units. */
  width: number
  /** Share of the thickness at either end. */
  root: number
  tip: number
}

/** Draws strands over a picture in order, each hidden where something nearer stands. */
export function drawStrands(picture: Picture, camera: Camera, strands: Iterable<Strand>): void {
  for (const strand of strands) {
    const last = strand.points.length - 1
    for (let i = 0; i < last; i += 1) {
      const from = strand.points[i]
      const to = strand.points[i + 1]
      const colour = strand.colours[i]
      if (!from || !to || !colour) continue
      const thick = strand.width * taper(strand, i / last)
      stroke(picture, camera, { from: camera.project(from), to: camera.project(to), colour, thick })
    }
  }
}

const taper = ({ root, tip }: Strand, t: number): number =>
  Math.min(mix(root, 1, Math.min(1, t * 4)), mix(1, tip, t))

interface Stroke {
  /** Pixels and depth. */
  from: Vec
  to: Vec
  colour: Vec
  thick: number
}

/** A strand may dip this far below the surface it grows on before it is hidden. */
const SLACK = 0.02

function stroke(picture: Picture, camera: Camera, { from, to, colour, thick }: Stroke): void {
  const { width, height, depth, light } = picture
  const radius = thick / (from[2] * camera.pixel) / 2
  const reach = Math.max(radius, 0.5) + 0.5
  const dx = to[0] - from[0]
  const dy = to[1] - from[1]
  const square = Math.max(1e-9, dx * dx + dy * dy)
  const left = Math.max(0, Math.floor(Math.min(from[0], to[0]) - reach))
  const right = Math.min(width - 1, Math.ceil(Math.max(from[0], to[0]) + reach))
  const top = Math.max(0, Math.floor(Math.min(from[1], to[1]) - reach))
  const bottom = Math.min(height - 1, Math.ceil(Math.max(from[1], to[1]) + reach))
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const px = x + 0.5 - from[0]
      const py = y + 0.5 - from[1]
      const t = (px * dx + py * dy) / square
      if (t < 0 || t >= 1) continue
      const off = Math.abs(px * dy - py * dx) / Math.sqrt(square)
      const cover = Math.min(1, Math.max(0, reach - off)) * Math.min(1, radius * 2)
      const i = y * width + x
      if (cover <= 0 || from[2] + (to[2] - from[2]) * t > (depth[i] ?? Infinity) + SLACK) continue
      for (let c = 0; c < 3; c += 1) {
        const old = light[i * 3 + c] ?? 0
        light[i * 3 + c] = old + ((colour[c] ?? 0) - old) * cover
      }
    }
  }
}
