import { findAttribute } from './attribute.ts'
import { giveAway } from './give-away.ts'
import { changePart, isElsewhere } from './not-followed.ts'
import { callFunction } from './call-function.ts'
import { findInClass, findSpecial, hasUnknownBase } from './class-lookup.ts'
import { raiseIfCertain } from './raise.ts'
import { runBranches } from '../execute/branch.ts'
import type {
  CallArguments,
  ClassValue,
  InstanceValue,
  Kwargs,
  NativeValue,
  Runtime,
  Truth,
  UnknownValue,
  Value,
} from '../types.ts'
import {
  isFunction,
  isNative,
  isObject,
  isStaticMethod,
  isUnknown,
  nameOf,
} from '../values/read-value.ts'
import { choicesOf, mapChoice, mergeValues } from '../values/merge-values.ts'
import { makeInstance, makeUnknown, NO_KWARGS, orElse } from '../values/make-value.ts'

/** Calls anything callable. An unknown callee gives an unknown. */
export function call(rt: Runtime, callee: Value, args: Value[], kwargs = NO_KWARGS): Value {
  return callWith(rt, callee, { args, kwargs, rest: false })
}

export function callWith(rt: Runtime, callee: Value, call: CallArguments): Value {
  if (!isObject(callee)) raiseIfCertain(rt, 'TypeError', 'object is not callable')
  if (!isObject(callee)) return unknownCall(rt, callee, call)
  if ('oneOf' in callee) return callEither(rt, callee, call)
  switch (callee.kind) {
    case 'function':
      return callFunction(rt, callee, call)
    case 'native':
      return callNative(rt, callee, call)
    case 'method':
      return callWith(rt, callee.function, { ...call, args: [callee.self, ...call.args] })
    case 'class':
      return callClass(rt, callee, call)
    case 'instance':
      return callInstance(rt, callee, call)
    case 'staticmethod':
    case 'classmethod':
      return callWith(rt, callee.function, call)
    default:
      return unknownCall(rt, callee, call)
  }
}

/** Calls each of the values that it may be as one of several ways. */
function callEither(rt: Runtime, callee: Value, call: CallArguments): Value {
  const results: Value[] = []
  const ways = choicesOf(callee).map((choice) => () => {
    results.push(callWith(rt, choice, call))
    return undefined
  })
  runBranches(
    rt,
    rt.state.scope,
    ways.map((run) => ({ names: [], run })),
  )
  return mergeValues(results) ?? null
}

function callNative(rt: Runtime, native: NativeValue, call: CallArguments): Value {
  if (rt.state.depth >= rt.budget.limits.callDepth) {
    rt.budget.spent('depth')
    return unknownCall(rt, native, call)
  }
  const body = call.rest ? native.callWithRest : native.call
  rt.state.depth += 1
  try {
    return orElse(body?.(rt, call.args, call.kwargs), () =>
      orElse(callForChoices(rt, native, call), () => unknownCall(rt, native, call)),
    )
  } finally {
    rt.state.depth -= 1
  }
}

/** The results for each value that the first argument may be that is one of several, unless with the others they are many. */
function callForChoices(rt: Runtime, native: NativeValue, call: CallArguments): Value | undefined {
  const count = call.args.reduce<number>((product, arg) => product * choicesOf(arg).length, 1)
  if (count > RESULTS_MAX) return undefined
  const at = call.args.findIndex((arg) => choicesOf(arg).length > 1)
  return mapChoice(call.args[at] ?? null, (choice) =>
    callNative(rt, native, { ...call, args: call.args.with(at, choice) }),
  )
}

const RESULTS_MAX = 64

function callInstance(rt: Runtime, value: InstanceValue, call: CallArguments): Value {
  const method = findSpecial(value.cls, '__call__')
  if (method === undefined) return unknownCall(rt, value, call)
  return callWith(rt, bindSelf(method, value), call)
}

function bindSelf(method: Value, self: Value): Value {
  if (isObject(method)) {
    if (method.kind === 'function' || method.kind === 'native')
      return { kind: 'method', function: method, self }
    if (method.kind === 'staticmethod') return method.function
  }
  return method
}

