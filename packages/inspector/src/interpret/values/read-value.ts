import type { BaseValue, ListValue, ObjectValue, TupleValue, Value } from '../types.ts'

/** Anything but None, bool, int, float and str. */
export function isObject(value: Value | undefined): value is ObjectValue {
  return typeof value === 'object' && value !== null
}

const guardOf =
  <Kind extends ObjectValue['kind']>(kind: Kind) =>
  (value: Value | undefined): value is Extract<ObjectValue, { kind: Kind }> =>
    typeof value === 'object' && value?.kind === kind

export const isBytes = guardOf('bytes')
export const isClass = guardOf('class')
export const isDict = guardOf('dict')
export const isFunction = guardOf('function')
export const isInstanceValue = guardOf('instance')
export const isIterator = guardOf('iterator')
export const isList = guardOf('list')
export const isMethod = guardOf('method')
export const isModule = guardOf('module')
export const isNative = guardOf('native')
export const isProperty = guardOf('property')
export const isSet = guardOf('set')
export const isSlice = guardOf('slice')
export const isStaticMethod = guardOf('staticmethod')
export const isTuple = guardOf('tuple')
export const isUnknown = guardOf('unknown')

export function isSequence(value: Value | undefined): value is ListValue | TupleValue {
  return isList(value) || isTuple(value)
}

/** True for a list, tuple or iterator that as a whole may be none of what the pack makes. */
export function isUndecided(value: Value | undefined): boolean {
  return (
    (isSequence(value) || isIterator(value)) &&
    (value.maybe !== undefined || value.unordered !== undefined)
  )
}

/** True for a value that a class may have as a base. */
export function isBase(value: Value | undefined): value is BaseValue {
  return isClass(value) || isUnknown(value)
}

export function isNotImplemented(value: Value): boolean {
  return isObject(value) && value.kind === 'singleton' && value.name === 'NotImplemented'
}

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

const PLAIN_NAMES = new Map([
  ['string', 'str'],
  ['bigint', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
])

/** Short name of a value for the names of unknowns. */
export function nameOf(value: Value): string {
  if (value === null) return 'None'
  if (typeof value !== 'object') return PLAIN_NAMES.get(typeof value) ?? 'value'
  switch (value.kind) {
    case 'unknown':
    case 'native':
    case 'module':
    case 'class':
    case 'function':
      return value.name
    case 'method':
      return nameOf(value.function)
    case 'instance':
      return `${value.cls.name}()`
    default:
      return value.kind
  }
}
