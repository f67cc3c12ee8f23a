import { functionsOf, machineFunctions } from './support/names.ts'
import { argumentOf } from '../operate/arguments.ts'
import { findAttribute, listAttributes } from '../operate/attribute.ts'
import { call } from '../operate/call.ts'
import { truthOf } from '../operate/truth.ts'
import type { Runtime } from '../runtime.ts'
import { cleanDocstring } from '../text/docstring.ts'
import { isClass, isFunction, isMethod, isModule, isObject } from '../values/guards.ts'
import { makeList, makeTuple, orElse } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import { textOf } from '../values/payload.ts'
import type { ModuleValue, NativeCall, Truth, Value } from '../values/value.ts'

/** `inspect`: kinds and members of objects. Signatures, sources and frames are unknown. */
export const makeInspect = (): ModuleValue =>
  nativeModule('inspect', [
    ...Object.entries(PREDICATES).map(([name, holds]) => predicate(name, holds)),
    ...functionsOf('inspect', {
      getmembers,
      getdoc,
      cleandoc: (_rt, [doc]) => {
        const text = textOf(doc)
        return text === undefined ? undefined : cleanDocstring(text)
      },
      getmodule: (rt, [object]) => moduleOf(rt, object),
      getfile: (rt, [object]) => fileOf(rt, object),
      getsourcefile: (rt, [object]) => fileOf(rt, object),
      getmro: (_rt, [cls]) => (isClass(cls) ? makeTuple(cls.mro.slice()) : undefined),
    }),
    ...machineFunctions('inspect', 'stack currentframe getouterframes'),
  ])

/** Kinds of an object; undefined where it is unknown. */
const PREDICATES: Record<string, (value: Value) => boolean> = {
  isclass: (value) => isClass(value),
  isfunction: (value) => isFunction(value),
  ismodule: (value) => hasKind(value, ['module']),
  ismethod: (value) => hasKind(value, ['method']) && !isOfNative(value),
  isroutine: (value) => hasKind(value, ['function', 'native', 'method']),
  iscoroutinefunction: (value) => isFunction(value) && isAsync(value),
  isawaitable: () => false,
}

const predicate = (name: string, holds: (value: Value) => boolean) =>
  functionsOf('inspect', {
    [name]: (_rt, args, kwargs) => {
      const value = orElse(argumentOf(args, kwargs, 0, 'object'), () => kwargs.get('obj'))
      return value === undefined || hasKind(value, ['unknown']) ? undefined : holds(value)
    },
  }).at(0) ?? ([name, null] as const)

const hasKind = (value: Value, kinds: readonly string[]): boolean =>
  isObject(value) && kinds.includes(value.kind)

const isOfNative = (value: Value): boolean => isMethod(value) && hasKind(value.function, ['native'])

const isAsync = (value: Value): boolean =>
  isFunction(value) && value.node.kind === 'FunctionDef' && value.node.isAsync

/** Sorted by name. A member whose test can't be decided is kept. */
const getmembers: NativeCall = (rt, args, kwargs) => {
  const object = argumentOf(args, kwargs, 0, 'object')
  const test = argumentOf(args, kwargs, 1, 'predicate') ?? null
  const names = object === undefined ? undefined : listAttributes(rt, object)
  if (object === undefined || names === undefined) return undefined
  rt.budget.step(names.length)
  const members = names.flatMap((name) => {
    const value = memberOf(rt, object, name)
    if (value === undefined || (test !== null && isRefused(rt, test, value))) return []
    return [makeTuple([name, value])]
  })
  const isWhole = !isModule(object) || object.complete
  return makeList(members, !isWhole)
}

const memberOf = (rt: Runtime, object: Value, name: string): Value | undefined => {
  if (isModule(object)) return object.namespace.get(name)
  return findAttribute(rt, object, name)
}

const isRefused = (rt: Runtime, test: Value, value: Value): boolean => {
  const answer: Truth = truthOf(rt, call(rt, test, [value]))
  return answer === false
}

/** The docstring without indentation, inherited from a base if there is none. */
const getdoc: NativeCall = (rt, [object]) => {
  if (object === undefined) return undefined
  if (isClass(object)) {
    for (const base of object.mro) {
      const doc = base.kind === 'class' ? base.namespace.get('__doc__') : undefined
      if (typeof doc === 'string') return cleanDocstring(doc)
    }
    return null
  }
  const doc = findAttribute(rt, object, '__doc__')
  if (doc === null) return null
  const text = textOf(doc)
  return text === undefined ? undefined : cleanDocstring(text)
}

const moduleOf = (rt: Runtime, object: Value | undefined): Value | undefined => {
  if (object === undefined || isModule(object)) return object
  const name = textOf(findAttribute(rt, object, '__module__'))
  return name === undefined ? undefined : rt.modules.get(name)
}

const fileOf = (rt: Runtime, object: Value | undefined): Value | undefined => {
  const module = moduleOf(rt, object)
  return isModule(module) ? module.file : undefined
}
