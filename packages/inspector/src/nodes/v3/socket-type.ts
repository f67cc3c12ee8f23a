import { isClass, isUnknown } from '../../interpret/values/guards.ts'
import { socketTypeNamed } from '../../host/host-text.ts'
import { findPart, typeNameOf } from '../../host/schema-part.ts'
import type { SchemaPart } from '../../host/schema-part.ts'
import type { Value } from '../../interpret/values/value.ts'
import { itemsOf, textOf } from './reading.ts'
import type { V3Reading } from './reading.ts'

/** Any type: what the registry says of a socket that can't be known. */
const ANY = '*'

/** The socket type of an input or output. */
export const socketTypeOf = (reading: V3Reading, part: SchemaPart, field: string): string => {
  const widget = part.values.get('widget_type')
  if (widget !== undefined && widget !== null) return textOf(reading, widget, field) ?? ANY
  const { type } = part
  if (type && 'socketType' in type) return readType(reading, type.socketType, field)
  if (type?.name === 'MultiType' && part.maker === 'Input') return joinTypes(reading, part, field)
  if (type) return socketTypeNamed(type.name)
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
  if (widget && typeNameOf(widget) !== 'MultiType')
    types.unshift(socketTypeOf(reading, widget, field))
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
