import type { Value } from './value.ts'

type Numeric = boolean | bigint | number

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean'
}

/** JavaScript compares bigint and number by value; NaN gives undefined. */
export function compareNumbers(a: Numeric, b: Numeric): number | undefined {
  const x = typeof a === 'boolean' ? BigInt(a) : a
  const y = typeof b === 'boolean' ? BigInt(b) : b
  if (x < y) return -1
  if (x > y) return 1
  // Loosely, because 1n == 1.
  // oxlint-disable-next-line eqeqeq
  return x == y ? 0 : undefined
}
