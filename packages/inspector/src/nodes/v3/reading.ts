import { isClass, isFunction, isObject, isUnknown } from '../../interpret/values/read-value.ts'
import { findHostText, socketTypeNamed } from '../../host/class-facts.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import type { FunctionValue, Value } from '../../interpret/types.ts'
import { choicesOf } from '../../interpret/values/merge-values.ts'
import { findPart, type SchemaPart } from '../../host/schema-part.ts'

/** The reading of one schema. */
export interface V3Reading {
  interpreter: Interpreter
  /** Inputs around the one that is read. */
  depth: number
  /** Inputs that may still be read. */
  room: { inputs: number }
  /** Marks a field of the registry as not wholly known. */
  record(field: string): void
}

/** Undefined for None, and for what can't be known, which is noted. */
export const textOf = (
  { interpreter, record }: V3Reading,
  value: Value | undefined,
  field: string,
): string | undefined => {
  if (value === undefined || value === null) return undefined
  const [first = null, ...others] = choicesOf(value)
  const text = isUnknown(first) ? findHostText(first) : interpreter.text(first)
  if (text === undefined || others.length > 0) record(field)
  return text
}

/** False for None, and for what can't be known, which is noted. */
export const truthOf = (
  { interpreter, record }: V3Reading,
  value: Value | undefined,
  field: string,
): boolean => {
  const truth = value === undefined ? false : interpreter.truth(value)
  if (truth === undefined) record(field)
  return truth ?? false
}

/** Items of a list of the schema; None is an empty one. */
export const itemsOf = (
  { interpreter, record }: V3Reading,
  value: Value,
  fields: readonly string[],
): Value[] => {
  if (value === null) return []
  const { items, rest } = interpreter.readItems(value)
  if (rest) for (const field of fields) record(field)
  return items
}

/** Any type: what the registry says of a socket that can't be known. */
const ANY = '*'

/** The socket type of an input or output. */
export const socketTypeOf = (reading: V3Reading, part: SchemaPart, field: string): string => {
  const widget = part.values.get('widget_type')
  if (widget !== undefined && widget !== null) return textOf(reading, widget, field) ?? ANY
  const { maker, typeName, socketType } = part
  if (socketType !== undefined) return readType(reading, socketType, field)
  if (typeName === 'MultiType' && maker === 'Input') return joinTypes(reading, part, field)
  if (typeName !== undefined) return socketTypeNamed(typeName)
  reading.record(field)
  return ANY
}

/** Several types, each once, that of a widget first. */
const joinTypes = (reading: V3Reading, part: SchemaPart, field: string): string => {
  const widget = findPart(part.values.get('id'))
  const types = itemsOf(reading, part.values.get('types') ?? null, [field]).map((type) =>
    typeNamed(reading, type, field),
  )
  // One that wraps itself has no type.
  if (widget && widget.typeName !== 'MultiType') types.unshift(socketTypeOf(reading, widget, field))
  return [...new Set(types)].join(',')
}

/** The socket type that a type stands for: `io.Image`, an object of it, `io.Custom("X")`, a class of the pack. */
export const typeNamed = (reading: V3Reading, type: Value, field: string): string => {
  const custom = findPart(type)
  if (custom?.maker === 'Custom') return readType(reading, custom.values.get('io_type'), field)
  if (isUnknown(type)) {
    const [, name] = /(?:^|\.)(\w+?)(?:\(\)|\.io_type)?$/.exec(type.name) ?? []
    if (name !== undefined) return socketTypeNamed(name)
  }
  if (isClass(type))
    return readType(reading, reading.interpreter.findAttribute(type, 'io_type'), field)
  return readType(reading, type, field)
}

/** A text, or something whose text stands in `io`. */
const readType = (reading: V3Reading, value: Value | undefined, field: string): string => {
  if (isUnknown(value) && value.name.endsWith('.io_type')) return typeNamed(reading, value, field)
  const text = textOf(reading, value, field)
  if (value === undefined || value === null) reading.record(field)
  return text ?? ANY
}

/** True for an `async def`; undefined for what is no function. */
export const isCoroutine = (value: Value | undefined): boolean | undefined => {
  const node = functionOf(value)?.node
  return node && node.kind === 'FunctionDef' && node.isAsync && !node.isGenerator
}

/** The function itself, or that of a method. */
export const functionOf = (value: Value | undefined): FunctionValue | undefined => {
  if (!isObject(value)) return undefined
  if (value.kind === 'method' || value.kind === 'classmethod' || value.kind === 'staticmethod')
    return functionOf(value.function)
  return isFunction(value) ? value : undefined
}
