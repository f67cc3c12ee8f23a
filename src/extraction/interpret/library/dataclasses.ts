import { isClass, isInstanceValue, isUnknown } from '../values/guards.ts'
import { flagOf } from '../operate/arguments.ts'
import { call } from '../operate/call.ts'
import { getAttribute } from '../operate/attribute.ts'
import { makeDict } from '../operate/mapping.ts'
import { makeEmptyDict, makeInstance, makeTuple, orElse } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, Kwargs, ModuleValue, NativeCall, Value } from '../values/value.ts'
import { addMethods } from './dataclass-methods.ts'
import { collectFields, FIELD, fieldsOf, makeFieldState } from './dataclass-fields.ts'
import type { FieldState } from './dataclass-fields.ts'
import { toDict } from './dataclass-convert.ts'
import { functionsOf } from './support/names.ts'

/** `dataclasses`. */
export const makeDataclasses = (rt: Runtime): ModuleValue => {
  const fieldClass = nativeClass(rt, { name: 'Field', module: 'dataclasses' })
  const missing = makeInstance(nativeClass(rt, { name: '_MISSING_TYPE', module: 'dataclasses' }))
  const makeField = (state: FieldState): Value => {
    const field = makeInstance(fieldClass, undefined, FIELD.wrap(state))
    field.attributes.set('name', state.name)
    field.attributes.set('type', state.type)
    field.attributes.set(
      'default',
      orElse(state.default, () => missing),
    )
    field.attributes.set(
      'default_factory',
      orElse(state.factory, () => missing),
    )
    field.attributes.set('metadata', state.metadata ?? makeEmptyDict())
    for (const flag of ['init', 'repr', 'compare'] as const) field.attributes.set(flag, state[flag])
    field.attributes.set('kw_only', state.kwOnly)
    return field
  }
  const decorate = (rt: Runtime, cls: ClassValue, options: Kwargs): Value => {
    const fields = collectFields(rt, cls, flagOf(rt, options.get('kw_only'), false) === true)
    const entries = fields.map((field) => [field.name, makeField(field)] as const)
    cls.namespace.set('__dataclass_fields__', makeDict(rt, entries))
    addMethods(rt, cls, fields, options)
    return cls
  }
  const dataclass: NativeCall = (rt, [cls], kwargs) => {
    if (isClass(cls)) return decorate(rt, cls, kwargs)
    if (cls !== undefined && cls !== null) return cls
    return nativeFunction('dataclasses.dataclass()', (rt, [decorated]) =>
      isClass(decorated) ? decorate(rt, decorated, kwargs) : decorated,
    )
  }
  return nativeModule('dataclasses', [
    ['Field', fieldClass],
    ['MISSING', missing],
    ['FrozenInstanceError', rt.builtinClass('AttributeError')],
    ['dataclass', nativeFunction('dataclasses.dataclass', dataclass)],
    [
      'field',
      nativeFunction('dataclasses.field', (rt, _args, kwargs) =>
        makeField(makeFieldState(rt, kwargs)),
      ),
    ],
    ...functionsOf('dataclasses', FUNCTIONS),
  ])
}

const FUNCTIONS: Record<string, NativeCall> = {
  fields: (_rt, [of]) => {
    const fields = fieldsOf(of)
    return fields === undefined ? undefined : makeTuple(fields)
  },
  is_dataclass: (_rt, [value]) => (isUnknown(value) ? undefined : fieldsOf(value) !== undefined),
  asdict: (rt, [value]) => (value === undefined ? undefined : toDict(rt, value)),
  replace: (rt, [value], changes) => {
    const fields = fieldsOf(value)
    if (!isInstanceValue(value) || fields === undefined) return undefined
    const kwargs = new Map<string, Value>()
    for (const field of fields) {
      const name = isInstanceValue(field) ? field.attributes.get('name') : undefined
      const isInit = isInstanceValue(field) && field.attributes.get('init') === true
      if (typeof name === 'string' && isInit) kwargs.set(name, getAttribute(rt, value, name))
    }
    for (const [name, change] of changes) kwargs.set(name, change)
    return call(rt, value.cls, [], kwargs)
  },
}
