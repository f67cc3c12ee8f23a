import { numberOf } from '../values/number-of.ts'
import { payloadOf } from '../values/payload.ts'
import type { Kwargs, Value } from '../values/value.ts'

/** An argument by position or name. */
export function argument(
  args: readonly Value[],
  kwargs: Kwargs,
  index: number,
  name: string,
): Value | undefined {
  return args[index] ?? kwargs.get(name)
}

/** The text of a str or of an instance of a subclass. */
export function textOf(value: Value | undefined): string | undefined {
  const inner = value === undefined ? undefined : payloadOf(value)
  return typeof inner === 'string' ? inner : undefined
}

/** The int of an int or bool. */
export function intOf(value: Value | undefined): bigint | undefined {
  const number = value === undefined ? undefined : numberOf(payloadOf(value))
  return typeof number === 'bigint' ? number : undefined
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
