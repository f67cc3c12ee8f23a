import type { Value } from './value.ts'
import { isInstanceValue, isSequence } from './guards.ts'

/** The builtin value that an instance of a builtin's subclass holds; any other value itself. */
export function payloadOf(value: Value): Value
export function payloadOf(value: Value | undefined): Value | undefined
export function payloadOf(value: Value | undefined): Value | undefined {
  return isInstanceValue(value) && value.payload !== undefined ? value.payload : value
}

/** The text of a str or of an instance of a subclass. */
export function textOf(value: Value | undefined): string | undefined {
  const inner = payloadOf(value)
  return typeof inner === 'string' ? inner : undefined
}

/** Texts of a list or tuple that holds nothing else. */
export function textsOf(value: Value | undefined): string[] | undefined {
  const inner = payloadOf(value)
  if (!isSequence(inner) || inner.rest) return undefined
  const texts = inner.items.map(textOf)
  return texts.every((text) => text !== undefined) ? texts : undefined
}

/** The number of an int, float or bool. */
export function numberOf(value: Value | undefined): bigint | number | undefined {
  const inner = payloadOf(value)
  if (typeof inner === 'boolean') return BigInt(inner)
  return typeof inner === 'bigint' || typeof inner === 'number' ? inner : undefined
}

/** The int of an int or bool. */
export function intOf(value: Value | undefined): bigint | undefined {
  const number = numberOf(value)
  return typeof number === 'bigint' ? number : undefined
}

/** An int or bool as a number of JavaScript; undefined for one that is no exact double. */
export function countOf(value: Value | undefined): number | undefined {
  const number = Number(intOf(value) ?? NaN)
  return Number.isSafeInteger(number) ? number : undefined
}
