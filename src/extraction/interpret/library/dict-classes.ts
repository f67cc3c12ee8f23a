import { isDict, isInstanceValue } from '../values/guards.ts'
import { flagOf } from '../operate/arguments.ts'
import { payloadOf } from '../values/payload.ts'
import { hashKey } from '../operate/hash-key.ts'
import { getEntry, makeDict, setEntry } from '../operate/mapping.ts'
import { raiseIfExpected } from '../operate/raise.ts'
import { call } from '../operate/call.ts'
import { dictDelete, dictEntries, dictKey } from '../values/dict.ts'
import { makeEmptyDict, makeInstance, makeTuple } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, DictValue, Kwargs, NativeCall, Value } from '../values/value.ts'

/** The dict in an instance of a subclass of dict. */
export const dictOf = (value: Value | undefined): DictValue | undefined => {
  const content = payloadOf(value)
  return isDict(content) ? content : undefined
}

/** `dict.update(self, ...)`. */
const updateDict = (rt: Runtime, self: Value, args: Value[], kwargs: Kwargs): void => {
  const update = rt.builtinClass('dict').namespace.get('update')
  if (update !== undefined) call(rt, update, [self, ...args], kwargs)
}

/** A subclass of dict of the library. */
export const makeDictClass = (
  rt: Runtime,
  definition: { name: string; methods: Record<string, NativeCall>; properties?: DictProperties },
): ClassValue =>
  nativeClass(rt, {
    module: 'collections',
    bases: [rt.builtinClass('dict')],
    payload: 'dict',
    ...definition,
    methods: { ...definition.methods, copy },
  })

type DictProperties = Record<string, (rt: Runtime, self: Value) => Value | undefined>

export const makeOrderedDictClass = (rt: Runtime): ClassValue =>
  makeDictClass(rt, { name: 'OrderedDict', methods: { move_to_end: moveToEnd, popitem: popItem } })

/** A missing key calls the factory and keeps what it gives. */
export const makeDefaultDictClass = (rt: Runtime): ClassValue =>
  makeDictClass(rt, {
    name: 'defaultdict',
    methods: {
      __init__: (rt, [self, factory = null, ...args], kwargs) => {
        if (!isInstanceValue(self)) return undefined
        self.attributes.set('default_factory', factory)
        updateDict(rt, self, args, kwargs)
        return null
      },
      __missing__: (rt, [self, key]) => {
        const dict = dictOf(self)
        const factory = isInstanceValue(self) ? self.attributes.get('default_factory') : null
        if (dict === undefined || key === undefined) return undefined
        if (factory === null || factory === undefined) {
          return raiseIfExpected(rt, 'KeyError', 'missing')
        }
        const made = call(rt, factory, [])
        setEntry(rt, dict, key, made)
        return made
      },
    },
  })

/** Its content is `data` as well. */
export const makeUserDictClass = (rt: Runtime): ClassValue =>
  makeDictClass(rt, {
    name: 'UserDict',
    methods: {},
    properties: { data: (_rt, self) => dictOf(self) },
  })

/** Of the same class, with the same state. */
const copy: NativeCall = (rt, [self]) => {
  const dict = dictOf(self)
  if (dict === undefined || !isInstanceValue(self)) return undefined
  if (!rt.budget.allowItems(dict.values.size)) return undefined
  const content = makeDict(rt, dictEntries(dict))
  content.rest = dict.rest
  const made = makeInstance(self.cls, content)
  for (const [name, value] of self.attributes) made.attributes.set(name, value)
  return made
}

const moveToEnd: NativeCall = (rt, [self, key, last], kwargs) => {
  const dict = dictOf(self)
  const atEnd = flagOf(rt, last ?? kwargs.get('last'), true)
  const value = dict === undefined || key === undefined ? undefined : getEntry(rt, dict, key)
  if (dict === undefined || key === undefined || value === undefined) return null
  const others = dictEntries(dict).filter(([other]) => hashKey(rt, other) !== hashKey(rt, key))
  const moved: [Value, Value] = [key, value]
  refill(rt, dict, atEnd === false ? [moved, ...others] : [...others, moved])
  return null
}

const popItem: NativeCall = (rt, [self, last], kwargs) => {
  const dict = dictOf(self)
  const atEnd = flagOf(rt, last ?? kwargs.get('last'), true)
  if (dict === undefined || dict.rest) return undefined
  const hashes = [...dict.values.keys()]
  const hash = atEnd === false ? hashes[0] : hashes.at(-1)
  if (hash === undefined) return raiseIfExpected(rt, 'KeyError', 'dictionary is empty')
  const pair = makeTuple([dictKey(dict, hash), dict.values.get(hash) ?? null])
  dictDelete(dict, hash)
  return pair
}

const refill = (rt: Runtime, dict: DictValue, entries: readonly (readonly [Value, Value])[]) => {
  const fresh = entries.length === 0 ? makeEmptyDict() : makeDict(rt, entries)
  dict.values.clear()
  for (const [hash, value] of fresh.values) dict.values.set(hash, value)
  dict.keys = fresh.keys
}
