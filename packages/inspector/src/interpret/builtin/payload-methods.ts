import { words } from '../../words.ts'
import { getItem } from '../operate/item.ts'
import { iterate, lengthOfValue } from '../operate/iterate.ts'
import { contains } from '../operate/membership.ts'
import { deleteItem, setItem } from '../operate/set-item.ts'
import { reprOf, strOf } from '../operate/text-of.ts'
import { ifKnown, NOT_IMPLEMENTED } from '../values/make-value.ts'
import { payloadOf } from '../values/read-value.ts'
import type { NativeCall, Value } from '../types.ts'

/**
 * Special methods of builtin types, for code that calls them by name: `super().__setitem__(key, value)`. They work on
 * the content, so that a method of a subclass never calls itself.
 */
const self = (args: readonly Value[]): Value => payloadOf(args[0] ?? null)

/** Special methods that nobody calls by name; their results are unknown. */
const UNCALLED = words(`
  __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __format__ __hash__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__
  __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __lshift__ __rshift__
  __or__ __ror__ __and__ __rand__ __xor__ __rxor__ __reversed__`)

export const VALUE_METHODS: Record<string, NativeCall> = {
  ...Object.fromEntries(UNCALLED.map((name) => [name, () => undefined])),
  __str__: (rt, args) => strOf(rt, self(args)),
  __repr__: (rt, args) => reprOf(rt, self(args)),
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

/** Comparisons as `object` has them: by identity. */
export const IDENTITY_METHODS: Record<string, NativeCall> = {
  __eq__: (_, [a, b]) => (a === b ? true : NOT_IMPLEMENTED),
  __ne__: (_, [a, b]) => (a === b ? false : NOT_IMPLEMENTED),
}
