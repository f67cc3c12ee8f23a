import { call } from '../run-code.ts'
import { isComplete } from '../evaluate/name.ts'
import { isAbsent, raiseIfAbsent } from '../modules/absent-names.ts'
import { bind, isDataDescriptor } from './bind.ts'
import {
  findAlong,
  findInClass,
  findSpecial,
  hasUnknownBase,
  isNodeAttribute,
} from './class-lookup.ts'
import { isInstance, typeOf } from './is-instance.ts'
import { raise, Raised, raiseIfCertain, raiseIfExpected, raiseIfHandled } from './raise.ts'
import { specialAttribute } from './special-attribute.ts'
import type {
  ClassValue,
  InstanceValue,
  ModuleValue,
  Runtime,
  SuperValue,
  Truth,
  UnknownValue,
  Value,
} from '../types.ts'
import { words } from '../../words.ts'
import { compareText } from '../text/string/code-points.ts'
import { isClass, isModule, isObject, isUnknown, nameOf } from '../values/read-value.ts'
import { makePart, makeUnknown, orElse } from '../values/make-value.ts'
import { mapChoice } from '../values/merge-values.ts'

/** `value.name`. Missing: raises on a completely read module of the pack, else an unknown. */
export function getAttribute(rt: Runtime, value: Value, name: string): Value {
  const found = orElse(
    mapChoice(value, (choice) => getAttribute(rt, choice, name)),
    () => lookUp(rt, value, name),
  )
  if (found !== undefined) return found
  const message = `'${nameOf(value)}' has no attribute '${name}'`
  if (isModule(value) || isUnknown(value)) {
    const dotted = `${value.name}.${name}`
    if (isStandard(value)) raiseIfAbsent(rt, dotted, 'AttributeError', `module ${message}`)
    if (isModule(value) && !isAbsent(dotted)) return missingInModule(rt, value, name)
    return makePart(dotted, isUnknown(value) ? value.origin : 'standard-library', value)
  }
  const raiseIf = isWhole(rt, value) && !name.startsWith('__') ? raiseIfCertain : raiseIfExpected
  raiseIf(rt, 'AttributeError', message)
  return makePart(`${nameOf(value)}.${name}`, 'pack', value)
}

/** A module of the standard library, be it known or not. */
function isStandard(value: ModuleValue | UnknownValue): boolean {
  if (value.kind === 'module') return value.home === 'library'
  return value.isModule === true && value.origin === 'standard-library'
}

/** Classes of the pack alone, plain values and containers: of the others we may not have all attributes. */
function isWhole(rt: Runtime, value: Value): boolean {
  if (!isObject(value) || CONTAINERS.has(value.kind)) return true
  const cls = value.kind === 'instance' ? value.cls : value
  return (
    cls.kind === 'class' &&
    cls.metaclass === rt.builtinClass('type') &&
    cls.mro.every(
      (base) => base.kind === 'class' && (base.home === 'pack' || base.name === 'object'),
    )
  )
}

const CONTAINERS = new Set(words('list tuple dict set'))

function missingInModule(rt: Runtime, module: ModuleValue, name: string): Value {
  const message = `module '${module.name}' has no attribute '${name}'`
  if (module.running || module.lost.has(name)) {
    raiseIfHandled(rt, 'AttributeError', message)
    return makeUnknown(`${module.name}.${name}`)
  }
  return raise(rt, 'AttributeError', message)
}

/** Finds the attribute; an unknown if it can't be decided; undefined if there is certainly none. Never raises. */
export function findAttribute(rt: Runtime, value: Value, name: string): Value | undefined {
  try {
    return lookUp(rt, value, name)
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    // A getter raised: AttributeError means that there is none, anything else that nobody can know.
    const missing = isInstance(rt, error.exception, rt.builtinClass('AttributeError'))
    return missing === true ? undefined : makeUnknown(`${nameOf(value)}.${name}`)
  }
}

