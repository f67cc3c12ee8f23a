import { pythonModule } from './python-module.ts'
import { findAttribute, listAttributes } from '../operate/attribute.ts'
import type { Runtime } from '../runtime.ts'
import { isFunction, isModule, isUnknown } from '../values/guards.ts'
import { makeList, makeTuple } from '../values/make-value.ts'
import { nativeFunction } from '../values/native.ts'
import type { NativeCall, Value } from '../values/value.ts'

/** Names and values, sorted by name. */
const getmembers: NativeCall = (rt, [object]) => {
  const names = object === undefined ? undefined : listAttributes(rt, object)
  if (object === undefined || names === undefined) return undefined
  rt.budget.step(names.length)
  const members = names.flatMap((name) => {
    const value = memberOf(rt, object, name)
    return value === undefined ? [] : [makeTuple([name, value])]
  })
  return makeList(members, isModule(object) && !object.complete)
}

const memberOf = (rt: Runtime, object: Value, name: string): Value | undefined => {
  if (isModule(object)) return object.namespace.get(name)
  return findAttribute(rt, object, name)
}

const iscoroutinefunction: NativeCall = (_rt, [value]) => {
  if (value === undefined || isUnknown(value)) return undefined
  return isFunction(value) && value.node.kind === 'FunctionDef' && value.node.isAsync
}

/** `inspect`: kinds and members of objects. */
export const makeInspect = pythonModule('inspect', () => [
  ['_members', nativeFunction('inspect.getmembers', getmembers)],
  ['iscoroutinefunction', nativeFunction('inspect.iscoroutinefunction', iscoroutinefunction)],
])
