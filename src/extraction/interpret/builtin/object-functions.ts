import { identityOf } from '../values/hash-key.ts'
import { makeList, makeNamespaceDict, orElse } from '../values/make-value.ts'
import { globalsOf } from '../evaluate/name.ts'
import { isRaised } from '../operate/raise.ts'
import type { Runtime } from '../runtime.ts'
import type { Kwargs, NativeCall, Truth, Value } from '../values/value.ts'
import { argument, intOf, textOf } from './arguments.ts'

const decided = (truth: Truth): Value | undefined => truth

/** Builtin functions about attributes, types and names. */
export const OBJECT_FUNCTIONS: Record<string, NativeCall> = {
  hasattr: (rt, [value, name]) => {
    const text = textOf(name)
    if (value === undefined || text === undefined) return undefined
    return decided(rt.hasAttribute(value, text))
  },
  getattr: (rt, [value, name, fallback]) => {
    const text = textOf(name)
    if (value === undefined || text === undefined) return undefined
    if (fallback === undefined) return rt.getAttribute(value, text)
    return orElse(rt.findAttribute(value, text), () => fallback)
  },
  setattr: (rt, [value, name, to]) => {
    const text = textOf(name)
    if (value !== undefined && text !== undefined) rt.setAttribute(value, text, to ?? null)
    // Under an unknown name: any name may be there from now on.
    else if (typeof value === 'object' && value?.kind === 'module') globalsOf(value).rest = true
    return null
  },
  delattr: (rt, [value, name]) => {
    const text = textOf(name)
    if (value !== undefined && text !== undefined) rt.deleteAttribute(value, text)
    return null
  },
  isinstance: (rt, [value, cls]) =>
    value === undefined || cls === undefined ? undefined : decided(rt.isInstance(value, cls)),
  issubclass: (rt, [value, cls]) =>
    value === undefined || cls === undefined ? undefined : decided(rt.isSubclass(value, cls)),
  callable: (rt, [value]) => (value === undefined ? undefined : decided(rt.isCallable(value))),
  globals: (rt) => globalsOf(rt.currentScope().module),
  locals: (rt) => localsOf(rt),
  vars: (rt, [value]) => (value === undefined ? localsOf(rt) : rt.findAttribute(value, '__dict__')),
  dir: (rt, [value]) => {
    if (value === undefined) return makeList([...rt.currentScope().names.keys()].toSorted())
    const own = rt.callSpecial(value, '__dir__', [])
    if (own !== undefined) return own
    const names = rt.listAttributes(value)
    return names && makeList(names, isOpen(value))
  },
  id: (rt, [value]) =>
    typeof value === 'object' && value !== null ? BigInt(identityOf(rt, value)) : undefined,
  hash: (rt, [value]) => {
    if (value === undefined) return undefined
    const own = rt.callSpecial(value, '__hash__', [])
    if (own !== undefined) return own
    const hash = rt.hashKey(value)
    return typeof hash === 'bigint' ? hash : undefined
  },
  iter: (rt, args) => {
    const [value] = args
    return value === undefined || args.length > 1 ? undefined : rt.iterate(value)
  },
  next: (rt, args) => next(rt, args),
  print: () => null,
  __import__: (rt, args, kwargs) => importByName(rt, args, kwargs),
  exec: (rt) => {
    // It may define any name of the module it is called in.
    globalsOf(rt.currentModule()).rest = true
    return null
  },
  open: (rt, args, kwargs) => rt.call(rt.getAttribute(rt.importModule('io'), 'open'), args, kwargs),
}

function isOpen(value: Value): boolean {
  return typeof value === 'object' && value?.kind === 'module' && globalsOf(value).rest
}

function localsOf(rt: Runtime): Value {
  const scope = rt.currentScope()
  return scope.kind === 'module' ? globalsOf(scope.module) : makeNamespaceDict(scope.names)
}

function next(rt: Runtime, [value, fallback]: readonly Value[]): Value | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'object' && value?.kind === 'iterator') {
    const item = value.next()
    if (item !== undefined) return item
    if (value.rest) return undefined
    return orElse(fallback, () => rt.raiseIfHandled('StopIteration'))
  }
  try {
    return rt.callSpecial(value, '__next__', [])
  } catch (error) {
    if (fallback === undefined || !isRaised(rt, error, 'StopIteration')) throw error
    return fallback
  }
}

/** `__import__(name, globals, locals, fromlist, level)`: the first package, unless names are asked from the module. */
function importByName(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const name = textOf(argument(args, kwargs, 0, 'name'))
  const level = intOf(argument(args, kwargs, 4, 'level') ?? 0n)
  if (name === undefined || level === undefined) return undefined
  const module = rt.currentModule()
  const around = module.isPackage ? module.name : module.name.split('.').slice(0, -1).join('.')
  const absolute = level > 0n ? rt.resolveName(name, around, Number(level)) : name
  if (absolute === undefined) return rt.raise('ImportError', 'attempted relative import')
  const imported = rt.importModule(absolute)
  const wantsNames = rt.truth(argument(args, kwargs, 3, 'fromlist') ?? null) === true
  return wantsNames || level > 0n ? imported : rt.importModule(name.split('.', 1)[0] ?? name)
}
