import { isDict, isList, isObject, isSet, isUnknown } from './read-value.ts'
import { dictCopy, dictKey, dictMark, dictSet } from './dict.ts'
import type { DictValue, Value } from '../types.ts'

/**
 * One value out of those that branches of an undecided test gave: known beats unknown and None; dicts, lists and sets
 * unite; else the first wins. Undefined stands for a name that a branch left unbound.
 */
export function mergeValues(values: readonly (Value | undefined)[]): Value | undefined {
  const bound = values.filter((value) => value !== undefined)
  const known = bound.filter((value) => value !== null && !isUnknown(value))
  const [first, ...others] = [...new Set(known)]
  if (first === undefined) return bound.find((value) => isUnknown(value)) ?? bound[0]
  return others.length === 0 ? first : unite(first, others)
}

function unite(first: Value, others: Value[]): Value {
  if (!isObject(first)) return first
  if (first.kind === 'dict') return uniteDicts([first, ...others])
  if (first.kind === 'list') return uniteLists([first, ...others])
  if (first.kind === 'set') return uniteSets([first, ...others])
  return first
}

function uniteDicts(values: Value[]): Value {
  const dicts = values.filter((value) => isDict(value))
  const [first, ...others] = dicts
  if (first === undefined || others.length === 0) return first ?? null
  const united = dictCopy(first)
  for (const other of others) {
    united.rest ||= other.rest
    for (const [hash, value] of other.values)
      if (!united.values.has(hash)) dictSet(united, hash, dictKey(other, hash), value)
  }
  for (const hash of united.values.keys())
    if (dicts.some(({ values: own, maybe }) => !own.has(hash) || maybe?.has(hash)))
      dictMark(united, hash, true)
  return united
}

function uniteLists(values: Value[]): Value {
  const lists = values.filter((value) => isList(value))
  const rest = lists.some((list) => list.rest)
  const [first, ...others] = lists.map((list) => list.items)
  if (first && others.every((items) => isSame(items, first)))
    return { kind: 'list', items: first.slice(), rest }
  const items = new Set(lists.flatMap((list) => list.items))
  const maybe = new Set(
    [...items].filter((item) => lists.some((list) => !list.items.includes(item))),
  )
  for (const list of lists) for (const item of list.maybe ?? []) maybe.add(item)
  // In another order they are none of the lists either.
  return { kind: 'list', items: [...items], rest, maybe: maybe.size > 0 ? maybe : items }
}

function isSame(left: readonly Value[], right: readonly Value[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index])
}

function uniteSets(values: Value[]): Value {
  const sets = values.filter((value) => isSet(value))
  return {
    kind: 'set',
    frozen: sets.every((set) => set.frozen),
    items: new Map(sets.flatMap((set) => [...set.items])),
    rest: sets.some((set) => set.rest),
  }
}

/**
 * The result of a function with returns under undecided tests: the largest dict, which may have more entries where
 * another of them may, else the first known value.
 */
export function mergeReturned(values: readonly Value[]): Value {
  let largest: DictValue | undefined
  for (const value of values)
    if (isDict(value) && value.values.size > (largest?.values.size ?? -1)) largest = value
  const hasRest = values.some((value) => isDict(value) && value.rest)
  if (largest && hasRest && !largest.rest) largest = { ...dictCopy(largest), rest: true }
  const known = values.find((value) => value !== null && !isUnknown(value))
  return largest ?? known ?? values.find((value) => isUnknown(value)) ?? null
}
