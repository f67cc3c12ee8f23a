import { isUnknown } from './guards.ts'
import { makeUnknown } from './make-value.ts'
import type { Value } from './value.ts'

/** Result of an operation that can't be computed; it comes from where its unknown operand comes from. */
export function unknownResult(left: Value, right: Value): Value {
  const source = isUnknown(left) ? left : isUnknown(right) ? right : undefined
  return makeUnknown('operation()', source?.origin ?? 'pack')
}
