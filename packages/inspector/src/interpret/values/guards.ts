import type { BaseValue, ListValue, ObjectValue, TupleValue, Value } from './value.ts'

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

/** True for a value that a class may have as a base. */
export function isBase(value: Value | undefined): value is BaseValue {
  return isClass(value) || isUnknown(value)
}

export function isNotImplemented(value: Value): boolean {
  return isObject(value) && value.kind === 'singleton' && value.name === 'NotImplemented'
}
