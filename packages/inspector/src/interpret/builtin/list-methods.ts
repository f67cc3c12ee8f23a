import { extendList, recordAdding } from '../execute/assignment.ts'
import { equals } from '../operate/compare.ts'
import { sort } from '../operate/order.ts'
import { raiseIfCertain } from '../operate/raise.ts'
import { recordRemoving } from '../operate/set-item.ts'
import type { Kwargs, ListValue, NativeCall, Runtime, TupleValue, Value } from '../types.ts'
import { intOf, isObject, payloadOf } from '../values/read-value.ts'
import { inheritUndecided, makeList } from '../values/make-value.ts'
import { callsOf } from '../values/native.ts'
import { anyOf } from '../values/merge-values.ts'

type ListMethod = (rt: Runtime, list: ListValue, args: Value[], kwargs: Kwargs) => Value | undefined

const METHODS: Record<string, ListMethod> = {
  append: (rt, list, [item]) => {
    if (item === undefined) return undefined
    recordAdding(rt, list, [item])
    if (list.items.length < rt.budget.limits.containerItems) list.items.push(item)
    else {
      rt.budget.spent('items')
      list.rest = true
    }
    return null
  },
  extend: (rt, list, [items]) => {
    if (items !== undefined) extendList(rt, list, items)
    return null
  },
  insert: (rt, list, [at, item]) => {
    const index = intOf(at)
    if (item === undefined) return undefined
    recordAdding(rt, list, [item])
    if (index === undefined || (index < 0n && list.rest)) list.rest = true
    else list.items.splice(Number(index), 0, item)
    return null
  },
  remove: (rt, list, [item]) => {
    const index = list.items.findIndex((other) => item !== undefined && equals(rt, other, item))
    if (index >= 0) {
      recordRemoving(rt, list)
      list.items.splice(index, 1)
    } else if (
      !list.rest &&
      list.items.every((other) => item !== undefined && equals(rt, other, item) === false)
    )
      raiseIfCertain(rt, 'ValueError', 'list.remove(x): x not in list')
    return null
  },
  pop: (rt, list, [at]) => pop(rt, list, at),
  clear: (rt, list) => {
    recordRemoving(rt, list)
    list.items = []
    list.rest = false
    delete list.maybe
    delete list.unordered
    return null
  },
  copy: (_, list) => inheritUndecided(makeList(list.items.slice(), list.rest), list),
  reverse: (_, list) => {
    list.items.reverse()
    return null
  },
  sort: (rt, list, _, kwargs) => {
    let sorted: ReturnType<typeof sort> = { items: list.items, unordered: new Set(list.items) }
    // Keys are made beside an empty list.
    list.items = []
    try {
      sorted = sort(rt, sorted.items, kwargs)
    } finally {
      Object.assign(list, sorted)
    }
    return null
  },
  __init__: (rt, list, [items]) => {
    if (items !== undefined) extendList(rt, list, items)
    return null
  },
}

function pop(rt: Runtime, list: ListValue, at: Value | undefined): Value | undefined {
  const index = at === undefined ? -1n : intOf(at)
  if (index === undefined || (list.rest && index < 0n)) {
    list.rest = true
    return undefined
  }
  const from = Number(index < 0n ? index + BigInt(list.items.length) : index)
  if (from < 0 || from >= list.items.length)
    return list.rest ? undefined : raiseIfCertain(rt, 'IndexError', 'pop from empty list')
  recordRemoving(rt, list)
  const [item] = list.items.splice(from, 1)
  if (item === undefined || !list.unordered?.has(item)) return item
  // Any of those whose order is unknown was taken, and the others are left.
  list.items.splice(from, 0, item)
  list.maybe = new Set([...(list.maybe ?? []), ...list.unordered])
  return anyOf([...list.unordered])
}

/** Methods that list and tuple share. */
export const FINDING_METHODS: Record<string, NativeCall> = {
  index: (rt, [self, item, from]) => {
    const sequence = sequenceOf(self)
    const start = from === undefined ? 0n : intOf(from)
    if (!sequence || item === undefined || start === undefined || start < 0n) return undefined
    if (sequence.unordered) return undefined
    for (let index = Number(start); index < sequence.items.length; index += 1) {
      const same = equals(rt, sequence.items[index] ?? null, item)
      if (same === undefined) return undefined
      if (same) return BigInt(index)
    }
    return sequence.rest ? undefined : raiseIfCertain(rt, 'ValueError', 'not in list')
  },
  count: () => undefined,
}

function sequenceOf(value: Value | undefined): ListValue | TupleValue | undefined {
  const inner = payloadOf(value ?? null)
  if (!isObject(inner)) return undefined
  return inner.kind === 'list' || inner.kind === 'tuple' ? inner : undefined
}

/** The methods of list as natives: `args[0]` is self. */
export const LIST_METHODS: Record<string, NativeCall> = {
  ...FINDING_METHODS,
  ...callsOf(METHODS, (method) => (rt, [self, ...args], kwargs) => {
    const list = sequenceOf(self)
    return list?.kind === 'list' ? method(rt, list, args, kwargs) : undefined
  }),
}
