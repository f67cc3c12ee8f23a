import { isDict, isUnknown, payloadOf } from '../values/read-value.ts'
import { call } from '../operate/call.ts'
import { readItems } from '../operate/iterate.ts'
import { hashKey } from '../operate/hash-key.ts'
import { raiseMissingKey } from '../operate/raise.ts'
import { dictCopy, dictKey } from '../values/dict.ts'
import { makeEmptyDict, makeTuple, orElse } from '../values/make-value.ts'
import { addToDict, getEntry, setEntry } from '../operate/mapping.ts'
import { callsOf } from '../values/native.ts'
import { removeAllEntries, removeEntry } from '../operate/set-item.ts'
import type { DictValue, HashKey, Kwargs, NativeCall, Runtime, Value } from '../types.ts'

type DictMethod = (rt: Runtime, dict: DictValue, args: Value[], kwargs: Kwargs) => Value | undefined

const view =
  (of: 'keys' | 'values' | 'items'): DictMethod =>
  (_, dict) => ({ kind: 'view', of, dict })

/** True when an entry that is not there may exist after all. */
function mayHave(dict: DictValue, key: Value): boolean {
  return dict.rest || isUnknown(key)
}

const METHODS: Record<string, DictMethod> = {
  keys: view('keys'),
  values: view('values'),
  items: view('items'),
  get: (rt, dict, [key, fallback = null]) => {
    if (key === undefined) return undefined
    const known = getEntry(rt, dict, key)
    if (known !== undefined) return known
    return mayHave(dict, key) ? undefined : fallback
  },
  setdefault: (rt, dict, [key, fallback = null]) => {
    if (key === undefined) return undefined
    const known = getEntry(rt, dict, key)
    if (known !== undefined) return known
    setEntry(rt, dict, key, fallback)
    return fallback
  },
  pop: (rt, dict, [key, fallback]) => {
    if (key === undefined) return undefined
    const known = getEntry(rt, dict, key)
    if (known === undefined) {
      if (mayHave(dict, key)) return undefined
      return orElse(fallback, () => raiseMissingKey(rt, dict, key))
    }
    removeEntry(rt, dict, hashKey(rt, key) as HashKey)
    return known
  },
  popitem: (rt, dict) => {
    const last = [...dict.values].at(-1)
    if (!last || dict.rest)
      return dict.rest ? undefined : raiseMissingKey(rt, dict, 'popitem(): dictionary is empty')
    const pair = makeTuple([dictKey(dict, last[0]), last[1]])
    removeEntry(rt, dict, last[0])
    return pair
  },
  update: (rt, dict, args, kwargs) => {
    for (const value of args) addToDict(rt, dict, value)
    for (const [key, value] of kwargs) setEntry(rt, dict, key, value)
    return null
  },
  clear: (rt, dict) => {
    removeAllEntries(rt, dict)
    return null
  },
  copy: (rt, dict) => (rt.budget.allowItems(dict.values.size) ? dictCopy(dict) : undefined),
}

/** The methods of dict as natives: `args[0]` is self. */
export const DICT_METHODS = callsOf(
  { ...METHODS, __init__: METHODS['update'] as DictMethod },
  (method) =>
    (rt, [self, ...args], kwargs) => {
      const dict = dictOf(self)
      return dict && method(rt, dict, args, kwargs)
    },
)

function dictOf(value: Value | undefined): DictValue | undefined {
  const inner = payloadOf(value ?? null)
  return isDict(inner) ? inner : undefined
}

/** `dict.fromkeys(keys, value)`: the class comes first. */
export const dictFromKeys: NativeCall = (rt, [cls, keys, value = null]) => {
  if (keys === undefined) return undefined
  const { items, rest } = readItems(rt, keys)
  const dict = makeEmptyDict(rest)
  for (const key of items) setEntry(rt, dict, key, value)
  return cls === undefined || cls === rt.builtinClass('dict') ? dict : call(rt, cls, [dict])
}

/** `update(**unknown)`, `dict(**unknown)`: what is known, and an unknown rest. */
export const updateWithRest: NativeCall = (rt, [self, ...args], kwargs) => {
  const dict = dictOf(self)
  if (!dict) return undefined
  METHODS['update']?.(rt, dict, args, kwargs)
  dict.rest = true
  return null
}
