import type { PythonNumber } from './number.ts'

/** Digits behind those that are kept, by which a value in the middle of two is seen. */
const BEHIND = 25
/** The most digits that JavaScript writes. */
const MAX_DIGITS = 100 - BEHIND

/** The value with that many digits behind the point, halves to the even one; undefined for very many or large ones. */
export const fixed = (value: number, digits: number): string | undefined => {
  if (digits > MAX_DIGITS || !(Math.abs(value) < 1e21)) return undefined
  const rounded = value.toFixed(digits)
  const long = value.toFixed(digits + BEHIND)
  const isHalf = long.endsWith(`5${'0'.repeat(BEHIND - 1)}`)
  // JavaScript rounds halves away from zero.
  const isOdd = '13579'.includes(rounded.slice(-1))
  return isHalf && isOdd ? long.slice(0, -BEHIND).replace(/\.$/, '') : rounded
}

/** `round(value)`: an int, halves to the even one; undefined for NaN and infinities, which raise. */
export const roundToInt = (value: PythonNumber): bigint | undefined => {
  if (typeof value === 'bigint') return value
  if (!Number.isFinite(value)) return undefined
  return BigInt(Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value))
}
