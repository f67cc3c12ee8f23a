import { isClass, isInstanceValue, isUnknown } from '../values/guards.ts'
import { payloadOf } from '../values/payload.ts'
import { makeDict } from '../operate/mapping.ts'
import { raiseIfExpected } from '../operate/raise.ts'
import { deleteItem, setItem } from '../operate/set-item.ts'
import { call, callMethod } from '../operate/call.ts'
import { readItems } from '../operate/iterate.ts'
import { getItem } from '../operate/item.ts'
import { contains } from '../operate/membership.ts'
import { findInClass, hasUnknownBase } from '../operate/class-lookup.ts'
import { orElse } from '../values/make-value.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Truth, Value } from '../values/value.ts'

/**
 * `collections.abc`: classes that answer `isinstance` for values of builtin types, and give the methods that a mapping
 * of the pack's own inherits.
 */
export const makeCollectionsAbc = (rt: Runtime): ModuleValue => {
  const metaclass = nativeClass(rt, {
    name: 'ABCMeta',
    module: 'abc',
    bases: [rt.builtinClass('type')],
    methods: { __instancecheck__: isInstance, register: (_rt, [, cls]) => cls },
  })
  const make = (name: string, base: ClassValue | undefined) =>
    nativeClass(rt, {
      name,
      module: 'collections.abc',
      metaclass,
      ...(base ? { bases: [base] } : {}),
      methods: name === 'Mapping' ? MAPPING : name === 'MutableMapping' ? MUTABLE_MAPPING : {},
    })
  const classes = new Map<string, ClassValue>()
  for (const [name, { base }] of Object.entries(CLASSES)) {
    classes.set(name, make(name, base === undefined ? undefined : classes.get(base)))
  }
  return nativeModule('collections.abc', classes)
}

/** Kinds of values that belong to each class, and the class it derives from. */
const CLASSES: Record<string, { base?: string; kinds: string }> = {
  Hashable: { kinds: 'str number None tuple bytes frozenset range function native class module' },
  Callable: { kinds: 'function native class method' },
  Iterable: { kinds: 'str list tuple set frozenset dict view range bytes iterator' },
  Iterator: { base: 'Iterable', kinds: 'iterator' },
  Collection: { base: 'Iterable', kinds: 'str list tuple set frozenset dict view range bytes' },
  Sequence: { base: 'Collection', kinds: 'str list tuple range bytes' },
  Set: { base: 'Collection', kinds: 'set frozenset' },
  Mapping: { base: 'Collection', kinds: 'dict' },
  MutableMapping: { base: 'Mapping', kinds: 'dict' },
}

/** Methods by which an instance of any class belongs to one of them. */
const PROTOCOLS: Record<string, string> = {
  Callable: '__call__',
  Iterable: '__iter__',
}

const isInstance: NativeCall = (rt, [cls, value]) => {
  if (!isClass(cls) || value === undefined) return undefined
  const content = payloadOf(value)
  const kinds = kindsOf(cls)
  const kind = kindOf(content)
  if (kind === 'unknown') return undefined
  if (kind !== 'instance') return kinds.includes(kind)
  return ofInstance(rt, value, cls)
}

/** None for a class that a pack derives from one of them. */
const kindsOf = (cls: ClassValue): string[] => {
  const isOurs = cls.home === 'library' && Object.hasOwn(CLASSES, cls.name)
  return isOurs ? (CLASSES[cls.name]?.kinds.split(' ') ?? []) : []
}

const ofInstance = (rt: Runtime, value: Value, cls: ClassValue): Truth => {
  if (!isInstanceValue(value)) return undefined
  if (value.cls.mro.includes(cls)) return true
  const method = Object.hasOwn(PROTOCOLS, cls.name) ? PROTOCOLS[cls.name] : undefined
  const found = method === undefined ? undefined : findInClass(rt, value.cls, method)
  if (found !== undefined) return isUnknown(found) ? undefined : true
  return hasUnknownBase(value.cls) ? undefined : false
}

const kindOf = (value: Value | undefined): string => {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'object') {
    return value.kind === 'set' && value.frozen ? 'frozenset' : value.kind
  }
  return typeof value === 'string' ? 'str' : 'number'
}

/** What a class with `__getitem__` and `__iter__` inherits. */
const MAPPING: Record<string, NativeCall> = {
  get: (rt, [self = null, key = null, fallback = null]) => {
    const known = contains(rt, self, key)
    if (known === undefined) return undefined
    return known ? getItem(rt, self, key) : fallback
  },
  keys: (rt, [self = null]) => asDict(rt, self, 'keys'),
  values: (rt, [self = null]) => asDict(rt, self, 'values'),
  items: (rt, [self = null]) => asDict(rt, self, 'items'),
  __contains__: (rt, [self = null, key = null]) => {
    const { items, rest } = readItems(rt, self)
    return contains(rt, { kind: 'list', items, rest }, key)
  },
}

const MUTABLE_MAPPING: Record<string, NativeCall> = {
  update: (rt, [self = null, source], kwargs) => {
    const dict = source === undefined ? undefined : call(rt, rt.builtinClass('dict'), [source])
    const pairs = dict === undefined ? null : callMethod(rt, dict, 'items', [])
    for (const pair of pairs ? readItems(rt, pairs).items : []) {
      const [key, value] = readItems(rt, pair).items
      if (key !== undefined && value !== undefined) setItem(rt, self, key, value)
    }
    for (const [key, value] of kwargs) setItem(rt, self, key, value)
    return null
  },
  setdefault: (rt, [self = null, key = null, fallback = null]) => {
    const known = contains(rt, self, key)
    if (known === true) return getItem(rt, self, key)
    if (known === false) setItem(rt, self, key, fallback)
    return known === undefined ? undefined : fallback
  },
  pop: (rt, [self = null, key = null, fallback]) => {
    const known = contains(rt, self, key)
    if (known === undefined) return undefined
    if (!known) return orElse(fallback, () => raiseIfExpected(rt, 'KeyError', 'missing'))
    const value = getItem(rt, self, key)
    deleteItem(rt, self, key)
    return value
  },
}

const asDict = (rt: Runtime, self: Value, of: 'keys' | 'values' | 'items'): Value => {
  const { items, rest } = readItems(rt, self)
  const dict = makeDict(
    rt,
    items.map((key) => [key, getItem(rt, self, key)]),
  )
  dict.rest ||= rest
  return { kind: 'view', of, dict }
}
