import { capInt, toFloat, type PythonNumber } from './number.ts'

/** Both operands of `**` and `<<` have a limit, so that no int grows beyond about 5,000 bits in one step. */
const MAX_OPERAND = 1_000_000n
const MAX_EXPONENT = 256n

/**
 * `left operator right` of two Python numbers (a bool goes in as 0n or 1n). Undefined when Python would raise (division
 * by zero, a float out of range), when the result is complex, when JavaScript may round another way, and over the caps.
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

/** Rounds towards minus infinity; the rest has the sign of the divisor. Undefined for a zero divisor. */
const divideInt = (a: bigint, b: bigint): { quotient: bigint; rest: bigint } | undefined => {
  if (b === 0n) return undefined
  const [quotient, rest] = [a / b, a % b]
  const isBelow = rest !== 0n && rest < 0n !== b < 0n
  return isBelow ? { quotient: quotient - 1n, rest: rest + b } : { quotient, rest }
}

/** The same of floats, as CPython does it: quotient and rest agree with each other. */
const divideFloat = (a: number, b: number): { quotient: number; rest: number } | undefined => {
  if (b === 0) return undefined
  const remainder = a % b
  const isBelow = remainder !== 0 && remainder < 0 !== b < 0
  const exact = (a - remainder) / b - (isBelow ? 1 : 0)
  const floor = Math.floor(exact)
  const quotient = exact - floor > 0.5 ? floor + 1 : floor
  const rest = isBelow ? remainder + b : remainder
  return {
    quotient: quotient === 0 ? (b / a < 0 ? -0 : 0) : quotient,
    rest: rest === 0 && b < 0 ? -0 : Math.abs(rest) === 0 ? 0 : rest,
  }
}

/** `a ** b`, where it is a product or known exactly. */
const powerInt = (a: bigint, b: bigint): PythonNumber | undefined => {
  const magnitude = a < 0n ? -a : a
  if (magnitude >= MAX_OPERAND || b >= MAX_EXPONENT || b <= -MAX_EXPONENT) return undefined
  if (b >= 0n) return a ** b
  return a === 10n ? Number(`1e${b}`) : powerFloat(Number(a), Number(b))
}

/** V8 rounds most powers otherwise than C. */
const powerFloat = (a: number, b: number): number | undefined => {
  const result = b === 2 ? a * a : b === 0.5 && a >= 0 ? Math.sqrt(a) : b === -1 ? 1 / a : undefined
  return result !== undefined && Number.isFinite(result) ? result : undefined
}

/** `a << b` within the caps; undefined for a negative shift. */
const shiftInt = (a: bigint, b: bigint): bigint | undefined => {
  const magnitude = a < 0n ? -a : a
  return b < 0n || b >= MAX_EXPONENT || magnitude >= MAX_OPERAND ? undefined : a << b
}

const divideExactly = (a: bigint, b: bigint): number | undefined =>
  b !== 0n && isExact(a) && isExact(b) ? Number(a) / Number(b) : undefined

const isExact = (value: bigint): boolean =>
  value <= 9007199254740992n && value >= -9007199254740992n

const INT_OPERATORS = new Map<string, (a: bigint, b: bigint) => PythonNumber | undefined>([
  ['+', (a, b) => capInt(a + b)],
  ['-', (a, b) => capInt(a - b)],
  ['*', (a, b) => capInt(a * b)],
  ['/', divideExactly],
  ['//', (a, b) => divideInt(a, b)?.quotient],
  ['%', (a, b) => divideInt(a, b)?.rest],
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
  ['//', (a, b) => divideFloat(a, b)?.quotient],
  ['%', (a, b) => divideFloat(a, b)?.rest],
  ['**', powerFloat],
])
