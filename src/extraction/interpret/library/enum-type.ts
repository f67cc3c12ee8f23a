import { isBase, isClass, isDict, isInstanceValue, isObject, isSequence } from '../values/guards.ts'
import { payloadOf, textOf } from '../values/payload.ts'
import { equals } from '../operate/compare.ts'
import { raiseIfExpected } from '../operate/raise.ts'
import { getEntry } from '../operate/mapping.ts'
import { readItems } from '../operate/iterate.ts'
import { callMethod } from '../operate/call.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { makeClass, newClass } from '../operate/make-class.ts'
import { makeEmptyDict, makeItemsIterator, makeList } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Kwargs, NativeCall, Value } from '../values/value.ts'
import { addMembers, isMemberName } from './enum-make.ts'
import { findByValue, membersOf, uniqueMembers } from './enum-lookup.ts'

/** The metaclass of enums: makes members of a class body, and finds them by name and value. */
export const makeEnumType = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'EnumType',
    module: 'enum',
    bases: [rt.builtinClass('type')],
    construct,
    methods: METHODS,
    properties: {
      __members__: (_rt, cls) => (isClass(cls) ? membersOf(cls) : undefined),
    },
  })

/** A class statement: names of the body are members unless they are methods or have underscores around. */
const construct = (
  rt: Runtime,
  metaclass: ClassValue,
  [nameValue, bases, body]: Value[],
  kwargs: Kwargs,
): Value | undefined => {
  const [name, dict, list] = [textOf(nameValue), payloadOf(body), payloadOf(bases)]
  if (name === undefined || !isDict(dict) || !isSequence(list)) return undefined
  const namespace = new Map<string, Value>()
  const members: [string, Value][] = []
  for (const [key, value] of dict.values) {
    if (typeof key !== 'string') continue
    if (isMemberName(key) && !isDescriptor(rt, value)) members.push([key, value])
    else namespace.set(key, value)
  }
  namespace.set('_member_map_', makeEmptyDict())
  namespace.set('_member_names_', makeList([]))
  const own = new Map([...kwargs].filter(([key]) => key !== 'boundary'))
  const real = list.items.filter(isBase)
  const cls = newClass(rt, { metaclass, name, bases: real, namespace, kwargs: own })
  if (isClass(cls)) addMembers(rt, cls, members)
  return cls
}

const isDescriptor = (rt: Runtime, value: Value): boolean => {
  if (!isObject(value)) return false
  if (['function', 'property', 'classmethod', 'staticmethod'].includes(value.kind)) return true
  return isInstanceValue(value) && findInClass(rt, value.cls, '__get__') !== undefined
}

/** `Color(1)` finds a member; `Enum('Color', 'RED GREEN')` makes an enum. */
const call: NativeCall = (rt, [cls, value, names], kwargs) => {
  if (!isClass(cls) || value === undefined) return undefined
  const members = uniqueMembers(cls)
  const given = names ?? kwargs.get('names')
  if (members.length === 0 && given !== undefined) return makeFromNames(rt, cls, value, given)
  return findByValue(rt, cls, value)
}

/** Names are one text, a list of texts or of pairs, or a mapping; values count from 1. */
const makeFromNames = (
  rt: Runtime,
  base: ClassValue,
  nameValue: Value,
  names: Value,
): Value | undefined => {
  const name = textOf(nameValue)
  const text = textOf(names)
  if (name === undefined) return undefined
  const items = text === undefined ? itemsOf(rt, names) : text.split(/[\s,]+/).filter(Boolean)
  if (items === undefined) return undefined
  const namespace = new Map<string, Value>()
  for (const [at, item] of items.entries()) {
    const [key, value = BigInt(at + 1)] = isSequence(item) ? item.items : [item]
    const keyText = textOf(key)
    if (keyText !== undefined) namespace.set(keyText, value)
  }
  return makeClass(rt, name, [base], namespace, { module: rt.state.scope.module.name })
}

const itemsOf = (rt: Runtime, names: Value): Value[] | undefined => {
  const pairs = isDict(payloadOf(names)) ? callMethod(rt, names, 'items', []) : names
  const { items, rest } = pairs === undefined ? { items: [], rest: true } : readItems(rt, pairs)
  return rest ? undefined : items
}

const METHODS: Record<string, NativeCall> = {
  __init__: () => null,
  __call__: call,
  __iter__: (_rt, [cls]) =>
    isClass(cls) ? makeItemsIterator('generator', uniqueMembers(cls)) : undefined,
  __reversed__: (_rt, [cls]) =>
    isClass(cls) ? makeList(uniqueMembers(cls).toReversed()) : undefined,
  __len__: (_rt, [cls]) => (isClass(cls) ? BigInt(uniqueMembers(cls).length) : undefined),
  __bool__: () => true,
  __getitem__: (rt, [cls, name]) => {
    if (!isClass(cls) || name === undefined) return undefined
    return getEntry(rt, membersOf(cls), name) ?? raiseIfExpected(rt, 'KeyError', 'no such member')
  },
  /** A member, or since Python 3.12 the value of one. */
  __contains__: (rt, [cls, value]) => {
    if (!isClass(cls) || value === undefined) return undefined
    let answer: boolean | undefined = false
    for (const member of uniqueMembers(cls)) {
      if (member === value) return true
      const same = equals(rt, member.attributes.get('_value_') ?? null, value)
      if (same === true) return true
      if (same === undefined) answer = undefined
    }
    return answer
  },
}
