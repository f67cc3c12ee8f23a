import { call, callSpecial } from '../run-code.ts'
import {
  isBase,
  isClass,
  isFunction,
  isInstanceValue,
  isNative,
  isTuple,
  isUnknown,
  nameOf,
} from '../values/read-value.ts'
import { bind } from './bind.ts'
import { giveClass, openNames } from './not-followed.ts'
import { findAlong, findSpecial, linearise } from './class-lookup.ts'
import { makeNamespaceDict, makeTuple, makeUnknown } from '../values/make-value.ts'
import { choicesOf } from '../values/merge-values.ts'
import type { BaseValue, ClassValue, Kwargs, Runtime, Value } from '../types.ts'

/** As a class statement does it: metaclass, `__set_name__`, `__init_subclass__`. `given` are the class keywords. */
export function makeClass(
  rt: Runtime,
  name: string,
  bases: Value[],
  namespace: Map<string, Value>,
  given: Kwargs,
): Value {
  const kwargs = new Map(given)
  const asked = kwargs.get('metaclass')
  kwargs.delete('metaclass')
  const real = resolveBases(rt, bases)
  const metaclass = metaclassOf(rt, asked, real)
  if (metaclass.kind === 'unknown' || metaclass === rt.builtinClass('type')) {
    const cls = newClass(rt, { metaclass, name, bases: real, namespace, kwargs })
    if (isUnknown(metaclass)) giveClass(rt, metaclass, cls)
    return cls
  }
  // Its names are not those that the body was run in.
  const prepare = findSpecial(metaclass, '__prepare__')
  if (prepare !== undefined) openNames(rt, [prepare])
  const args = [name, makeTuple(real), makeNamespaceDict(namespace)]
  return call(rt, metaclass, args, kwargs)
}

/** Resolves each base: a class or unknown is itself, `__mro_entries__` of an object, else an unknown of its name. */
function resolveBases(rt: Runtime, bases: Value[]): BaseValue[] {
  return bases.flatMap((base): BaseValue[] => {
    if (isUnknown(base)) return [base]
    if (isClass(base)) return choicesOf(base).filter(isClass).slice(0, 1)
    const entries = findEntries(rt, base, bases)
    return entries ?? [makeUnknown(nameOf(base))]
  })
}

function findEntries(rt: Runtime, base: Value, bases: Value[]): BaseValue[] | undefined {
  const made =
    callSpecial(rt, base, '__mro_entries__', [makeTuple(bases)]) ??
    callOnNative(rt, base, makeTuple(bases))
  if (!isTuple(made)) return undefined
  return made.items.filter(isBase)
}

function callOnNative(rt: Runtime, base: Value, bases: Value): Value | undefined {
  if (!isNative(base)) return undefined
  const entries = base.attributes?.get('__mro_entries__')
  return entries === undefined ? undefined : call(rt, entries, [bases])
}

/** The most derived of the one asked for and those of the bases. */
function metaclassOf(rt: Runtime, asked: Value | undefined, bases: BaseValue[]): BaseValue {
  let winner: BaseValue = rt.builtinClass('type')
  if (asked !== undefined) {
    if (isUnknown(asked)) return asked
    if (isClass(asked)) winner = asked
  }
  for (const base of bases) {
    if (base.kind !== 'class') continue
    const { metaclass } = base
    if (metaclass.kind === 'class' && winner.kind === 'class' && metaclass.mro.includes(winner))
      winner = metaclass
    else if (metaclass.kind === 'unknown' && winner === rt.builtinClass('type')) winner = metaclass
  }
  return winner
}

interface ClassParts {
  metaclass: BaseValue
  name: string
  bases: BaseValue[]
  namespace: Map<string, Value>
  kwargs: Kwargs
}

/** `type.__new__`. */
export function newClass(rt: Runtime, parts: ClassParts): Value {
  const { name, kwargs } = parts
  if (!rt.budget.allowItems(parts.namespace.size)) return makeUnknown(name)
  const object = rt.builtinClass('object')
  const bases = parts.bases.length > 0 ? parts.bases : [object]
  const cls = assemble(rt, { ...parts, bases })
  const order = linearise(cls, object)
  // Python rejects such bases; the order of writing still finds most attributes.
  cls.mro = order ?? [
    cls,
    ...new Set(bases.flatMap((base) => (base.kind === 'class' ? base.mro : [base]))),
  ]
  cls.payload = cls.mro
    .map((base) => (base.kind === 'class' ? base.payload : undefined))
    .find((payload) => payload !== undefined)
  for (const base of bases) if (base.kind === 'class') base.subclasses.push(cls)
  fillOwner(cls)
  callSetName(rt, cls)
  callInitSubclass(rt, cls, kwargs)
  return cls
}

function assemble(rt: Runtime, { metaclass, name, bases, namespace }: ClassParts): ClassValue {
  const own = new Map(namespace)
  const text = (key: string) => {
    const value = own.get(key)
    return typeof value === 'string' ? value : undefined
  }
  for (const key of ['__init_subclass__', '__class_getitem__']) {
    const raw = own.get(key)
    if (isFunction(raw)) own.set(key, { kind: 'classmethod', function: raw })
  }
  const around = rt.state.scope.module
  const module = text('__module__') ?? around.name
  const cls: ClassValue = {
    kind: 'class',
    name,
    qualname: text('__qualname__') ?? name,
    module,
    // The library also makes classes for the pack, which bear the name of its module.
    home: module === around.name ? around.home : 'pack',
    bases,
    mro: [],
    namespace: own,
    metaclass,
    subclasses: [],
    payload: undefined,
  }
  own.delete('__qualname__')
  return cls
}

/** Name under which a class body hands over what `super()` in its methods reads. */
export const CLASS_CELL = '__classcell__'

function fillOwner(cls: ClassValue): void {
  const cell = cls.namespace.get(CLASS_CELL)
  cls.namespace.delete(CLASS_CELL)
  if (!isInstanceValue(cell)) return
  const owner = cell.native as { cls: ClassValue | undefined } | undefined
  if (owner) owner.cls = cls
}

function callSetName(rt: Runtime, cls: ClassValue): void {
  for (const [name, value] of new Map(cls.namespace))
    if (isInstanceValue(value)) callSpecial(rt, value, '__set_name__', [cls, name])
}

function callInitSubclass(rt: Runtime, cls: ClassValue, kwargs: Kwargs): void {
  for (const base of cls.mro) if (isUnknown(base)) giveClass(rt, base, cls)
  const raw = findAlong(rt, cls.mro.slice(1), '__init_subclass__')
  if (raw === undefined || isUnknown(raw)) return
  call(rt, bind(rt, raw, undefined, cls), [], kwargs)
}
