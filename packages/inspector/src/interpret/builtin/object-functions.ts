import { globalsOf } from '../evaluate/name.ts'
import { importModule } from '../modules/module-loader.ts'
import { resolveName } from '../modules/resolve-name.ts'
import { argumentOf } from '../operate/arguments.ts'
import { findAttribute, getAttribute, hasAttribute, listAttributes } from '../operate/attribute.ts'
import { call, callSpecial, isCallable } from '../operate/call.ts'
import { hashKey, identityOf } from '../operate/hash-key.ts'
import { isInstance, isSubclass } from '../operate/is-instance.ts'
import { iterate } from '../operate/iterate.ts'
import { setEntry } from '../operate/mapping.ts'
import { openReplaced } from '../values/dict.ts'
import { raise, raiseIfCertain } from '../operate/raise.ts'
import { deleteAttribute, setAttribute } from '../operate/set-attribute.ts'
import { truthOf } from '../operate/truth.ts'
import type { IteratorValue, Kwargs, NativeCall, Runtime, Truth, Value } from '../types.ts'
import { intOf, isClass, isIterator, isModule, isObject, textOf } from '../values/read-value.ts'
import { makeList, makeNamespaceDict, orElse } from '../values/make-value.ts'
import { anyOf, CHOICES_MAX } from '../values/merge-values.ts'

const decided = (truth: Truth): Value | undefined => truth

/** Builtin functions about attributes, types and names. */
export const OBJECT_FUNCTIONS: Record<string, NativeCall> = {
  hasattr: (rt, [value, name]) => {
    const text = textOf(name)
    if (value === undefined || text === undefined) return undefined
    return decided(hasAttribute(rt, value, text))
  },
  getattr: (rt, [value, name, fallback]) => {
    const text = textOf(name)
    if (value === undefined || text === undefined) return undefined
    if (fallback === undefined) return getAttribute(rt, value, text)
    return orElse(findAttribute(rt, value, text), () => fallback)
  },
  setattr: (rt, [value, name, to]) => {
    const text = textOf(name)
    if (value !== undefined && text !== undefined) setAttribute(rt, value, text, to ?? null)
    // Under an unknown name: any name may be there from now on.
    else if (isModule(value)) setEntry(rt, globalsOf(value), name ?? null, to ?? null)
    else if (isClass(value)) openReplaced({ values: value.namespace }, to ?? null)
    return null
  },
  delattr: (rt, [value, name]) => {
    const text = textOf(name)
    if (value !== undefined && text !== undefined) deleteAttribute(rt, value, text)
    return null
  },
  isinstance: (rt, [value, cls]) =>
    value === undefined || cls === undefined ? undefined : decided(isInstance(rt, value, cls)),
  issubclass: (rt, [value, cls]) =>
    value === undefined || cls === undefined ? undefined : decided(isSubclass(rt, value, cls)),
  callable: (_rt, [value]) => (value === undefined ? undefined : decided(isCallable(value))),
  globals: (rt) => globalsOf(rt.state.scope.module),
  locals: (rt) => localsOf(rt),
  vars: (rt, [value]) =>
    value === undefined ? localsOf(rt) : findAttribute(rt, value, '__dict__'),
  dir: (rt, [value]) => {
    if (value === undefined) return makeList([...rt.state.scope.names.keys()].toSorted())
    const own = callSpecial(rt, value, '__dir__', [])
    if (own !== undefined) return own
    const names = listAttributes(rt, value)
    return names && makeList(names, isOpen(value))
  },
  id: (rt, [value]) => (isObject(value) ? BigInt(identityOf(rt, value)) : undefined),
  hash: (rt, [value]) => {
    if (value === undefined) return undefined
    const own = callSpecial(rt, value, '__hash__', [])
    if (own !== undefined) return own
    const hash = hashKey(rt, value)
    return typeof hash === 'bigint' ? hash : undefined
  },
  iter: (rt, args) => {
    const [value] = args
    return value === undefined || args.length > 1 ? undefined : iterate(rt, value)
  },
  next: (rt, args) => next(rt, args),
  print: () => null,
  __import__: (rt, args, kwargs) => importByName(rt, args, kwargs),
  open: (rt, args, kwargs) =>
    call(rt, getAttribute(rt, importModule(rt, 'io'), 'open'), args, kwargs),
}

function isOpen(value: Value): boolean {
  return isModule(value) && globalsOf(value).rest
}

function localsOf(rt: Runtime): Value {
  const scope = rt.state.scope
  return scope.kind === 'module' ? globalsOf(scope.module) : makeNamespaceDict(scope.names)
}

function next(rt: Runtime, [value, fallback]: readonly Value[]): Value | undefined {
  if (value === undefined) return undefined
  if (isIterator(value)) {
    const item = value.next()
    if (item !== undefined) return nextOf(value, item, fallback)
    if (value.rest) return undefined
    return orElse(fallback, () => raiseIfCertain(rt, 'StopIteration'))
  }
  return undefined
}

/** The item, or one of those that may come next where that is not decided. */
function nextOf(iterator: IteratorValue, item: Value, fallback: Value | undefined): Value {
  const { unordered, maybe } = iterator
  const isSure = (one: Value) => !unordered?.has(one) && !maybe?.has(one)
  if (isSure(item)) return item
  const choices: (Value | undefined)[] = [item]
  let next = iterator.next()
  for (; next !== undefined && choices.length <= CHOICES_MAX; next = iterator.next()) {
    choices.push(next)
    if (isSure(next)) break
  }
  if (next === undefined && !unordered) choices.push(fallback)
  iterator.rest = true
  return anyOf(choices)
}

/** `__import__(name, globals, locals, fromlist, level)`: the first package, unless names are asked from the module. */
function importByName(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const level = intOf(argumentOf(args, kwargs, 4, 'level') ?? 0n)
  if (name === undefined || level === undefined) return undefined
  const module = rt.state.scope.module
  const around = module.isPackage ? module.name : module.name.split('.').slice(0, -1).join('.')
  const absolute = level > 0n ? resolveName(name, around, Number(level)) : name
  if (absolute === undefined) return raise(rt, 'ImportError', 'attempted relative import')
  const imported = importModule(rt, absolute)
  const wantsNames = truthOf(rt, argumentOf(args, kwargs, 3, 'fromlist') ?? null) === true
  return wantsNames || level > 0n ? imported : importModule(rt, name.split('.', 1)[0] ?? name)
}
