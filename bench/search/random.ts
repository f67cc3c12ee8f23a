/** Numbers that look random and are the same in every run. */
export type Random = ReturnType<typeof makeRandom>

/** Makes the numbers of a seed: mulberry32, whose 32 bits of state are enough for a made-up catalogue. */
export const makeRandom = (seed: number) => {
  let state = seed >>> 0
  const nextInteger = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  /** From 0 to below 1. */
  const next = (): number => nextInteger() / 2 ** 32
  /** A whole number from `from` to `to`, both included. */
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    between,
    pick: <Item>(items: readonly Item[]): Item => items[between(0, items.length - 1)] as Item,
    chance: (share: number): boolean => next() < share,
    /** UUID of version 4, without hyphens. */
    uuid: (): string => {
      const parts = Array.from({ length: 4 }, () => nextInteger().toString(16).padStart(8, '0'))
      const hex = parts.join('')
      return `${hex.slice(0, 12)}4${hex.slice(13, 16)}a${hex.slice(17)}`
    },
  }
}
