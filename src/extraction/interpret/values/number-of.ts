import type { Value } from './value.ts'

/** The number of an int, float or bool. */
export function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === 'boolean') return BigInt(value)
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined
}
