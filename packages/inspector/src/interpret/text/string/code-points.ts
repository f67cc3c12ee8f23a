const SURROGATE = /[\ud800-\udfff]/

/** True when UTF-16 units and code points are the same, so that the cheap way may be taken. */
export const isBasic = (text: string): boolean => !SURROGATE.test(text)

/** The characters as Python counts them; a lone surrogate is one. */
export const codePoints = (text: string): string[] => Array.from(text)

/** Python's `len(text)`. */
export const lengthOf = (text: string): number => {
  if (isBasic(text)) return text.length
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** Negative, zero or positive, by code points: UTF-16 order puts U+FF5E after an emoji. */
export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above all others, so they are moved above the units U+E000 to U+FFFF. */
const rank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

/** Counts the code points before the UTF-16 offset. */
export const indexOfUnit = (text: string, offset: number): number => lengthOf(text.slice(0, offset))

/** Most UTF-16 units of one string, and bytes of one bytes object: 1 MiB. Longer is unknown. */
export const MAX_TEXT = 1_048_576

/** The text, or undefined (unknown) when it is over the cap. */
export const capText = (text: string): string | undefined =>
  text.length > MAX_TEXT ? undefined : text