/** The result of a call that can't be followed. It carries the call: V3 schemas are read from such. */
function unknownCall(rt: Runtime, callee: Value, call: CallArguments): UnknownValue {
  giveAway(rt, callee, call)
  if (isUnknown(callee)) changePart(rt, callee, [...call.args, ...call.kwargs.values()])
  if (nameOf(callee) === 'site.addsitedir') rt.sysPath.rest = true
  rt.state.ranUnknown ||= RUNNERS.test(nameOf(callee)) && !isElsewhere(rt, callee, call)
  rt.state.mayHaveWritten ||= WRITERS.test(nameOf(callee))
  const isOfHost = isUnknown(callee) && callee.origin === 'host'
  const mayRaise = isUnknown(callee) && !NEVER_RAISES.test(callee.name)
  if (rt.state.handlers.length > 0 && mayRaise && !isOfHost)
    rt.state.mayRaise.push(makeUnknown(nameOf(callee)))
  const library = isNative(callee) ? 'standard-library' : 'pack'
  const origin = isUnknown(callee) ? callee.origin : library
  if (isOfHost && REPLACERS.test(callee.name)) rt.state.replacements.push({ callee, ...call })
  const result = makeUnknown(`${nameOf(callee)}()`, origin, { callee, ...call })
  if (isNative(callee) && PARTS.test(callee.name)) result.from = call.args[0] ?? null
  return result
}

/** Calls that run a module or file of the pack. */
const RUNNERS = /^(importlib\.import_module|__import__|runpy\.run_\w+)$|\.(exec|load)_module$/

/** Calls that give a part of their first argument. */
const PARTS = /^(dict\.(get|setdefault|pop|popitem)|list\.pop|getattr|next|max|min|vars)$/

/** Calls that may bring files into the pack: programs, installers, downloads and archives. */
const WRITERS =
  /^(subprocess|pip|git|dulwich|huggingface_hub|os\.(system|popen|spawn\w*))\b|\b(urlretrieve|extract(all)?|unpack_archive|copyfileobj)$/

/** Calls that register a replacement of a host node. */
const REPLACERS = /\bnode_replace(ment|_manager)\.register$/

const NEVER_RAISES = /^(logging|warnings|time|datetime|random|platform|threading)\b/

/** Calls a method by name; undefined if the value certainly has none. */
export function callMethod(
  rt: Runtime,
  value: Value,
  name: string,
  args: Value[],
  kwargs?: Kwargs,
): Value | undefined {
  const method = findAttribute(rt, value, name)
  return method === undefined ? undefined : call(rt, method, args, kwargs)
}

/** `type(self).__name__(self, ...)` of a class of the pack or library, for operators; builtin types give undefined. */
export function callSpecial(
  rt: Runtime,
  value: Value,
  name: string,
  args: Value[],
): Value | undefined {
  if (!isObject(value)) return undefined
  if (value.kind !== 'instance' && value.kind !== 'class') return undefined
  const cls = value.kind === 'instance' ? value.cls : value.metaclass
  const method = findSpecial(cls, name)
  return method === undefined ? undefined : call(rt, bindSelf(method, value), args)
}

export function isCallable(value: Value): Truth {
  if (!isObject(value)) return false
  switch (value.kind) {
    case 'function':
    case 'native':
    case 'method':
    case 'class':
      return true
    case 'unknown':
      return value.isModule ? false : undefined
    case 'instance':
      if (findSpecial(value.cls, '__call__') !== undefined) return true
      return hasUnknownBase(value.cls) ? undefined : false
    default:
      return false
  }
}

/** `cls(...)`: the metaclass's `__call__` if it has its own, else `__new__` and `__init__`. */
function callClass(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const own = findSpecial(cls.metaclass, '__call__')
  if (own !== undefined) return callWith(rt, own, { ...call, args: [cls, ...call.args] })
  return instantiate(rt, cls, call)
}

/** `type.__call__`. */
export function instantiate(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const value = makeNew(rt, cls, call)
  if (!isObject(value)) return value
  const made = value.kind === 'instance' ? value.cls : value.kind === 'class' && value.metaclass
  if (!made || made.kind !== 'class' || !made.mro.includes(cls)) return value
  const init = findInClass(rt, made, '__init__')
  if (init !== undefined && !isUnknown(init))
    callWith(rt, init, { ...call, args: [value, ...call.args] })
  // What `object` has stands for the one of an unknown base.
  if (!isFunction(init)) for (const base of made.mro) if (isUnknown(base)) giveAway(rt, base, call)
  return value
}

function makeNew(rt: Runtime, cls: ClassValue, call: CallArguments): Value {
  const raw = findInClass(rt, cls, '__new__')
  const maker = isStaticMethod(raw) ? raw.function : raw
  if (maker === undefined || isUnknown(maker)) return newInstance(rt, cls)
  return callWith(rt, maker, { ...call, args: [cls, ...call.args] })
}

/** `object.__new__`. */
export function newInstance(rt: Runtime, cls: ClassValue): Value {
  if (!rt.budget.allowItems(1)) return makeUnknown(`${cls.name}()`)
  return makeInstance(cls)
}
