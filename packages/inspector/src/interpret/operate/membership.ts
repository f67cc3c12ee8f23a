import { callSpecial } from '../run-code.ts'
import { isObject, payloadOf } from '../values/read-value.ts'
import { iterate, readItems } from './iterate.ts'
import { hashKey } from './hash-key.ts'
import { truthOf } from './truth.ts'
import { equals, kindFor } from './compare.ts'
import type { Runtime, Truth, Value } from '../types.ts'

/** `item in container`, undefined if it can't be decided. */
export function contains(rt: Runtime, container: Value, item: Value): Truth {
  const own = callSpecial(rt, container, '__contains__', [item])
  if (own !== undefined) return truthOf(rt, own)
  const inner = payloadOf(container)
  if (typeof inner === 'string') return containsText(inner, payloadOf(item))
  if (!isObject(inner)) return undefined
  switch (inner.kind) {
    case 'dict':
      return containsKey(rt, inner.values, inner.rest, item)
    case 'set':
      return containsKey(rt, inner.items, inner.rest, item)
    case 'view':
      return inner.of === 'keys'
        ? containsKey(rt, inner.dict.values, inner.dict.rest, item)
        : containsByIteration(rt, inner, item)
    case 'list':
    case 'tuple':
      return containsItem(rt, inner.items, inner.rest, item)
    case 'unknown':
      return undefined
    default:
      return containsByIteration(rt, inner, item)
  }
}

function containsText(text: string, part: Value): Truth {
  return typeof part === 'string' ? text.includes(part) : undefined
}

function containsKey(
  rt: Runtime,
  entries: { has(key: unknown): boolean },
  rest: boolean,
  item: Value,
): Truth {
  const hash = hashKey(rt, item)
  if (hash === undefined) return undefined
  if (entries.has(hash)) return true
  return rest || kindFor(item) === 'unknown' ? undefined : false
}

function containsItem(rt: Runtime, items: Value[], rest: boolean, item: Value): Truth {
  rt.budget.step(items.length >> 4)
  let decided: Truth = rest ? undefined : false
  for (const other of items) {
    const same = other === item ? true : equals(rt, other, item)
    if (same) return true
    if (same === undefined) decided = undefined
  }
  return decided
}

function containsByIteration(rt: Runtime, container: Value, item: Value): Truth {
  if (iterate(rt, container) === undefined) return undefined
  const { items, rest } = readItems(rt, container)
  return containsItem(rt, items, rest, item)
}
