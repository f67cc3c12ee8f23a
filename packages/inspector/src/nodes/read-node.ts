import { isUnknown } from '../interpret/values/guards.ts'
import type { ExtractedNode } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type { ClassValue, UnknownValue } from '../interpret/values/value.ts'
import { dynamicInputs } from './json-text.ts'
import { UNKNOWN_NODE } from './unknown-node.ts'
import { readV1Node } from './v1-node.ts'
import type { NodeReader } from './v1-node.ts'
import { readV3Node } from './v3/read-v3-node.ts'

/**
 * Reads a node of either form. Without `name` the class has to define its name, which is empty when that can't be
 * known. Of a class outside of the pack only the facts about the host are known.
 */
export const readNode = (
  reader: NodeReader,
  name: string | undefined,
  cls: ClassValue | UnknownValue,
): ExtractedNode => {
  if (cls.kind === 'unknown' || !hasSchema(reader.interpreter, cls))
    return readV1Node(reader, name ?? '', cls)
  const fields = readV3Node(reader.interpreter, cls)
  if (!fields) return { ...UNKNOWN_NODE, name: name ?? '' }
  const { json } = reader
  const inputs = json.inputTypes(fields.inputTypes, UNKNOWN_NODE.input_types)
  const types = json.types(fields.returnTypes, '[]')
  const names = json.types(fields.returnNames, types.text)
  const dynamic = new Set(fields.dynamic)
  for (const name of dynamicInputs(inputs)) dynamic.add(name)
  if (types.isDynamic) dynamic.add('return_types')
  if (names.isDynamic) dynamic.add('return_names')
  return {
    name: name ?? fields.nodeId ?? '',
    ...(fields.displayName !== undefined && { display_name: fields.displayName }),
    category: fields.category,
    description: fields.description,
    function: fields.function,
    deprecated: fields.deprecated,
    experimental: fields.experimental,
    input_types: inputs.text,
    return_types: types.text,
    return_names: names.text,
    output_is_list: fields.outputIsList,
    dynamic: [...dynamic],
  }
}

/** A class with a schema of its own, unless it also has the older form without being one of the newer base. */
const hasSchema = (interpreter: Interpreter, cls: ClassValue): boolean => {
  const schema = interpreter.findInClass(cls, 'define_schema')
  return schema !== undefined && !isUnknown(schema)
}
