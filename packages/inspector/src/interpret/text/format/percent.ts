import { cut } from './align.ts'
import { printFloat } from './format-number.ts'
import { lengthOf, MAX_TEXT } from '../string/code-points.ts'
import { toFloat, truncate, type PythonNumber } from '../number/number.ts'
import { reprInt } from '../repr.ts'
import { justifyLeft, justifyRight } from '../string/build.ts'

/** Values right of `%`, as a format asks for them. Undefined anywhere makes the whole result unknown. */
export interface PercentSource<V> {
  /** The next value of a tuple, or the lone value, once. */
  next: () => V | undefined
  /** The value of `%(key)s`; undefined when the right side is no mapping. */
  byKey: (key: string) => V | undefined
  /** All values were used, or the right side is a mapping: Python raises when some are left over. */
  isUsedUp: () => boolean
  /** `str`, `repr` or `ascii` of the value. */
  text: (value: V, how: 's' | 'r' | 'a') => string | undefined
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

const FIELD = /%(?:\(([^()]*)\))?([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([^])?/gu

/** `template % values`; undefined where Python raises, where a value is unknown, and over the cap. */
export const formatPercent = <V>(
  template: string,
  source: PercentSource<V>,
): string | undefined => {
  const out: string[] = []
  let [end, total] = [0, 0]
  for (const match of template.matchAll(FIELD)) {
    const piece = readPiece(match, source)
    if (piece === undefined) return undefined
    out.push(template.slice(end, match.index), piece)
    total += match.index - end + piece.length
    if (total > MAX_TEXT) return undefined
    end = match.index + match[0].length
  }
  const text = out.join('') + template.slice(end)
  return source.isUsedUp() && text.length <= MAX_TEXT ? text : undefined
}

const readPiece = <V>(
  [, key, flags = '', width, precision, type]: RegExpExecArray,
  source: PercentSource<V>,
): string | undefined => {
  // A bare `%%` takes no value; with a key Python looks it up first.
  if (type === '%') return key === undefined ? '%' : undefined
  const star = (text: string | undefined) => (text === '*' ? nextSize(source) : Number(text ?? 0))
  const [columns, digits] = [star(width), precision === undefined ? 0 : star(precision)]
  if (type === undefined || columns === undefined || digits === undefined) return undefined
  const field: Field = {
    key,
    flags: columns < 0 ? `${flags}-` : flags,
    width: Math.abs(columns),
    precision: precision === undefined ? undefined : Math.max(0, digits),
    type,
  }
  if (field.width > MAX_TEXT || (field.precision ?? 0) > MAX_TEXT) return undefined
  const value = key === undefined ? source.next() : source.byKey(key)
  return value === undefined ? undefined : formatField(field, value, source)
}

const nextSize = <V>(source: PercentSource<V>): number | undefined => {
  const value = source.next()
  const size = value === undefined ? undefined : source.number(value)
  return typeof size === 'bigint' ? Number(size) : undefined
}

const formatField = <V>(field: Field, value: V, source: PercentSource<V>): string | undefined => {
  if (field.type === 's' || field.type === 'r' || field.type === 'a') {
    const text = source.text(value, field.type)
    return text === undefined ? undefined : padField(cut(text, field.precision), field)
  }
  if (field.type === 'c') return formatCharacter(field, value, source)
  const number = source.number(value)
  if (number === undefined) return undefined
  if ('diu'.includes(field.type)) return formatInteger(field, truncated(number), 10)
  if (field.type === 'o') return formatInteger(field, whole(number), 8)
  if ('xX'.includes(field.type)) return formatInteger(field, whole(number), 16)
  return 'eEfFgG'.includes(field.type) ? formatReal(field, number) : undefined
}

const formatInteger = (field: Field, value: bigint | undefined, radix: number) => {
  if (value === undefined) return undefined
  const magnitude = value < 0n ? -value : value
  const digits = radix === 10 ? reprInt(magnitude) : magnitude.toString(radix)
  if (digits === undefined) return undefined
  const prefix = field.flags.includes('#') && radix !== 10 ? (radix === 8 ? '0o' : '0x') : ''
  const padded = prefix + digits.padStart(field.precision ?? 0, '0')
  const text = field.type === 'X' ? padded.toUpperCase() : padded
  return padNumber(text, prefix.length, value < 0n, field)
}

const formatReal = (field: Field, number: PythonNumber) => {
  const value = toFloat(number)
  if (value === undefined) return undefined
  const isAlternate = field.flags.includes('#')
  const text = printFloat(Math.abs(value), field.type, field.precision, isAlternate)
  const isNegative = value < 0 || Object.is(value, -0)
  return padNumber(text, 0, isNegative, field)
}

const formatCharacter = <V>(field: Field, value: V, source: PercentSource<V>) => {
  const code = source.number(value)
  if (typeof code === 'bigint') {
    const isCode = code >= 0n && code <= 0x10ffffn
    return isCode ? padField(String.fromCodePoint(Number(code)), field) : undefined
  }
  const text = code === undefined ? source.text(value, 's') : undefined
  return text !== undefined && lengthOf(text) === 1 ? padField(text, field) : undefined
}

const padNumber = (text: string, prefix: number, isNegative: boolean, field: Field) => {
  const plus = field.flags.includes('+') ? '+' : field.flags.includes(' ') ? ' ' : ''
  const sign = isNegative ? '-' : plus
  if (!field.flags.includes('0') || field.flags.includes('-')) return padField(sign + text, field)
  const head = sign + text.slice(0, prefix)
  return head + text.slice(prefix).padStart(field.width - head.length, '0')
}

const padField = (text: string, field: Field): string | undefined =>
  field.flags.includes('-')
    ? justifyLeft(text, BigInt(field.width))
    : justifyRight(text, BigInt(field.width))

/** `%d` cuts a float; `%x` takes ints only. */
const truncated = (value: PythonNumber): bigint | undefined =>
  typeof value === 'bigint' ? value : truncate(value)

const whole = (value: PythonNumber): bigint | undefined =>
  typeof value === 'bigint' ? value : undefined
