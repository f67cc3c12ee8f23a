import { between, type Random } from '../random.ts'

/** Parts that the width of a frame is drawn in. */
const COUNT = 640

/**
 * Makes a ridge of octaves of smooth noise: heights in pixels from the top of the frame, one for each part and one more. A
 * roughness of 0.3 gives hills, 0.5 rocks, whose crests are sharp.
 */
export const makeOutline = (
  random: Random,
  { level, relief, bumps, roughness }: Record<'level' | 'relief' | 'bumps' | 'roughness', number>,
): number[] => {
  const octaves = Array.from({ length: 5 }, (_, octave) => {
    const frequency = bumps * 2 ** octave
    const values = Array.from({ length: Math.ceil(frequency) + 3 }, () => between(random, -1, 1))
    return { frequency, values, height: roughness ** octave * (1 - roughness) }
  })
  return Array.from({ length: COUNT + 2 }, (_, place) =>
    octaves.reduce((y, { frequency, values, height }) => {
      const at = (place / COUNT) * frequency
      const share = at % 1
      const [from = 0, to = 0] = [values[at - share], values[at - share + 1]]
      const value = from + (to - from) * share * share * (3 - 2 * share)
      return y - relief * height * (roughness > 0.4 ? 1 - 2 * Math.abs(value) : value)
    }, level),
  )
}

/** Writes the outline as an SVG path, without its closing. */
export const toPath = (outline: number[], width: number): string =>
  outline.map((y, i) => `${i === 0 ? 'M' : 'L'}${(i * width) / COUNT} ${y.toFixed(1)}`).join('')

/** Draws silhouettes of conifers along an outline, in groves. @param mean height of a tree, pixels */
export const drawTrees = (random: Random, outline: number[], width: number, mean: number) => {
  let path = ''
  for (let x = 0; x < width; x += mean * (random() < 0.75 ? between(random, 0.1, 0.3) : 0.8)) {
    const tall = mean * (0.5 + 0.8 * random() ** 1.5)
    const foot = (outline[Math.round((x / width) * COUNT)] ?? 0) + tall * 0.1
    // Tiers of branches, each wider than the one above it.
    for (let tier = 1; tier <= 6; tier++) {
      const half = tall * 0.03 * tier * between(random, 0.8, 1.1)
      const [y, top] = [foot - tall * (1 - tier * 0.16), foot - tall * (1.06 - tier * 0.12)]
      path += `M${(x - half).toFixed(1)} ${y.toFixed(1)}h${(2 * half).toFixed(1)}L${x.toFixed(1)} ${top.toFixed(1)}Z`
    }
  }
  return path
}
