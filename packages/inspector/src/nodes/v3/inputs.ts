import { isDict } from '../../interpret/values/read-value.ts'
import { getEntry, makeDict, setEntry } from '../../interpret/operate/mapping.ts'
import { findPart, type SchemaPart } from '../../host/schema-part.ts'
import { makeTuple } from '../../interpret/values/make-value.ts'
import type { DictValue, Value } from '../../interpret/types.ts'
import { readOptions } from './options.ts'
import { itemsOf, socketTypeOf, textOf, truthOf, type V3Reading } from './reading.ts'

const FIELD = 'input_types'
/** Inputs nest deeper only in hostile packs, or in circles. */
const MAX_DEPTH = 10

/** Sections of inputs as the older form has them: `required` is always there. */
export const makeInputDict = (reading: V3Reading, inputs: Value): DictValue => {
  const { runtime } = reading.interpreter
  const required = makeDict(runtime, [])
  const sections = makeDict(runtime, [['required', required]])
  const within: V3Reading = { ...reading, depth: reading.depth + 1 }
  for (const item of itemsOf(reading, inputs, [FIELD])) {
    reading.room.inputs -= 1
    if (reading.room.inputs < 0 || reading.depth > MAX_DEPTH) {
      reading.record(FIELD)
      break
    }
    const part = findPart(item)
    const read = part?.maker === 'Input' ? readInput(within, part) : undefined
    if (!read) {
      reading.record(FIELD)
      continue
    }
    const section = read.isOptional ? 'optional' : 'required'
    const known = getEntry(runtime, sections, section) ?? makeDict(runtime, [])
    if (!isDict(known)) continue
    setEntry(runtime, known, read.id, makeTuple([read.type, read.options]))
    setEntry(runtime, sections, section, known)
  }
  return sections
}

/** Undefined if its id can't be known. */
const readInput = (around: V3Reading, part: SchemaPart) => {
  const inner = innerOf(part)
  const source = inner ? mergeInner(part, inner) : part
  const id = textOf(around, source.values.get('id'), FIELD)
  if (id === undefined) return undefined
  // What is not known of an input within another one is not known of that.
  const reading =
    around.depth > 1 ? around : { ...around, record: () => around.record(`${FIELD}.${id}`) }
  if (source.rest) reading.record(FIELD)
  const isSlot = source.typeName === 'DynamicSlot'
  return {
    id,
    isOptional: isSlot || truthOf(reading, source.values.get('optional'), FIELD),
    type: socketTypeOf(reading, part, FIELD),
    options: readOptions(reading, source, { inner, makeInputDict }),
  }
}

/** The input that another one wraps: MultiType takes one for its id, DynamicSlot for its slot. */
const innerOf = (part: SchemaPart): SchemaPart | undefined => {
  const inner = findPart(part.values.get('slot')) ?? findPart(part.values.get('id'))
  return inner?.maker === 'Input' ? inner : undefined
}

/** Merges both: values that the inner one sets win, and the id is its own. */
const mergeInner = (part: SchemaPart, inner: SchemaPart): SchemaPart => {
  const values = new Map(part.values)
  for (const name of ['id', 'display_name', 'optional', 'tooltip', 'lazy']) {
    const given = inner.values.get(name)
    if (given !== undefined && given !== null && given !== false) values.set(name, given)
  }
  return { ...part, values, rest: part.rest || inner.rest }
}
