import { isClass, isFunction } from '../values/guards.ts'
import { argumentOf } from '../operate/arguments.ts'
import { typeOf } from '../operate/type-of.ts'
import { setAttribute } from '../operate/set-attribute.ts'
import { findAttribute } from '../operate/attribute.ts'
import { call, isCallable } from '../operate/call.ts'
import { readItems } from '../operate/iterate.ts'
import { makeInstance, orElse } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Value } from '../values/value.ts'
import { cacheFunction, makeCachedPropertyClass } from './functools-cache.ts'
import { makePartialClass, makePartialMethodClass } from './functools-partial.ts'
import { functionsOf } from './support/names.ts'
import { nativeState } from './support/native-state.ts'

/** `functools`. */
export const makeFunctools = (rt: Runtime): ModuleValue => {
  const partial = makePartialClass(rt)
  return nativeModule('functools', [
    ['partial', partial],
    ['partialmethod', makePartialMethodClass(rt, partial)],
    ['cached_property', makeCachedPropertyClass(rt)],
    ['singledispatch', nativeFunction('functools.singledispatch', singleDispatch(rt))],
    ...functionsOf('functools', FUNCTIONS),
  ])
}

const reduce: NativeCall = (rt, [combine, source, initial]) => {
  if (combine === undefined || source === undefined) return undefined
  const { items, rest } = readItems(rt, source)
  if (rest) return undefined
  let sum = initial
  for (const item of items) sum = sum === undefined ? item : call(rt, combine, [sum, item])
  return sum
}

const WRAPPED_NAMES = ['__module__', '__name__', '__qualname__', '__doc__']

/** `update_wrapper(wrapper, wrapped)`: the wrapper answers by the names of what it wraps. */
const updateWrapper: NativeCall = (rt, args, kwargs) => {
  const wrapper = argumentOf(args, kwargs, 0, 'wrapper')
  const wrapped = argumentOf(args, kwargs, 1, 'wrapped')
  if (wrapper === undefined || wrapped === undefined) return wrapper
  for (const name of WRAPPED_NAMES) {
    const value = findAttribute(rt, wrapped, name)
    if (value !== undefined) setAttribute(rt, wrapper, name, value)
  }
  if (isFunction(wrapped)) {
    for (const [name, value] of wrapped.attributes) setAttribute(rt, wrapper, name, value)
  }
  setAttribute(rt, wrapper, '__wrapped__', wrapped)
  return wrapper
}

const wraps: NativeCall = (_rt, args, kwargs) => {
  const wrapped = argumentOf(args, kwargs, 0, 'wrapped')
  if (wrapped === undefined) return undefined
  return nativeFunction('functools.wraps()', (rt, [wrapper]) =>
    wrapper === undefined ? undefined : updateWrapper(rt, [wrapper, wrapped], new Map()),
  )
}

/** `lru_cache` with and without arguments, `cache`. */
const cache: NativeCall = (rt, [target]) => {
  if (target !== undefined && isCallable(target) === true) return cacheFunction(rt, target)
  return nativeFunction('functools.lru_cache()', (rt, [inner]) =>
    inner === undefined ? undefined : cacheFunction(rt, inner),
  )
}

/** The implementation registered for the class of the first argument, or else the function itself. */
const singleDispatch = (rt: Runtime): NativeCall => {
  const cls = nativeClass(rt, {
    name: 'singledispatch',
    module: 'functools',
    methods: { __call__: dispatch, register },
  })
  return (_rt, [target]) =>
    target === undefined
      ? undefined
      : makeInstance(cls, undefined, DISPATCHER.wrap({ target, byClass: new Map() }))
}

interface Dispatcher {
  target: Value
  byClass: Map<ClassValue, Value>
}

const DISPATCHER = nativeState<Dispatcher>('functools.singledispatch')

const dispatch: NativeCall = (rt, [self, ...args], kwargs) => {
  const dispatcher = DISPATCHER.of(self)
  const [first] = args
  if (dispatcher === undefined || first === undefined) return undefined
  const type = typeOf(rt, first)
  if (type.kind === 'unknown') return undefined
  const cls = type.mro.filter(isClass).find((base) => dispatcher.byClass.has(base))
  const target = cls === undefined ? dispatcher.target : dispatcher.byClass.get(cls)
  return call(
    rt,
    orElse(target, () => dispatcher.target),
    args,
    kwargs,
  )
}

/** As a decorator `register(cls)`, as a call `register(cls, function)`. Annotated functions are taken as they are. */
const register: NativeCall = (_rt, [self, cls, target]) => {
  const dispatcher = DISPATCHER.of(self)
  if (dispatcher === undefined || !isClass(cls)) return cls
  if (target !== undefined) {
    dispatcher.byClass.set(cls, target)
    return target
  }
  return nativeFunction('functools.singledispatch.register()', (_rt, [decorated = null]) => {
    dispatcher.byClass.set(cls, decorated)
    return decorated
  })
}

const FUNCTIONS: Record<string, NativeCall> = {
  reduce,
  wraps,
  update_wrapper: updateWrapper,
  lru_cache: cache,
  cache,
}
