import { bitLength } from './number.ts'

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