export function hasAttribute(rt: Runtime, value: Value, name: string): Truth {
  const found = findAttribute(rt, value, name)
  if (found === undefined) return false
  return isUnknown(found) && !isStored(value, name) ? undefined : true
}

/** Somebody stored an unknown under the name: it is there, whatever it is. */
function isStored(value: Value, name: string): boolean {
  if (!isObject(value)) return false
  if (value.kind === 'module') return value.namespace.has(name)
  if (value.kind === 'instance' && value.attributes.has(name)) return true
  const cls = value.kind === 'instance' ? value.cls : value
  if (cls.kind !== 'class') return false
  return cls.mro.some((base) => base.kind === 'class' && base.namespace.has(name))
}

function lookUp(rt: Runtime, value: Value, name: string): Value | undefined {
  if (isObject(value)) {
    switch (value.kind) {
      case 'instance':
        return lookUpInInstance(rt, value, name)
      case 'class':
        return lookUpInClass(rt, value, name)
      case 'module':
        return lookUpInModule(rt, value, name)
      case 'unknown':
        return attributeOfUnknown(rt, value, name)
      case 'super':
        return lookUpInSuper(rt, value, name)
    }
  }
  return orElse(specialAttribute(rt, value, name), () => lookUpInType(rt, value, name))
}

/** Values of builtin types: their class has all they have. */
function lookUpInType(rt: Runtime, value: Value, name: string): Value | undefined {
  const cls = typeOf(rt, value)
  if (cls.kind === 'unknown') return makeUnknown(`${nameOf(value)}.${name}`, cls.origin)
  const raw = findInClass(rt, cls, name)
  return raw === undefined ? undefined : bind(rt, raw, value, cls)
}

function lookUpInInstance(rt: Runtime, value: InstanceValue, name: string): Value | undefined {
  const { cls } = value
  const semaphore = findSpecial(cls, '__getattribute__')
  if (semaphore !== undefined) return call(rt, semaphore, [value, name])
  return lookUpPlainly(rt, value, name)
}

/** `object.__getattribute__`, then `__getattr__`. */
export function lookUpPlainly(rt: Runtime, value: InstanceValue, name: string): Value | undefined {
  const { cls } = value
  const raw = findInClass(rt, cls, name)
  if (raw !== undefined && isDataDescriptor(raw)) return bind(rt, raw, value, cls)
  const own = orElse(value.attributes.get(name), () => specialAttribute(rt, value, name))
  if (own !== undefined) return own
  if (raw !== undefined && !(isUnknown(raw) && isFromUnknownBase(cls, raw)))
    return bind(rt, raw, value, cls)
  const fallback = findSpecial(cls, '__getattr__')
  if (fallback !== undefined) return call(rt, fallback, [value, name])
  // Code that could not be followed may have set it: only classes without unknown bases are sure.
  if (isUnknown(raw)) return { ...raw, from: value }
  return hasUnknownBase(cls) ? makePart(`${cls.name}().${name}`, 'pack', value) : undefined
}

function isFromUnknownBase(cls: ClassValue, raw: UnknownValue): boolean {
  return cls.mro.some((base) => base.kind === 'unknown' && raw.name.startsWith(`${base.name}.`))
}

function lookUpInClass(rt: Runtime, cls: ClassValue, name: string): Value | undefined {
  const { metaclass } = cls
  const special = specialAttribute(rt, cls, name)
  if (special !== undefined) return special
  const meta = metaclass.kind === 'class' ? findInClass(rt, metaclass, name) : undefined
  if (meta !== undefined && isDataDescriptor(meta)) return bind(rt, meta, cls, metaclass)
  const raw = findInClass(rt, cls, name)
  // `__subclasses__` of a class with a base of the host is that of `type`.
  const isOwn = meta === undefined || !isUnknown(raw) || !isFromUnknownBase(cls, raw)
  if (raw !== undefined && isOwn) return bind(rt, raw, undefined, cls)
  if (meta !== undefined) return bind(rt, meta, cls, metaclass)
  const fallback = findSpecial(metaclass, '__getattr__')
  if (fallback !== undefined) return call(rt, fallback, [cls, name])
  return metaclass.kind === 'unknown' && !isNodeAttribute(name)
    ? makeUnknown(`${cls.name}.${name}`, metaclass.origin)
    : undefined
}

