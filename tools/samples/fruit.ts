import { cells, noise, patches } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { sphere } from './shapes.ts'
import { blend, rgb, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** An orange with its peel; `r` is its radius. */
export function makeOrange([cx, cy, cz]: Vec, r: number): Part {
  return {
    colour: rgb(0xd9781e),
    bound: [cx, cy, cz, r * 1.03],
    distance: (x, y, z) => sphere(x - cx, (y - cy) * 1.05, z - cz, r) * 0.95,
    surface: (point, normal, footprint) => {
      const p: Vec = [point[0] - cx, point[1] - cy, point[2] - cz]
      const ripe = patches(p[0] * 3 + cx, p[1] * 3, p[2] * 3, 3)
      return {
        albedo: blend(rgb(0xd96a12), rgb(0xf09a2a), ripe),
        normal: relief(p, normal, footprint, (q) => peel(q)),
        roughness: 0.36,
        reflectance: 0.045,
        scatter: 0.5,
      }
    },
  }
}

const peel = ([x, y, z]: Vec): number =>
  -0.008 * smoothstep(0.5, 0.1, cells(x * 22, y * 22, z * 22).distance) + 0.01 * noise(x * 4, y * 4, z * 4)
