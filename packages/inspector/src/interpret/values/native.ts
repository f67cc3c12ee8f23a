import { words } from '../../words.ts'
import { isClass, isInstanceValue } from './read-value.ts'
import type {
  BaseValue,
  ClassValue,
  Kwargs,
  ModuleValue,
  NativeCall,
  NativeValue,
  PropertyValue,
  Runtime,
  Value,
} from '../types.ts'
import { makeModule, makeUnknown } from './make-value.ts'

/** A function of a module: on a class it does not become a method. `name` is dotted. */
export function nativeFunction(name: string, call: NativeCall): NativeValue {
  return {
    kind: 'native',
    name,
    call,
    binds: false,
    callWithRest: undefined,
    attributes: undefined,
  }
}

/** A function that becomes a method when found on a class: `args[0]` is self. */
export function nativeMethod(name: string, call: NativeCall): NativeValue {
  return { ...nativeFunction(name, call), binds: true }
}

/** The calls of methods that are written for one kind of self. */
export function callsOf<Method>(
  methods: Record<string, Method>,
  toCall: (method: Method, name: string) => NativeCall,
): Record<string, NativeCall> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [name, toCall(method, name)]),
  )
}

function nativeProperty(
  name: string,
  get: (rt: Runtime, self: Value) => Value | undefined,
): PropertyValue {
  const call = nativeMethod(name, (rt, args) => get(rt, args[0] ?? null))
  return { kind: 'property', get: call, set: null, delete: null }
}

export interface NativeClass {
  name: string
  /** Dotted name of its module. */
  module: string
  /** Without bases it is a direct subclass of `object`. */
  bases?: BaseValue[]
  metaclass?: ClassValue
  /** `__new__`: makes the instance; `args` are without the class. It gets kwargs. Without it, a plain instance. */
  construct?: (rt: Runtime, cls: ClassValue, args: Value[], kwargs: Kwargs) => Value | undefined
  /** Keys are names: `__init__`, `__call__`, `append`; `args[0]` is self. */
  methods?: Record<string, NativeCall>
  /** `args[0]` is the class. */
  classMethods?: Record<string, NativeCall>
  staticMethods?: Record<string, NativeCall>
  properties?: Record<string, (rt: Runtime, self: Value) => Value | undefined>
  /** Any other names of the class. */
  attributes?: Record<string, Value>
  /** Names of methods that do nothing, and give None. */
  quiet?: string
  /** Names whose values are not computed. */
  unread?: string
  payload?: ClassValue['payload']
}

/** A builtin class, which has its place among the others from the list of them. */
export type Definition = Omit<NativeClass, 'module' | 'bases' | 'metaclass'>

/** Makes a class of the library. Instances are made with `makeInstance(cls, payload, native)`. */
export function nativeClass(rt: Runtime, definition: NativeClass): ClassValue {
  const bases = definition.bases ?? [rt.builtinClass('object')]
  const cls = makeNativeClass(definition, bases, definition.metaclass ?? metaclassOf(rt, bases))
  fillNativeClass(cls, definition)
  return cls
}

function metaclassOf(rt: Runtime, bases: BaseValue[]): BaseValue {
  for (const base of bases) if (base.kind === 'class') return base.metaclass
  return rt.builtinClass('type')
}

/** Single inheritance, or bases whose orders don't cross: enough for classes of the library. */
export function makeNativeClass(
  definition: NativeClass,
  bases: BaseValue[],
  metaclass: BaseValue,
): ClassValue {
  const inherited = bases.map((base) => (base.kind === 'class' ? base.payload : undefined))
  const cls: ClassValue = {
    kind: 'class',
    name: definition.name,
    qualname: definition.name,
    module: definition.module,
    home: 'library',
    bases,
    mro: [],
    namespace: new Map(),
    metaclass,
    subclasses: [],
    payload: definition.payload ?? inherited.find((payload) => payload !== undefined),
  }
  cls.mro = [cls, ...orderOf(bases)]
  for (const base of bases) if (base.kind === 'class') base.subclasses.push(cls)
  return cls
}

