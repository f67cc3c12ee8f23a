import { floorDivideFloat, moduloFloat, powerFloat } from './float-arithmetic.ts'
import { bitLength, capInt, toFloat, type PythonNumber } from './number.ts'
import { nearestFloat } from './parse.ts'

/** Both operands of `**` and `<<` have a limit, so that no int grows beyond about 5,000 bits in one step. */
const MAX_OPERAND = 1_000_000n
const MAX_EXPONENT = 256n

/** Rounds towards minus infinity; undefined for a zero divisor. */
const floorDivideInt = (a: bigint, b: bigint): bigint | undefined => {
  if (b === 0n) return undefined
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/** Has the sign of the divisor; undefined for a zero divisor. */
const moduloInt = (a: bigint, b: bigint): bigint | undefined => {
  if (b === 0n) return undefined
  const rest = a % b
  return rest !== 0n && rest < 0n !== b < 0n ? rest + b : rest
}

/** `a ** b`: a float for a negative exponent, undefined over the caps and for `0 ** -1`. */
const powerInt = (a: bigint, b: bigint): PythonNumber | undefined => {
  const magnitude = a < 0n ? -a : a
  if (magnitude >= MAX_OPERAND || b >= MAX_EXPONENT || b <= -MAX_EXPONENT) return undefined
  if (b >= 0n) return a ** b
  return powerFloat(Number(a), Number(b))
}

/** `pow(a, b, modulus)` for a non-negative exponent. */
export const powerModulo = (a: bigint, b: bigint, modulus: bigint): bigint | undefined => {
  if (modulus === 0n || b < 0n || capInt(b) === undefined) return undefined
  // A square for each bit of the exponent: numbers of real use, not of cryptography.
  if (bitLength(b) > 64 || bitLength(modulus) > 1024) return undefined
  let [result, base, left] = [1n, a % modulus, b]
  while (left > 0n) {
    if ((left & 1n) === 1n) result = (result * base) % modulus
    base = (base * base) % modulus
    left >>= 1n
  }
  return moduloInt(result, modulus)
}

/** `a << b` within the caps; undefined for a negative shift. */
const shiftInt = (a: bigint, b: bigint): bigint | undefined => {
  const magnitude = a < 0n ? -a : a
  return b < 0n || b >= MAX_EXPONENT || magnitude >= MAX_OPERAND ? undefined : a << b
}

/** `a / b`, the double nearest to the exact quotient; undefined for zero divisors and quotients out of range. */
const trueDivideInt = (a: bigint, b: bigint): number | undefined => {
  if (b === 0n) return undefined
  if (isExact(a) && isExact(b)) return Number(a) / Number(b)
  const sign = a < 0n !== b < 0n ? -1 : 1
  const quotient = nearestFloat(a < 0n ? -a : a, b < 0n ? -b : b)
  return quotient === undefined ? undefined : sign * quotient
}

const isExact = (value: bigint): boolean =>
  value <= 9007199254740992n && value >= -9007199254740992n

/**
 * `left operator right` of two Python numbers (a bool goes in as 0n or 1n). Undefined when Python would raise (division
 * by zero, a float out of range), when the result is complex, and over the caps of powers, shifts and ints.
 */
export const arithmetic = (
  operator: string,
  left: PythonNumber,
  right: PythonNumber,
): PythonNumber | undefined => {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return INT_OPERATORS.get(operator)?.(left, right)
  }
  const [a, b] = [toFloat(left), toFloat(right)]
  return a === undefined || b === undefined ? undefined : FLOAT_OPERATORS.get(operator)?.(a, b)
}

/** `divmod(left, right)`. */
export const divmod = (
  left: PythonNumber,
  right: PythonNumber,
): [PythonNumber, PythonNumber] | undefined => {
  const quotient = arithmetic('//', left, right)
  const rest = arithmetic('%', left, right)
  return quotient === undefined || rest === undefined ? undefined : [quotient, rest]
}

const INT_OPERATORS = new Map<string, (a: bigint, b: bigint) => PythonNumber | undefined>([
  ['+', (a, b) => capInt(a + b)],
  ['-', (a, b) => capInt(a - b)],
  ['*', (a, b) => capInt(a * b)],
  ['/', trueDivideInt],
  ['//', floorDivideInt],
  ['%', moduloInt],
  ['**', powerInt],
  ['<<', shiftInt],
  ['>>', (a, b) => (b < 0n ? undefined : b > 1_000_000n ? (a < 0n ? -1n : 0n) : a >> b)],
  ['&', (a, b) => a & b],
  ['|', (a, b) => a | b],
  ['^', (a, b) => a ^ b],
])

const FLOAT_OPERATORS = new Map<string, (a: number, b: number) => number | undefined>([
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => (b === 0 ? undefined : a / b)],
  ['//', floorDivideFloat],
  ['%', moduloFloat],
  ['**', powerFloat],
])
