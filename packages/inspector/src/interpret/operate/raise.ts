import { evaluateSafely } from '../run-code.ts'
import { isClass, isObject, isTuple, isUnknown } from '../values/read-value.ts'
import { isSubclass } from './is-instance.ts'
import { makeInstance, makeTuple } from '../values/make-value.ts'
import type { DictValue, InstanceValue, Reason, SetValue, Runtime, Value } from '../types.ts'

/** A Python exception on its way to a handler. Never seen outside the interpreter. */
export class Raised extends Error {
  readonly exception: Value

  constructor(exception: Value) {
    super('A Python exception')
    this.exception = exception
  }
}

/** Catches a Python exception, and puts back what it left of the expressions and handlers it broke off. */
export function attempt<T>({ state }: Runtime, run: () => T): { value?: T; raised?: Raised } {
  const { nesting, depth, scope, handlers } = state
  try {
    return { value: run() }
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    return { raised: error }
  } finally {
    Object.assign(state, { nesting, depth, scope, handlers })
  }
}

/** Raises a builtin exception by name, or the exception given. */
export function raise(rt: Runtime, exception: string | Value, message = ''): never {
  const made = typeof exception === 'string' ? makeException(rt, exception, message) : exception
  if (rt.state.maybeLeft && isObject(made)) rt.state.doubtful.add(made)
  throw new Raised(made)
}

/**
 * Raises only if a `try` is running that has a handler for it; else gives undefined, and the result is unknown. For
 * errors that are more often our ignorance than the pack's: a value that doesn't parse, a file that is missing.
 */
export function raiseIfHandled(rt: Runtime, exception: string, message?: Value): undefined {
  if (isHandled(rt, exception, false)) raiseDoubtful(rt, exception, message)
}

/**
 * The same, but only for a handler that names the exception or a base of it other than Exception: for missing keys,
 * attributes and items.
 */
export function raiseIfExpected(rt: Runtime, exception: string, message?: Value): undefined {
  if (isHandled(rt, exception, true)) raiseDoubtful(rt, exception, message)
}

/** Raises for what is known as long as nothing was guessed: then it is what Python has, and raises for. */
export function raiseIfCertain(rt: Runtime, exception: string, message: Value = ''): undefined {
  if (rt.state.guesses === 0) raise(rt, makeException(rt, exception, message))
  return raiseIfExpected(rt, exception, message)
}

/** The same for a key that is missing. That of the environment is an assumption; one with parts may have unknown ones. */
export function raiseMissingKey(rt: Runtime, from: DictValue | SetValue, key: Value): undefined {
  const isUnsure = 'isAssumed' in from || (isObject(key) && !isClass(key))
  const raiseIf = isUnsure ? raiseIfExpected : raiseIfCertain
  return raiseIf(rt, 'KeyError', key)
}

/** Raises an exception that may be ours. */
export function raiseDoubtful(rt: Runtime, name: string, message: Value = ''): never {
  const exception = makeException(rt, name, message)
  rt.state.guesses += 1
  rt.state.doubtful.add(exception)
  throw new Raised(exception)
}

/**
 * Raises for a module, or a name of one, that the pack imports from itself and lacks. After a call that may have fetched
 * it only where that is handled; else gives undefined, and the result is unknown.
 */
export function raiseMissing(rt: Runtime, exception: string, name: string, message: string) {
  if (rt.state.mayHaveWritten) {
    recordMissing(rt, name)
    return raiseIfHandled(rt, exception, message)
  }
  return raiseFor(rt, exception, message, {
    code: 'own_module_missing',
    detail: nameInPack(rt, name),
  })
}

/** Raises what is to be said of the pack by that code. */
export function raiseFor(rt: Runtime, exception: string, message: string, cause: Reason): never {
  const value = makeException(rt, exception, message)
  rt.state.causes.set(value, cause)
  return raise(rt, value)
}

/** Records that the result is incomplete for want of a module of the pack, or a name of one. */
export function recordMissing(rt: Runtime, name: string): void {
  const detail = nameInPack(rt, name)
  rt.state.reasons.set(`own_module_missing ${detail}`, { code: 'own_module_missing', detail })
}

function nameInPack({ files }: Runtime, name: string): string {
  const prefix = `${files.packageName}.`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** Makes what is raised in the handler of an exception as certain as that, and about the same name. */
export function inheritCause(rt: Runtime, exception: Value, cause: Value | undefined): void {
  const { doubtful, causes } = rt.state
  if (!isObject(exception) || !isObject(cause)) return
  if (doubtful.has(cause)) doubtful.add(exception)
  const reason = causes.get(cause)
  if (reason && reason.code !== 'import_raised') causes.set(exception, reason)
}

function makeException(rt: Runtime, name: string, message: Value): InstanceValue {
  const exception = makeInstance(rt.builtinClass(name))
  exception.attributes.set('args', makeTuple(message === '' ? [] : [message]))
  if (name.endsWith('ImportError') || name === 'ModuleNotFoundError')
    exception.attributes.set('msg', message)
  return exception
}

/** True when a running `try` has a handler for the exception. That one has none is a guess: it may wait for another. */
function isHandled(rt: Runtime, name: string, onlyExpected: boolean): boolean {
  const cls = rt.builtinClass(name)
  const { state } = rt
  const handlers = state.handlers
  for (let index = handlers.length - 1; index >= 0; index -= 1) {
    const entry = handlers[index]
    for (const type of entry?.types ?? []) {
      if (type === undefined) {
        if (!onlyExpected) return true
        continue
      }
      // The handlers of outer statements don't guard the expressions of this look.
      state.handlers = handlers.slice(0, index)
      const caught = evaluateSafely(rt, type, entry?.scope ?? state.scope)
      state.handlers = handlers
      if (!isUnknown(caught) && catches(rt, cls, caught, onlyExpected)) return true
    }
  }
  if (handlers.length > 0) state.guesses += 1
  return false
}

function catches(rt: Runtime, cls: Value, caught: Value, onlyExpected: boolean): boolean {
  if (isTuple(caught)) return caught.items.some((item) => catches(rt, cls, item, onlyExpected))
  if (onlyExpected && isBroad(rt, caught)) return false
  return isSubclass(rt, cls, caught) === true
}

function isBroad(rt: Runtime, caught: Value): boolean {
  return caught === rt.builtinClass('Exception') || caught === rt.builtinClass('BaseException')
}
