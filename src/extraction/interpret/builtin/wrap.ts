import { COMPARING_METHODS, TEXT_OF_METHODS } from './payload-methods.ts'
import { makeInstance } from '../values/make-value.ts'
import type { NativeClass } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Value } from '../values/value.ts'

export type Definition = Omit<NativeClass, 'module' | 'bases' | 'metaclass'>

/** The value itself for the builtin class, an instance that holds it for a subclass. */
export function wrap(rt: Runtime, cls: ClassValue, value: Value | undefined): Value | undefined {
  if (value === undefined || cls.module === 'builtins') return value
  return rt.budget.allowItems(1) ? makeInstance(cls, value) : undefined
}

export const SET_OPERATORS: [string, string][] = [
  ['or', '|'],
  ['and', '&'],
  ['sub', '-'],
  ['xor', '^'],
]

export const VALUE_METHODS = { ...COMPARING_METHODS, ...TEXT_OF_METHODS }