function orderOf(bases: BaseValue[]): BaseValue[] {
  const all = bases.flatMap((base) => (base.kind === 'class' ? base.mro : [base]))
  return all.filter((base, index) => all.lastIndexOf(base) === index)
}

export function fillNativeClass(cls: ClassValue, definition: NativeClass): void {
  const dotted = (name: string) =>
    definition.module === 'builtins'
      ? `${definition.name}.${name}`
      : `${definition.module}.${definition.name}.${name}`
  const { construct } = definition
  if (construct) {
    const call: NativeCall = (rt, [self, ...args], kwargs) =>
      isClass(self) ? construct(rt, self, args, kwargs) : undefined
    cls.namespace.set('__new__', {
      kind: 'staticmethod',
      function: nativeFunction(dotted('__new__'), call),
    })
  }
  const methods = { ...quietCalls(definition.quiet), ...definition.methods }
  for (const [name, call] of Object.entries(methods))
    cls.namespace.set(name, nativeMethod(dotted(name), call))
  for (const [name, call] of Object.entries(definition.classMethods ?? {}))
    cls.namespace.set(name, { kind: 'classmethod', function: nativeMethod(dotted(name), call) })
  for (const [name, call] of Object.entries(definition.staticMethods ?? {}))
    cls.namespace.set(name, { kind: 'staticmethod', function: nativeFunction(dotted(name), call) })
  for (const [name, get] of Object.entries(definition.properties ?? {}))
    cls.namespace.set(name, nativeProperty(dotted(name), get))
  for (const [name, value] of Object.entries(definition.attributes ?? {}))
    cls.namespace.set(name, value)
  for (const name of namesOf(definition.unread))
    cls.namespace.set(name, makeUnknown(dotted(name), 'standard-library'))
}

/** A module of the library, described as its classes are. */
export interface NativeModule {
  functions?: Record<string, NativeCall>
  /** Names of functions that do something we leave undone, and give None. */
  quiet?: string
  /** Names of functions whose results are the machine's: unknown. */
  machine?: string
  /** Any other names of the module. */
  attributes?: Record<string, Value>
}

/** Makes a module of the library. A name it lacks is an unknown, `<module>.<name>`, of the standard library. */
export function nativeModule(name: string, definition: NativeModule = {}): ModuleValue {
  const { functions = {}, quiet, machine, attributes = {} } = definition
  const namespace = new Map(Object.entries(attributes))
  const add = (key: string, call: NativeCall) =>
    namespace.set(key, nativeFunction(`${name}.${key}`, call))
  for (const [key, call] of Object.entries({ ...functions, ...quietCalls(quiet) })) add(key, call)
  for (const key of namesOf(machine)) add(key, () => makeUnknown(`${name}.${key}()`, 'machine'))
  namespace.set('__name__', name)
  const home = 'library'
  return makeModule({ name, home, file: undefined, isPackage: true, namespace, complete: false })
}

const namesOf = (text: string | undefined): string[] => (text === undefined ? [] : words(text))

const quietCalls = (names: string | undefined): Record<string, NativeCall> =>
  Object.fromEntries(namesOf(names).map((name) => [name, () => null]))

/**
 * Private state that a class of the library keeps in its instances: `wrap` makes `InstanceValue.native` of it, `of` gives
 * it, and undefined for any other value. Each kind of state carries its name, because a pack can hand any object to any
 * function: without it the state of one class would be taken for that of another.
 */
export const nativeState = <State>(name: string) => ({
  wrap: (state: State): unknown => ({ name, state }),
  of: (value: Value | undefined): State | undefined => {
    if (!isInstanceValue(value)) return undefined
    const wrapped = value.native as { name: string; state: State } | undefined
    return wrapped?.name === name ? wrapped.state : undefined
  },
})
