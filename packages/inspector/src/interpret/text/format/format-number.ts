import { exponentText, reprFloat, reprInt } from '../repr.ts'
import { scaleToInt, significantDigits } from '../number/float-arithmetic.ts'
import { alignNumber, alignText, parseSpec, signOf } from './align.ts'
import type { FormatSpec, NumberParts } from './align.ts'
import { toFloat } from '../number/number.ts'

/** A double has no more digits than this, before or behind the point; those asked for beyond are zeros. */
const MAX_DIGITS = 1100

/** `format(value, spec)` of a float; undefined for a specification that Python rejects, and over the cap. */
export const formatFloat = (value: number, specText: string): string | undefined => {
  if (specText === '') return reprFloat(value)
  const spec = parseSpec(specText)
  return spec === undefined ? undefined : formatFloatSpec(value, spec)
}

/** As formatFloat, for a specification that was read already. */
const formatFloatSpec = (value: number, spec: FormatSpec): string | undefined => {
  if (!['', 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%'].includes(spec.type)) return undefined
  if (spec.type === 'n' && spec.grouping !== '') return undefined
  const text = digitsOf(Math.abs(value), spec)
  const isZero = !/[1-9a-z]/i.test(text.replace(/e.*$/i, ''))
  const negative = (value < 0 || Object.is(value, -0)) && !(spec.positiveZero && isZero)
  return alignNumber(takeApart(text, signOf(negative, spec)), spec)
}

/** Digits of `value` as C's printf writes it with `%.<precision><type>`; undefined for types that aren't of floats. */
export const printFloat = (
  value: number,
  type: string,
  precision: number | undefined,
  alternate: boolean,
): string => digitsOf(value, { type, precision, alternate })

type DigitSpec = Pick<FormatSpec, 'type' | 'precision' | 'alternate'>

const digitsOf = (value: number, spec: DigitSpec): string => {
  const isUpper = spec.type === 'E' || spec.type === 'F' || spec.type === 'G'
  const text = Number.isFinite(value)
    ? finiteDigits(value, spec)
    : (Number.isNaN(value) ? 'nan' : 'inf') + (spec.type === '%' ? '%' : '')
  return isUpper ? text.toUpperCase() : text
}

const finiteDigits = (value: number, spec: DigitSpec): string => {
  const { precision, alternate } = spec
  switch (spec.type.toLowerCase()) {
    case 'e':
      return scientific(value, precision ?? 6, alternate)
    case 'f':
      return fixed(value, precision ?? 6, alternate)
    case '%':
      return percentage(value, precision ?? 6, alternate)
    case '':
      return precision === undefined
        ? shortest(value, alternate)
        : general(value, precision, alternate, true)
    default:
      return general(value, precision ?? 6, alternate, false)
  }
}

const shortest = (value: number, alternate: boolean): string => {
  const text = reprFloat(value)
  return alternate && !text.includes('.') ? text.replace('e', '.e') : text
}

const fixed = (value: number, precision: number, alternate: boolean): string => {
  const kept = Math.min(precision, MAX_DIGITS)
  const digits = scaleToInt(value, kept)
    .toString()
    .padStart(kept + 1, '0')
  const whole = digits.slice(0, digits.length - kept)
  const fraction = digits.slice(digits.length - kept).padEnd(precision, '0')
  return whole + (precision > 0 || alternate ? `.${fraction}` : '')
}

const percentage = (value: number, precision: number, alternate: boolean): string => {
  const hundredfold = value * 100
  return Number.isFinite(hundredfold) ? `${fixed(hundredfold, precision, alternate)}%` : 'inf%'
}

const scientific = (value: number, precision: number, alternate: boolean): string => {
  const kept = Math.min(precision, MAX_DIGITS)
  const { digits, exponent } = significantDigits(value, kept + 1)
  const fraction = digits.slice(1).padEnd(precision, '0')
  const point = precision > 0 || alternate ? '.' : ''
  return `${digits.charAt(0)}${point}${fraction}e${exponentText(exponent)}`
}

/**
 * `g`: fixed for exponents from -4 up to the precision, else scientific; trailing zeros go unless alternate. Without a
 * type (`dotted`) one digit stands behind the point at least, so the switch comes one exponent earlier.
 */
const general = (value: number, precision: number, alternate: boolean, dotted: boolean): string => {
  const count = Math.max(1, precision)
  const { digits, exponent } = significantDigits(value, Math.min(count, MAX_DIGITS))
  const isFixed = exponent >= -4 && exponent < count - (dotted ? 1 : 0)
  if (alternate) {
    return isFixed ? fixed(value, count - 1 - exponent, true) : scientific(value, count - 1, true)
  }
  if (!isFixed) return `${point(digits, 0, false)}e${exponentText(exponent)}`
  return exponent < 0
    ? point('0'.repeat(-exponent) + digits, 0, dotted)
    : point(digits.padEnd(exponent + 1, '0'), exponent, dotted)
}

/** The point goes behind `digits[at]`, and zeros at the end away, all but one if `dotted`. */
const point = (digits: string, at: number, dotted: boolean): string => {
  const fraction = digits.slice(at + 1).replace(/0+$/, '') || (dotted ? '0' : '')
  return digits.slice(0, at + 1) + (fraction === '' ? '' : `.${fraction}`)
}

const takeApart = (text: string, sign: string): NumberParts => {
  const whole = /^\d*/.exec(text)?.[0] ?? ''
  return { sign, prefix: '', whole, rest: text.slice(whole.length) }
}

const RADIX = new Map([
  ['b', 2],
  ['o', 8],
  ['x', 16],
  ['X', 16],
])

/** `format(value, spec)` of an int; undefined for a specification that Python rejects, and over the cap. */
export const formatInt = (value: bigint, specText: string): string | undefined => {
  if (specText === '') return reprInt(value)
  const spec = parseSpec(specText)
  if (spec === undefined) return undefined
  if (spec.type !== '' && 'eEfFgG%'.includes(spec.type)) {
    const float = toFloat(value)
    return float === undefined ? undefined : formatFloatSpec(float, spec)
  }
  if (spec.precision !== undefined || spec.positiveZero) return undefined
  if (spec.type === 'c') return formatCharacter(value, spec)
  return ['', 'd', 'n', 'b', 'o', 'x', 'X'].includes(spec.type)
    ? formatDigits(value, spec)
    : undefined
}

const formatDigits = (value: bigint, spec: FormatSpec): string | undefined => {
  const radix = RADIX.get(spec.type)
  // `,` belongs to decimal digits, and `n` has the separators of the locale: none here.
  if (
    spec.grouping !== '' &&
    (spec.type === 'n' || (radix !== undefined && spec.grouping === ','))
  ) {
    return undefined
  }
  const magnitude = value < 0n ? -value : value
  const digits = radix === undefined ? reprInt(magnitude) : magnitude.toString(radix)
  if (digits === undefined) return undefined
  return alignNumber(
    {
      sign: signOf(value < 0n, spec),
      prefix: spec.alternate && radix !== undefined ? `0${spec.type}` : '',
      whole: spec.type === 'X' ? digits.toUpperCase() : digits,
      rest: '',
    },
    spec,
  )
}

const formatCharacter = (value: bigint, spec: FormatSpec): string | undefined => {
  if (value < 0n || value > 0x10ffffn || spec.grouping !== '' || spec.alternate) return undefined
  if (spec.sign !== '') return undefined
  const character = String.fromCodePoint(Number(value))
  return alignText(character, spec, '>')
}
