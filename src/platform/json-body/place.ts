import { makeTokenizer } from './tokens.ts'

/**
 * Longest beginning of a body in which the place of an error is looked for: a body of nothing but members costs 2.5 ms
 * each time that it is read, and it is read 14 times.
 */
export const PLACE_MAX = 16 * 1024

/** Finds the line and column, from 1, of the character that makes a text no JSON; undefined when none does. */
export const findPlace = (text: string): string | undefined => {
  if (isBeginning(text)) return undefined
  let [good, bad] = [0, text.length]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (isBeginning(text.slice(0, middle))) good = middle
    else bad = middle
  }
  const lines = text.slice(0, good).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

/** True where something can follow that makes it JSON. */
const isBeginning = (text: string): boolean => {
  try {
    makeTokenizer()(text)
    return true
  } catch {
    return false
  }
}
