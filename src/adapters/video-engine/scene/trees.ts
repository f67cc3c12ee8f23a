import { between } from '../random.ts'
import type { Random } from '../random.ts'
import type { Frame } from './layer.ts'
import { heightAt } from './outline.ts'
import type { Outline } from './outline.ts'

interface Stand {
  outline: Outline
  frame: Frame
  /** Mean height of a tree, in shares of the frame's height. */
  height: number
  /** Widths of a tree between two. */
  spacing: number
}

/** Silhouettes of conifers along an outline, in groves; `top` is the highest row they reach. */
export const drawTrees = (
  random: Random,
  { outline, frame, height, spacing }: Stand,
): { path: string; top: number } => {
  // An upright frame would hold one tree.
  const mean = height * Math.min(frame.height, 0.9 * frame.width)
  const paths: string[] = []
  let top = frame.height
  for (let x = -mean * 0.3; x < frame.width + mean * 0.3;) {
    const tall = mean * (0.5 + 0.8 * random() ** 1.5)
    const wide = tall * between(random, 0.3, 0.42)
    const foot = heightAt(outline, x) + tall * between(random, 0.02, 0.12)
    paths.push(drawConifer(random, { x, foot, tall, wide }))
    top = Math.min(top, foot - tall)
    // Close together in a grove, then a clearing.
    x += wide * spacing * (random() < 0.78 ? between(random, 0.35, 1) : between(random, 1.6, 3.4))
  }
  return { path: paths.join(''), top }
}

interface Conifer {
  x: number
  foot: number
  tall: number
  wide: number
}

/** Tiers of branches that hang a little, wider downwards, on a trunk. */
const drawConifer = (random: Random, { x, foot, tall, wide }: Conifer): string => {
  const tiers = Math.max(5, Math.min(13, Math.round(tall / 14)))
  const side = (sign: number): [number, number][] =>
    Array.from({ length: tiers }, (_, tier) => {
      const share = (tier + 1) / tiers
      const reach = (wide / 2) * share ** 0.85 * between(random, 0.75, 1.12)
      const y = foot - tall * (1 - 0.9 * share)
      return [
        [x + sign * reach, y + tall * 0.012] as [number, number],
        [x + sign * reach * 0.45, y - tall * 0.01] as [number, number],
      ]
    }).flat()
  const trunk = wide * 0.05
  const points: [number, number][] = [
    [x, foot - tall],
    ...side(1),
    [x + trunk, foot - tall * 0.1],
    [x + trunk, foot],
    [x - trunk, foot],
    [x - trunk, foot - tall * 0.1],
    ...side(-1).toReversed(),
  ]
  return `M${points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L')}Z`
}
