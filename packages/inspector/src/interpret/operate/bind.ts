import { call } from '../run-code.ts'
import { findSpecial } from './class-lookup.ts'
import { typeOf } from './is-instance.ts'
import type { BaseValue, InstanceValue, NativeValue, Runtime, Value } from '../types.ts'
import { isObject, isProperty, isStaticMethod, isUnknown } from '../values/read-value.ts'
import { makeUnknown } from '../values/make-value.ts'
import { nativeFunction } from '../values/native.ts'

/**
 * Applies descriptors to an attribute found on a class. `object` is the instance; undefined when the class itself is
 * asked.
 */
export function bind(rt: Runtime, raw: Value, object: Value | undefined, cls: BaseValue): Value {
  if (!isObject(raw)) return raw
  switch (raw.kind) {
    case 'function':
      return object === undefined ? raw : { kind: 'method', function: raw, self: object }
    case 'native':
      return object === undefined || !raw.binds
        ? raw
        : { kind: 'method', function: raw, self: object }
    case 'staticmethod':
      return raw.function
    case 'classmethod':
      return bindClassMethod(rt, raw.function, cls)
    case 'property':
      if (object === undefined) return raw
      return raw.get === null ? makeUnknown('property') : call(rt, raw.get, [object])
    case 'instance':
      return bindDescriptor(rt, raw, object, cls)
    default:
      return raw
  }
}

function bindClassMethod(rt: Runtime, inner: Value, cls: BaseValue): Value {
  if (isProperty(inner)) return bind(rt, inner, cls, cls)
  if (isStaticMethod(inner)) return inner.function
  return isUnknown(inner) ? inner : { kind: 'method', function: inner, self: cls }
}

function bindDescriptor(
  rt: Runtime,
  raw: InstanceValue,
  object: Value | undefined,
  cls: BaseValue,
): Value {
  const getter = findSpecial(raw.cls, '__get__')
  return getter === undefined ? raw : call(rt, getter, [raw, object ?? null, cls])
}

/** A descriptor that also sets wins over the instance's own attribute. */
export function isDataDescriptor(raw: Value | undefined): boolean {
  if (!isObject(raw)) return false
  if (raw.kind === 'property') return true
  return raw.kind === 'instance' && findSpecial(raw.cls, '__set__') !== undefined
}

/** `descriptor.__get__`, called with object and type, of functions, methods and what `property` and its like make. */
export function makeGetter(descriptor: Value): NativeValue {
  return nativeFunction('__get__', (rt, [object = null, type = null]) =>
    getFrom(rt, descriptor, object, type),
  )
}

/** Binds a descriptor. A bound method stays bound: it gives itself. */
function getFrom(rt: Runtime, descriptor: Value, object: Value, type: Value): Value | undefined {
  const cls = type === null ? typeOf(rt, object) : type
  if (!isObject(cls)) return undefined
  if (cls.kind !== 'class' && cls.kind !== 'unknown') return undefined
  return bind(rt, descriptor, object === null ? undefined : object, cls)
}
