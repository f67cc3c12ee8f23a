import { isClass, isUndecided, isUnknown } from '../interpret/values/read-value.ts'
import type { ExtractedNode } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type { BaseValue, InstanceValue, UnknownValue, Value } from '../interpret/types.ts'
import { KNOWN_MODULES } from '../interpret/modules/known-modules.ts'
import { choicesOf } from '../interpret/values/merge-values.ts'
import { makeUnknown } from '../interpret/values/make-value.ts'
import { adviseOnClass, wantsClass, type Advice } from './advise.ts'
import { dynamicInputs, type JsonText, type JsonWriter } from './json-text.ts'

export interface NodeReader {
  interpreter: Interpreter
  json: JsonWriter
  /** Names that the pack's other mapping gives, by name; one that is not known may be any. */
  displayNames: ReadonlyMap<string | undefined, readonly (string | undefined)[]>
  advice: Advice
}

/** Steps of one `INPUT_TYPES` or schema. */
const NODE_STEPS = 150_000

const NO_INPUTS = '{"required":{}}'

/**
 * Reads the fields of a node class as the host does: attributes along the order of classes, `INPUT_TYPES` called. An
 * instance in the place of its class has its attributes.
 */
export const readV1Node = (
  reader: NodeReader,
  name: string,
  value: BaseValue | InstanceValue,
): ExtractedNode => {
  const { interpreter, json, displayNames, advice } = reader
  const cls = value.kind === 'instance' ? value.cls : value
  if (isClass(value)) adviseOnClass(interpreter, advice, { name, cls: value })
  const dynamic: string[] = []
  const choices = [...new Set(displayNames.get(name))]
  if (choices.length > 1 || choices.includes(undefined)) dynamic.push('display_name')
  const display_name = choices.filter((one) => one !== undefined).join(' | ') || undefined
  const find = (attribute: string): Value | undefined =>
    interpreter.findAttribute(value, attribute) ?? inheritedFromOutside(cls, attribute)
  const record = <T>(field: string, { isDynamic, value }: Read<T>): T => {
    if (isDynamic) dynamic.push(field)
    return value
  }
  const recordInputs = (inputs: JsonText): string => {
    dynamic.push(...dynamicInputs(inputs))
    return inputs.text
  }
  const readText = (attribute: string, otherwise: string): Read<string> =>
    textOf(interpreter, find(attribute), otherwise)
  const readFlag = (attribute: string): Read<boolean> => {
    const truth = interpreter.truth(find(attribute) ?? false)
    return { value: truth ?? false, isDynamic: truth === undefined }
  }
  const returnTypes = readTypes(json, find('RETURN_TYPES'), known('[]'))
  return {
    name,
    ...(display_name !== undefined && { display_name }),
    category: record('category', readText('CATEGORY', 'sd')),
    description: record('description', readText('DESCRIPTION', '')),
    function: record('function', readText('FUNCTION', '')),
    deprecated: record('deprecated', readFlag('DEPRECATED')),
    experimental: record('experimental', readFlag('EXPERIMENTAL')),
    output_node: record('output_node', readOutputNode(interpreter, find('OUTPUT_NODE'))),
    input_types: recordInputs(readInputTypes(reader, cls, find('INPUT_TYPES'))),
    return_types: record('return_types', returnTypes),
    return_names: record('return_names', readTypes(json, find('RETURN_NAMES'), returnTypes)),
    output_is_list: record('output_is_list', readIsList(interpreter, find)),
    dynamic,
  }
}

/** An unknown where a class of neither pack nor host may have the attribute; those of well-known libraries are no nodes. */
const inheritedFromOutside = (cls: BaseValue, attribute: string): Value | undefined => {
  const order = cls.kind === 'class' ? cls.mro : [cls]
  const outside = order.find(
    (base) => base.kind === 'unknown' && base.origin !== 'host' && isUnknownNode(base),
  )
  return outside && makeUnknown(`${outside.name}.${attribute}`)
}

/** Name of a class that the pack makes by `type` under a name that is unknown. */
const MADE_CLASS = 'type.__new__()'

