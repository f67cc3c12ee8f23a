import { callSpecial } from '../run-code.ts'
import type { Kwargs, Runtime, Truth, Value } from '../types.ts'
import { orElse } from '../values/make-value.ts'
import { textOf } from '../values/read-value.ts'
import { truthOf } from './truth.ts'

/** The argument at that position or of that name. */
export function argumentOf(
  args: readonly Value[],
  kwargs: Kwargs,
  index: number,
  name: string,
): Value | undefined {
  return orElse(args[index], () => kwargs.get(name))
}

/**
 * An optional argument: `{ known: false }` if it is given but not understood, so that a default is never taken for it.
 */
export function optional<T>(
  value: Value | undefined,
  read: (value: Value | undefined) => T | undefined,
): { known: boolean; value: T | undefined } {
  if (value === undefined || value === null) return { known: true, value: undefined }
  const found = read(value)
  return { known: found !== undefined, value: found }
}

/** Text of a path: a str, or anything with `__fspath__`. */
export function pathOf(rt: Runtime, value: Value | undefined): string | undefined {
  const text = textOf(value)
  if (text !== undefined || value === undefined) return text
  return textOf(callSpecial(rt, value, '__fspath__', []))
}

/** Truth of an optional flag. */
export function flagOf(rt: Runtime, value: Value | undefined, fallback: boolean): Truth {
  return value === undefined ? fallback : truthOf(rt, value)
}
