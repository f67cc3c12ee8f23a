/** `9**9**9` written out: reading a decimal is quadratic in its digits, and no setting of a node is that long. */
const MAX_DIGITS = 5000

/** An int: decimal, `0x`, `0o`, `0b`, with underscores; undefined if imaginary, too long or of Python 2 (`0777`, `1L`). */
export const readInteger = (literal: string): bigint | undefined => {
  const digits = literal.includes('_') ? literal.replaceAll('_', '') : literal
  if (digits.length > MAX_DIGITS || /[jJlL]$/.test(digits) || /^0+[1-9]/.test(digits))
    return undefined
  return BigInt(digits)
}

/** A float, infinite where the literal is above the largest double; undefined if imaginary. */
export const readFloat = (literal: string): number | undefined =>
  /[jJ]$/.test(literal) ? undefined : Number(literal.replaceAll('_', ''))
