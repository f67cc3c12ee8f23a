import { textOf } from '../values/payload.ts'
import { isClass, isDict, isInstanceValue, isUnknown } from '../values/guards.ts'
import { flagOf } from '../operate/arguments.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Kwargs, Value } from '../values/value.ts'
import { nativeState } from './support/native-state.ts'

/** What a dataclass knows of one field. */
export interface FieldState {
  name: string
  type: Value
  default: Value | undefined
  factory: Value | undefined
  init: boolean
  repr: boolean
  compare: boolean
  kwOnly: boolean
  /** An `InitVar`: given to `__post_init__`, and not kept. */
  initOnly: boolean
  metadata: Value | undefined
}

export const FIELD = nativeState<FieldState>('dataclasses.Field')

/** `field(...)`; name and type follow from the class. */
export const makeFieldState = (rt: Runtime, kwargs: Kwargs): FieldState => {
  const flag = (name: string) => flagOf(rt, kwargs.get(name), name !== 'kw_only') !== false
  return {
    name: '',
    type: null,
    default: kwargs.get('default'),
    factory: kwargs.get('default_factory'),
    init: flag('init'),
    repr: flag('repr'),
    compare: flag('compare'),
    kwOnly: kwargs.has('kw_only') && flag('kw_only'),
    initOnly: false,
    metadata: kwargs.get('metadata'),
  }
}

/** The `Field`s of a dataclass or of an instance of one; undefined for any other. */
export const fieldsOf = (value: Value | undefined): Value[] | undefined => {
  const cls = isInstanceValue(value) ? value.cls : value
  if (!isClass(cls)) return undefined
  for (const base of cls.mro) {
    const fields = isClass(base) ? base.namespace.get('__dataclass_fields__') : undefined
    if (isDict(fields)) return [...fields.values.values()]
  }
  return undefined
}

/** The states of those fields. */
export const fieldStatesOf = (value: Value | undefined): FieldState[] =>
  (fieldsOf(value) ?? []).map((field) => FIELD.of(field)).filter((state) => state !== undefined)

/** Fields of the bases, the last base first, then those that the class annotates; a name keeps its first place. */
export const collectFields = (rt: Runtime, cls: ClassValue, kwOnly: boolean): FieldState[] => {
  const fields = new Map<string, FieldState>()
  for (const base of cls.mro.slice(1).toReversed()) {
    if (!isClass(base) || !base.namespace.has('__dataclass_fields__')) continue
    for (const state of fieldStatesOf(base)) fields.set(state.name, state)
  }
  const annotations = cls.namespace.get('__annotations__')
  for (const [name, type] of isDict(annotations) ? annotations.values : []) {
    if (typeof name !== 'string' || isTypeNamed(type, 'ClassVar')) continue
    fields.set(name, readField(rt, cls, { name, type, kwOnly }))
  }
  return [...fields.values()]
}

const readField = (
  rt: Runtime,
  cls: ClassValue,
  { name, type, kwOnly }: { name: string; type: Value; kwOnly: boolean },
): FieldState => {
  const value = cls.namespace.get(name)
  const given = FIELD.of(value)
  const state = given ?? makeFieldState(rt, new Map())
  const initOnly = isTypeNamed(type, 'InitVar')
  if (given === undefined) {
    return { ...state, name, type, default: value, kwOnly, initOnly }
  }
  // The class shows the default, not what describes it.
  if (state.default === undefined) cls.namespace.delete(name)
  else cls.namespace.set(name, state.default)
  return { ...state, name, type, kwOnly: kwOnly || state.kwOnly, initOnly }
}

/** `ClassVar[int]`, `typing.ClassVar`, or the text of one. */
const isTypeNamed = (type: Value, name: string): boolean => {
  const text = isUnknown(type) ? type.name : (textOf(type) ?? '')
  return new RegExp(`^(?:\\w+\\.)*${name}(?:\\[|\\(|$)`).test(text)
}
