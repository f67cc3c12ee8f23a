import { makeUnknown } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { BaseValue, ObjectValue, Value } from '../values/value.ts'

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
