import { add, cross, normalize, scale, subtract } from './vector.ts'
import type { Vec } from './vector.ts'

export interface Camera {
  eye: Vec
  /** Direction through a point of the picture, x and y in pixels from the upper left corner. */
  ray(x: number, y: number): Vec
  /** Position in pixels and distance along the view axis of a point in space. */
  project(point: Vec): Vec
  /** Size of a pixel at distance 1. */
  pixel: number
}

export interface View {
  eye: Vec
  target: Vec
  /** Vertical angle of view in degrees. */
  angle: number
  width: number
  height: number
}

export function makeCamera({ eye, target, angle, width, height }: View): Camera {
  const forward = normalize(subtract(target, eye))
  const right = normalize(cross(forward, [0, 1, 0]))
  const up = cross(right, forward)
  const pixel = (2 * Math.tan((angle * Math.PI) / 360)) / height
  return {
    eye,
    pixel,
    ray: (x, y) =>
      normalize(
        add(
          add(forward, scale(right, (x - width / 2) * pixel)),
          scale(up, (height / 2 - y) * pixel),
        ),
      ),
    project: (point) => {
      const p = subtract(point, eye)
      const depth = forward[0] * p[0] + forward[1] * p[1] + forward[2] * p[2]
      const x = right[0] * p[0] + right[1] * p[1] + right[2] * p[2]
      const y = up[0] * p[0] + up[1] * p[1] + up[2] * p[2]
      return [width / 2 + x / depth / pixel, height / 2 - y / depth / pixel, depth]
    },
  }
}
