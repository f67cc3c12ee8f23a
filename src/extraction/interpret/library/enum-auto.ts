import { isInstanceValue } from '../values/guards.ts'
import { binary } from '../operate/operator.ts'
import { makeInstance, orElse } from '../values/make-value.ts'
import { nativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, NativeCall, Value } from '../values/value.ts'
import { nativeState } from './support/native-state.ts'

/** `A | B` of two `auto()` in a class body, whose values are given out when the body is read. */
interface Combined {
  operator: string
  left: Value
  right: Value
}

const COMBINED = nativeState<Combined>('enum.auto')

/** `enum.auto`. Python gives its value at once; here it can be combined until the class is made. */
export const makeAutoClass = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'auto',
    module: 'enum',
    methods: {
      __or__: combining('|'),
      __ror__: combining('|'),
      __and__: combining('&'),
      __rand__: combining('&'),
      __xor__: combining('^'),
      __rxor__: combining('^'),
    },
  })

export const isAuto = (value: Value): boolean =>
  isInstanceValue(value) && value.cls.home === 'library' && value.cls.name === 'auto'

/** The value an `auto()` stands for: one it got before, what it combines, or the next. */
export const resolveAuto = (
  rt: Runtime,
  auto: Value,
  resolved: Map<Value, Value>,
  next: () => Value,
): Value => {
  const known = resolved.get(auto)
  if (known !== undefined) return known
  const combined = COMBINED.of(auto)
  const part = (value: Value) => orElse(resolved.get(value), () => value)
  const value =
    combined === undefined
      ? next()
      : binary(rt, combined.operator, part(combined.left), part(combined.right))
  resolved.set(auto, value)
  return value
}

const combining =
  (operator: string): NativeCall =>
  (_rt, [self = null, other = null]) =>
    isInstanceValue(self)
      ? makeInstance(self.cls, undefined, COMBINED.wrap({ operator, left: self, right: other }))
      : undefined
