import { callSpecial } from '../run-code.ts'
import { hashKey } from './hash-key.ts'
import { indexOf, sliceParts } from './item.ts'
import { readItems } from './iterate.ts'
import { putInto } from './not-followed.ts'
import { setEntry } from './mapping.ts'
import { recordWriting } from './written.ts'
import { raiseIfCertain, raiseMissingKey } from './raise.ts'
import type {
  DictValue,
  HashKey,
  ListValue,
  Runtime,
  Scope,
  SetValue,
  SliceValue,
  Value,
} from '../types.ts'
import { sliceIndexes, type SliceParts } from '../text/string/slice.ts'
import { isDict, isObject, isSet, isSlice, isUnknown, payloadOf } from '../values/read-value.ts'
import { dictCopy, dictDelete, dictGet, dictKey, dictMark, dictSet } from '../values/dict.ts'
import { mergeValues } from '../values/merge-values.ts'

/** `value[key] = to`. */
export function setItem(rt: Runtime, value: Value, key: Value, to: Value): void {
  if (callSpecial(rt, value, '__setitem__', [key, to]) !== undefined) return
  if (isUnknown(value)) return putInto(rt, value, to)
  const inner = payloadOf(value)
  if (!isObject(inner))
    return raiseIfCertain(rt, 'TypeError', 'object does not support item assignment')
  if (inner.kind === 'dict') setEntry(rt, inner, key, to)
  if (inner.kind === 'list') setInList(rt, inner, key, to)
}

function setInList(rt: Runtime, list: ListValue, key: Value, to: Value): void {
  recordRemoving(rt, list)
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
  if (inner.kind === 'list') deleteFromList(rt, inner, key)
}

function deleteEntry(rt: Runtime, dict: DictValue, key: Value): void {
  const hash = hashKey(rt, key)
  if (hash !== undefined && !removeEntry(rt, dict, hash) && !dict.rest && !isUnknown(key))
    raiseMissingKey(rt, dict, key)
}

function deleteFromList(rt: Runtime, list: ListValue, key: Value): void {
  recordRemoving(rt, list)
  const parts = sliceParts(key)
  if (parts) {
    const gone = new Set(sliceIndexes(parts, list.items.length))
    list.items = list.items.filter((_, index) => !gone.has(index))
    return
  }
  const index = indexOf(key, list.items.length)
  if (index !== undefined) list.items.splice(index, 1)
}

/**
 * Containers out of which something was taken since an undecided branch began, each with what puts it back when the branch
 * ends: the other way keeps it, and what may be there counts.
 */
export interface Removed {
  /** The scope of the branch: lists of the functions that it calls are mostly their own. */
  scope: Scope
  putBack: Map<DictValue | ListValue | SetValue, () => void>
}

/** Entries that were put into dicts since an undecided branch began, also by what it calls. */
export type AddedEntries = Map<DictValue, Set<HashKey>>

/** Takes an entry out of a dict; true if it was there. In an undecided branch it is gone until the branch ends. */
export function removeEntry(rt: Runtime, dict: DictValue, hash: HashKey): boolean {
  recordWriting(rt, dict.values, hash)
  if (dict.values.has(hash)) recordRemoving(rt, dict)
  return dictDelete(dict, hash)
}

/** The same for all entries. */
export function removeAllEntries(rt: Runtime, dict: DictValue): void {
  for (const hash of dict.values.keys()) removeEntry(rt, dict, hash)
  if (!rt.state.removed) dict.rest = false
}

/** Before items are taken out of a list, dict or set, or replaced. */
export function recordRemoving(rt: Runtime, from: DictValue | ListValue | SetValue): void {
  const { removed, scope } = rt.state
  if (!removed || removed.putBack.has(from)) return
  if (isDict(from)) removed.putBack.set(from, keepEntries(rt, from))
  else if (scope === removed.scope)
    removed.putBack.set(from, isSet(from) ? keepMembers(from) : keepItems(from))
}

function keepMembers(set: SetValue): () => void {
  const before = set.items
  set.items = new Map(before)
  return () => {
    set.items = new Map([...before, ...set.items])
  }
}

/** Entries stand again where they stood, but for those that were set again, or came in the same branch. */
function keepEntries(rt: Runtime, dict: DictValue): () => void {
  const before = dictCopy(dict)
  const written = rt.state.written?.get(dict.values)
  const isOwn = (hash: HashKey): boolean =>
    written?.has(hash) === true && written.get(hash)?.before === undefined
  rt.budget.step(before.values.size >> 4)
  return () => {
    const left = dictCopy(dict)
    dict.values.clear()
    for (const hash of [...before.values.keys(), ...left.values.keys()]) {
      const isLeft = left.values.has(hash)
      if (!isLeft && isOwn(hash)) continue
      const from = isLeft ? left : before
      dictSet(dict, hash, dictKey(from, hash), dictGet(from, hash) ?? null)
      if (!isLeft) dictMark(dict, hash, true)
    }
  }
}

/** In a list that is as long as before each item is one of two; another has what was there, and what came. */
function keepItems(list: ListValue): () => void {
  const before = { ...list, items: list.items.slice() }
  return () => {
    list.rest ||= before.rest
    if (list.items.length === before.items.length) {
      list.items = list.items.map((item, at) => mergeValues([item, before.items[at]]) ?? item)
      return
    }
    const left = new Map<Value, number>()
    for (const item of list.items) left.set(item, (left.get(item) ?? 0) + 1)
    const isLeft = (item: Value): boolean => {
      const count = left.get(item) ?? 0
      left.set(item, count - 1)
      return count > 0
    }
    const gone = before.items.filter((item) => !isLeft(item))
    list.items = [...before.items, ...list.items.filter(isLeft)]
    list.maybe = new Set([...(before.maybe ?? []), ...(list.maybe ?? []), ...gone])
  }
}
