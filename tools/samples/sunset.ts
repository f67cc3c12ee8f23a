import { noise, octaves } from './noise.ts'
import { bell, blend, clamp, rgb, scale, smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** A sunset over a lake: warm light low on the left, cool dusk at the upper right. For `paint`, 3:2. */
export function sunset(u: number, v: number): Vec {
  if (v > SHORE) return lake(u, v)
  const ridge = RIDGES.findIndex(({ base, rise, rough }, i) => v > crest(u, base, rise, rough, i))
  return ridge < 0 ? sky(u, v) : hill(u, v, ridge)
}

const SUN = [0.27, 0.5] as const
const SHORE = 0.68

const ZENITH = rgb(0x35456f)
const DUSK = rgb(0x8d6a86)
const GLOW = rgb(0xf08a4a)
const GOLD = rgb(0xffd07a)
const CLOUD = rgb(0x5c4a66)
const CLOUD_LIT = rgb(0xf4764a)
const DISC = rgb(0xfff2cc)

function sky(u: number, v: number): Vec {
  const near = Math.hypot((u - SUN[0]) * 1.5, v - SUN[1])
  const high = clamp(v / SUN[1])
  const air = blend(
    blend(ZENITH, DUSK, smoothstep(0.1, 0.75, high)),
    GLOW,
    smoothstep(0.55, 1.05, high - 0.25 * near),
  )
  const warm = blend(air, GOLD, 0.85 * bell(near, 0, 0.28))
  const cloud = clouds(u, v)
  const lit = blend(
    CLOUD,
    blend(CLOUD_LIT, GOLD, bell(near, 0, 0.4)),
    bell(near, 0, 0.55) * 0.9 + 0.1 * high,
  )
  const disc = smoothstep(0.05, 0.044, near)
  return blend(blend(warm, lit, cloud * 0.8), scale(DISC, 1.6), disc)
}

/** Flat banks that grow thinner towards the horizon. */
function clouds(u: number, v: number): number {
  const depth = 1 / (0.62 - Math.min(v, 0.58) + 0.04)
  const streak = octaves(u * 3.4 + 2, v * depth * 4.5, 6 + v * 2, 5)
  return smoothstep(-0.12, 0.5, streak + 0.25 * noise(u * 2, v * 4, 3)) * smoothstep(0.6, 0.4, v)
}

/** The nearest first; a far ridge takes on the colour of the air. */
const RIDGES = [
  { base: 0.66, rise: 0.07, rough: 2.2 },
  { base: 0.61, rise: 0.09, rough: 1.7 },
  { base: 0.55, rise: 0.08, rough: 1.3 },
] as const

function crest(u: number, base: number, rise: number, rough: number, i: number): number {
  const trees = i === 0 ? 0.012 * Math.max(0, noise(u * 90, 4, 4)) : 0
  return base - rise * (0.5 + 0.9 * octaves(u * rough + i * 7.7, i, 2, 5)) - trees
}

const NEAR_HILL = rgb(0x1c1a22)
const FAR_HILL = rgb(0x8a5a5e)

function hill(u: number, v: number, ridge: number): Vec {
  const haze = ridge * 0.36 + 0.25 * smoothstep(SHORE - 0.12, SHORE, v)
  const towardsSun = bell(u, SUN[0], 0.35)
  return blend(
    NEAR_HILL,
    blend(FAR_HILL, GLOW, 0.6 * towardsSun),
    clamp(haze * (0.45 + 0.55 * towardsSun)),
  )
}

/** The mirror image of what stands above, drawn out by ripples. */
function lake(u: number, v: number): Vec {
  const far = (v - SHORE) / (1 - SHORE)
  const ripple = noise(u * 26 * (1.4 - far), 160 * Math.log(1 + far * 2.2), 2)
  const mirrored = clamp(SHORE - (v - SHORE) * 1.5 + 0.05 * far * ripple - 0.012, 0, SHORE)
  const water = sunset(clamp(u + 0.006 * ripple), mirrored)
  const path = bell(u, SUN[0] + 0.01 * ripple, 0.035 + 0.09 * far) * smoothstep(-0.1, 0.5, ripple)
  return blend(scale(water, 0.72 - 0.25 * far), GOLD, 0.75 * path)
}
