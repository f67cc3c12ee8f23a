import { between, makeRandom } from '../random.ts'
import { css, mix } from './colour.ts'
import { fill, stop, verticalGradient } from './layer.ts'
import type { Layer, Setting } from './layer.ts'
import { makeRidge, toPath } from './outline.ts'
import type { Outline, RidgeOptions } from './outline.ts'
import { drawTrees } from './trees.ts'

/** Middle height and relief are shares of what lies below the horizon. */
interface RidgePlan extends Omit<RidgeOptions, 'width'> {
  /** 0 the farthest, 1 the nearest: decides colour, mist and movement. */
  nearness: number
  /** Conifers on it: their height in shares of the frame's, and how many widths of one lie between two. */
  trees?: { height: number; spacing: number }
}

const MOUNTAINS: RidgePlan[] = [
  { nearness: 0.05, level: -0.2, relief: 0.5, bumps: 2.2, roughness: 0.5, octaves: 6 },
  { nearness: 0.32, level: 0.1, relief: 0.4, bumps: 2.6, roughness: 0.48, octaves: 6 },
  { nearness: 0.62, level: 0.36, relief: 0.26, bumps: 3, roughness: 0.42, octaves: 6 },
  {
    nearness: 1,
    level: 0.72,
    relief: 0.2,
    bumps: 1.6,
    roughness: 0.3,
    octaves: 4,
    trees: { height: 0.13, spacing: 1.3 },
  },
]

const FOREST: RidgePlan[] = [
  {
    nearness: 0.05,
    level: -0.1,
    relief: 0.3,
    bumps: 1.8,
    roughness: 0.3,
    octaves: 5,
    trees: { height: 0.07, spacing: 0.4 },
  },
  {
    nearness: 0.34,
    level: 0.18,
    relief: 0.24,
    bumps: 2,
    roughness: 0.3,
    octaves: 5,
    trees: { height: 0.11, spacing: 0.45 },
  },
  {
    nearness: 0.64,
    level: 0.5,
    relief: 0.2,
    bumps: 1.8,
    roughness: 0.3,
    octaves: 4,
    trees: { height: 0.18, spacing: 0.5 },
  },
  {
    nearness: 1,
    level: 0.94,
    relief: 0.12,
    bumps: 1.4,
    roughness: 0.3,
    octaves: 4,
    trees: { height: 0.36, spacing: 0.85 },
  },
]

/** Ridges behind one another, each paler and slower the farther it is, with mist at their feet. */
export const drawLand = (setting: Setting): Layer[] =>
  (setting.palette.shape === 'forest' ? FOREST : MOUNTAINS).map((plan, index) =>
    drawRidge(plan, setting, `ridge ${index}`),
  )

const drawRidge = (plan: RidgePlan, setting: Setting, purpose: string): Layer => {
  const { frame, horizon } = setting
  const random = makeRandom(setting.seed, purpose)
  const depth = frame.height - horizon
  const outline = makeRidge(random, {
    width: frame.width,
    level: horizon + plan.level * depth,
    relief: plan.relief * depth * between(random, 0.8, 1.1),
    // A tall frame shows a part of what a wide one shows.
    bumps: plan.bumps * Math.max(0.5, Math.min(1.2, frame.width / frame.height / 1.6)),
    roughness: plan.roughness,
    octaves: plan.octaves,
  })
  const trees = plan.trees
    ? drawTrees(random, { outline, frame, ...plan.trees })
    : { path: '', top: frame.height }
  const crest = Math.min(...outline.heights, trees.top)
  const ground = `${toPath(outline)}V${frame.height + 2}H0Z`
  return {
    colour: paintRidge(plan, setting, { outline, crest }),
    // Two paths: turning opposite ways, one would cut holes into the other.
    mask: `<path d="${ground}" fill="#fff"/><path d="${trees.path}" fill="#fff"/>`,
    top: Math.max(0, Math.floor(crest) - 2),
    depth: 0.35 + 0.65 * plan.nearness,
  }
}

const paintRidge = (
  { nearness, trees }: RidgePlan,
  { frame, palette }: Setting,
  { outline, crest }: { outline: Outline; crest: number },
): string => {
  const body = mix(palette.far, palette.near, nearness)
  const foot = mix(palette.mist, body, 0.15 + 0.85 * nearness ** 1.6)
  const low = crest + (frame.height - crest) * (0.45 + 0.55 * nearness)
  const gradient = verticalGradient('ridge', crest, low, [
    stop(0, css(body)),
    stop(0.35, css(mix(body, foot, 0.3))),
    stop(1, css(foot)),
  ])
  // Light that grazes the crest; trees break it up.
  const rim = css(mix(body, palette.light, 0.35 * (1 - nearness)))
  const line = trees
    ? ''
    : `<path d="${toPath(outline)}" fill="none" stroke="${rim}" stroke-width="${(frame.height / 260).toFixed(1)}" stroke-opacity="0.55"/>`
  return `<defs>${gradient}</defs>${fill(frame, 'url(#ridge)')}${line}`
}
