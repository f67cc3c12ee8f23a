import { callMethod } from '../run-code.ts'
import { isDict, isInstanceValue, isUnknown, payloadOf } from '../values/read-value.ts'
import { getItem } from './item.ts'
import { raiseIfCertain } from './raise.ts'
import { iterate, readItems } from './iterate.ts'
import { runUnsure } from '../execute/branch.ts'
import { hashKey } from './hash-key.ts'
import { recordWriting } from './written.ts'
import { dictGet, dictMark, dictSet, dictUpdate, openReplaced } from '../values/dict.ts'
import { makeEmptyDict } from '../values/make-value.ts'
import type { DictValue, HashKey, Runtime, Value } from '../types.ts'

/** The entry under the key; undefined if there is certainly none or the key can't be hashed. */
export function getEntry(rt: Runtime, dict: DictValue, key: Value): Value | undefined {
  const hash = hashKey(rt, key)
  return hash === undefined ? undefined : dictGet(dict, hash)
}

/** Sets an entry. Under an unknown key it is kept as well, and the dict is incomplete from then on. */
export function setEntry(rt: Runtime, dict: DictValue, key: Value, value: Value): void {
  if (isUnknown(key) && key.oneOf)
    return void runUnsure(rt, () => {
      for (const choice of key.oneOf ?? []) if (choice !== null) setEntry(rt, dict, choice, value)
      return undefined
    })
  const hash = hashKey(rt, key)
  if (hash === undefined || isUnknown(key)) dict.rest = true
  if (isUnknown(key)) openReplaced(dict, value)
  // It may replace what is there.
  if (isUnknown(key) && dict.values.size > 0) rt.state.guesses += 1
  if (hash === undefined) return
  if (dict.values.size >= rt.budget.limits.containerItems) {
    rt.budget.spent('items')
    dict.rest = true
    return
  }
  recordAdded(rt, dict, hash)
  dictSet(dict, hash, key, value)
}

/** Before an entry is set: in a branch it is one more of what the branch adds; elsewhere it is there from now on. */
function recordAdded(rt: Runtime, dict: DictValue, hash: HashKey, isMaybe = false): void {
  recordWriting(rt, dict.values, hash)
  const isSure = dict.values.has(hash) && !dict.maybe?.has(hash)
  if (isSure || isMaybe) return
  const { added } = rt.state
  if (!added) return dictMark(dict, hash, false)
  const hashes = added.get(dict) ?? new Set()
  added.set(dict, hashes.add(hash))
}

/** A dict that was made and filled in one: where it is, its entries are. */
export function asNew(rt: Runtime, dict: DictValue): DictValue {
  rt.state.added?.delete(dict)
  return dict
}

/** `dict.update(value)`, `**value`: a mapping, pairs, or an unknown, which leaves an unknown rest. */
export function addToDict(rt: Runtime, dict: DictValue, value: Value): void {
  const from = asDict(rt, value)
  // It may replace what is there.
  if (dict.values.size > 0 && (from ? from.rest : isUnknown(value))) rt.state.guesses += 1
  if (from) {
    rt.budget.step(from.values.size >> 4)
    for (const hash of from.values.keys()) recordAdded(rt, dict, hash, from.maybe?.has(hash))
    dictUpdate(dict, from)
  } else addPairs(rt, dict, value)
}

/** The dict in the value, or one read through `keys()` and `[]`; undefined if it is no mapping. */
export function asDict(rt: Runtime, value: Value): DictValue | undefined {
  const inner = payloadOf(value)
  if (isDict(inner)) return inner
  if (!isInstanceValue(value)) return undefined
  const keys = callMethod(rt, value, 'keys', [])
  if (keys === undefined || isUnknown(keys)) return undefined
  const { items, rest } = readItems(rt, keys)
  const dict = makeEmptyDict(rest)
  for (const key of items) setEntry(rt, dict, key, getItem(rt, value, key))
  return dict
}

/**
 * The dict in a value that the host would read as a mapping, by its `items()`: a dict, an instance of a dict's subclass,
 * an object of the pack's own.
 */
export function asMapping(rt: Runtime, value: Value): DictValue | undefined {
  const inner = payloadOf(value)
  if (isDict(inner)) return inner
  if (!isInstanceValue(value)) return undefined
  const pairs = callMethod(rt, value, 'items', [])
  if (pairs === undefined || isUnknown(pairs)) return asDict(rt, value)
  const dict = makeEmptyDict()
  addPairs(rt, dict, pairs)
  return dict
}

/** Pairs that iteration gives. What is not a pair makes the dict incomplete. */
function addPairs(rt: Runtime, dict: DictValue, value: Value): void {
  const { items, rest } = readItems(rt, value)
  if (rest) dict.rest = true
  for (const item of items) {
    const pair = iterate(rt, item) === undefined ? undefined : readItems(rt, item)
    const [key, entry] = pair?.items ?? []
    if (pair && !pair.rest && pair.items.length !== 2)
      raiseIfCertain(rt, 'ValueError', 'dictionary update sequence element')
    if (pair === undefined && !isUnknown(item)) raiseIfCertain(rt, 'TypeError', 'no sequence')
    if (key === undefined || entry === undefined || pair?.items.length !== 2) dict.rest = true
    else setEntry(rt, dict, key, entry)
  }
}

export function makeDict(rt: Runtime, entries: Iterable<readonly [Value, Value]>): DictValue {
  const dict = makeEmptyDict()
  for (const [key, value] of entries) setEntry(rt, dict, key, value)
  return dict
}

export function makeSet(rt: Runtime, items: Iterable<Value>, frozen = false): Value {
  const set: Value = { kind: 'set', frozen, items: new Map(), rest: false }
  for (const item of items) {
    const hash = hashKey(rt, item)
    if (hash === undefined) {
      raiseIfCertain(rt, 'TypeError', 'unhashable type')
      set.rest = true
    } else if (!set.items.has(hash)) set.items.set(hash, item)
    // Two unknowns may be one item.
    if (isUnknown(item)) set.rest = true
  }
  return set
}
