import {
  isBytes,
  isClass,
  isDict,
  isFunction,
  isList,
  isObject,
  isSet,
  isTuple,
  isUnknown,
} from './read-value.ts'
import { dictKey, dictMark, dictSet } from './dict.ts'
import { makeEmptyDict, makeUnknown } from './make-value.ts'
import type { DictValue, ListValue, ObjectValue, SetValue, TupleValue, Value } from '../types.ts'

/**
 * One value out of those that branches of an undecided test gave: dicts, lists and sets unite, a text, number, tuple,
 * class or function is one of several. Of other objects known ones beat unknown ones and None, and the first wins.
 * Undefined stands for a name that a branch left unbound.
 */
export function mergeValues(values: readonly (Value | undefined)[], depth = 0): Value | undefined {
  const given = [...new Set(values.filter((value) => value !== undefined))]
  if (given.length < 2) return given[0]
  const bound = [...new Set(given.flatMap(choicesOf))]
  const known = bound.filter((value) => value !== null && !isUnknown(value))
  const unknown = bound.find((value) => isUnknown(value))
  const [first] = known
  if (first === undefined || bound.length === 1) return unknown ?? bound[0]
  if (!isObject(first) || isPlain(first))
    return makeOneOf([...known, ...bound.filter((value) => !known.includes(value))])
  const united = unite(first, known, depth)
  if (unknown) {
    const within = isDict(united) ? [...united.values.values()] : []
    for (const one of [united, ...within])
      if (isDict(one) || isList(one) || isSet(one)) one.rest = true
  }
  return united
}

/** Most values that one may be. */
export const CHOICES_MAX = 16

/** A value that is one of several. */
export function makeOneOf(oneOf: readonly Value[]): Value {
  const made = makeUnknown('choice')
  if (oneOf.length <= CHOICES_MAX) made.oneOf = oneOf
  return made
}

/** One of the items of a list in an unknown order. */
export function anyOf(items: readonly (Value | undefined)[]): Value {
  return mergeValues(items) ?? makeUnknown('item')
}

/** The values of which it is one; any other value alone. */
export function choicesOf(value: Value): readonly Value[] {
  return (isObject(value) && 'oneOf' in value && value.oneOf) || [value]
}

/** The result for each value that it may be, merged; undefined for a value that is no choice. */
export function mapChoice(value: Value, run: (choice: Value) => Value): Value | undefined {
  const choices = choicesOf(value)
  return choices.length > 1 ? mergeValues(choices.map(run)) : undefined
}

/** Values that nobody changes. */
function isPlain(value: ObjectValue): boolean {
  return isTuple(value) || isBytes(value) || value.kind === 'method'
}

/** Dicts within dicts that are united: sections, inputs, options. */
const DEPTH_MAX = 3

function unite(first: ObjectValue, known: Value[], depth: number): Value {
  if (known.length === 1 || depth > DEPTH_MAX) return first
  if (isDict(first))
    return uniteDicts(
      known.filter((value) => isDict(value)),
      depth + 1,
    )
  if (isList(first)) return uniteSequences(known.filter((value) => isList(value)))
  if (isSet(first)) return uniteSets(known.filter((value) => isSet(value)))
  if (isMethodMaker(first)) {
    const functions = known.filter(isMethodMaker).map((value) => value.function)
    return { ...first, function: mergeValues(functions) ?? null }
  }
  const oneOf = known.filter((value) => isObject(value) && value.kind === first.kind)
  const isChosen = (isFunction(first) || isClass(first)) && oneOf.length > 1
  return isChosen && oneOf.length <= CHOICES_MAX ? { ...first, oneOf } : first
}

const isMethodMaker = (value: Value) =>
  isObject(value) && (value.kind === 'classmethod' || value.kind === 'staticmethod')

/** Unites dicts; values under one key are merged in turn. */
function uniteDicts(dicts: DictValue[], depth: number): DictValue {
  const united = makeEmptyDict(dicts.some(({ rest }) => rest))
  for (const dict of dicts)
    for (const [hash, value] of dict.values) {
      const merged = mergeValues([united.values.get(hash), value], depth) ?? value
      dictSet(united, hash, dictKey(dict, hash), merged)
    }
  for (const hash of united.values.keys())
    if (dicts.some(({ values: own, maybe }) => !own.has(hash) || maybe?.has(hash)))
      dictMark(united, hash, true)
  return united
}

/** A list of what lists or tuples have, with marks at what some of them lack. */
export function uniteSequences(lists: (ListValue | TupleValue)[]): ListValue {
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

function uniteSets(sets: SetValue[]): SetValue {
  return {
    kind: 'set',
    frozen: sets.every((set) => set.frozen),
    items: new Map(sets.flatMap((set) => [...set.items])),
    rest: sets.some((set) => set.rest),
  }
}

const sizeOf = (value: Value): number => (isDict(value) ? value.values.size : -1)

/** The result of a function with returns under undecided tests; the largest dict gives the order. */
export function mergeReturned(values: readonly Value[]): Value {
  return mergeValues(values.toSorted((a, b) => sizeOf(b) - sizeOf(a))) ?? null
}
