import { makeRandom, noise, patches } from './noise.ts'
import type { Part } from './parts.ts'
import { relief } from './parts.ts'
import { ellipsoid, limb } from './shapes.ts'
import type { Joint } from './shapes.ts'
import { add, blend, cross, dot, length, normalize, rgb, scale, subtract } from './vector.ts'
import type { Vec } from './vector.ts'

interface Leaf {
  centre: Vec
  along: Vec
  across: Vec
  normal: Vec
  size: number
}

const LEAF = rgb(0x4c6b58)
const LEAF_LIGHT = rgb(0x8aa48c)
const WOOD = rgb(0x6d4a38)

/** A twig of eucalyptus with round leaves in pairs, from `foot` to `tip`, bent by `sag`. */
export function makeBranch(foot: Vec, tip: Vec, sag: number, seed: number): Part {
  const next = makeRandom(seed)
  const stem = Array.from({ length: 9 }, (_, k) => bent(foot, tip, sag, k / 8))
  const leaves = stem.slice(2).flatMap((at, k) => {
    const direction = normalize(subtract(at, stem[k + 1] ?? foot))
    const first = next() * Math.PI * 2
    return [0, Math.PI].map((turn) => leafAt(at, direction, first + turn, 0.2 - 0.012 * k, next))
  })
  const middle = scale(add(foot, tip), 0.5)
  const reach = Math.max(...leaves.map((leaf) => length(subtract(leaf.centre, middle)) + leaf.size))
  return {
    colour: rgb(0x5f7a66),
    bound: [middle[0], middle[1], middle[2], Math.max(reach, length(subtract(foot, middle)))],
    distance: (x, y, z) => Math.min(stemGap(stem, x, y, z), leafGap(leaves, x, y, z)),
    surface: (point, normal, footprint) => {
      const [x, y, z] = point
      const green = blend(LEAF, LEAF_LIGHT, patches(x * 4 + seed, y * 4, z * 4, 3))
      const woody = stemGap(stem, x, y, z) < 0.008
      return {
        albedo: woody ? WOOD : green,
        normal: relief(
          point,
          normal,
          footprint,
          (p) => 0.004 * noise(p[0] * 14, p[1] * 14, p[2] * 14),
        ),
        roughness: 0.55,
        reflectance: 0.04,
        scatter: 0,
      }
    },
  }
}

function bent(foot: Vec, tip: Vec, sag: number, t: number): Vec {
  const [x, y, z] = add(foot, scale(subtract(tip, foot), t))
  return [x, y + sag * 4 * t * (1 - t), z]
}

function leafAt(at: Vec, stem: Vec, turn: number, size: number, next: () => number): Leaf {
  const a = normalize(cross(stem, [0.3, 0.2, 1]))
  const b = cross(stem, a)
  const out = add(scale(a, Math.cos(turn)), scale(b, Math.sin(turn)))
  const along = normalize(add(out, scale(stem, 0.35 + 0.4 * next())))
  const loose: Vec = [next() - 0.5, next() - 0.5, next() - 0.5]
  const normal = normalize(cross(along, add(cross(stem, along), scale(loose, 0.8))))
  const grown = size * (0.85 + 0.3 * next())
  return {
    centre: add(at, scale(along, grown * 0.95)),
    along,
    across: cross(normal, along),
    normal,
    size: grown,
  }
}

function stemGap(stem: readonly Vec[], x: number, y: number, z: number): number {
  let best = 9
  for (let k = 0; k + 1 < stem.length; k += 1) {
    const a = stem[k]
    const b = stem[k + 1]
    if (!a || !b) continue
    const from: Joint = [a[0], a[1], a[2], 0.02]
    const to: Joint = [b[0], b[1], b[2], 0.018]
    best = Math.min(best, limb(x, y, z, from, to))
  }
  return best
}

/** A leaf is a thin shell, cupped towards its normal. */
function leafGap(leaves: readonly Leaf[], x: number, y: number, z: number): number {
  let best = 9
  for (const { centre, along, across, normal, size } of leaves) {
    const p: Vec = [x - centre[0], y - centre[1], z - centre[2]]
    const gap = Math.sqrt(dot(p, p)) - size
    if (gap > best || gap > 0.05) {
      best = Math.min(best, Math.max(gap, 0.03))
      continue
    }
    const u = dot(p, along)
    const v = dot(p, across)
    const w = dot(p, normal) - (0.9 * v * v) / size / 2.2
    best = Math.min(best, ellipsoid(u, v, w, size, size * 0.72, 0.014) * 0.6)
  }
  return best
}
