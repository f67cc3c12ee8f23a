import { isDict, isList, isUnknown } from './read-value.ts'
import type { DictValue, HashKey, Value } from '../types.ts'

/** Entries by hash key (`Runtime.hashKey`), and everything that needs no hashing. */

export function dictGet(dict: DictValue, hash: HashKey): Value | undefined {
  return dict.values.get(hash)
}

/** An entry that exists keeps its key and its place. */
export function dictSet(dict: DictValue, hash: HashKey, key: Value, value: Value): void {
  if (hash !== key && !dict.values.has(hash)) {
    dict.keys ??= new Map()
    dict.keys.set(hash, key)
  }
  dict.values.set(hash, value)
}

export function dictDelete(dict: DictValue, hash: HashKey): boolean {
  dict.keys?.delete(hash)
  return dict.values.delete(hash)
}

/** The key of an entry as the pack wrote it. */
export function dictKey(dict: DictValue, hash: HashKey): Value {
  const key = dict.keys?.get(hash)
  return key === undefined ? (hash as Value) : key
}

export function dictKeys(dict: DictValue): Value[] {
  const hashes = [...dict.values.keys()]
  return dict.keys === undefined ? (hashes as Value[]) : hashes.map((hash) => dictKey(dict, hash))
}

export function dictEntries(dict: DictValue): [Value, Value][] {
  const entries = [...dict.values] as [HashKey, Value][]
  return dict.keys === undefined
    ? (entries as [Value, Value][])
    : entries.map(([hash, value]) => [dictKey(dict, hash), value])
}

export function dictCopy(dict: DictValue): DictValue {
  return {
    kind: 'dict',
    values: new Map(dict.values),
    keys: dict.keys && new Map(dict.keys),
    rest: dict.rest,
    ...(dict.maybe && { maybe: new Set(dict.maybe) }),
  }
}

/** Marks an entry as one that may not be there, or as one that is. */
export function dictMark(dict: DictValue, hash: HashKey, isMaybe: boolean): void {
  if (!isMaybe) dict.maybe?.delete(hash)
  else (dict.maybe ??= new Set()).add(hash)
}

/** Puts the entries of `from` into `dict`; those of `from` win. */
export function dictUpdate(dict: DictValue, from: DictValue): void {
  if (dict === from) return
  if (from.rest) dict.rest = true
  for (const [hash, value] of from.values) {
    const isNew = !dict.values.has(hash)
    dictSet(dict, hash, dictKey(from, hash), value)
    if (isNew && from.maybe?.has(hash)) dictMark(dict, hash, true)
  }
}

/** Opens containers: one that is set under an unknown key may stand in the place of any that is there. */
export function openReplaced({ values }: Pick<DictValue, 'values'>, value: Value): void {
  const isForeign = isUnknown(value) && (value.from === undefined || isUnknown(value.from))
  if (!isForeign && !isDict(value) && !isList(value)) return
  for (const one of values.values()) if (isDict(one) || isList(one)) one.rest = true
}
