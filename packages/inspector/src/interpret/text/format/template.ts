import { replaceEach } from '../string/build.ts'

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
  // The number of the next `{}`; undefined once a numbered field was met, as both don't mix.
  let next: number | undefined = 0
  const valueOf = (name: string): V | undefined => {
    if (name === '') return next === undefined ? undefined : source.positional(next++)
    if (!/^\d{1,15}$/.test(name)) return source.named(name)
    if (next !== undefined && next > 0) return undefined
    next = undefined
    return source.positional(Number(name))
  }
  return replaceEach(template, PIECE, ([, brace, name, conversion, spec = '']) => {
    const value = name === undefined ? undefined : valueOf(name)
    const shown =
      value === undefined || conversion === undefined
        ? value
        : source.convert(value, conversion as 's' | 'r' | 'a')
    return brace ?? (shown === undefined ? undefined : source.format(shown, spec))
  })
}
