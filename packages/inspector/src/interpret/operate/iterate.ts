import { callSpecial } from '../run-code.ts'
import { isObject, isSequence, payloadOf } from '../values/read-value.ts'
import { dictEntries, dictKeys } from '../values/dict.ts'
import { choicesOf, mergeValues, uniteSequences } from '../values/merge-values.ts'
import {
  inheritUndecided,
  makeItemsIterator,
  makeIterator,
  makeList,
  makeTuple,
} from '../values/make-value.ts'
import { raiseIfCertain } from './raise.ts'
import type {
  DictView,
  IteratorValue,
  ListValue,
  RangeValue,
  Runtime,
  TupleValue,
  Value,
} from '../types.ts'
import { lengthOf } from '../text/string/code-points.ts'
import { rangeLength } from './truth.ts'

/** An iterator over the value; undefined if it is an unknown or can't be iterated. */
export function iterate(rt: Runtime, value: Value): IteratorValue | undefined {
  if (typeof value === 'string') return makeItemsIterator('str_iterator', Array.from(value))
  if (!isObject(value)) return undefined
  switch (value.kind) {
    case 'list':
    case 'tuple':
      return iterateSequence(value)
    case 'dict':
      return makeItemsIterator('dict_keyiterator', dictKeys(value), value.rest)
    case 'view':
      return makeItemsIterator(`dict_${value.of}iterator`, viewItems(value), value.dict.rest)
    case 'set':
      return makeItemsIterator('set_iterator', [...value.items.values()], value.rest)
    case 'range':
      return iterateRange(value)
    case 'iterator':
      return value
    case 'instance':
    case 'class':
      return iterateByMethods(rt, value)
    case 'unknown': {
      const one = inOne(value)
      return one === value ? undefined : iterate(rt, one)
    }
    default:
      return undefined
  }
}

/**
 * One list for one of several sequences: where they are of one length its items are choices; else it has those of all.
 * Any other value itself.
 */
export function inOne(value: Value): Value {
  const choices = choicesOf(value)
  const sequences = choices.filter((choice) => isSequence(choice))
  const [first] = sequences
  if (!first || choices.length < 2) return value
  const rest = sequences.length < choices.length || sequences.some((each) => each.rest)
  const isEven = sequences.every(({ items }) => items.length === first.items.length)
  const items = first.items.map((_, at) => mergeValues(sequences.map((each) => each.items[at])))
  return isEven
    ? makeList(
        items.map((item) => item ?? null),
        rest,
      )
    : { ...uniteSequences(sequences), rest }
}

/** Looks at the list as it is at each step, so that a loop sees what it appends. */
function iterateSequence(sequence: ListValue | TupleValue): IteratorValue {
  let index = 0
  const iterator = makeIterator(`${sequence.kind}_iterator`, () => {
    const item = sequence.items[index]
    index += 1
    if (item === undefined) iterator.rest = sequence.rest
    return item
  })
  return inheritUndecided(iterator, sequence)
}

function iterateRange(range: RangeValue): IteratorValue {
  let left = rangeLength(range)
  let at = range.start
  return makeIterator('range_iterator', () => {
    if (left <= 0n) return undefined
    const item = at
    left -= 1n
    at += range.step
    return item
  })
}

function viewItems({ of, dict }: DictView): Value[] {
  if (of === 'keys') return dictKeys(dict)
  if (of === 'values') return [...dict.values.values()]
  return dictEntries(dict).map((pair) => makeTuple(pair))
}

function iterateByMethods(rt: Runtime, value: Value): IteratorValue | undefined {
  const made = callSpecial(rt, value, '__iter__', [])
  // What steps by a method of its own is not followed.
  if (made !== undefined) return made === value ? undefined : iterate(rt, made)
  const inner = payloadOf(value)
  return inner === value ? undefined : iterate(rt, inner)
}

/** False of what raises TypeError for certain. */
export const mayIterate = (value: Value): boolean => isObject(value) && value.kind !== 'singleton'

/** Reads everything, within the budget. `rest`: there may be more. An unknown has no items and a rest. */
export function readItems(rt: Runtime, value: Value): { items: Value[]; rest: boolean } {
  if (isSequence(value)) {
    rt.budget.step(value.items.length >> 4)
    return { items: value.items.slice(), rest: value.rest }
  }
  const iterator = iterate(rt, value)
  if (iterator) return readIterator(rt, iterator)
  if (!mayIterate(value)) raiseIfCertain(rt, 'TypeError', 'not iterable')
  return { items: [], rest: true }
}

function readIterator(rt: Runtime, iterator: IteratorValue): { items: Value[]; rest: boolean } {
  const items: Value[] = []
  const max = rt.budget.limits.forItems
  for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
    items.push(item)
    if ((items.length & 15) === 0) rt.budget.step(1)
    if (items.length >= max) {
      rt.budget.spent('items')
      return { items, rest: true }
    }
  }
  return { items, rest: iterator.rest }
}

/** `len(value)`; undefined if it can't be known. */
export function lengthOfValue(rt: Runtime, value: Value): number | undefined {
  const own = callSpecial(rt, value, '__len__', [])
  if (own !== undefined) return typeof own === 'bigint' ? Number(own) : undefined
  const inner = payloadOf(value)
  if (typeof inner === 'string') return lengthOf(inner)
  if (!isObject(inner)) return undefined
  switch (inner.kind) {
    case 'list':
    case 'tuple':
      return inner.rest ? undefined : inner.items.length
    case 'dict':
      return inner.rest ? undefined : inner.values.size
    case 'view':
      return inner.dict.rest ? undefined : inner.dict.values.size
    case 'set':
      return inner.rest ? undefined : inner.items.size
    default:
      return undefined
  }
}
