import { isDict } from '../values/guards.ts'
import { countOf, numberOf } from '../values/payload.ts'
import { getEntry, setEntry } from '../operate/mapping.ts'
import { readItems } from '../operate/iterate.ts'
import { dictEntries } from '../values/dict.ts'
import { makeList, makeTuple, makeUnknown } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, DictValue, Kwargs, NativeCall, Value } from '../values/value.ts'
import { dictOf, makeDictClass } from './dict-classes.ts'

/** `collections.Counter`. */
export const makeCounterClass = (rt: Runtime): ClassValue =>
  makeDictClass(rt, {
    name: 'Counter',
    methods: {
      __init__: counting(1n),
      update: counting(1n),
      subtract: counting(-1n),
      // Counts are not stored for what is only asked for.
      __missing__: () => 0n,
      most_common: mostCommon,
      total: (_rt, [self]) => {
        const dict = dictOf(self)
        return (
          dict &&
          [...dict.values.values()].reduce<bigint>(
            (sum, value) => sum + BigInt(countOf(value) ?? 0),
            0n,
          )
        )
      },
    },
  })

/** Adds what an iterable holds, each once, or the counts of a mapping and of keywords. */
const counting =
  (sign: bigint): NativeCall =>
  (rt, [self, source], kwargs) => {
    const dict = dictOf(self)
    if (dict === undefined) return undefined
    const counts = source === undefined || source === null ? undefined : dictOf(source)
    if (counts !== undefined) addCounts(rt, dict, dictEntries(counts), sign)
    else if (source !== undefined && source !== null) addItems(rt, dict, source, sign)
    addCounts(rt, dict, [...(kwargs satisfies Kwargs)], sign)
    return null
  }

const addItems = (rt: Runtime, dict: DictValue, source: Value, sign: bigint): void => {
  const { items, rest } = readItems(rt, source)
  addCounts(
    rt,
    dict,
    items.map((item) => [item, 1n]),
    sign,
  )
  if (rest) dict.rest = true
}

const addCounts = (
  rt: Runtime,
  dict: DictValue,
  counts: readonly (readonly [Value, Value])[],
  sign: bigint,
): void => {
  for (const [key, count] of counts) {
    const before = numberOf(getEntry(rt, dict, key) ?? 0n)
    const sum = before === undefined ? undefined : addNumbers(before, numberOf(count), sign)
    setEntry(rt, dict, key, sum ?? makeUnknown('collections.Counter[]'))
  }
}

const addNumbers = (
  a: bigint | number,
  b: bigint | number | undefined,
  sign: bigint,
): Value | undefined => {
  if (b === undefined) return undefined
  return typeof a === 'bigint' && typeof b === 'bigint'
    ? a + sign * b
    : Number(a) + Number(sign) * Number(b)
}

/** From the highest count down; equal ones in the order in which they came. */
const mostCommon: NativeCall = (rt, [self, count], kwargs) => {
  const dict = dictOf(self)
  if (dict === undefined || !isDict(dict)) return undefined
  const entries = dictEntries(dict)
  const counts = entries.map(([, value]) => numberOf(value))
  if (counts.includes(undefined)) return undefined
  rt.budget.step(entries.length)
  const sorted = entries.toSorted(
    ([, a], [, b]) => Number(numberOf(b) ?? 0) - Number(numberOf(a) ?? 0),
  )
  const most = countOf(count ?? kwargs.get('n') ?? null)
  return makeList(
    sorted.slice(0, most).map((pair) => makeTuple(pair)),
    dict.rest,
  )
}
