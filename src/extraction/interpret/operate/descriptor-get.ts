import { isObject } from '../values/guards.ts'
import { typeOf } from './type-of.ts'
import { bind } from './bind.ts'
import { nativeFunction } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { NativeValue, Value } from '../values/value.ts'

/** `descriptor.__get__`, called with object and type, of functions, methods and what `property` and its like make. */
export function makeGetter(descriptor: Value): NativeValue {
  return nativeFunction('__get__', (rt, [object = null, type = null]) =>
    getFrom(rt, descriptor, object, type),
  )
}

/** What is bound stays bound: a method gives itself. */
function getFrom(rt: Runtime, descriptor: Value, object: Value, type: Value): Value | undefined {
  const cls = type === null ? typeOf(rt, object) : type
  if (!isObject(cls)) return undefined
  if (cls.kind !== 'class' && cls.kind !== 'unknown') return undefined
  return bind(rt, descriptor, object === null ? undefined : object, cls)
}
