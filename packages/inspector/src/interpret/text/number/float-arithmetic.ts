import { nearestFloat } from './parse.ts'
import type { PythonNumber } from './number.ts'

/** `a // b`; undefined for a zero divisor. Follows CPython, where `//` and `%` agree with each other. */
export const floorDivideFloat = (a: number, b: number): number | undefined => {
  const rest = moduloFloat(a, b)
  if (rest === undefined) return undefined
  const quotient = (a - signedRemainder(a, b)) / b - (rest === signedRemainder(a, b) ? 0 : 1)
  if (quotient === 0) return copySign(0, a / b)
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

/** `a % b`, with the sign of the divisor; undefined for a zero divisor. */
export const moduloFloat = (a: number, b: number): number | undefined => {
  if (b === 0) return undefined
  const rest = signedRemainder(a, b)
  if (rest === 0) return copySign(0, b)
  return rest < 0 === b < 0 || Number.isNaN(rest) ? rest : rest + b
}

/** `a ** b`; undefined where Python raises (zero to a negative power, overflow) or gives a complex number. */
export const powerFloat = (a: number, b: number): number | undefined => {
  // JavaScript says NaN for these two.
  if (a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b))) return 1
  if (a === 0 && b < 0) return undefined
  if (a < 0 && Number.isFinite(a) && Number.isFinite(b) && !Number.isInteger(b)) return undefined
  const result = exactPower(a, b) ?? (b === 0.5 && a >= 0 ? Math.sqrt(a) : a ** b)
  const overflowed = !Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b)
  return overflowed ? undefined : result
}

/**
 * A whole power, correctly rounded: V8's own is not (`10 ** -5`), and C's is. Undefined for other powers and for results
 * near the ends of the range.
 */
const exactPower = (a: number, b: number): number | undefined => {
  if (!Number.isInteger(b) || Math.abs(b) > MAX_EXACT_POWER || a === 0) return undefined
  const rough = Math.abs(a ** b)
  if (!(rough > 1e-290 && rough < 1e290)) return undefined
  const { numerator, shift } = exactFraction(Math.abs(a))
  const power = BigInt(Math.abs(b))
  const [top, bottom] = [numerator ** power, 1n << (BigInt(shift) * power)]
  const result = b < 0 ? nearestFloat(bottom, top) : nearestFloat(top, bottom)
  return result === undefined || a > 0 || b % 2 === 0 ? result : -result
}

/** Higher powers stay in range only for bases next to 1. */
const MAX_EXACT_POWER = 256

export const copySign = (magnitude: number, sign: number): number => {
  const negative = sign < 0 || Object.is(sign, -0)
  return negative ? -Math.abs(magnitude) : Math.abs(magnitude)
}

/** C's fmod: the sign of the dividend. */
const signedRemainder = (a: number, b: number): number => a % b

/** `round(value)`: an int, halves to the even one; undefined for NaN and infinities, which raise. */
export const roundToInt = (value: PythonNumber): bigint | undefined => {
  if (typeof value === 'bigint') return value
  return Number.isFinite(value) ? scaleToInt(value, 0) : undefined
}

/** `round(value, digits)`: of the same type as the value. */
export const roundToDigits = (value: PythonNumber, digits: bigint): PythonNumber | undefined =>
  typeof value === 'bigint' ? roundInt(value, digits) : roundFloat(value, digits)

/** `math.floor(value)`; undefined for NaN and infinities. */
export const floor = (value: PythonNumber): bigint | undefined =>
  typeof value === 'bigint' ? value : fromWhole(Math.floor(value))

/** `math.ceil(value)`; undefined for NaN and infinities. */
export const ceil = (value: PythonNumber): bigint | undefined =>
  typeof value === 'bigint' ? value : fromWhole(Math.ceil(value))

const roundInt = (value: bigint, digits: bigint): bigint => {
  if (digits >= 0n) return value
  // Ints have a cap of about 9,800 digits, so anything further is zero.
  if (digits < -10_000n) return 0n
  const unit = 10n ** -digits
  return divideHalfEven(value, unit) * unit
}

const roundFloat = (value: number, digits: bigint): number | undefined => {
  // A double has no digits beyond 10 ** -323 and none before 10 ** 309.
  if (!Number.isFinite(value) || value === 0 || digits > 323n) return value
  if (digits < -309n) return copySign(0, value)
  const rounded = scaleToInt(value, Number(digits))
  if (rounded === 0n) return copySign(0, value)
  const result = Number(`${rounded}e${-digits}`)
  return Number.isFinite(result) ? result : undefined
}

const fromWhole = (value: number): bigint | undefined =>
  Number.isFinite(value) ? BigInt(value) : undefined

/** A finite double as an exact fraction `numerator / 2 ** shift`, sign included. */
const exactFraction = (value: number): { numerator: bigint; shift: number } => {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const exponent = Number((bits >> 52n) & 0x7ffn)
  const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n)
  const signed = bits >> 63n === 1n ? -mantissa : mantissa
  const power = (exponent === 0 ? 1 : exponent) - 1075
  return power >= 0
    ? { numerator: signed << BigInt(power), shift: 0 }
    : { numerator: signed, shift: -power }
}

/** `numerator / denominator` to the nearest int, halves to the even one. The denominator is positive. */
const divideHalfEven = (numerator: bigint, denominator: bigint): bigint => {
  const negative = numerator < 0n
  const magnitude = negative ? -numerator : numerator
  const quotient = magnitude / denominator
  const twice = (magnitude % denominator) * 2n
  const up = twice > denominator || (twice === denominator && (quotient & 1n) === 1n)
  const rounded = up ? quotient + 1n : quotient
  return negative ? -rounded : rounded
}

/** The finite value times ten to the `digits`, to the nearest int, halves even, computed exactly. */
export const scaleToInt = (value: number, digits: number): bigint => {
  const { numerator, shift } = exactFraction(value)
  const denominator = 1n << BigInt(shift)
  return digits >= 0
    ? divideHalfEven(numerator * 10n ** BigInt(digits), denominator)
    : divideHalfEven(numerator, denominator * 10n ** BigInt(-digits))
}

/**
 * Significant digits of a finite, non-negative value, rounded half even, and its decimal exponent: 1234.5 with two
 * digits is `12` and 3.
 */
export const significantDigits = (
  value: number,
  count: number,
): { digits: string; exponent: number } => {
  if (value === 0) return { digits: '0'.repeat(count), exponent: 0 }
  // toExponential names the exponent before rounding, exactly.
  let exponent = Number(value.toExponential().split('e')[1])
  let digits = scaleToInt(value, count - 1 - exponent).toString()
  if (digits.length > count) {
    exponent += 1
    digits = digits.slice(0, count)
  }
  return { digits, exponent }
}
