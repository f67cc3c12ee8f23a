import { gradient } from './march.ts'
import { makeRandom } from './noise.ts'
import { EYE, head, lowerLid, upperLid } from './skull.ts'
import { add, bell, mix, normalize, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** Hairs of both brows, in the measure of the head: flat on the skin, upwards at the nose, outwards at the temple. */
export function growBrows(seed: number, count: number): Vec[][] {
  const next = makeRandom(seed)
  return Array.from({ length: count }, (_, i) => {
    const side = i % 2 === 0 ? 1 : -1
    const along = next()
    const spread = (next() + next() - 1) * mix(0.036, 0.014, along)
    const rise = 0.205 + 0.075 * along - 0.13 * smoothstep(0.5, 1.15, along) * along
    const root: Vec = [side * (0.11 + 0.42 * along), rise + spread, 0.8 - 0.25 * along * along]
    const lift = mix(1.0, -0.5, smoothstep(0, 0.75, along)) - 9 * spread
    const aim: Vec = [side, lift + 0.5 * (next() - 0.5), -0.2]
    return hug(root, aim, 0.05 + 0.05 * next())
  })
}

/** A short hair along the skin. */
function hug(root: Vec, aim: Vec, length: number): Vec[] {
  const direction = normalize(aim)
  return [0, 1, 2, 3, 4].map((k) =>
    onSkin(add(root, scale(direction, (length * k) / 4)), 0.004 + 0.004 * k),
  )
}

function onSkin(point: Vec, above: number): Vec {
  let p = point
  for (let k = 0; k < 3; k += 1) {
    const gap = above - head(p[0], p[1], p[2])
    p = add(p, scale(gradient(head, p, 0.01), gap))
  }
  return p
}

/** Lashes of all four lids: they leave the lid edge forwards and bend up (upper) or down (lower). */
export function growLashes(seed: number): Vec[][] {
  const next = makeRandom(seed)
  return [1, -1].flatMap((side) => [
    ...Array.from({ length: 130 }, () => lash(side, 1, next)),
    ...Array.from({ length: 60 }, () => lash(side, -1, next)),
  ])
}

function lash(side: number, lid: number, next: () => number): Vec[] {
  const out = -0.13 + 0.285 * next()
  const edge = lid > 0 ? upperLid(out) : lowerLid(out)
  const z = EYE.z + Math.sqrt(Math.max(0, 0.148 ** 2 - out * out - edge * edge))
  const root: Vec = [side * (EYE.x + out), edge + 0.002 * lid, z]
  const length =
    (lid > 0 ? 0.06 : 0.028) * (0.7 + 0.5 * next()) * (0.75 + 0.45 * bell(out, 0.1, 0.12))
  const fan = side * (2.6 * out + 0.25 * (next() - 0.5))
  return [0, 0.25, 0.5, 0.75, 1].map((t) => [
    root[0] + fan * length * t,
    root[1] + lid * length * (-0.25 * t + 0.95 * t * t),
    root[2] + length * (0.85 * t - 0.3 * t * t),
  ])
}
