import { fixed } from '../number/round.ts'
import { toFloat } from '../number/number.ts'
import { reprFloat, reprInt } from '../repr.ts'
import { alignNumber, type FormatSpec, parseSpec, signOf } from './align.ts'

/** `format(value, spec)` of a float; undefined for what Python rejects, for exponents, and over the cap. */
export const formatFloat = (value: number, specText: string): string | undefined => {
  if (specText === '') return reprFloat(value)
  const spec = parseSpec(specText)
  return spec === undefined ? undefined : formatFloatSpec(value, spec)
}

/** As formatFloat, for a specification that was read already. */
const formatFloatSpec = (value: number, spec: FormatSpec): string | undefined => {
  if (spec.alternate || spec.positiveZero) return undefined
  const text = digitsOf(Math.abs(value), spec)
  if (text === undefined) return undefined
  return alignNumber(signOf(value < 0 || Object.is(value, -0), spec), text, spec)
}

const digitsOf = (value: number, { type, precision }: FormatSpec): string | undefined => {
  if (type === '') return precision === undefined ? reprFloat(value) : undefined
  const digits = precision ?? 6
  if (type === 'f' || type === 'F') return fixed(value, digits)
  const share = type === '%' ? fixed(value * 100, digits) : undefined
  return share === undefined ? undefined : `${share}%`
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
  if (spec.type !== '' && 'fF%'.includes(spec.type)) {
    const float = toFloat(value)
    return float === undefined ? undefined : formatFloatSpec(float, spec)
  }
  if (spec.precision !== undefined || spec.positiveZero) return undefined
  return ['', 'd', 'b', 'o', 'x', 'X'].includes(spec.type) ? formatDigits(value, spec) : undefined
}

const formatDigits = (value: bigint, spec: FormatSpec): string | undefined => {
  const radix = RADIX.get(spec.type)
  const magnitude = value < 0n ? -value : value
  const digits = radix === undefined ? reprInt(magnitude) : magnitude.toString(radix)
  if (digits === undefined) return undefined
  const prefix = spec.alternate && radix !== undefined ? `0${spec.type}` : ''
  const shown = spec.type === 'X' ? digits.toUpperCase() : digits
  return alignNumber(signOf(value < 0n, spec) + prefix, shown, spec)
}
