import { withState } from '../with-state.ts'
import { callWith, evaluateAwait } from '../run-code.ts'
import { NO_BRANCH, runBranches, runUnsure } from '../execute/branch.ts'
import { findName, globalsOf, moduleScope } from '../evaluate/name.ts'
import { KNOWN_MODULES } from '../modules/known-modules.ts'
import { readItems } from './iterate.ts'
import type {
  CallArguments,
  FunctionValue,
  InstanceValue,
  IteratorValue,
  ObjectValue,
  Runtime,
  Scope,
  Value,
} from '../types.ts'
import {
  isClass,
  isDict,
  isFunction,
  isIterator,
  isList,
  isModule,
  isNative,
  isObject,
  isSequence,
  isSet,
  isTuple,
  isUnknown,
} from '../values/read-value.ts'
import { makeTuple, makeUnknown, NO_KWARGS } from '../values/make-value.ts'
import { mergeValues } from '../values/merge-values.ts'
import { nodesWithin } from '../../python/nodes-within.ts'
import { words } from '../../words.ts'

/** Steps of a function that somebody else may run. */
const GIVEN_STEPS = 20_000
/** Objects looked at for one call. */
const REACHED_MAX = 5000

/**
 * Follows what a call gives away that can't be followed itself: it may have changed everything that it reaches, and run
 * the functions, any number of times. The libraries that packs know, and the host, change no more than they say.
 */
export function giveAway(rt: Runtime, callee: Value, { args, kwargs }: CallArguments): void {
  const given = [...args, ...kwargs.values()].filter(isObject)
  // Even a library that packs know may have given it attributes.
  if (!isNative(callee) && given.some((value) => !isUnknown(value) && !isTuple(value)))
    rt.state.guesses += 1
  giveTo(rt, callee, given)
}

/** Values that something unknown gets, whether by a call or not. */
export function giveTo(rt: Runtime, to: Value, given: readonly Value[]): void {
  if (given.length === 0 || rt.state.giving || (isUnknown(to) && to.origin === 'host')) return
  withState(rt, { giving: true }, () => {
    for (const value of given)
      if (isIterator(value)) runUnsure(rt, () => readGiven(rt, value))
      else if (isObject(value)) giveValue(rt, value, to)
  })
}

/** A generator that somebody else may read to its end. */
function readGiven(rt: Runtime, value: IteratorValue): undefined {
  if (value.type === 'coroutine') evaluateAwait(rt, value)
  else if (value.type === 'generator') {
    rt.budget.attempt(GIVEN_STEPS, () => readItems(rt, value))
    value.rest = true
  }
}

/** A decorator that can't be followed gets what it decorates. */
export function giveToDecorator(rt: Runtime, decorator: Value, value: Value): void {
  if (isUnknown(decorator) && !isKnownSource(decorator))
    giveAway(rt, decorator, { args: [value], kwargs: NO_KWARGS, rest: false })
}

/** Libraries run functions as well, and put names where they get `globals()`; other values they leave as they are. */
function giveValue(rt: Runtime, value: ObjectValue, to: Value): void {
  if (value === rt.state.scope.module.dict && isUnknown(to) && to.origin === 'third-party')
    value.rest = true
  const fn = value.kind === 'method' ? value.function : value
  const isKnown = isKnownSource(to)
  const isRun = isFunction(fn) || value.kind === 'method'
  if (isKnown && !isRun && !(mayWrite(to) && !isClass(value) && !isModule(value))) return
  if (isFunction(fn) && [...reach(rt, value).values()].includes('registry')) runMaybe(rt, value, fn)
  const given: Value[] = isSequence(value) ? value.items : [value]
  if (!isKnown && given.some(hasNodes)) rt.state.gaveNodes = true
  for (const [object, how] of reach(rt, value)) {
    if (isModule(object) && object.home === 'pack') globalsOf(object).rest = true
    if (how !== 'kept' && 'rest' in object) object.rest = true
  }
}

/** The names of its module that a function writes may have any value once it has run. */
export function openGlobals({ node, module: { namespace } }: FunctionValue): void {
  for (const part of nodesWithin(node))
    if (part.kind === 'Global')
      for (const name of part.names) {
        const value = mergeValues([namespace.get(name), makeUnknown(name)])
        if (value !== undefined) namespace.set(name, value)
      }
}

const NODE_ATTRIBUTES = words('INPUT_TYPES RETURN_TYPES define_schema')

const isNodeClass = (value: Value): boolean =>
  isClass(value) && NODE_ATTRIBUTES.some((name) => value.namespace.has(name))

const hasNodes = (value: Value): boolean =>
  isNodeClass(value) || (isModule(value) && value.home === 'pack')

