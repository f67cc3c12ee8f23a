import { isUndecided, isUnknown } from '../../interpret/values/read-value.ts'
import { findPart, type SchemaPart } from '../../host/schema-part.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import { makeList, makeTuple } from '../../interpret/values/make-value.ts'
import type { ClassValue, DictValue, Value } from '../../interpret/types.ts'
import { makeInputDict } from './inputs.ts'
import { isCoroutine, itemsOf, socketTypeOf, textOf, truthOf, type V3Reading } from './reading.ts'
import { recoverSchema } from './recover-schema.ts'
import type { ExtractedNode } from '../../inspection.ts'
import { dynamicInputs, type JsonWriter } from '../json-text.ts'
import { UNKNOWN_NODE } from '../unknown-node.ts'
import { words } from '../../words.ts'
import { findSchemaMethod } from './list-v3-classes.ts'
import { choicesOf } from '../../interpret/values/merge-values.ts'
import { makeDict, setEntry } from '../../interpret/operate/mapping.ts'
import { findHostText, findMemberName } from '../../host/class-facts.ts'

/** Steps of one schema. */
const SCHEMA_STEPS = 150_000
/** Inputs of one node, those within others too; a hostile pack shares lists that multiply. */
const INPUTS_MAX = 5000

/** A node of the newer form without its name. */
interface V3Node {
  /** Names that it may have; undefined for one that can't be known. */
  ids: (string | undefined)[]
  fields: Omit<ExtractedNode, 'name'>
}

/** All that is known where the schema can't be. */
const NO_SCHEMA: SchemaPart = { maker: 'Schema', values: new Map(), rest: true }

/**
 * Reads a class with a `define_schema` of its own as the host lists it: the schema is made and converted to the older
 * form. Undefined for a class without one. Of a schema that can't be known every field is dynamic.
 */
export const readV3Node = (
  interpreter: Interpreter,
  json: JsonWriter,
  cls: ClassValue,
): V3Node | undefined => {
  const define = findSchemaMethod(interpreter, cls)
  if (define === undefined) return undefined
  const made = findPart(interpreter.call(define, [], { steps: SCHEMA_STEPS }))
  const dynamic = new Set<string>()
  const record = (field: string): unknown => dynamic.add(field)
  const reading: V3Reading = { interpreter, depth: 0, room: { inputs: INPUTS_MAX }, record }
  const schema =
    made?.maker === 'Schema'
      ? made
      : recoverSchema(interpreter, { cls, method: define, steps: SCHEMA_STEPS })
  const { ids, outputs, inputs: sections, ...own } = readSchema(reading, schema ?? NO_SCHEMA)
  const name = readFunctionName(interpreter, cls)
  if (name === '') record('function')
  const inputs = json.inputTypes(sections, UNKNOWN_NODE.input_types)
  const types = json.types(outputs.types, '[]')
  const names = json.types(outputs.names, types.text)
  for (const part of dynamicInputs(inputs)) record(part)
  if (types.isDynamic) record('return_types')
  if (names.isDynamic) record('return_names')
  const { display_name, category, description, ...flags } = own
  const fields = {
    ...(display_name !== undefined && { display_name }),
    category,
    description,
    function: name,
    ...flags,
    input_types: inputs.text,
    return_types: types.text,
    return_names: names.text,
    output_is_list: outputs.isList,
    dynamic: [...dynamic],
  }
  return { ids, fields }
}

const readSchema = (reading: V3Reading, schema: SchemaPart) => {
  if (schema.rest) for (const field of SCHEMA_FIELDS) reading.record(field)
  const find = (name: string): Value | undefined => schema.values.get(name)
  const inputs = makeInputDict(reading, find('inputs') ?? null)
  addHidden(reading, inputs, schema)
  // A node without a name is none: there is nothing to mark.
  const unmarked: V3Reading = { ...reading, record: () => {} }
  return {
    inputs,
    ids: choicesOf(find('node_id') ?? null).map((id) => textOf(unmarked, id, '')),
    // What is not known is not there: the host shows the name.
    display_name: textOf(unmarked, find('display_name'), ''),
    category: textOf(reading, find('category'), 'category') ?? '',
    description: textOf(reading, find('description'), 'description') ?? '',
    deprecated: truthOf(reading, find('is_deprecated'), 'deprecated'),
    experimental: truthOf(reading, find('is_experimental'), 'experimental'),
    output_node: truthOf(reading, find('is_output_node'), 'output_node'),
    outputs: readOutputs(reading, find('outputs') ?? null),
  }
}

const SCHEMA_FIELDS = words(`
  category description deprecated experimental output_node input_types return_types
  return_names output_is_list`)

/** The method of the host's base class that runs the node; it depends on whether `execute` is a coroutine. */
const readFunctionName = (interpreter: Interpreter, cls: ClassValue): string => {
  const isAsync = isCoroutine(interpreter.findInClass(cls, 'execute'))
  if (isAsync === undefined) return ''
  return isAsync ? 'EXECUTE_NORMALIZED_ASYNC' : 'EXECUTE_NORMALIZED'
}

const FIELD = 'input_types'

/** Adds the hidden inputs, those asked for and those that kinds of nodes need, as `{name: [NAME]}`. */
const addHidden = (reading: V3Reading, inputTypes: DictValue, schema: SchemaPart): void => {
  const { runtime } = reading.interpreter
  const hidden = new Map<string, Value>()
  const add = (name: string, text: string): unknown => hidden.set(name, makeTuple([text]))
  for (const item of itemsOf(reading, schema.values.get('hidden') ?? null, [FIELD])) {
    const found = isUnknown(item) ? [findMemberName(item), findHostText(item)] : []
    const [name, text] = found
    if (name !== undefined && text !== undefined) add(name, text)
    else reading.record(FIELD)
  }
  for (const [flag, names] of NEEDED)
    if (truthOf(reading, schema.values.get(flag), FIELD))
      for (const name of names) if (!hidden.has(name)) add(name, name.toUpperCase())
  if (hidden.size > 0) setEntry(runtime, inputTypes, 'hidden', makeDict(runtime, hidden))
}

/** In the host's order. */
const NEEDED = [
  ['is_api_node', ['auth_token_comfy_org', 'api_key_comfy_org']],
  ['is_output_node', ['prompt', 'extra_pnginfo']],
] as const

const FIELDS = ['return_types', 'return_names', 'output_is_list']

/** Types, names and kinds of the outputs, which have a place each: an unknown one is of any type. */
const readOutputs = (reading: V3Reading, outputs: Value) => {
  const isUnited = isUndecided(outputs)
  if (isUnited) for (const field of FIELDS) reading.record(field)
  const items = isUnited ? [] : itemsOf(reading, outputs, FIELDS)
  const read = items.map((item) => readOutput(reading, findPart(item)))
  return {
    types: makeList(read.map(({ type }) => type)),
    names: makeList(read.map(({ name }) => name)),
    isList: read.map(({ isList }) => isList),
  }
}

const readOutput = (reading: V3Reading, part: SchemaPart | undefined) => {
  if (part?.maker !== 'Output' || part.rest) for (const field of FIELDS) reading.record(field)
  if (part?.maker !== 'Output') return { type: '*', name: '*', isList: false }
  const type = socketTypeOf(reading, part, 'return_types')
  const name =
    textOf(reading, part.values.get('display_name'), 'return_names') ||
    textOf(reading, part.values.get('id'), 'return_names') ||
    (part.typeName === 'MatchType' ? 'MATCHTYPE' : type)
  return {
    type,
    name,
    isList: truthOf(reading, part.values.get('is_output_list'), 'output_is_list'),
  }
}
