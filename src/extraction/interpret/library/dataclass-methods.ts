import { isInstanceValue } from '../values/guards.ts'
import { flagOf } from '../operate/arguments.ts'
import { getAttribute } from '../operate/attribute.ts'
import { reprOf } from '../operate/text-of.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import { call } from '../operate/call.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { setAttribute } from '../operate/set-attribute.ts'
import { less } from '../operate/order.ts'
import { equals } from '../operate/compare.ts'
import { NOT_IMPLEMENTED, makeTuple, makeUnknown, orElse } from '../values/make-value.ts'
import { nativeMethod } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Kwargs, NativeCall, Truth, Value } from '../values/value.ts'
import type { FieldState } from './dataclass-fields.ts'

/** Gives a dataclass the methods it asks for and does not have. */
export const addMethods = (
  rt: Runtime,
  cls: ClassValue,
  fields: readonly FieldState[],
  options: Kwargs,
): void => {
  const add = (name: string, call: NativeCall) => {
    if (!cls.namespace.has(name)) {
      cls.namespace.set(name, nativeMethod(`${cls.name}.${name}`, call))
    }
  }
  const asked = (option: string, fallback: boolean) =>
    flagOf(rt, options.get(option), fallback) !== false
  const init = fields.filter((field) => field.init)
  if (asked('init', true)) add('__init__', initialiser(cls, fields, init))
  if (asked('repr', true)) add('__repr__', representer(fields))
  if (asked('eq', true))
    add(
      '__eq__',
      comparer(fields, (a, b) => equals(rt, a, b)),
    )
  if (asked('order', false)) {
    add(
      '__lt__',
      comparer(fields, (a, b) => less(rt, a, b)),
    )
    add(
      '__gt__',
      comparer(fields, (a, b) => less(rt, b, a)),
    )
    add(
      '__le__',
      comparer(fields, (a, b) => opposite(less(rt, b, a))),
    )
    add(
      '__ge__',
      comparer(fields, (a, b) => opposite(less(rt, a, b))),
    )
  }
  const positional = init.filter((field) => !field.kwOnly).map((field) => field.name)
  if (!cls.namespace.has('__match_args__')) {
    cls.namespace.set('__match_args__', makeTuple(positional))
  }
}

const initialiser = (
  cls: ClassValue,
  fields: readonly FieldState[],
  init: readonly FieldState[],
): NativeCall => {
  const positional = init.filter((field) => !field.kwOnly)
  return (rt, [self, ...args], kwargs) => {
    if (self === undefined || !rt.budget.allowItems(fields.length)) return undefined
    const passedOn: Value[] = []
    for (const field of fields) {
      const at = positional.indexOf(field)
      const given = field.init
        ? orElse(at < 0 ? undefined : args[at], () => kwargs.get(field.name))
        : undefined
      const value = orElse(given, () => defaultOf(rt, cls, field))
      if (value === undefined) continue
      if (field.initOnly) passedOn.push(value)
      else setAttribute(rt, self, field.name, value)
    }
    const after = findInClass(rt, isInstanceValue(self) ? self.cls : cls, '__post_init__')
    if (after !== undefined) call(rt, after, [self, ...passedOn])
    return null
  }
}

/** A field that is not set by `__init__` and has no default stays unset. */
const defaultOf = (rt: Runtime, cls: ClassValue, field: FieldState): Value | undefined => {
  if (field.factory !== undefined) return call(rt, field.factory, [])
  if (field.default !== undefined) return field.default
  if (!field.init) return undefined
  raiseIfHandled(rt, 'TypeError', `missing argument ${field.name}`)
  return makeUnknown(`${cls.name}.${field.name}`)
}

const representer =
  (fields: readonly FieldState[]): NativeCall =>
  (rt, [self]) => {
    if (!isInstanceValue(self)) return undefined
    const shown = fields.filter((field) => field.repr && !field.initOnly)
    const texts = shown.map(({ name }) => {
      const text = reprOf(rt, getAttribute(rt, self, name))
      return text === undefined ? undefined : `${name}=${text}`
    })
    return texts.includes(undefined) ? undefined : `${self.cls.qualname}(${texts.join(', ')})`
  }

/** Instances of one class compare as the tuples of their fields. */
const comparer =
  (fields: readonly FieldState[], holds: (a: Value, b: Value) => Truth): NativeCall =>
  (rt, [self, other]) => {
    if (!isInstanceValue(self) || !isInstanceValue(other) || self.cls !== other.cls) {
      return NOT_IMPLEMENTED
    }
    const compared = fields.filter((field) => field.compare && !field.initOnly)
    const tuple = (of: Value) => makeTuple(compared.map(({ name }) => getAttribute(rt, of, name)))
    return holds(tuple(self), tuple(other))
  }

const opposite = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)
