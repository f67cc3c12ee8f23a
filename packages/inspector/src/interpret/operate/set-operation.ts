import { isObject, isSet, isUnknown } from '../values/read-value.ts'
import { readItems } from './iterate.ts'
import { makeSet } from './mapping.ts'
import type { HashKey, Runtime, SetValue, Value } from '../types.ts'

/** `a | b`, `&`, `-`, `^` of sets and of views of keys; undefined if the operands are no sets. */
export function combineSets(
  rt: Runtime,
  op: string,
  left: Value,
  right: Value,
): SetValue | undefined {
  const a = asSet(rt, left)
  const b = isUnknown(right) ? emptyWithRest() : asSet(rt, right)
  if (!a || !b) return undefined
  rt.budget.step((a.items.size + b.items.size) >> 4)
  const items = combine(op, a.items, b.items)
  return items && { kind: 'set', frozen: a.frozen, items, rest: a.rest || b.rest }
}

function emptyWithRest(): SetValue {
  return { kind: 'set', frozen: false, items: new Map(), rest: true }
}

/** A set itself, or the set of what a view of keys or items shows. */
function asSet(rt: Runtime, value: Value): SetValue | undefined {
  if (!isObject(value)) return undefined
  if (value.kind === 'set') return value
  if (value.kind !== 'view' || value.of === 'values') return undefined
  const set = makeSet(rt, readItems(rt, value).items)
  return isSet(set) ? set : undefined
}

function combine(
  op: string,
  a: ReadonlyMap<HashKey, Value>,
  b: ReadonlyMap<HashKey, Value>,
): Map<HashKey, Value> | undefined {
  const onlyA = [...a].filter(([hash]) => !b.has(hash))
  const onlyB = [...b].filter(([hash]) => !a.has(hash))
  switch (op) {
    case '|':
      return new Map([...a, ...onlyB])
    case '&': {
      // Items of the smaller set, of the right one if they are as large: 1 and True are equal.
      const [from, other] = a.size < b.size ? [a, b] : [b, a]
      return new Map([...from].filter(([hash]) => other.has(hash)))
    }
    case '-':
      return new Map(onlyA)
    case '^':
      return new Map([...onlyA, ...onlyB])
    default:
      return undefined
  }
}