/** A library of which packs use a known part; all else may be anything. */
export function isKnownSource(callee: Value): boolean {
  if (!isObject(callee)) return true
  if (callee.kind === 'instance') return !callee.cls.mro.some(isUnknown)
  if (callee.kind !== 'unknown') return callee.kind !== 'function'
  const [head = ''] = callee.name.split(/[.([]/)
  if (callee.origin === 'third-party') return KNOWN_MODULES.thirdParty.has(head)
  return callee.origin !== 'pack'
}

/** A function of the library of which nothing is known, in a module whose functions do not only read what they get. */
function mayWrite(callee: Value): boolean {
  if (!isUnknown(callee) || callee.isModule) return false
  const [head = ''] = callee.name.split(/[.([]/)
  return callee.origin === 'standard-library' && !READERS.has(head)
}

/** Modules of the library that leave what they get as it is. */
const READERS = new Set(
  words(`
    abc argparse asyncio base64 binascii calendar cmath concurrent csv dataclasses datetime decimal
    difflib email enum fnmatch fractions functools getopt getpass gettext glob gzip hashlib hmac
    html http importlib inspect io itertools json keyword locale logging marshal math
    multiprocessing numbers os pathlib pickle pkgutil platform pprint random secrets shutil socket
    ssl stat statistics string struct subprocess sys tarfile tempfile textwrap threading time
    token tokenize traceback types typing urllib uuid warnings zipfile zlib zoneinfo`),
)

/** True for a class of a node, or what holds one. */
export const leadsToNodes = (rt: Runtime, value: Value): boolean =>
  isObject(value) && [...reach(rt, value).keys()].some(isNodeClass)

/** Result of a walk for a value: it may have been changed, it may and is a registry, or it stays. */
type Reached = 'changed' | 'registry' | 'kept'

/**
 * Everything mutable that a value leads to. Modules, classes and functions lead to their registries alone: who gets one
 * seldom changes its tables of texts.
 */
function reach(rt: Runtime, start: ObjectValue): Map<ObjectValue, Reached> {
  const found = new Map<ObjectValue, Reached>()
  const left: { value: Value; indirect: boolean }[] = [{ value: start, indirect: false }]
  for (let at = left.pop(); at && found.size < REACHED_MAX; at = left.pop()) {
    const { value, indirect } = at
    if (!isObject(value) || found.has(value)) continue
    found.set(value, reachedBy(value, indirect))
    const isBorder = indirect || isModule(value) || isFunction(value) || isClass(value)
    const parts = [...partsOf(rt, value)]
    rt.budget.step(parts.length >> 4)
    for (const part of parts) left.push({ value: part, indirect: isBorder })
  }
  return found
}

function reachedBy(value: ObjectValue, indirect: boolean): Reached {
  if (!isDict(value) && !isList(value) && !isSet(value)) return 'kept'
  const items = isDict(value) ? value.values.values() : value.items.values()
  if ([...items].every((item) => isClass(item) || isFunction(item) || isUnknown(item)))
    return 'registry'
  return indirect ? 'kept' : 'changed'
}

function partsOf(rt: Runtime, value: ObjectValue): Iterable<Value> {
  switch (value.kind) {
    case 'list':
    case 'tuple':
      return value.items
    case 'dict':
      return value.values.values()
    case 'view':
      return [value.dict]
    case 'instance':
      return [...value.attributes.values(), value.payload ?? null, ...methodsOf(value)]
    case 'method':
      return [value.function, value.self]
    case 'classmethod':
    case 'staticmethod':
      return [value.function]
    case 'module':
    case 'class':
      return value.home === 'library' || isNodeClass(value) ? [] : value.namespace.values()
    case 'function':
      return [...value.defaults.values(), ...usedBy(rt, value)]
    default:
      return []
  }
}

/** Parts of an instance that its classes in the pack hold: containers, and methods that may be called. */
function methodsOf({ cls }: InstanceValue): Value[] {
  const own = cls.mro.filter((base) => isClass(base) && base.home === 'pack')
  return own.flatMap((base) => (isClass(base) ? [...base.namespace.values()] : []))
}

/** Values of the names that a function of the pack mentions. */
function usedBy(rt: Runtime, { module, node, scope }: FunctionValue): Value[] {
  return module.home === 'library' ? [] : mentioned(rt, node, scope)
}

/** Values of the names that a text mentions. */
export function mentioned(rt: Runtime, node: object, scope: Scope): Value[] {
  return namesIn(rt, node).map((name) => findName(scope, name) ?? null)
}

/** Names in a text, those of functions in it too. */
function namesIn(rt: Runtime, node: object): readonly string[] {
  const known = rt.state.mentioned.get(node)
  if (known) return known
  const names = new Set<string>()
  for (const part of nodesWithin(node)) if (part.kind === 'Name') names.add(part.id)
  rt.state.mentioned.set(node, [...names])
  return [...names]
}

/** Makes all unknown that may be written by what these values lead to: containers get a rest, plain attributes go. */
export function openReached(rt: Runtime, values: Value[]): void {
  for (const object of reach(rt, makeTuple(values)).keys()) {
    if (isDict(object) || isList(object) || isSet(object)) object.rest = true
    if (object.kind !== 'instance') continue
    for (const [name, value] of object.attributes)
      if (!isObject(value)) object.attributes.set(name, makeUnknown(name))
  }
}

/** Runs a function as a branch that may not be taken. Its arguments are unknown. */
function runMaybe(rt: Runtime, value: Value, fn: FunctionValue): void {
  if (fn.active > 0) return
  const run = () => {
    rt.budget.attempt(GIVEN_STEPS, () =>
      callWith(rt, value, { args: [], kwargs: NO_KWARGS, rest: true }),
    )
    return undefined
  }
  const names = namesIn(rt, fn.node).filter((name) => fn.module.namespace.has(name))
  runBranches(rt, moduleScope(fn.module), [{ names, run }, NO_BRANCH])
}
