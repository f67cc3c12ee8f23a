import { call, callSpecial } from '../run-code.ts'
import { bind } from './bind.ts'
import { findInClass } from './class-lookup.ts'
import { hashKey } from './hash-key.ts'
import { putInto } from './not-followed.ts'
import { raiseIfCertain, raiseMissingKey } from './raise.ts'
import type { ClassValue, ListValue, Runtime, TupleValue, Value } from '../types.ts'
import { itemOfText, sliceIndexes, sliceText, type SliceParts } from '../text/string/slice.ts'
import { dictGet } from '../values/dict.ts'
import {
  isDict,
  isInstanceValue,
  isObject,
  isSlice,
  isUnknown,
  nameOf,
  numberOf,
  payloadOf,
} from '../values/read-value.ts'
import { inheritUndecided, makeList, makePart, makeTuple, orElse } from '../values/make-value.ts'
import { anyOf, mapChoice } from '../values/merge-values.ts'

/** `value[key]`. A missing key is an unknown. */
export function getItem(rt: Runtime, value: Value, key: Value): Value {
  const own = orElse(
    mapChoice(value, (choice) => getItem(rt, choice, key)) ??
      mapChoice(key, (choice) => getItem(rt, value, choice)),
    () => callSpecial(rt, value, '__getitem__', [key]),
  )
  if (own !== undefined) return own
  const inner = payloadOf(value)
  const found = findItem(rt, inner, key)
  if (found !== undefined) return found
  if (isInstanceValue(value) && !(isDict(inner) && inner.rest)) {
    const missing = callSpecial(rt, value, '__missing__', [key])
    if (missing !== undefined) return missing
  }
  if (isSure(inner, key)) raiseMissingItem(rt, inner, key)
  if (isObject(inner) ? NO_ITEMS.has(inner.kind) : typeof inner !== 'string')
    raiseIfCertain(rt, 'TypeError', 'object is not subscriptable')
  if (isUnknown(value)) putInto(rt, value, key)
  return unknownItem(value)
}

const NO_ITEMS = new Set(['iterator', 'view', 'set', 'function'])

function findItem(rt: Runtime, value: Value, key: Value): Value | undefined {
  if (typeof value === 'string') return itemOf(rt, key, value)
  if (!isObject(value)) return undefined
  switch (value.kind) {
    case 'dict': {
      const hash = hashKey(rt, key)
      return hash === undefined ? undefined : dictGet(value, hash)
    }
    case 'list':
    case 'tuple':
      return itemOfSequence(rt, value, key)
    case 'class':
      return itemOfClass(rt, value, key)
    default:
      return undefined
  }
}

function itemOf(rt: Runtime, key: Value, text: string): Value | undefined {
  const parts = sliceParts(key)
  if (parts) {
    const cut = sliceText(text, parts)
    return cut !== undefined && rt.budget.allowString(cut.length) ? cut : undefined
  }
  const index = numberOf(key)
  return typeof index === 'bigint' ? itemOfText(text, index) : undefined
}

function itemOfSequence(rt: Runtime, value: ListValue | TupleValue, key: Value): Value | undefined {
  const parts = sliceParts(key)
  if (!parts) return itemAt(value, key)
  if (value.rest && isFromEnd(parts)) return undefined
  const indexes = sliceIndexes(parts, value.items.length)
  if (!indexes || !rt.budget.allowItems(indexes.length)) return undefined
  // A part of an unknown order may have any of them.
  const chosen = indexes.map((at) => value.items[at] ?? null)
  const isPart = chosen.length < value.items.length
  const isAny = isPart && chosen.some((item) => value.unordered?.has(item))
  const items = isAny ? value.items : chosen
  const made =
    value.kind === 'list' ? makeList([...items], value.rest) : makeTuple(items, value.rest)
  if (isAny) made.maybe = new Set(items)
  return inheritUndecided(made, isAny || !isPart ? value : { ...value, unordered: undefined })
}

function itemAt(value: ListValue | TupleValue, key: Value): Value | undefined {
  const index = indexOf(key, value.items.length)
  if (index === undefined) return undefined
  const number = numberOf(key)
  if (value.rest && number !== undefined && number < 0) return undefined
  const item = value.items[index]
  if (item === undefined || !value.unordered?.has(item)) return item
  return value.rest ? undefined : anyOf([...value.unordered])
}

/** `list[int]` is taken for `list`, unless the class has its own `__class_getitem__`. */
function itemOfClass(rt: Runtime, cls: ClassValue, key: Value): Value {
  const raw = findInClass(rt, cls, '__class_getitem__')
  if (raw !== undefined && !isUnknown(raw)) return call(rt, bind(rt, raw, undefined, cls), [key])
  return cls
}

/** The container is known whole and the key is known: Python would raise. */
function isSure(value: Value, key: Value): boolean {
  if (isUnknown(key) || !isObject(value)) return false
  if (value.kind === 'dict' || value.kind === 'list' || value.kind === 'tuple') return !value.rest
  return false
}

function raiseMissingItem(rt: Runtime, value: Value, key: Value): void {
  if (isDict(value)) raiseMissingKey(rt, value, key)
  else if (typeof key === 'bigint')
    raiseIfCertain(rt, 'IndexError', `${nameOf(value)} index out of range`)
}

function unknownItem(value: Value): Value {
  const origin = isUnknown(value) ? value.origin : 'pack'
  return makePart(`${nameOf(value)}[]`, origin, value)
}

function isFromEnd({ start, stop, step }: SliceParts): boolean {
  return (start ?? 0n) < 0n || (stop ?? 0n) < 0n || (step ?? 1n) < 0n
}

/** Index within the length, counted from the end if negative; undefined outside. */
export function indexOf(key: Value, length: number): number | undefined {
  const number = numberOf(key)
  if (typeof number !== 'bigint') return undefined
  const index = number < 0n ? number + BigInt(length) : number
  return index < 0n || index >= BigInt(length) ? undefined : Number(index)
}

/** The parts of a slice of ints; undefined if the key is no slice, or one with other parts. */
export function sliceParts(key: Value): SliceParts | undefined {
  if (!isSlice(key)) return undefined
  const [start, stop, step] = [partOf(key.start), partOf(key.stop), partOf(key.step)]
  if (start === null || stop === null || step === null) return undefined
  return { start, stop, step }
}

function partOf(value: Value): bigint | undefined | null {
  if (value === null) return undefined
  const number = numberOf(value)
  return typeof number === 'bigint' ? number : null
}
