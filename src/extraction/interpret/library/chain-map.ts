import { isInstanceValue, isSequence } from '../values/guards.ts'
import { iterate, lengthOfValue } from '../operate/iterate.ts'
import { contains } from '../operate/membership.ts'
import { getItem } from '../operate/item.ts'
import { call, callMethod } from '../operate/call.ts'
import { setEntry } from '../operate/mapping.ts'
import { dictEntries } from '../values/dict.ts'
import { makeEmptyDict, makeList } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, DictValue, NativeCall, Value } from '../values/value.ts'
import { dictOf } from './dict-classes.ts'

/** `collections.ChainMap`: the first mapping that has a key wins, and takes what is stored. */
export const makeChainMapClass = (rt: Runtime): ClassValue =>
  nativeClass(rt, { name: 'ChainMap', module: 'collections', methods: METHODS })

const mapsOf = (self: Value | undefined): Value[] => {
  const maps = isInstanceValue(self) ? self.attributes.get('maps') : undefined
  return isSequence(maps) ? maps.items : []
}

/** All entries, as one dict. */
const merged = (rt: Runtime, self: Value | undefined): DictValue => {
  const all = makeEmptyDict()
  for (const map of mapsOf(self).toReversed()) {
    const dict = dictOf(map)
    if (dict === undefined || dict.rest) all.rest = true
    for (const [key, value] of dict ? dictEntries(dict) : []) setEntry(rt, all, key, value)
  }
  return all
}

/** A method of dict, on all entries together. */
const ofMerged =
  (name: string): NativeCall =>
  (rt, [self, ...args], kwargs) =>
    callMethod(rt, merged(rt, self), name, args, kwargs)

const METHODS: Record<string, NativeCall> = {
  __init__: (_rt, [self, ...maps]) => {
    if (!isInstanceValue(self)) return undefined
    self.attributes.set('maps', makeList(maps.length === 0 ? [makeEmptyDict()] : maps))
    return null
  },
  __getitem__: (rt, [self, key]) =>
    key === undefined ? undefined : getItem(rt, merged(rt, self), key),
  __setitem__: (rt, [self, key, value]) => {
    const first = dictOf(mapsOf(self)[0])
    if (first && key !== undefined && value !== undefined) setEntry(rt, first, key, value)
    return null
  },
  __contains__: (rt, [self, key]) =>
    key === undefined ? undefined : contains(rt, merged(rt, self), key),
  __iter__: (rt, [self]) => iterate(rt, merged(rt, self)),
  __len__: (rt, [self]) => {
    const length = lengthOfValue(rt, merged(rt, self))
    return length === undefined ? undefined : BigInt(length)
  },
  get: ofMerged('get'),
  keys: ofMerged('keys'),
  values: ofMerged('values'),
  items: ofMerged('items'),
  new_child: (rt, [self, map = makeEmptyDict()]) =>
    isInstanceValue(self) ? call(rt, self.cls, [map, ...mapsOf(self)]) : undefined,
}
