import { isSet, payloadOf } from '../values/read-value.ts'
import { asNew, makeSet } from '../operate/mapping.ts'
import { readItems } from '../operate/iterate.ts'
import {
  CONTAINER_METHODS,
  ITEM_METHODS,
  SEQUENCE_METHODS,
  STORE_METHODS,
  VALUE_METHODS,
} from './payload-methods.ts'
import { FINDING_METHODS, LIST_METHODS } from './list-methods.ts'
import { FROZENSET_METHODS, SET_METHODS } from './set-methods.ts'
import { inheritUndecided, makeEmptyDict, makeList, makeTuple } from '../values/make-value.ts'
import type { Definition, NativeClass } from '../values/native.ts'
import { DICT_METHODS, dictFromKeys } from './dict-methods.ts'
import { wrap } from './number-classes.ts'

const LIST: Definition = {
  name: 'list',
  payload: 'list',
  construct: (rt, cls, [value]) => {
    if (cls.module !== 'builtins') return wrap(rt, cls, makeList([]))
    if (value === undefined) return makeList([])
    const { items, rest } = readItems(rt, value)
    if (!rt.budget.allowItems(items.length)) return undefined
    return inheritUndecided(makeList(items, rest), payloadOf(value))
  },
  methods: {
    ...SEQUENCE_METHODS,
    ...STORE_METHODS,
    ...LIST_METHODS,
  },
  attributes: { __hash__: null },
}

const TUPLE: Definition = {
  name: 'tuple',
  payload: 'tuple',
  construct: (rt, cls, [value]) => {
    if (value === undefined) return wrap(rt, cls, makeTuple([]))
    const { items, rest } = readItems(rt, value)
    if (!rt.budget.allowItems(items.length)) return undefined
    return wrap(rt, cls, inheritUndecided(makeTuple(items, rest), payloadOf(value)))
  },
  methods: {
    ...SEQUENCE_METHODS,
    ...FINDING_METHODS,
  },
}

const DICT: Definition = {
  name: 'dict',
  payload: 'dict',
  construct: (rt, cls, args, kwargs) => {
    const dict = makeEmptyDict()
    if (cls.module !== 'builtins') return wrap(rt, cls, dict)
    DICT_METHODS['update']?.(rt, [dict, ...args], kwargs)
    return rt.budget.allowItems(dict.values.size) ? asNew(rt, dict) : undefined
  },
  methods: {
    ...VALUE_METHODS,
    ...CONTAINER_METHODS,
    ...ITEM_METHODS,
    ...STORE_METHODS,
    ...DICT_METHODS,
  },
  classMethods: { fromkeys: dictFromKeys },
  attributes: { __hash__: null },
}

const constructSet =
  (frozen: boolean): NonNullable<NativeClass['construct']> =>
  (rt, cls, [value]) => {
    if (value === undefined || (cls.module !== 'builtins' && !frozen))
      return wrap(rt, cls, makeSet(rt, [], frozen))
    const { items, rest } = readItems(rt, value)
    const set = makeSet(rt, items, frozen)
    if (rest && isSet(set)) set.rest = true
    return rt.budget.allowItems(items.length) ? wrap(rt, cls, set) : undefined
  }

const ANY_SET_METHODS = {
  ...VALUE_METHODS,
  ...CONTAINER_METHODS,
}

const SET: Definition = {
  name: 'set',
  payload: 'set',
  construct: constructSet(false),
  methods: {
    ...ANY_SET_METHODS,
    ...SET_METHODS,
  },
  attributes: { __hash__: null },
}

const FROZENSET: Definition = {
  name: 'frozenset',
  payload: 'set',
  construct: constructSet(true),
  methods: { ...ANY_SET_METHODS, ...FROZENSET_METHODS },
}

export const CONTAINER_CLASSES = [LIST, TUPLE, DICT, SET, FROZENSET]
