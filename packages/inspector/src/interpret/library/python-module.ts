import { words } from '../../words.ts'
import { readFileSync } from 'node:fs'
import { runStatements } from '../modules/run-module.ts'
import { kindFor } from '../operate/compare.ts'
import { readItems } from '../operate/iterate.ts'
import { raiseIfCertain, raiseIfHandled } from '../operate/raise.ts'
import { truthOf } from '../operate/truth.ts'
import type { HashKey, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { findInClass } from '../operate/class-lookup.ts'
import {
  isInstanceValue,
  isSequence,
  isSet,
  isUnknown,
  payloadOf,
  textOf,
} from '../values/read-value.ts'
import { makeInstance, makeList, makeTuple, makeUnknown } from '../values/make-value.ts'
import { nativeFunction, nativeMethod, nativeModule, type NativeModule } from '../values/native.ts'
import { THREAD_HELPERS } from './support/threads.ts'
import type { Module } from '../../python/ast.ts'
import { findAttribute } from '../operate/attribute.ts'
import { call } from '../operate/call.ts'
import { hashKey } from '../operate/hash-key.ts'

// What a file holds never changes: each is parsed once in a process.
const TREES = new Map<string, Module>()

/**
 * A module of the library that is written in Python: `python/<name>.py`, which the interpreter runs at the first import.
 * Its code may take nothing for certain that a pack gives it, and has a few functions beside the builtin ones for that.
 */
export const pythonModule =
  (name: string, { attributes = {}, ...others }: NativeModule = {}) =>
  (rt: Runtime): ModuleValue => {
    const own = nativeModule('python', { functions: HELPERS }).namespace
    const absent = makeInstance(rt.builtinClass('object'))
    const module = nativeModule(name, {
      attributes: { ...Object.fromEntries(own), _ABSENT: absent, ...attributes },
      ...others,
    })
    const tree = TREES.get(name) ?? rt.parser.parseText(readSource(name))
    TREES.set(name, tree)
    runStatements(rt, module, tree)
    return module
  }

const readSource = (name: string): string =>
  readFileSync(new URL(`python/${name}.py`, import.meta.url), 'utf8')

const HELPERS: Record<string, NativeCall> = {
  /** True if the value is certainly true; never unknown, so that a test of it takes one branch. */
  _sure: (rt, [value = null]) => truthOf(rt, value) === true,
  /** Records that what follows may differ from what Python does. */
  _guess: (rt) => {
    rt.state.guesses += 1
    return null
  },
  /** Records that files of the pack may have been written. */
  _write: (rt) => {
    rt.state.mayHaveWritten = true
    return null
  },
  _is_unknown: (_rt, [value]) => isUnknown(value),
  /** More items may follow. */
  _is_open: (_rt, [items]) => isUnknown(items) || (isSequence(items) && items.rest),
  /** A list of the items that are known. */
  _known: (rt, [value = null]) => {
    const { items, rest } = readItems(rt, value)
    if (rest) rt.state.guesses += 1
    return makeList(items)
  },
  /** The result of a call that can't be known. */
  _unknown: (_rt, [name]) => makeUnknown(textOf(name) ?? '', 'standard-library'),
  /** For missing keys and attributes: raises only where the pack expects it. */
  _missing: (rt, [exception]) => raiseIfCertain(rt, textOf(exception) ?? ''),
  /** For errors that may be ours: raises only where the pack handles it; else an unknown of that name. */
  _error: (rt, [exception, name]) => {
    raiseIfHandled(rt, textOf(exception) ?? '', textOf(name))
    return makeUnknown(textOf(name) ?? '')
  },
  /** The builtin value in an instance of a builtin's subclass. */
  _content: (_rt, [value]) => payloadOf(value),
  /** Kind of that value, or of any other: `str`, `number`, `None`, or the kind of object to the interpreter. */
  _kind: (_rt, [value = null]) => {
    const content = payloadOf(value)
    if (isUnknown(content)) return undefined
    return isSet(content) && content.frozen ? 'frozenset' : kindFor(content)
  },
  _is_descriptor: (rt, [value]) =>
    DESCRIPTORS.has(typeof value === 'object' && value ? value.kind : '') ||
    (isInstanceValue(value) && findInClass(rt, value.cls, '__get__') !== undefined),
  /** An annotation as text: of a str itself, of an unknown its name. */
  _type_text: (_rt, [type]) => (isUnknown(type) ? type.name : (textOf(type) ?? '')),
  /** The name of the module of the pack that called into the library. */
  _caller: (rt) => {
    let scope = rt.state.scope
    while (scope.module.home === 'library' && scope.frame) scope = scope.frame.caller
    return scope.module.name
  },
  ...THREAD_HELPERS,
  _cached: (rt, [target]) => (target === undefined ? undefined : cacheFunction(rt, target)),
}

const DESCRIPTORS: ReadonlySet<string> = new Set(
  words('function property classmethod staticmethod'),
)

/** Results kept for one function. */
const MAX_RESULTS = 10_000

/**
 * The function, called once for equal arguments: packs keep registries in what a cached function gave, so it has to be
 * the same object each time.
 */
const cacheFunction = (rt: Runtime, target: Value): Value => {
  const results = new Map<HashKey, Value>()
  const cached = nativeMethod(nameOf(rt, target), (rt, args, kwargs) => {
    const words = [...kwargs].flat()
    const key = hashKey(rt, makeTuple([...args, null, ...words]))
    const known = key === undefined ? undefined : results.get(key)
    if (known !== undefined) return known
    const result = call(rt, target, args, kwargs)
    if (key !== undefined && results.size < MAX_RESULTS) results.set(key, result)
    return result
  })
  const clear = nativeFunction('functools.lru_cache.cache_clear', () => {
    results.clear()
    return null
  })
  cached.attributes = new Map<string, Value>([
    ['__wrapped__', target],
    ['cache_clear', clear],
  ])
  for (const name of ['__module__', '__name__', '__qualname__', '__doc__']) {
    const value = findAttribute(rt, target, name)
    if (value !== undefined) cached.attributes.set(name, value)
  }
  return cached
}

const nameOf = (rt: Runtime, target: Value): string =>
  textOf(findAttribute(rt, target, '__qualname__')) ?? 'functools.lru_cache()'
