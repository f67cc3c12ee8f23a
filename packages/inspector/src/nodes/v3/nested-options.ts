import { isSequence } from '../../interpret/values/read-value.ts'
import { makeDict } from '../../interpret/operate/mapping.ts'
import { findPart, hasWidget, type SchemaPart } from '../../host/schema-part.ts'
import { makeList } from '../../interpret/values/make-value.ts'
import type { DictValue, Value } from '../../interpret/types.ts'
import { itemsOf, socketTypeOf, typeNamed, type V3Reading } from './reading.ts'

const FIELD = 'input_types'

export type MakeInputDict = (reading: V3Reading, inputs: Value) => DictValue

interface Parameter {
  part: SchemaPart
  name: string
  value: Value
  makeInputDict: MakeInputDict
}

/** Adds a parameter that describes further inputs; false for all others. */
export const addNested = (
  reading: V3Reading,
  options: Map<string, Value>,
  parameter: Parameter,
): boolean => {
  const add = NESTED[`${parameter.part.typeName ?? ''}.${parameter.name}`]
  add?.(reading, options, parameter)
  return add !== undefined
}

type Add = (reading: V3Reading, options: Map<string, Value>, parameter: Parameter) => void

/** Inputs that grow in number: the template describes one of them, and their names. */
const addAutogrow: Add = (reading, options, { value, makeInputDict }) => {
  const template = findTemplate(reading, value)
  if (!template) return
  const input = findPart(template.values.get('input'))
  if (input && hasWidget(input)) input.values.set('force_input', true)
  const given = new Map<string, Value>()
  given.set('input', makeInputDict(reading, makeList([template.values.get('input') ?? null])))
  for (const name of ['prefix', 'names', 'min', 'max']) {
    const own = template.values.get(name)
    if (own !== undefined && own !== null) given.set(name, own)
  }
  options.set('template', makeDict(reading.interpreter.runtime, given))
}

/** Sockets that are of the same type once one is connected. */
const addMatchType: Add = (reading, options, { value }) => {
  const template = findTemplate(reading, value)
  if (!template) return
  const given = new Map<string, Value>([
    ['template_id', template.values.get('template_id') ?? null],
  ])
  const allowed = template.values.get('allowed_types') ?? null
  const isMany = isSequence(allowed)
  const types = isMany ? itemsOf(reading, allowed, [FIELD]) : [allowed]
  const names = types.map((type) => (type === null ? '*' : typeNamed(reading, type, FIELD)))
  given.set('allowed_types', names.join(','))
  options.set('template', makeDict(reading.interpreter.runtime, given))
}

/** Choices that each bring inputs of their own. */
const addDynamicCombo: Add = (reading, options, { value, makeInputDict }) => {
  const { runtime } = reading.interpreter
  const choices = itemsOf(reading, value, [FIELD]).flatMap((item) => {
    const option = findTemplate(reading, item)
    if (!option) return []
    const inputs = makeInputDict(reading, option.values.get('inputs') ?? null)
    return [
      makeDict(runtime, [
        ['key', option.values.get('key') ?? null],
        ['inputs', inputs],
      ]),
    ]
  })
  options.set('options', makeList(choices))
}

/** A socket that brings inputs once it is connected. */
const addDynamicSlot: Add = (reading, options, { part, value, makeInputDict }) => {
  const slot = findPart(part.values.get('slot'))
  if (slot) options.set('slotType', socketTypeOf(reading, slot, FIELD))
  options.set('inputs', makeInputDict(reading, value))
  if (slot && hasWidget(slot)) options.set('forceInput', true)
}

const findTemplate = (reading: V3Reading, value: Value): SchemaPart | undefined => {
  const template = findPart(value)
  if (!template || template.rest) reading.record(FIELD)
  return template
}

const NESTED: Record<string, Add> = {
  'Autogrow.template': addAutogrow,
  'MatchType.template': addMatchType,
  'DynamicCombo.options': addDynamicCombo,
  'DynamicSlot.inputs': addDynamicSlot,
}