function lookUpInModule(rt: Runtime, module: ModuleValue, name: string): Value | undefined {
  const own = orElse(module.namespace.get(name), () => specialAttribute(rt, module, name))
  if (own !== undefined) return own
  const submodule = rt.modules.get(`${module.name}.${name}`)
  if (submodule !== undefined && submodule !== null) return submodule
  const fallback = module.namespace.get('__getattr__')
  if (fallback !== undefined) return call(rt, fallback, [name])
  if (isComplete(module)) return undefined
  const dotted = `${module.name}.${name}`
  if (module.home !== 'library') return makeUnknown(dotted)
  return isAbsent(dotted) ? undefined : makeUnknown(dotted, 'standard-library')
}

function attributeOfUnknown(rt: Runtime, value: UnknownValue, name: string): Value | undefined {
  const dotted = `${value.name}.${name}`
  const fact = rt.facts.find(dotted)
  if (fact !== undefined) return fact
  if (rt.facts.lacks?.(dotted) || (isStandard(value) && isAbsent(dotted))) return undefined
  if ((value.origin !== 'host' || value.isModule) && isNodeAttribute(name)) return undefined
  if (name === '__module__') return moduleOf(value)
  const found = makePart(dotted, value.origin, value)
  return rt.facts.isModule?.(dotted) ? Object.assign(found, { truth: true, isModule: true }) : found
}

/** Name of the foreign module that a value was imported from; a module has none. */
function moduleOf({ name, origin, isModule }: UnknownValue): Value | undefined {
  if (isModule) return undefined
  const dot = name.lastIndexOf('.')
  const isImported = origin !== 'pack' && dot > 0 && !/[()[\]]/.test(name)
  return isImported ? name.slice(0, dot) : makeUnknown(`${name}.__module__`, origin)
}

function lookUpInSuper(rt: Runtime, value: SuperValue, name: string): Value | undefined {
  const { object } = value
  const asClass = isClass(object) && object.mro.includes(value.cls)
  const cls = asClass ? object : typeOf(rt, object)
  if (cls.kind === 'unknown') return makeUnknown(`super().${name}`, cls.origin)
  const rest = cls.mro.slice(cls.mro.indexOf(value.cls) + 1)
  const raw = findAlong(rt, rest, name)
  if (isUnknown(raw)) return { ...raw, from: object }
  return raw === undefined ? undefined : bind(rt, raw, asClass ? undefined : object, cls)
}

/** Sorted names that `dir(value)` gives; undefined if they can't be known. */
export function listAttributes(rt: Runtime, value: Value): string[] | undefined {
  const names = new Set<string>()
  if (isObject(value)) {
    if (value.kind === 'unknown') return undefined
    if (value.kind === 'module') return sorted(value.namespace.keys())
    if (value.kind === 'instance') addAll(names, value.attributes.keys())
    if (value.kind === 'class') {
      addClass(names, value)
      return sorted(names)
    }
  }
  const cls = typeOf(rt, value)
  if (cls.kind === 'class') addClass(names, cls)
  return sorted(names)
}

function addClass(names: Set<string>, cls: ClassValue): void {
  for (const base of cls.mro) if (base.kind === 'class') addAll(names, base.namespace.keys())
  addAll(names, ['__class__', '__dict__', '__doc__', '__module__'])
}

function addAll(names: Set<string>, more: Iterable<string>): void {
  for (const name of more) names.add(name)
}

function sorted(names: Iterable<string>): string[] {
  return [...names].toSorted(compareText)
}
