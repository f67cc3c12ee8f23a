import { IDENTITY_METHODS } from './payload-methods.ts'
import { listAttributes, lookUpPlainly } from '../operate/attribute.ts'
import { instantiate, newInstance } from '../operate/call.ts'
import { identityOf } from '../operate/hash-key.ts'
import { readItems } from '../operate/iterate.ts'
import { makeClass, newClass } from '../operate/make-class.ts'
import { makeDict } from '../operate/mapping.ts'
import { setOnClassPlainly, setPlainly } from '../operate/set-attribute.ts'
import { formatValue, reprOf } from '../operate/text-of.ts'
import { typeOf } from '../operate/is-instance.ts'
import type { ClassValue, Kwargs, PropertyValue, Runtime, Value } from '../types.ts'
import {
  isBase,
  isClass,
  isDict,
  isInstanceValue,
  isObject,
  isProperty,
  payloadOf,
} from '../values/read-value.ts'
import { makeList, makeUnknown } from '../values/make-value.ts'
import type { Definition } from '../values/native.ts'

export const OBJECT: Definition = {
  name: 'object',
  construct: (rt, cls) => newInstance(rt, cls),
  methods: {
    ...IDENTITY_METHODS,
    __init__: () => null,
    __str__: (rt, [self]) => reprOf(rt, self ?? null),
    __repr__: () => undefined,
    __hash__: (rt, [self]) => (isObject(self) ? BigInt(identityOf(rt, self)) : undefined),
    __format__: (rt, [self, spec]) =>
      typeof spec === 'string' ? formatValue(rt, payloadOf(self ?? null), spec) : undefined,
    __getattribute__: (rt, [self, name]) =>
      isInstanceValue(self) && typeof name === 'string' ? lookUpPlainly(rt, self, name) : undefined,
    __setattr__: (rt, [self, name, value]) => {
      if (!isInstanceValue(self)) return null
      if (typeof name === 'string' && value !== undefined) setPlainly(rt, self, name, value)
      return null
    },
    __delattr__: (_, [self, name]) => {
      if (!isInstanceValue(self)) return null
      if (typeof name === 'string') self.attributes.delete(name)
      return null
    },
    __dir__: (rt, [self]) => makeList(listAttributes(rt, self ?? null) ?? []),
  },
  classMethods: { __init_subclass__: () => null, __subclasshook__: () => undefined },
}

export const TYPE: Definition = {
  name: 'type',
  construct: (rt, cls, args, kwargs) => constructType(rt, cls, args, kwargs),
  methods: {
    __init__: () => null,
    __call__: (rt, [cls, ...args], kwargs) =>
      isClass(cls) ? instantiate(rt, cls, { args, kwargs, rest: false }) : undefined,
    __setattr__: (rt, [cls, name, value]) => {
      if (isClass(cls) && typeof name === 'string') setOnClassPlainly(rt, cls, name, value ?? null)
      return null
    },
    __subclasses__: (_, [cls]) => (isClass(cls) ? makeList(cls.subclasses.slice()) : undefined),
    mro: (_, [cls]) => (isClass(cls) ? makeList(cls.mro.slice()) : undefined),
    __instancecheck__: () => undefined,
  },
  classMethods: { __prepare__: (rt) => makeDict(rt, []) },
}

/** `type(value)`, `type(name, bases, namespace)`. */
function constructType(
  rt: Runtime,
  cls: ClassValue,
  args: Value[],
  kwargs: Kwargs,
): Value | undefined {
  const [first, bases, names] = args
  const isType = cls === rt.builtinClass('type')
  if (args.length === 1 && first !== undefined && isType) return typeOf(rt, first)
  const name = payloadOf(first ?? null)
  if (typeof name !== 'string') return undefined
  const namespace = namesIn(names)
  const list = bases === undefined ? [] : readItems(rt, bases).items
  if (isType) return makeClass(rt, name, list, namespace, kwargs)
  const real = list.map((base) => (isBase(base) ? base : makeUnknown('base')))
  return newClass(rt, { metaclass: cls, name, bases: real, namespace, kwargs })
}

/** The entries under text keys. */
function namesIn(value: Value | undefined): Map<string, Value> {
  const inner = payloadOf(value ?? null)
  const names = new Map<string, Value>()
  if (!isDict(inner)) return names
  for (const [key, entry] of inner.values) if (typeof key === 'string') names.set(key, entry)
  return names
}

function withPart(self: Value | undefined, part: Partial<PropertyValue>): Value | undefined {
  return isProperty(self) ? { ...self, ...part } : undefined
}

const PROPERTY: Definition = {
  name: 'property',
  construct: (_, _cls, args, kwargs) => ({
    kind: 'property',
    get: args[0] ?? kwargs.get('fget') ?? null,
    set: args[1] ?? kwargs.get('fset') ?? null,
    delete: args[2] ?? kwargs.get('fdel') ?? null,
  }),
  methods: {
    getter: (_, [self, get = null]) => withPart(self, { get }),
    setter: (_, [self, set = null]) => withPart(self, { set }),
    deleter: (_, [self, fn = null]) => withPart(self, { delete: fn }),
  },
}

const CLASSMETHOD: Definition = {
  name: 'classmethod',
  construct: (_, _cls, [fn]) => fn && { kind: 'classmethod', function: fn },
}

const STATICMETHOD: Definition = {
  name: 'staticmethod',
  construct: (_, _cls, [fn]) => fn && { kind: 'staticmethod', function: fn },
}

export const SUPER: Definition = {
  name: 'super',
  construct: (rt, _cls, args) => (args.length === 0 ? implicitSuper(rt) : makeSuper(args)),
}

/** `super()`: the class whose body defines the running method, and its first argument. */
function implicitSuper(rt: Runtime): Value | undefined {
  const scope = rt.state.scope
  const cls = scope.owner?.cls
  const object = scope.frame?.self
  return cls && object !== undefined ? makeSuper([cls, object]) : undefined
}

function makeSuper([cls, object]: readonly Value[]): Value | undefined {
  if (!isClass(cls) || object === undefined) return undefined
  return { kind: 'super', cls, object }
}

export const DESCRIPTOR_CLASSES = [PROPERTY, CLASSMETHOD, STATICMETHOD]
