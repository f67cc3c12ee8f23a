import { exactFraction } from './decimal.ts'
import { nearestFloat } from './parse.ts'

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
