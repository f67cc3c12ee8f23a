import { call, callSpecial } from '../run-code.ts'
import { COMPARE_DEPTH, compareNumbers, equals, isNumeric, type Sequence } from './compare.ts'
import { truthOf } from './truth.ts'
import type { Kwargs, ListValue, Runtime, Truth, Value } from '../types.ts'
import { compareText } from '../text/string/code-points.ts'
import { isNotImplemented, payloadOf } from '../values/read-value.ts'

/** `a < b`, undefined if it can't be decided or the two can't be compared. */
export function less(rt: Runtime, a: Value, b: Value, depth = 0): Truth {
  const forward = callSpecial(rt, a, '__lt__', [b])
  if (forward !== undefined && !isNotImplemented(forward)) return truthOf(rt, forward)
  const backward = callSpecial(rt, b, '__gt__', [a])
  if (backward !== undefined && !isNotImplemented(backward)) return truthOf(rt, backward)
  const left = payloadOf(a)
  const right = payloadOf(b)
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right) < 0
  if (isNumeric(left) && isNumeric(right)) return compareNumbers(left, right) === -1
  if (typeof left !== 'object' || typeof right !== 'object' || !left || !right) return undefined
  if (depth > COMPARE_DEPTH) return undefined
  if (
    (left.kind === 'list' && right.kind === 'list') ||
    (left.kind === 'tuple' && right.kind === 'tuple')
  )
    return lessSequence(rt, left, right, depth)
  return undefined
}

function lessSequence(rt: Runtime, a: Sequence, b: Sequence, depth: number): Truth {
  rt.budget.step((a.items.length >> 4) + 1)
  for (let index = 0; index < Math.min(a.items.length, b.items.length); index += 1) {
    const [x, y] = [a.items[index] as Value, b.items[index] as Value]
    const same = equals(rt, x, y, depth + 1)
    if (same === undefined) return undefined
    if (!same) return less(rt, x, y, depth + 1)
  }
  return a.rest || b.rest ? undefined : a.items.length < b.items.length
}

/** Sorts as `sorted` does. Where two items can't be compared they stay, and their order is unknown. */
export function sort(
  rt: Runtime,
  items: Value[],
  kwargs: Kwargs,
): Pick<ListValue, 'items' | 'unordered'> {
  rt.budget.step(items.length)
  const key = kwargs.get('key') ?? null
  const reverse = truthOf(rt, kwargs.get('reverse') ?? false)
  const keyed = items.map((item) => ({ item, key: key === null ? item : call(rt, key, [item]) }))
  let undecided = reverse === undefined && items.length > 1
  const order = (x: { key: Value }, y: { key: Value }) => {
    const before = less(rt, x.key, y.key)
    if (before === true) return -1
    const after = less(rt, y.key, x.key)
    if (before === undefined || after === undefined) undecided = true
    return after === true ? 1 : 0
  }
  // Reversing twice keeps equal items in their order.
  const source = reverse ? keyed.toReversed() : keyed
  const sorted = source.toSorted(order).map((entry) => entry.item)
  if (undecided) {
    rt.state.guesses += 1
    return { items, unordered: new Set(items) }
  }
  return { items: reverse ? sorted.toReversed() : sorted, unordered: undefined }
}
