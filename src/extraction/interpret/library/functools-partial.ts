import { isInstanceValue } from '../values/guards.ts'
import { call } from '../operate/call.ts'
import { makeDict } from '../operate/mapping.ts'
import { makeInstance, makeTuple } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Kwargs, NativeCall, Value } from '../values/value.ts'
import { nativeState } from './support/native-state.ts'

/** A callable with arguments that are there already. */
interface PartialState {
  target: Value
  args: Value[]
  kwargs: Kwargs
}

const PARTIAL = nativeState<PartialState>('functools.partial')

export const makePartialClass = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'partial',
    module: 'functools',
    construct: (rt, cls, args, kwargs) => makePartial(rt, cls, args, kwargs),
    methods: { __init__: () => null, __call__: callPartial },
  })

/** On a class it becomes a method, as a function does. */
export const makePartialMethodClass = (rt: Runtime, partial: ClassValue): ClassValue =>
  nativeClass(rt, {
    name: 'partialmethod',
    module: 'functools',
    construct: (rt, cls, args, kwargs) => makePartial(rt, cls, args, kwargs),
    methods: {
      __init__: () => null,
      __get__: (rt, [self, object]) => {
        const state = PARTIAL.of(self)
        if (state === undefined || object === undefined) return undefined
        const bound = object === null ? [] : [object]
        return makePartial(rt, partial, [state.target, ...bound, ...state.args], state.kwargs)
      },
    },
  })

/** A partial of a partial is one with the arguments of both. */
const makePartial = (
  rt: Runtime,
  cls: ClassValue,
  [target, ...args]: Value[],
  kwargs: Kwargs,
): Value | undefined => {
  if (target === undefined) return undefined
  const inner = PARTIAL.of(target)
  const isPartial = isInstanceValue(target) && target.cls === cls
  const state: PartialState =
    isPartial && inner !== undefined
      ? { target: inner.target, args: [...inner.args, ...args], kwargs: join(inner.kwargs, kwargs) }
      : { target, args, kwargs }
  const partial = makeInstance(cls, undefined, PARTIAL.wrap(state))
  partial.attributes.set('func', state.target)
  partial.attributes.set('args', makeTuple(state.args))
  partial.attributes.set('keywords', makeDict(rt, state.kwargs))
  return partial
}

const callPartial: NativeCall = (rt, [self, ...args], kwargs) => {
  const state = PARTIAL.of(self)
  if (state === undefined) return undefined
  return call(rt, state.target, [...state.args, ...args], join(state.kwargs, kwargs))
}

const join = (first: Kwargs, second: Kwargs): Kwargs => new Map([...first, ...second])
