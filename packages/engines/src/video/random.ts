/** Numbers from 0 to below 1, the same for the same seed and purpose. */
export type Random = () => number

/**
 * A small generator (mulberry32) for shapes, directions and sounds. Each purpose has its own sequence, so that one more
 * draw in one place changes nothing in another.
 */
export const makeRandom = (seed: number, purpose: string): Random => {
  let state = seed ^ hashText(purpose)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** FNV-1a, 32 bits. */
export const hashText = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

export const between = (random: Random, least: number, most: number): number =>
  least + (most - least) * random()

/** @throws RangeError for an empty list */
export const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new RangeError('nothing to pick from')
  return item
}
