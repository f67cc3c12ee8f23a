import { divideHalfEven, scaleToInt } from './decimal.ts'
import { copySign } from './float-arithmetic.ts'
import type { PythonNumber } from './number.ts'

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
