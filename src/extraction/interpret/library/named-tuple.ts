import { isClass, isInstanceValue, isSequence } from '../values/guards.ts'
import { payloadOf } from '../values/payload.ts'
import { reprOf } from '../operate/text-of.ts'
import { call } from '../operate/call.ts'
import { readItems } from '../operate/iterate.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import { makeDict } from '../operate/mapping.ts'
import { newClass } from '../operate/make-class.ts'
import { NO_KWARGS, makeInstance, makeTuple, makeUnknown, orElse } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeMethod, nativeProperty } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, NativeCall, Value } from '../values/value.ts'

/** What a named tuple is made from. */
interface NamedTupleShape {
  name: string
  fields: readonly string[]
  /** Default values by field. */
  defaults?: ReadonlyMap<string, Value>
  module: string
}

/** A named tuple of the library itself. */
export const makeNamedTuple = (rt: Runtime, shape: NamedTupleShape): ClassValue => {
  const cls = nativeClass(rt, {
    name: shape.name,
    module: shape.module,
    bases: [rt.builtinClass('tuple')],
    payload: 'tuple',
  })
  for (const [name, value] of namedTupleNames(rt, shape)) cls.namespace.set(name, value)
  return cls
}

/** A named tuple of the pack, with what else stands in its class statement. */
export const makePackNamedTuple = (
  rt: Runtime,
  shape: NamedTupleShape,
  names: ReadonlyMap<string, Value> = new Map(),
): Value => {
  const namespace = new Map([...namedTupleNames(rt, shape), ...names])
  namespace.set('__module__', shape.module)
  return newClass(rt, {
    metaclass: rt.builtinClass('type'),
    name: shape.name,
    bases: [rt.builtinClass('tuple')],
    namespace,
    kwargs: NO_KWARGS,
  })
}

/** An instance whose values are there already. */
export const makeNamedTupleValue = (cls: ClassValue, values: Value[]): Value =>
  makeInstance(cls, makeTuple(values))

const namedTupleNames = (rt: Runtime, shape: NamedTupleShape): Map<string, Value> => {
  const { fields } = shape
  const dotted = (name: string) => `${shape.name}.${name}`
  const defaults = makeDict(rt, [...(shape.defaults ?? [])])
  return new Map<string, Value>([
    [
      '__new__',
      { kind: 'staticmethod', function: nativeFunction(dotted('__new__'), construct(shape)) },
    ],
    ['__init__', nativeMethod(dotted('__init__'), () => null)],
    ['__repr__', nativeMethod(dotted('__repr__'), repr(fields))],
    ['_make', { kind: 'classmethod', function: nativeMethod(dotted('_make'), make) }],
    ['_asdict', nativeMethod(dotted('_asdict'), asDict(fields))],
    ['_replace', nativeMethod(dotted('_replace'), replace(fields))],
    ['_fields', makeTuple([...fields])],
    ['_field_defaults', defaults],
    ['__match_args__', makeTuple([...fields])],
    ...fields.map((field, at): [string, Value] => [
      field,
      nativeProperty(dotted(field), (_rt, self) =>
        orElse(valuesOf(self)?.[at], () => makeUnknown(dotted(field))),
      ),
    ]),
  ])
}

const valuesOf = (value: Value | undefined): Value[] | undefined => {
  const content = payloadOf(value)
  return isSequence(content) ? content.items : undefined
}

const construct =
  ({ fields, defaults, name }: NamedTupleShape): NativeCall =>
  (rt, [cls, ...args], kwargs) => {
    if (!isClass(cls)) return undefined
    const values = fields.map((field, at) => {
      const given = orElse(args[at], () => orElse(kwargs.get(field), () => defaults?.get(field)))
      if (given === undefined) raiseIfHandled(rt, 'TypeError', `missing argument ${field}`)
      return orElse(given, () => makeUnknown(`${name}.${field}`))
    })
    return rt.budget.allowItems(values.length) ? makeNamedTupleValue(cls, values) : undefined
  }

const make: NativeCall = (rt, [cls, values]) => {
  if (!isClass(cls) || values === undefined) return undefined
  const { items, rest } = readItems(rt, values)
  return rest ? undefined : call(rt, cls, items)
}

const repr =
  (fields: readonly string[]): NativeCall =>
  (rt, [self]) => {
    const texts = fields.map((field, at) => {
      const text = reprOf(rt, valuesOf(self)?.[at] ?? null)
      return text === undefined ? undefined : `${field}=${text}`
    })
    if (!isInstanceValue(self) || texts.includes(undefined)) return undefined
    return `${self.cls.name}(${texts.join(', ')})`
  }

const asDict =
  (fields: readonly string[]): NativeCall =>
  (rt, [self]) => {
    const values = valuesOf(self)
    return (
      values &&
      makeDict(
        rt,
        fields.map((field, at) => [field, values[at] ?? null]),
      )
    )
  }

const replace =
  (fields: readonly string[]): NativeCall =>
  (_rt, [self], kwargs) => {
    const values = valuesOf(self)
    if (values === undefined || !isInstanceValue(self)) return undefined
    return makeNamedTupleValue(
      self.cls,
      fields.map((field, at) => orElse(kwargs.get(field), () => values[at] ?? null)),
    )
  }
