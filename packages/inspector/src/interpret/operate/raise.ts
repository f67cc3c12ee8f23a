import { isInstanceValue, isTuple, isUnknown } from '../values/read-value.ts'
import { strOf } from './text-of.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { isInstance, isSubclass } from './is-instance.ts'
import { makeInstance, makeTuple } from '../values/make-value.ts'
import type { Runtime, Value } from '../types.ts'

/** A Python exception on its way to a handler. Never seen outside the interpreter. */
export class Raised extends Error {
  readonly exception: Value

  constructor(exception: Value) {
    super('A Python exception')
    this.exception = exception
  }
}

/** Raises a builtin exception by name, or the exception given. */
export function raise(rt: Runtime, exception: string | Value, message = ''): never {
  if (typeof exception !== 'string') throw new Raised(exception)
  throw new Raised(makeException(rt, exception, message))
}

/**
 * Raises only if a `try` is running that has a handler for it; else gives undefined, and the result is unknown. For
 * errors that are more often our ignorance than the pack's: a value that doesn't parse, a file that is missing.
 */
export function raiseIfHandled(rt: Runtime, exception: string, message?: string): undefined {
  if (isHandled(rt, exception, false)) raise(rt, exception, message)
}

/**
 * The same, but only for a handler that names the exception or a base of it other than Exception: for missing keys,
 * attributes and items.
 */
export function raiseIfExpected(rt: Runtime, exception: string, message?: string): undefined {
  if (isHandled(rt, exception, true)) raise(rt, exception, message)
}

function makeException(rt: Runtime, name: string, message: string): Value {
  const exception = makeInstance(rt.builtinClass(name))
  exception.attributes.set('args', makeTuple(message === '' ? [] : [message]))
  if (name.endsWith('ImportError') || name === 'ModuleNotFoundError')
    exception.attributes.set('msg', message)
  return exception
}

/** True when a caught JavaScript error is that Python exception, or a subclass of it. */
export function isRaised(rt: Runtime, error: unknown, name: string): boolean {
  return error instanceof Raised && isInstance(rt, error.exception, rt.builtinClass(name)) === true
}

/** True when a running `try` has a handler for the exception. */
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

/** One line for a note: class and message. */
export function describeException(rt: Runtime, exception: Value): string {
  if (!isInstanceValue(exception)) return 'an unknown exception'
  const text = strOf(rt, exception) ?? '?'
  return text === '' ? exception.cls.name : `${exception.cls.name}: ${text}`.slice(0, 300)
}
