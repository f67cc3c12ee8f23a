/** A finite double as an exact fraction `numerator / 2 ** shift`, sign included. */
export const exactFraction = (value: number): { numerator: bigint; shift: number } => {
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
export const divideHalfEven = (numerator: bigint, denominator: bigint): bigint => {
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
