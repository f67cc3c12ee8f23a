import { capInt } from './number.ts'
import { strip } from '../string/strip.ts'

const INT = /^[+-]?\d+(?:_\d+)*$/
const GROUPS = String.raw`\d+(?:_\d+)*`
const FLOAT = new RegExp(
  `^[+-]?(?:${GROUPS}(?:\\.(?:${GROUPS})?)?|\\.${GROUPS})(?:e[+-]?${GROUPS})?$`,
  'i',
)
const NAMED_FLOAT = /^([+-]?)(?:(inf|infinity)|nan)$/i
/** CPython rejects more digits. */
const MAX_DIGITS = 4300

/** `int(text)`; undefined for what isn't a number (Python raises), and over the cap. */
export const parseInteger = (text: string): bigint | undefined => {
  const digits = strip(text)
  if (!INT.test(digits) || digits.length > MAX_DIGITS) return undefined
  return capInt(BigInt(digits.replace(/^\+/, '').replaceAll('_', '')))
}

/** `float(text)`; undefined for what isn't a number. */
export const parseFloatText = (text: string): number | undefined => {
  const plain = strip(text)
  const named = NAMED_FLOAT.exec(plain)
  if (named !== null) return named[2] === undefined ? NaN : named[1] === '-' ? -Infinity : Infinity
  return FLOAT.test(plain) ? Number(plain.replaceAll('_', '')) : undefined
}
