import { callSpecial } from '../run-code.ts'
import { hasUnknownBase } from './class-lookup.ts'
import { isClass, isObject, isTuple, isUnknown } from '../values/read-value.ts'
import { agreed, truthOf } from './truth.ts'
import type { BaseValue, ObjectValue, Runtime, Truth, UnknownValue, Value } from '../types.ts'
import { makeUnknown } from '../values/make-value.ts'

/** `cls` may be a class, an unknown, or a tuple (or `A | B`) of them. */
export function isInstance(rt: Runtime, value: Value, cls: Value): Truth {
  if (isTuple(cls)) return anyOf(cls, (item) => isInstance(rt, value, item))
  const own = asksItself(rt, '__instancecheck__', value, cls)
  if (own !== undefined) return truthOf(rt, own)
  if (isUnknown(value) && !value.isModule)
    return cls === rt.builtinClass('object') ? true : undefined
  return isBelow(typeOf(rt, value), cls)
}

export function isSubclass(rt: Runtime, value: Value, cls: Value): Truth {
  if (isTuple(cls)) return anyOf(cls, (item) => isSubclass(rt, value, item))
  const own = asksItself(rt, '__subclasscheck__', value, cls)
  if (own !== undefined) return truthOf(rt, own)
  if (isUnknown(value)) return cls === rt.builtinClass('object') ? true : undefined
  // Python raises for what is no class.
  return isClass(value) ? isBelow(value, cls) : undefined
}

function asksItself(rt: Runtime, method: string, value: Value, cls: Value): Value | undefined {
  return isClass(cls) ? callSpecial(rt, cls, method, [value]) : undefined
}

function isBelow(made: BaseValue, cls: Value): Truth {
  if (!isObject(cls)) return undefined
  if (made.kind === 'unknown') return undefined
  if (cls.kind === 'unknown') return isBelowUnknown(made.mro, cls)
  if (cls.kind !== 'class') return undefined
  if (cls.oneOf) return agreed(cls.oneOf.map((one) => isBelow(made, one)))
  if (made.mro.includes(cls)) return true
  return hasUnknownBase(made) ? undefined : false
}

function anyOf(classes: { items: Value[]; rest: boolean }, test: (cls: Value) => Truth): Truth {
  let decided: Truth = classes.rest ? undefined : false
  for (const cls of classes.items) {
    const own = test(cls)
    if (own === true) return true
    if (own === undefined) decided = undefined
  }
  return decided
}

/** Modules of the library whose abstract classes hold for classes that have them not among their bases. */
const ABSTRACT = /^(collections\.abc|contextlib|io|numbers|os|typing)\./

/** Decides against an unknown class: a class whose bases are all known is no subclass of one from elsewhere. */
function isBelowUnknown(order: BaseValue[], cls: UnknownValue): Truth {
  const unknown = order.filter(isUnknown)
  if (unknown.some((base) => base.name === cls.name)) return true
  const isOpen = cls.origin === 'pack' || ABSTRACT.test(cls.name)
  return unknown.length > 0 || isOpen ? undefined : false
}

/** `type(value)`. */
export function typeOf(rt: Runtime, value: Value): BaseValue {
  switch (typeof value) {
    case 'string':
      return rt.builtinClass('str')
    case 'boolean':
      return rt.builtinClass('bool')
    case 'bigint':
      return rt.builtinClass('int')
    case 'number':
      return rt.builtinClass('float')
    default:
      return value === null ? rt.builtinClass('NoneType') : typeOfObject(rt, value)
  }
}

function typeOfObject(rt: Runtime, value: ObjectValue): BaseValue {
  switch (value.kind) {
    case 'instance':
      return value.cls
    case 'class':
      return value.metaclass
    case 'unknown':
      if (value.isModule) return rt.builtinClass('module')
      return makeUnknown(`type(${value.name})`, value.origin)
    case 'set':
      return rt.builtinClass(value.frozen ? 'frozenset' : 'set')
    case 'view':
      return rt.builtinClass(`dict_${value.of}`)
    case 'iterator':
      return rt.builtinClass(value.type)
    case 'native':
      return rt.builtinClass('builtin_function_or_method')
    case 'singleton':
      return rt.builtinClass(value.name === 'Ellipsis' ? 'ellipsis' : 'NotImplementedType')
    default:
      return rt.builtinClass(value.kind)
  }
}
