import { compareBy } from '../evaluate/comparison.ts'
import { augment } from '../execute/assignment.ts'
import { hashKey } from '../operate/hash-key.ts'
import { getItem } from '../operate/item.ts'
import { iterate, lengthOfValue } from '../operate/iterate.ts'
import { contains } from '../operate/membership.ts'
import { binary } from '../operate/operator.ts'
import { deleteItem, setItem } from '../operate/set-item.ts'
import { formatValue, reprOf, strOf } from '../operate/text-of.ts'
import { ifKnown, NOT_IMPLEMENTED } from '../values/make-value.ts'
import { payloadOf } from '../values/read-value.ts'
import type { NativeCall, Value } from '../types.ts'
import type { CompareOperator } from '../../python/ast.ts'

/**
 * Special methods of builtin types, for code that calls them by name: `super().__setitem__(key, value)`. They work on
 * the content, so that a method of a subclass never calls itself.
 */
const self = (args: readonly Value[]): Value => payloadOf(args[0] ?? null)

const comparing =
  (op: CompareOperator): NativeCall =>
  (rt, args) =>
    compareBy(rt, op, self(args), payloadOf(args[1] ?? null))

const operating =
  (op: string): NativeCall =>
  (rt, args) =>
    binary(rt, op, self(args), payloadOf(args[1] ?? null))

const reflected =
  (op: string): NativeCall =>
  (rt, args) =>
    binary(rt, op, payloadOf(args[1] ?? null), self(args))

const augmenting =
  (op: string): NativeCall =>
  (rt, args) => {
    augment(rt, op, self(args), args[1] ?? null)
    return args[0]
  }

export const COMPARING_METHODS: Record<string, NativeCall> = {
  __eq__: comparing('=='),
  __ne__: comparing('!='),
}

export const ORDERING_METHODS: Record<string, NativeCall> = {
  __lt__: comparing('<'),
  __le__: comparing('<='),
  __gt__: comparing('>'),
  __ge__: comparing('>='),
}

export const VALUE_METHODS: Record<string, NativeCall> = {
  ...COMPARING_METHODS,
  __str__: (rt, args) => strOf(rt, self(args)),
  __repr__: (rt, args) => reprOf(rt, self(args)),
  __format__: (rt, args) => {
    const [, spec] = args
    return typeof spec === 'string' ? formatValue(rt, self(args), spec) : undefined
  },
  __hash__: (rt, args) => {
    const hash = hashKey(rt, self(args))
    return typeof hash === 'bigint' ? hash : undefined
  },
}

export const CONTAINER_METHODS: Record<string, NativeCall> = {
  __len__: (rt, args) => ifKnown(lengthOfValue(rt, self(args)), BigInt),
  __iter__: (rt, args) => iterate(rt, self(args)),
  __contains__: (rt, args) => contains(rt, self(args), args[1] ?? null),
}

export const ITEM_METHODS: Record<string, NativeCall> = {
  __getitem__: (rt, args) => getItem(rt, self(args), args[1] ?? null),
}

/** Methods that texts, bytes, lists and tuples share. */
export const SEQUENCE_METHODS = {
  ...VALUE_METHODS,
  ...ORDERING_METHODS,
  ...CONTAINER_METHODS,
  ...ITEM_METHODS,
}

export const STORE_METHODS: Record<string, NativeCall> = {
  __setitem__: (rt, args) => {
    setItem(rt, self(args), args[1] ?? null, args[2] ?? null)
    return null
  },
  __delitem__: (rt, args) => {
    deleteItem(rt, self(args), args[1] ?? null)
    return null
  },
}

/** Operators by the name in their methods: `{ add: '+' }`. */
type Operators = Record<string, string>

export const SET_OPERATORS: Operators = { or: '|', and: '&', sub: '-', xor: '^' }

/** `__add__`, `__radd__` and so on for the operators of a type. */
export function operatorMethods(ops: Operators): Record<string, NativeCall> {
  return Object.fromEntries(
    Object.entries(ops).flatMap(([name, op]): [string, NativeCall][] => [
      [`__${name}__`, operating(op)],
      [`__r${name}__`, reflected(op)],
    ]),
  )
}

/** `__iadd__` and so on, which change the content in place. */
export function augmentingMethods(ops: Operators): Record<string, NativeCall> {
  return Object.fromEntries(
    Object.entries(ops).map(([name, op]) => [`__i${name}__`, augmenting(op)]),
  )
}

/** Comparisons as `object` has them: by identity. */
export const IDENTITY_METHODS: Record<string, NativeCall> = {
  __eq__: (_, [a, b]) => (a === b ? true : NOT_IMPLEMENTED),
  __ne__: (_, [a, b]) => (a === b ? false : NOT_IMPLEMENTED),
}
