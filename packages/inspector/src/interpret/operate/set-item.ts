import { callSpecial } from './call.ts'
import { hashKey } from './hash-key.ts'
import { indexOf, sliceParts } from './item.ts'
import { readItems } from './iterate.ts'
import { setEntry } from './mapping.ts'
import { raiseIfCertain, raiseMissingKey } from './raise.ts'
import type { DictValue, HashKey, ListValue, Runtime, SliceValue, Value } from '../types.ts'
import { sliceIndexes, type SliceParts } from '../text/string/slice.ts'
import { isObject, isSlice, isUnknown, payloadOf } from '../values/read-value.ts'
import { dictDelete, dictKey, dictMark, dictSet } from '../values/dict.ts'

/** `value[key] = to`. */
export function setItem(rt: Runtime, value: Value, key: Value, to: Value): void {
  if (callSpecial(rt, value, '__setitem__', [key, to]) !== undefined) return
  const inner = payloadOf(value)
  if (!isObject(inner))
    return raiseIfCertain(rt, 'TypeError', 'object does not support item assignment')
  if (inner.kind === 'dict') setEntry(rt, inner, key, to)
  if (inner.kind === 'list') setInList(rt, inner, key, to)
}

function setInList(rt: Runtime, list: ListValue, key: Value, to: Value): void {
  if (isSlice(key)) return setSlice(rt, list, key, to)
  const index = indexOf(key, list.items.length)
  if (index === undefined) list.rest = true
  else list.items[index] = to
}

function setSlice(rt: Runtime, list: ListValue, key: SliceValue, to: Value): void {
  const parts = sliceParts(key)
  const { items, rest } = readItems(rt, to)
  const indexes = parts && sliceIndexes(parts, list.items.length)
  if (!indexes || !rt.budget.allowItems(list.items.length + items.length)) {
    list.rest = true
    return
  }
  if (rest) list.rest = true
  if ((parts.step ?? 1n) === 1n) {
    const from = indexes[0] ?? startOf(parts, list.items.length)
    list.items = [
      ...list.items.slice(0, from),
      ...items,
      ...list.items.slice(from + indexes.length),
    ]
  } else for (const [at, index] of indexes.entries()) list.items[index] = items[at] ?? null
}

/** Returns the index at which an empty slice inserts. */
function startOf({ start }: SliceParts, length: number): number {
  if (start === undefined) return 0
  const from = Number(start)
  return from < 0 ? Math.max(0, length + from) : Math.min(from, length)
}

/** `del value[key]`. */
export function deleteItem(rt: Runtime, value: Value, key: Value): void {
  if (callSpecial(rt, value, '__delitem__', [key]) !== undefined) return
  const inner = payloadOf(value)
  if (!isObject(inner)) return
  if (inner.kind === 'dict') deleteEntry(rt, inner, key)
  if (inner.kind === 'list') deleteFromList(inner, key)
}

function deleteEntry(rt: Runtime, dict: DictValue, key: Value): void {
  const hash = hashKey(rt, key)
  if (hash !== undefined && !removeEntry(rt, dict, hash) && !dict.rest && !isUnknown(key))
    raiseMissingKey(rt, dict, key)
}

function deleteFromList(list: ListValue, key: Value): void {
  const parts = sliceParts(key)
  if (parts) {
    const gone = new Set(sliceIndexes(parts, list.items.length))
    list.items = list.items.filter((_, index) => !gone.has(index))
    return
  }
  const index = indexOf(key, list.items.length)
  if (index !== undefined) list.items.splice(index, 1)
}

/** Entries that were taken out of dicts since an undecided branch began. */
export type RemovedEntries = Map<DictValue, Removed>

/** Entries that were put into dicts since an undecided branch began, also by what it calls. */
export type AddedEntries = Map<DictValue, Set<HashKey>>

interface Removed {
  /** Hash keys of the dict before the first removal. */
  order: HashKey[]
  entries: Map<HashKey, { key: Value; value: Value }>
}

/**
 * Takes an entry out of a dict; true if it was there. In an undecided branch it is gone until the branch ends: the
 * other way keeps it, and what may be there counts.
 */
export function removeEntry(rt: Runtime, dict: DictValue, hash: HashKey): boolean {
  recordRemoved(rt.state.removed, dict, hash)
  return dictDelete(dict, hash)
}

/** The same for all entries. */
export function removeAllEntries(rt: Runtime, dict: DictValue): void {
  for (const hash of dict.values.keys()) removeEntry(rt, dict, hash)
  if (!rt.state.removed) dict.rest = false
}

function recordRemoved(removed: RemovedEntries | undefined, dict: DictValue, hash: HashKey): void {
  const value = dict.values.get(hash)
  if (!removed || value === undefined) return
  const known = removed.get(dict) ?? { order: [...dict.values.keys()], entries: new Map() }
  removed.set(dict, known)
  if (!known.entries.has(hash)) known.entries.set(hash, { key: dictKey(dict, hash), value })
}

/** Puts entries back where they stood, but for those that were set again. */
export function putBack(removed: RemovedEntries): void {
  for (const [dict, { order, entries }] of removed) {
    const left = new Map(dict.values)
    dict.values.clear()
    for (const hash of order) {
      const gone = entries.get(hash)
      const value = left.get(hash)
      if (value !== undefined) dict.values.set(hash, value)
      else if (gone) {
        dictSet(dict, hash, gone.key, gone.value)
        dictMark(dict, hash, true)
      }
    }
    for (const [hash, value] of left) dict.values.set(hash, value)
  }
}
