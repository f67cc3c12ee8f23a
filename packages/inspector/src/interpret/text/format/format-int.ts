import { reprInt } from '../repr.ts'
import { toFloat } from '../number/number.ts'
import { alignNumber, alignText, signOf } from './align.ts'
import { formatFloatSpec } from './format-float.ts'
import { parseSpec } from './spec.ts'
import type { FormatSpec } from './spec.ts'

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
