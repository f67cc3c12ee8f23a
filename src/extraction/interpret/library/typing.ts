import { isDict, isInstanceValue, isSequence } from '../values/guards.ts'
import { payloadOf, textOf } from '../values/payload.ts'
import { makeClass } from '../operate/make-class.ts'
import { readItems } from '../operate/iterate.ts'
import { equals } from '../operate/compare.ts'
import { findAttribute } from '../operate/attribute.ts'
import { makeEmptyDict, makeInstance, makeTuple } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Value } from '../values/value.ts'
import { makePackNamedTuple } from './named-tuple.ts'
import { functionsOf } from './support/names.ts'

/**
 * `typing`: what isn't here is an unknown, which can be subscripted like any. `Literal` keeps its values, since packs
 * make lists of choices from them.
 */
export const makeTyping = (rt: Runtime): ModuleValue =>
  nativeModule('typing', [
    ['TYPE_CHECKING', false],
    ['NamedTuple', makeNamedTupleBase(rt)],
    ['TypedDict', makeTypedDict(rt)],
    ['Protocol', nativeClass(rt, { name: 'Protocol', module: 'typing' })],
    ['Generic', nativeClass(rt, { name: 'Generic', module: 'typing' })],
    ['Literal', makeLiteral(rt)],
    ...['Dict', 'List', 'Tuple', 'Set', 'FrozenSet', 'Type'].map(
      (name) => [name, rt.builtinClass(name.toLowerCase())] as const,
    ),
    ['Text', rt.builtinClass('str')],
    ...functionsOf('typing', FUNCTIONS),
  ])

const same: NativeCall = (_rt, [value]) => value

const FUNCTIONS: Record<string, NativeCall> = {
  cast: (_rt, [, value]) => value,
  overload: same,
  final: same,
  override: same,
  runtime_checkable: same,
  NewType: () => nativeFunction('typing.NewType()', same),
  get_args: (_rt, [type]) => {
    const args = isInstanceValue(type) ? type.attributes.get('__args__') : undefined
    return isSequence(args) ? args : undefined
  },
  get_origin: (_rt, [type]) =>
    isInstanceValue(type) ? type.attributes.get('__origin__') : undefined,
  get_type_hints: (rt, [object]) =>
    object === undefined ? undefined : findAttribute(rt, object, '__annotations__'),
}

/** `Literal["a", "b"]` has its values in `__args__`, flat and each once. */
const makeLiteral = (rt: Runtime): Value => {
  const alias = nativeClass(rt, { name: '_LiteralGenericAlias', module: 'typing' })
  const getItem: NativeCall = (rt, [literal = null, key]) => {
    if (key === undefined) return undefined
    const items = isSequence(key) && key.kind === 'tuple' ? key.items : [key]
    const values = items.flatMap((item) => {
      const inner =
        isInstanceValue(item) && item.cls === alias ? item.attributes.get('__args__') : undefined
      return isSequence(inner) ? inner.items : [item]
    })
    const unique = values.filter((value, at) => {
      rt.budget.step(at + 1)
      return !values.slice(0, at).some((other) => equals(rt, other, value) === true)
    })
    const made = makeInstance(alias)
    made.attributes.set('__args__', makeTuple(unique))
    made.attributes.set('__origin__', literal)
    return made
  }
  const form = nativeClass(rt, {
    name: '_LiteralForm',
    module: 'typing',
    methods: { __getitem__: getItem },
  })
  return makeInstance(form)
}

/** A class with it as base is a named tuple of its annotations. */
const makeNamedTupleBase = (rt: Runtime): ClassValue => {
  const metaclass = nativeClass(rt, {
    name: 'NamedTupleMeta',
    module: 'typing',
    bases: [rt.builtinClass('type')],
    construct: (rt, _cls, [name, , body]) => {
      const [text, dict] = [textOf(name), payloadOf(body)]
      if (text === undefined || !isDict(dict)) return undefined
      return namedTupleFromBody(rt, text, dict.values as Map<string, Value>)
    },
    methods: { __init__: () => null, __call__: callNamedTuple },
  })
  return nativeClass(rt, { name: 'NamedTuple', module: 'typing', metaclass })
}

const namedTupleFromBody = (rt: Runtime, name: string, body: Map<string, Value>): Value => {
  const annotations = body.get('__annotations__')
  const fields = isDict(annotations)
    ? [...annotations.values.keys()].filter((key) => typeof key === 'string')
    : []
  const isField = new Set(fields)
  const rest = new Map([...body].filter(([key]) => !isField.has(key)))
  const defaults = new Map([...body].filter(([key]) => isField.has(key)))
  const module = textOf(body.get('__module__')) ?? rt.state.scope.module.name
  return makePackNamedTuple(rt, { name, fields, defaults, module }, rest)
}

/** `NamedTuple('Row', [('title', str)])`. */
const callNamedTuple: NativeCall = (rt, [, name, given], kwargs) => {
  const text = textOf(name)
  if (text === undefined) return undefined
  const pairs = given === undefined ? [] : readItems(rt, given).items
  const fields = pairs.map((pair) => (isSequence(pair) ? textOf(pair.items[0]) : undefined))
  if (!fields.every((field) => field !== undefined)) return undefined
  const module = rt.state.scope.module.name
  return makePackNamedTuple(rt, { name: text, fields: [...fields, ...kwargs.keys()], module })
}

/** Its classes make dicts. */
const makeTypedDict = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'TypedDict',
    module: 'typing',
    bases: [rt.builtinClass('dict')],
    payload: 'dict',
    construct: (rt, cls, [first, types]) => {
      // `TypedDict('Row', {...})` makes such a class.
      const name = cls.home === 'library' && isDict(types) ? textOf(first) : undefined
      return name === undefined
        ? makeInstance(cls, makeEmptyDict())
        : makeClass(rt, name, [cls], new Map())
    },
  })
