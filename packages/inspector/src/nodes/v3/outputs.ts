import { isSequence } from '../../interpret/values/guards.ts'
import { findPart, typeNameOf } from '../../host/schema-part.ts'
import type { SchemaPart } from '../../host/schema-part.ts'
import { makeList } from '../../interpret/values/make-value.ts'
import type { Value } from '../../interpret/values/value.ts'
import { itemsOf, textOf, truthOf } from './reading.ts'
import type { V3Fields, V3Reading } from './reading.ts'
import { socketTypeOf } from './socket-type.ts'

const FIELDS = ['return_types', 'return_names', 'output_is_list']

/** Types, names and kinds of the outputs, which have a place each: an unknown one is of any type. */
export const readOutputs = (
  reading: V3Reading,
  outputs: Value,
): Pick<V3Fields, 'returnTypes' | 'returnNames' | 'outputIsList'> => {
  const isUnited = isSequence(outputs) && outputs.maybe !== undefined
  if (isUnited) for (const field of FIELDS) reading.record(field)
  const items = isUnited ? [] : itemsOf(reading, outputs, FIELDS)
  const read = items.map((item) => readOutput(reading, findPart(item)))
  return {
    returnTypes: makeList(read.map(({ type }) => type)),
    returnNames: makeList(read.map(({ name }) => name)),
    outputIsList: read.map(({ isList }) => isList),
  }
}

const readOutput = (reading: V3Reading, part: SchemaPart | undefined) => {
  if (part?.maker !== 'Output' || part.rest) for (const field of FIELDS) reading.record(field)
  if (part?.maker !== 'Output') return { type: '*', name: '*', isList: false }
  const type = socketTypeOf(reading, part, 'return_types')
  const given = textOf(reading, part.values.get('display_name'), 'return_names')
  return {
    type,
    name: given || nameWithout(part, type),
    isList: truthOf(reading, part.values.get('is_output_list'), 'output_is_list'),
  }
}

const nameWithout = (part: SchemaPart, type: string): string =>
  typeNameOf(part) === 'MatchType' && part.values.get('id') === null ? 'MATCHTYPE' : type
