import { cut } from './align.ts'
import { fixed } from '../number/round.ts'
import { capText, lengthOf, MAX_TEXT } from '../string/code-points.ts'
import { toFloat, truncate, type PythonNumber } from '../number/number.ts'
import { reprInt } from '../repr.ts'
import { replaceEach } from '../string/build.ts'

/** Values right of `%`, as a format asks for them. Undefined anywhere makes the whole result unknown. */
export interface PercentSource<V> {
  /** The next value of a tuple, or the lone value, once. */
  next: () => V | undefined
  /** The value of `%(key)s`; undefined when the right side is no mapping. */
  byKey: (key: string) => V | undefined
  /** All values were used, or the right side is a mapping: Python raises when some are left over. */
  isUsedUp: () => boolean
  /** `str` or `repr` of the value. */
  text: (value: V, how: 's' | 'r') => string | undefined
  /** The number of an int, float or bool. */
  number: (value: V) => PythonNumber | undefined
}

interface Field {
  key: string | undefined
  flags: string
  width: number
  precision: number | undefined
  type: string
}

const FIELD = /%(?:\(([^()]*)\))?([-+ 0#]*)(\d+)?(?:\.(\d*))?[hlL]?([^])?/gu

/** `template % values`; undefined where Python raises, where a value is unknown, for types other than
 * `s`, `r`, `d` and `f`, and over the cap. */
export const formatPercent = <V>(
  template: string,
  source: PercentSource<V>,
): string | undefined => {
  const text = replaceEach(template, FIELD, (match) => readPiece(match, source))
  return source.isUsedUp() ? text : undefined
}

const readPiece = <V>(
  [, key, flags = '', width, precision, type]: RegExpExecArray,
  source: PercentSource<V>,
): string | undefined => {
  // A bare `%%` takes no value; with a key Python looks it up first.
  if (type === '%') return key === undefined ? '%' : undefined
  if (type === undefined) return undefined
  const digits = precision === undefined ? undefined : Number(precision)
  const field: Field = { key, flags, width: Number(width ?? 0), precision: digits, type }
  if (field.width > MAX_TEXT || (field.precision ?? 0) > MAX_TEXT) return undefined
  const value = key === undefined ? source.next() : source.byKey(key)
  return value === undefined ? undefined : formatField(field, value, source)
}

const formatField = <V>(field: Field, value: V, source: PercentSource<V>): string | undefined => {
  if (field.type === 's' || field.type === 'r') {
    const text = source.text(value, field.type)
    return text === undefined ? undefined : padField(cut(text, field.precision), field)
  }
  const number = source.number(value)
  if (number === undefined) return undefined
  if ('diu'.includes(field.type)) return formatInteger(field, number)
  return 'fF'.includes(field.type) ? formatReal(field, toFloat(number)) : undefined
}

/** `%d` cuts a float. */
const formatInteger = (field: Field, number: PythonNumber) => {
  const value = typeof number === 'bigint' ? number : truncate(number)
  if (value === undefined) return undefined
  const digits = reprInt(value < 0n ? -value : value)
  return digits && padNumber(digits.padStart(field.precision ?? 0, '0'), value < 0n, field)
}

const formatReal = (field: Field, value: number | undefined) => {
  if (value === undefined || field.flags.includes('#')) return undefined
  const text = fixed(Math.abs(value), field.precision ?? 6)
  return text && padNumber(text, value < 0 || Object.is(value, -0), field)
}

const padNumber = (text: string, isNegative: boolean, field: Field) => {
  const plus = field.flags.includes('+') ? '+' : field.flags.includes(' ') ? ' ' : ''
  const sign = isNegative ? '-' : plus
  if (!field.flags.includes('0') || field.flags.includes('-')) return padField(sign + text, field)
  return sign + text.padStart(field.width - sign.length, '0')
}

const padField = (text: string, { flags, width }: Field): string | undefined => {
  const blanks = ' '.repeat(Math.max(0, width - lengthOf(text)))
  return capText(flags.includes('-') ? text + blanks : blanks + text)
}
