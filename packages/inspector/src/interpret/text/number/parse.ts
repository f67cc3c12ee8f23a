import { bitLength, capInt } from './number.ts'
import { strip } from '../string/strip.ts'

const DECIMAL_DIGIT = /\p{Nd}/u
const OTHER_DIGITS = /[^\0-\x7f]/u
const INT = /^([+-]?)(0[bBoOxX]_?)?([0-9a-zA-Z]+(?:_[0-9a-zA-Z]+)*)$/
const GROUPS = String.raw`\d+(?:_\d+)*`
const FLOAT = new RegExp(
  `^[+-]?(?:${GROUPS}(?:\\.(?:${GROUPS})?)?|\\.${GROUPS})(?:e[+-]?${GROUPS})?$`,
  'i',
)
const NAMED_FLOAT = /^([+-]?)(?:(inf|infinity)|nan)$/i
const PREFIXES = new Map([
  ['b', 2],
  ['o', 8],
  ['x', 16],
])
/** CPython rejects more digits unless the base is a power of two. */
const MAX_DIGITS = 4300
/** Enough digits of any base for the largest int we keep. */
const MAX_BINARY_DIGITS = 40_000

/** `int(text, base)`; base 0 reads the prefix. Undefined for what isn't a number (Python raises), and over the cap. */
export const parseInteger = (text: string, base = 10n): bigint | undefined => {
  if (base !== 0n && (base < 2n || base > 36n)) return undefined
  const match = INT.exec(toAsciiDigits(strip(text)))
  if (match === null) return undefined
  const [, sign = '', prefix = '', rest = ''] = match
  const found = readBase(prefix.replace('_', ''), rest, Number(base))
  const value = found === undefined ? undefined : readDigits(found.digits, found.base)
  return value === undefined ? undefined : capInt(sign === '-' ? -value : value)
}

/** `float(text)`; undefined for what isn't a number. */
export const parseFloatText = (text: string): number | undefined => {
  const plain = toAsciiDigits(strip(text))
  const named = NAMED_FLOAT.exec(plain)
  if (named !== null) return named[2] === undefined ? NaN : named[1] === '-' ? -Infinity : Infinity
  return FLOAT.test(plain) ? Number(plain.replaceAll('_', '')) : undefined
}

const readBase = (
  prefix: string,
  rest: string,
  base: number,
): { digits: string; base: number } | undefined => {
  const digits = rest.replaceAll('_', '')
  const prefixBase = PREFIXES.get(prefix.charAt(1).toLowerCase())
  if (prefixBase === undefined) {
    // Base 0 reads text as source does: no leading zeros but in zero itself.
    if (base === 0) return /^(?!0)|^0+$/.test(digits) ? { digits, base: 10 } : undefined
    return { digits, base }
  }
  if (base === 0 || base === prefixBase) return { digits, base: prefixBase }
  // `int('0b1', 36)`: the letter is a digit.
  return { digits: prefix + digits, base }
}

const readDigits = (digits: string, base: number): bigint | undefined => {
  const isPowerOfTwo = (base & (base - 1)) === 0
  if (digits.length > (isPowerOfTwo ? MAX_BINARY_DIGITS : MAX_DIGITS)) return undefined
  if (base === 10) return /^\d+$/.test(digits) ? BigInt(digits) : undefined
  let value = 0n
  for (const character of digits) {
    const digit = parseInt(character, 36)
    if (digit >= base) return undefined
    value = value * BigInt(base) + BigInt(digit)
  }
  return value
}

/** Digits of other scripts count as those of ASCII do. */
const toAsciiDigits = (text: string): string =>
  OTHER_DIGITS.test(text)
    ? text.replaceAll(new RegExp(DECIMAL_DIGIT, 'gu'), (digit) => String(digitValue(digit)))
    : text

/** Digits of a script stand together, zero first; the mathematical ones are five such runs in a row. */
const digitValue = (digit: string): number => {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (DECIMAL_DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1
  return (code - zero) % 10
}

/**
 * The double nearest to `a / b`, both positive (`a` may be zero); undefined beyond the range of normal numbers. Keeps 66
 * bits and a sticky one, so that the only rounding is the last one.
 */
export const nearestFloat = (a: bigint, b: bigint): number | undefined => {
  const shift = bitLength(a) - bitLength(b) - 66
  // Below the normal numbers a second rounding would follow; such quotients have no use here.
  if (shift > 1024 || shift + 66 < -1020) return a === 0n ? 0 : undefined
  const numerator = shift < 0 ? a << BigInt(-shift) : a
  const denominator = shift < 0 ? b : b << BigInt(shift)
  const quotient = numerator / denominator
  const sticky = numerator % denominator === 0n ? 0n : 1n
  // In two steps, as 2 ** shift alone may be below the smallest double.
  const result = Number(quotient | sticky) * 2 ** -66 * 2 ** (shift + 66)
  return Number.isFinite(result) ? result : undefined
}
