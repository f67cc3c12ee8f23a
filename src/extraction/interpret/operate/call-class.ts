import { isObject, isStaticMethod, isUnknown } from '../values/guards.ts'
import { callWith } from './call.ts'
import type { CallArguments } from '../values/call-arguments.ts'
import { findInClass, findSpecial } from './class-lookup.ts'
import { makeInstance, makeUnknown } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Value } from '../values/value.ts'

/** `cls(...)`: the metaclass's `__call__` if it has its own, else `__new__` and `__init__`. */
export function callClass(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const own = findSpecial(cls.metaclass, '__call__')
  if (own !== undefined) return callWith(rt, own, { ...call, args: [cls, ...call.args] })
  return instantiate(rt, cls, call)
}

/** `type.__call__`. */
export function instantiate(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const value = makeNew(rt, cls, call)
  if (!isObject(value)) return value
  const made = value.kind === 'instance' ? value.cls : value.kind === 'class' && value.metaclass
  if (!made || made.kind !== 'class' || !made.mro.includes(cls)) return value
  const init = findInClass(rt, made, '__init__')
  if (init !== undefined && !isUnknown(init))
    callWith(rt, init, { ...call, args: [value, ...call.args] })
  return value
}

function makeNew(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const raw = findInClass(rt, cls, '__new__')
  const maker = isStaticMethod(raw) ? raw.function : raw
  if (maker === undefined || isUnknown(maker)) return newInstance(rt, cls)
  return callWith(rt, maker, { ...call, args: [cls, ...call.args] })
}

/** `object.__new__`. */
export function newInstance(rt: Runtime, cls: ClassValue): Value {
  if (!rt.budget.allowItems(1)) return makeUnknown(`${cls.name}()`)
  return makeInstance(cls)
}
