import { isUnknown } from '../../interpret/values/guards.ts'
import { findHostText } from '../../host/host-text.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import type { Value } from '../../interpret/values/value.ts'

/** The fields of a node of the newer form, as the host's own conversion to the older form gives them. */
export interface V3Fields {
  /** Undefined if it can't be known. */
  nodeId: string | undefined
  displayName: string | undefined
  category: string
  description: string
  /** Empty if it can't be known. */
  function: string
  deprecated: boolean
  experimental: boolean
  /** A dict of sections, each a dict from id to a tuple of socket type and options. */
  inputTypes: Value
  /** A list of texts. */
  returnTypes: Value
  returnNames: Value
  outputIsList: boolean[]
  /** Fields of the registry of which a part was left out because it can't be known. */
  dynamic: string[]
}

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
  const text = isUnknown(value) ? findHostText(value) : interpreter.text(value)
  if (text === undefined) record(field)
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
