import { capText, codePoints, lengthOf, MAX_TEXT } from './code-points.ts'

/** `text.replace(old, replacement, count)`, undefined over the cap. A negative count is all. */
export const replace = (
  text: string,
  old: string,
  replacement: string,
  count = -1n,
): string | undefined => {
  const parts = old === '' ? ['', ...codePoints(text), ''] : text.split(old)
  const times = count < 0n || count > parts.length - 1 ? parts.length - 1 : Number(count)
  if (text.length + times * (replacement.length - old.length) > MAX_TEXT) return undefined
  const replaced = parts.slice(0, times + 1).join(replacement)
  const rest = parts.slice(times + 1)
  return rest.length === 0 ? replaced : replaced + old + rest.join(old)
}

/** `separator.join(parts)`, undefined over the cap. */
export const join = (separator: string, parts: readonly string[]): string | undefined => {
  let length = separator.length * Math.max(0, parts.length - 1)
  for (const part of parts) length += part.length
  return length > MAX_TEXT ? undefined : parts.join(separator)
}

/** `text.ljust(width, fill)`; undefined over the cap or when `fill` is not one character. */
export const justifyLeft = (text: string, width: bigint, fill = ' '): string | undefined =>
  pad(text, width, fill, () => 0)

/** `text.rjust(width, fill)`. */
export const justifyRight = (text: string, width: bigint, fill = ' '): string | undefined =>
  pad(text, width, fill, (missing) => missing)

const pad = (
  text: string,
  width: bigint,
  fill: string,
  leftOf: (missing: number) => number,
): string | undefined => {
  const missing = missingTo(width, text)
  if (missing === undefined || lengthOf(fill) !== 1) return undefined
  const left = leftOf(missing)
  return capText(fill.repeat(left) + text + fill.repeat(missing - left))
}

/** Characters missing to the width; undefined when that width is over the cap. */
const missingTo = (width: bigint, text: string): number | undefined =>
  width > MAX_TEXT ? undefined : Math.max(0, Number(width) - lengthOf(text))
