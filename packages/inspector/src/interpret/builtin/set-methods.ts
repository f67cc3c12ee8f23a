import { isSet, isUnknown, payloadOf } from '../values/read-value.ts'
import { raiseMissingKey } from '../operate/raise.ts'
import { hashKey } from '../operate/hash-key.ts'
import { recordRemoving } from '../operate/set-item.ts'
import { makeSet } from '../operate/mapping.ts'
import { readItems } from '../operate/iterate.ts'
import { callsOf } from '../values/native.ts'
import type { NativeCall, Runtime, SetValue, Truth, Value } from '../types.ts'
import { combineSets } from '../operate/set-operation.ts'

type SetMethod = (rt: Runtime, set: SetValue, args: Value[]) => Value | undefined

/** Any iterable as a set; an unknown is an empty one with a rest. */
function toSet(rt: Runtime, value: Value): SetValue {
  const inner = payloadOf(value)
  if (isSet(inner)) return inner
  const { items, rest } = readItems(rt, value)
  const set = makeSet(rt, items) as SetValue
  set.rest ||= rest
  return set
}

const combining =
  (op: string): SetMethod =>
  (rt, set, args) => {
    let result: SetValue = { ...set, items: new Map(set.items) }
    for (const other of args) result = combineSets(rt, op, result, toSet(rt, other)) ?? result
    return result
  }

const updating =
  (op: string): SetMethod =>
  (rt, set, args) => {
    for (const other of args) {
      const result = combineSets(rt, op, set, toSet(rt, other))
      if (!result) continue
      set.items = result.items
      set.rest = result.rest
    }
    return null
  }

function isSubset(a: SetValue, b: SetValue): Truth {
  if (a.rest) return undefined
  const isMissing = [...a.items.keys()].some((hash) => !b.items.has(hash))
  if (isMissing && b.rest) return undefined
  return !isMissing
}

function remove(rt: Runtime, set: SetValue, item: Value | undefined): boolean {
  const hash = item === undefined ? undefined : hashKey(rt, item)
  if (hash === undefined || !set.items.has(hash)) return false
  recordRemoving(rt, set)
  return set.items.delete(hash)
}

const METHODS: Record<string, SetMethod> = {
  add: (rt, set, [item]) => {
    const hash = item === undefined ? undefined : hashKey(rt, item)
    if (hash === undefined || item === undefined || isUnknown(item)) set.rest = true
    if (hash !== undefined && item !== undefined && !set.items.has(hash)) set.items.set(hash, item)
    return null
  },
  discard: (rt, set, [item]) => {
    remove(rt, set, item)
    return null
  },
  remove: (rt, set, [item]) => {
    if (!remove(rt, set, item) && !set.rest) raiseMissingKey(rt, set, item ?? null)
    return null
  },
  /** Which one is gone is up to the hashes of Python: any may be left. */
  pop: (rt, set) => {
    recordRemoving(rt, set)
    set.items = new Map()
    set.rest = true
    return undefined
  },
  clear: (rt, set) => {
    recordRemoving(rt, set)
    set.items = new Map()
    set.rest = false
    return null
  },
  copy: (_, set) => ({ ...set, items: new Map(set.items) }),
  union: combining('|'),
  intersection: combining('&'),
  difference: combining('-'),
  update: updating('|'),
  intersection_update: updating('&'),
  difference_update: updating('-'),
  symmetric_difference: combining('^'),
  symmetric_difference_update: updating('^'),
  issubset: (rt, set, [other]) => isSubset(set, toSet(rt, other ?? null)),
  issuperset: (rt, set, [other]) => isSubset(toSet(rt, other ?? null), set),
  isdisjoint: () => undefined,
  __init__: (rt, set, [items]) => {
    if (items === undefined || set.frozen) return null
    return updating('|')(rt, set, [items])
  },
}

const CHANGING = new Set(['add', 'discard', 'remove', 'pop', 'clear', 'update', '__init__'])

/** The methods of set as natives: `args[0]` is self. */
export const SET_METHODS = callsOf(METHODS, (method) => (rt, [self, ...args]) => {
  const set = payloadOf(self ?? null)
  return isSet(set) ? method(rt, set, args) : undefined
})

/** Those that leave the set as it is. */
export const FROZENSET_METHODS: Record<string, NativeCall> = Object.fromEntries(
  Object.entries(SET_METHODS).filter(([name]) => !CHANGING.has(name) && !name.endsWith('_update')),
)
