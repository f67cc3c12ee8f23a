import type { Camera } from './camera.ts'
import type { Field, Scene } from './scene.ts'
import { add, normalize, scale } from './vector.ts'
import type { Vec } from './vector.ts'

/** Distance along the ray to the first surface, Infinity when there is none before `far`. */
export function march(distance: Field, from: Vec, to: Vec, ray: Ray): number {
  let t = ray.near
  for (let step = 0; step < 160; step += 1) {
    const d = distance(from[0] + to[0] * t, from[1] + to[1] * t, from[2] + to[2] * t)
    if (d < ray.width * t + ray.slack) return t
    t += d
    if (t > ray.far) return Infinity
  }
  return t
}

export interface Ray {
  near: number
  far: number
  /** The ray is a cone this wide at distance 1; touching it counts. */
  width: number
  /** Plus this much everywhere. */
  slack: number
}

/** What the camera sees: per pixel the distance along its ray (Infinity: nothing) and the normal there. */
export interface Geometry {
  width: number
  height: number
  depth: Float32Array
  normal: Float32Array
}

export interface Size {
  width: number
  height: number
}

export function trace(scene: Scene, camera: Camera, { width, height }: Size): Geometry {
  const depth = new Float32Array(width * height).fill(Infinity)
  const normal = new Float32Array(width * height * 3)
  for (let y = 0; y < height; y += BLOCK) {
    for (let x = 0; x < width; x += BLOCK) {
      const near = blockStart(scene, camera, x, y)
      if (near < Infinity)
        traceBlock({ width, height, depth, normal }, { scene, camera, x, y, near })
    }
  }
  return { width, height, depth, normal }
}

/** One wide cone for 8 × 8 pixels spares each of them the way to the first surface: about three times quicker. */
const BLOCK = 8

function blockStart(scene: Scene, camera: Camera, x: number, y: number): number {
  const centre = camera.ray(x + BLOCK / 2, y + BLOCK / 2)
  const width = BLOCK * 0.75 * camera.pixel
  return march(scene.distance, camera.eye, centre, { near: 0.1, far: scene.far, width, slack: 0 })
}

interface Block {
  scene: Scene
  camera: Camera
  x: number
  y: number
  near: number
}

function traceBlock(out: Geometry, { scene, camera, x: left, y: top, near }: Block): void {
  const ray = { near: near * 0.98, far: scene.far, width: camera.pixel * 0.3, slack: 0 }
  for (let y = top; y < Math.min(top + BLOCK, out.height); y += 1) {
    for (let x = left; x < Math.min(left + BLOCK, out.width); x += 1) {
      const direction = camera.ray(x + 0.5, y + 0.5)
      const t = march(scene.distance, camera.eye, direction, ray)
      if (t === Infinity) continue
      const i = y * out.width + x
      out.depth[i] = t
      const point = add(camera.eye, scale(direction, t))
      out.normal.set(gradient(scene.distance, point, camera.pixel * t * 0.7), i * 3)
    }
  }
}

/** Direction in which the distance grows: the normal, taken at the four corners of a tetrahedron of size `e`. */
export function gradient(distance: Field, [x, y, z]: Vec, e: number): Vec {
  const a = distance(x + e, y - e, z - e)
  const b = distance(x - e, y - e, z + e)
  const c = distance(x - e, y + e, z - e)
  const d = distance(x + e, y + e, z + e)
  return normalize([a - b - c + d, -a - b + c + d, -a + b - c + d])
}
