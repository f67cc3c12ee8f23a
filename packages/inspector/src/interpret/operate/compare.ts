import { callSpecial } from '../run-code.ts'
import { hasUnknownBase } from './class-lookup.ts'
import { hashKey } from './hash-key.ts'
import { truthOf } from './truth.ts'
import type { DictValue, Runtime, Truth, Value } from '../types.ts'
import { isInstanceValue, isNotImplemented, isUnknown, payloadOf } from '../values/read-value.ts'

// Comparing compares items: hostile containers hold themselves.
export const COMPARE_DEPTH = 40

/** `a == b`, undefined if it can't be decided. */
export function equals(rt: Runtime, a: Value, b: Value, depth = 0): Truth {
  if (a === b) return isSame(a)
  const kindA = kindFor(a)
  const kindB = kindFor(b)
  if (kindA === 'unknown' || kindB === 'unknown') return equalUnknowns(rt, a, b)
  if (kindA === 'instance' || kindB === 'instance') return equalInstances(rt, a, b, depth)
  if (kindA === 'view' || kindB === 'view') return undefined
  if (kindA !== kindB) return false
  if (depth > COMPARE_DEPTH) return undefined
  return equalContents(rt, a, b, depth)
}

// An unknown is equal to itself unless it is something like NaN; a NaN is not.
function isSame(value: Value): Truth {
  return typeof value === 'number' ? !Number.isNaN(value) : true
}

export function kindFor(value: Value): string {
  if (value === null) return 'None'
  if (typeof value === 'object') return value.kind
  return typeof value === 'string' ? 'str' : 'number'
}

function equalUnknowns(rt: Runtime, a: Value, b: Value): Truth {
  const keyA = hashKey(rt, a)
  return typeof keyA === 'string' && keyA === hashKey(rt, b) ? true : undefined
}

function equalInstances(rt: Runtime, a: Value, b: Value, depth: number): Truth {
  const forward = callSpecial(rt, a, '__eq__', [b])
  if (forward !== undefined && !isNotImplemented(forward)) return truthOf(rt, forward)
  const backward = callSpecial(rt, b, '__eq__', [a])
  if (backward !== undefined && !isNotImplemented(backward)) return truthOf(rt, backward)
  const left = payloadOf(a)
  const right = payloadOf(b)
  // Not by `!==`: a NaN is no content of itself.
  if (!Object.is(left, a) || !Object.is(right, b)) return equals(rt, left, right, depth + 1)
  return mayCompare(a) || mayCompare(b) ? undefined : false
}

/** An unknown base may define how instances compare. */
function mayCompare(value: Value): boolean {
  return isInstanceValue(value) && hasUnknownBase(value.cls)
}

function equalContents(rt: Runtime, a: Value, b: Value, depth: number): Truth {
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b) === 0
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false
  if ((a.kind === 'list' && b.kind === 'list') || (a.kind === 'tuple' && b.kind === 'tuple'))
    return equalSequences(rt, a, b, depth)
  if (a.kind === 'dict' && b.kind === 'dict') return equalDicts(rt, a, b, depth)
  return NOT_COMPARED.has(a.kind) ? undefined : false
}

const NOT_COMPARED = new Set(['set', 'bytes', 'range', 'slice', 'method'])

export interface Sequence {
  items: Value[]
  rest: boolean
}

function equalSequences(rt: Runtime, a: Sequence, b: Sequence, depth: number): Truth {
  rt.budget.step((a.items.length >> 4) + 1)
  if (!a.rest && !b.rest && a.items.length !== b.items.length) return false
  let decided: Truth = a.rest || b.rest ? undefined : true
  for (let index = 0; index < Math.min(a.items.length, b.items.length); index += 1) {
    const same = equals(rt, a.items[index] as Value, b.items[index] as Value, depth + 1)
    if (same === false) return false
    if (same === undefined) decided = undefined
  }
  return decided
}

function equalDicts(rt: Runtime, a: DictValue, b: DictValue, depth: number): Truth {
  rt.budget.step((a.values.size >> 4) + 1)
  if (a.rest || b.rest) return undefined
  if (a.values.size !== b.values.size) return false
  let decided: Truth = true
  for (const [hash, value] of a.values) {
    const other = b.values.get(hash)
    const same = other === undefined ? false : equals(rt, value, other, depth + 1)
    if (same === false) return false
    if (same === undefined) decided = undefined
  }
  return decided
}

/** `a is b`, undefined if it can't be decided. */
export function identical(rt: Runtime, a: Value, b: Value): Truth {
  if (a === b) return true
  const unknown = [a, b].find((value) => kindFor(value) === 'unknown')
  if (unknown === undefined) return false
  if (isUnknown(unknown) && unknown.truth === true) {
    if (a === null || b === null || a === false || b === false) return false
  }
  return equalUnknowns(rt, a, b)
}

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
