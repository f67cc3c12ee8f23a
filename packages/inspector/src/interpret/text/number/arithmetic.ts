import { floorDivideFloat, moduloFloat, powerFloat } from './float-arithmetic.ts'
import { floorDivideInt, moduloInt, powerInt, shiftInt, trueDivideInt } from './int-arithmetic.ts'
import { capInt, toFloat } from './number.ts'
import type { PythonNumber } from './number.ts'

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
