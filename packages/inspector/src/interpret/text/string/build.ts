import { capText, codePoints, MAX_TEXT } from './code-points.ts'

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

/** The text with every match replaced by what `make` gives; undefined where that is, and over the cap. */
export const replaceEach = (
  text: string,
  form: RegExp,
  make: (match: RegExpExecArray) => string | undefined,
): string | undefined => {
  const out: string[] = []
  let [end, total] = [0, 0]
  for (const match of text.matchAll(form)) {
    const piece = make(match)
    if (piece === undefined) return undefined
    out.push(text.slice(end, match.index), piece)
    total += match.index - end + piece.length
    if (total > MAX_TEXT) return undefined
    end = match.index + match[0].length
  }
  return capText(out.join('') + text.slice(end))
}

/** `separator.join(parts)`, undefined over the cap. */
export const join = (separator: string, parts: readonly string[]): string | undefined => {
  let length = separator.length * Math.max(0, parts.length - 1)
  for (const part of parts) length += part.length
  return length > MAX_TEXT ? undefined : parts.join(separator)
}