/** A class of the host, or one of whose making nothing is known; nothing of a library that packs use for other things. */
export const isUnknownNode = ({ name, origin, isModule }: UnknownValue): boolean => {
  if (name === MADE_CLASS) return true
  if (isModule || origin === 'standard-library' || origin === 'machine') return false
  const [first = ''] = name.split(/[.([]/)
  if (origin === 'host') return HOST_NODES.has(first)
  return !KNOWN_MODULES.thirdParty.has(first)
}

/** True where a value that is no node to us may be one: it is what a call gave, or a part of that. */
export const mayBeNode = (value: UnknownValue): boolean =>
  !isUnknownNode(value) && !value.isModule && /[()[\]…]/.test(value.name)

const HOST_NODES = new Set(['nodes', 'comfy_extras', 'comfy_api_nodes'])

/** A field, and whether a part of it depends on the machine or could not be known. */
interface Read<T> {
  value: T
  isDynamic: boolean
}

const known = <T>(value: T): Read<T> => ({ value, isDynamic: false })

const textOf = (
  interpreter: Interpreter,
  value: Value | undefined,
  otherwise: string,
): Read<string> => {
  if (value === undefined) return known(otherwise)
  if (value === null) return known('')
  const [first = null, ...others] = choicesOf(value)
  const text = first === null ? '' : interpreter.text(first)
  return { value: text ?? '', isDynamic: text === undefined || others.length > 0 }
}

const readTypes = (
  json: JsonWriter,
  value: Value | undefined,
  otherwise: Read<string>,
): Read<string> => {
  if (value === undefined) return otherwise
  const { text, isDynamic } = json.types(value, otherwise.value)
  return { value: text, isDynamic }
}

/** The host asks whether it is True, not whether it is true. */
const readOutputNode = (interpreter: Interpreter, value: Value | undefined): Read<boolean> => {
  const isDynamic = value !== undefined && interpreter.truth(value) === undefined
  return { value: value === true, isDynamic }
}

/** It may be a classmethod, a static one, a plain function, a lambda, or the dict itself. */
const readInputTypes = (
  { interpreter, json }: NodeReader,
  cls: BaseValue,
  given: Value | undefined,
): JsonText => {
  const none = { text: NO_INPUTS, inputs: [] }
  if (given === undefined) return { ...none, isDynamic: false }
  if (isUnknown(given)) return { ...none, isDynamic: true }
  const result = interpreter.asDict(given) ? given : callInputTypes(interpreter, cls, given)
  return result === undefined ? { ...none, isDynamic: true } : json.inputTypes(result, NO_INPUTS)
}

/** A plain function that wants the class gets it, although the host would pass nothing. Undefined when it raises. */
const callInputTypes = (
  interpreter: Interpreter,
  cls: BaseValue,
  callee: Value,
): Value | undefined => {
  const { value, failure } = interpreter.tryCall(callee, wantsClass(callee) ? [cls] : [], {
    steps: NODE_STEPS,
  })
  return failure === undefined ? value : undefined
}

/** Given, or one `false` for each element of `RETURN_TYPES`. */
const readIsList = (
  interpreter: Interpreter,
  find: (attribute: string) => Value | undefined,
): Read<boolean[]> => {
  const given = find('OUTPUT_IS_LIST')
  if (given === undefined) {
    const types = find('RETURN_TYPES')
    if (types === undefined) return known([])
    if (isUndecided(types)) return { value: [], isDynamic: true }
    const [first = null, ...others] = choicesOf(types)
    const { items, rest } = interpreter.readItems(first)
    return { value: items.map(() => false), isDynamic: rest || others.length > 0 }
  }
  if (isUndecided(given)) return { value: [], isDynamic: true }
  if (typeof given === 'boolean') return known([given])
  const { items, rest } = interpreter.readItems(given)
  const flags = items.map((item) => interpreter.truth(item))
  return {
    value: flags.map((flag) => flag ?? false),
    isDynamic: rest || flags.includes(undefined),
  }
}
