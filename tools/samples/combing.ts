import { hairMass, insideHairline } from './hair.ts'
import { gradient } from './march.ts'
import { makeRandom, noise } from './noise.ts'
import { earless } from './skull.ts'
import { add, clamp, dot, mix, normalize, scale, smoothstep, subtract } from './vector.ts'
import type { Vec } from './vector.ts'

/** The way of one hair over the head, in the measure of the head. */
export interface Lock {
  points: Vec[]
  /** How high it lies above the mass. */
  offset: number
  /** Fixed for the tuft it belongs to, 0..1. */
  shade: number
}

/** Hairs rooted all over the scalp and combed back, the deepest first. */
export function combHair(seed: number, count: number): Lock[] {
  const next = makeRandom(seed)
  const locks: Lock[] = []
  while (locks.length < count) {
    const root = scalpPoint(next)
    if (!root) continue
    const loose = next() > 0.985 ? 0.06 : 0
    locks.push(grow(root, 0.004 + 0.04 * next() + loose * next(), next))
  }
  return locks.toSorted((a, b) => a.offset - b.offset)
}

/** A root on the scalp, or, for one in four, some way down on the fall: the roots of those are out of sight. */
function scalpPoint(next: () => number): Vec | undefined {
  const falling = next() < 0.25
  const up = falling ? -next() : 1 - 1.6 * next()
  const turn = next() * Math.PI * 2
  const flat = Math.sqrt(Math.max(0, 1 - up * up))
  let p: Vec = falling
    ? [0.83 * Math.cos(turn), up, -0.5 + 0.4 * Math.sin(turn)]
    : [0.8 * flat * Math.cos(turn), 0.3 + 0.85 * up, -0.1 + flat * Math.sin(turn)]
  for (let k = 0; k < 4; k += 1) p = settle(p, gradient(ground, p, 0.015), 0.005)
  if (falling) return hairMass(p[0], p[1], p[2]) < 0.01 && p[2] < -0.35 ? p : undefined
  const [x, y, z] = p
  const ragged = 0.03 * noise(x * 14, y * 14, z * 14) - 0.03 * next()
  return insideHairline(x, y, z) > ragged && y > -0.45 ? p : undefined
}

/** What hairs lie on: the mass, and the skin where the mass has not begun. */
const ground = (x: number, y: number, z: number): number =>
  Math.min(hairMass(x, y, z), earless(x, y, z))

/** `p` moved along the normal to this height over the ground. */
function settle(p: Vec, normal: Vec, offset: number): Vec {
  const gap = offset - ground(p[0], p[1], p[2])
  return add(p, scale(normal, clamp(gap, -0.3, 0.3)))
}

const STEP = 0.055

/** Hairs start in the mass; far from the hairline they come out of it slowly, so that no roots show. */
const ROOT = -0.03

/** A hair that strays this far out of the hairline would lie on the face; it ends there. */
const ON_FACE = -0.12

function grow(root: Vec, offset: number, next: () => number): Lock {
  const points: Vec[] = [root]
  const shade = clamp(
    0.5 + 0.9 * noise(root[0] * 7, root[1] * 7, root[2] * 7) + 0.3 * (next() - 0.5),
  )
  const own = next()
  const hidden = insideHairline(root[0], root[1], root[2]) < 0.2 ? 3 : 9
  let p = root
  const steps = 22 + Math.floor(next() * 18)
  for (let k = 0; k < steps; k += 1) {
    const wanted = add(combed(p, root), stray(p, root, own, offset))
    const normal = gradient(ground, p, 0.015)
    const along = normalize(subtract(wanted, scale(normal, dot(wanted, normal))))
    p = settle(add(p, scale(along, STEP)), normal, mix(ROOT, offset, smoothstep(0, hidden, k + 1)))
    if (insideHairline(p[0], p[1], p[2]) < ON_FACE) break
    points.push(p)
  }
  return { points, offset, shade }
}

/** Up from the brow and back, to the sides a little; once behind the ears, down. */
function combed([x, y, z]: Vec, root: Vec): Vec {
  const side = clamp((root[0] - 0.1) * 0.9, -1, 1)
  const top = smoothstep(0.3, 0.9, y)
  const back = smoothstep(0.1, -0.5, z)
  const lift = 0.5 * smoothstep(0.35, 0, y) * smoothstep(-0.3, 0, z)
  const rise = 0.5 * smoothstep(0.5, 0.8, root[1]) * smoothstep(0.2, 0.5, z)
  const sideways = side * (0.22 + 0.2 * (0.5 - x * side)) * top
  return [sideways, mix(-0.25 * (1 - top), -1, back) + lift + rise, mix(-1, -0.12, back)]
}

/** Tufts bend together, single hairs a little on their own. */
function stray([x, y, z]: Vec, root: Vec, own: number, offset: number): Vec {
  const tuft = 0.3 * noise(root[0] * 6 + x * 1.5, root[1] * 6 + y * 2.2, z * 1.5)
  const single = (0.16 + 3 * Math.max(0, offset - 0.04)) * noise(own * 50, y * 3, x * 3 + z * 3)
  return [tuft + single, 0.5 * single, tuft * 0.4]
}
