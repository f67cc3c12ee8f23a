import { makeInstance } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Value } from '../values/value.ts'

/** The value itself for the builtin class, an instance that holds it for a subclass. */
export function wrap(rt: Runtime, cls: ClassValue, value: Value | undefined): Value | undefined {
  if (value === undefined || cls.module === 'builtins') return value
  return rt.budget.allowItems(1) ? makeInstance(cls, value) : undefined
}
