import { MAX_TEXT } from '../string/code-points.ts'

/** Access of `str.format` to its values. Undefined anywhere makes the whole result unknown. */
export interface TemplateSource<V> {
  positional: (index: number) => V | undefined
  named: (name: string) => V | undefined
  convert: (value: V, conversion: 's' | 'r' | 'a') => V | undefined
  format: (value: V, spec: string) => string | undefined
}

/** A doubled brace, a field of a plain name, or a brace that belongs to neither. */
const PIECE = /([{}])\1|\{([^{}!:.[\]]*)(?:!([sra]))?(?::([^{}]*))?\}|[{}]/gu

/**
 * `template.format(...)`; undefined where Python raises, where a value is unknown, for fields that hold others or ask for
 * parts of a value, and over the cap.
 */
export const formatTemplate = <V>(
  template: string,
  source: TemplateSource<V>,
): string | undefined => {
  const out: string[] = []
  let [end, total] = [0, 0]
  // The number of the next `{}`; undefined once a numbered field was met, as both don't mix.
  let next: number | undefined = 0
  const valueOf = (name: string): V | undefined => {
    if (name === '') return next === undefined ? undefined : source.positional(next++)
    if (!/^\d{1,15}$/.test(name)) return source.named(name)
    if (next !== undefined && next > 0) return undefined
    next = undefined
    return source.positional(Number(name))
  }
  for (const match of template.matchAll(PIECE)) {
    const [whole, brace, name, conversion, spec = ''] = match
    const value = name === undefined ? undefined : valueOf(name)
    const shown =
      value === undefined || conversion === undefined
        ? value
        : source.convert(value, conversion as 's' | 'r' | 'a')
    const text = brace ?? (shown === undefined ? undefined : source.format(shown, spec))
    if (text === undefined) return undefined
    out.push(template.slice(end, match.index), text)
    total += match.index - end + text.length
    if (total > MAX_TEXT) return undefined
    end = match.index + whole.length
  }
  return total + template.length - end > MAX_TEXT ? undefined : out.join('') + template.slice(end)
}
