import type { WorkflowName } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type { UnknownCall, Value } from '../interpret/types.ts'
import { isUnknown } from '../interpret/values/read-value.ts'
import { getEntry } from '../interpret/operate/mapping.ts'

/** Replacements of one pack, and inputs of one. */
const [REPLACED_MAX, INPUTS_MAX] = [500, 200]
const TEXT_MAX = 512

type Replacement = NonNullable<WorkflowName['replaced_by']>

/**
 * Lists the host nodes that a pack has replaced, as it registers that with the host while it is loaded: `NodeReplace` with
 * the old and the new name, and the inputs of the new one. The first of several replacements counts, as in the editor.
 */
export const listReplaced = (interpreter: Interpreter): WorkflowName[] => {
  const { replacements } = interpreter.runtime.state
  const found = new Map<string, WorkflowName>()
  for (const { args } of replacements.slice(0, REPLACED_MAX)) {
    const [given] = args
    const call = isUnknown(given) ? given.call : undefined
    const read = call && readReplacement(interpreter, call)
    if (read && !found.has(read.name)) found.set(read.name, read)
  }
  return [...found.values()]
}

/** Parameters in the host's order. */
const PARAMETERS = ['new_node_id', 'old_node_id', 'old_widget_ids', 'input_mapping'] as const

const readReplacement = (interpreter: Interpreter, { args, kwargs }: UnknownCall) => {
  const [next, name, , inputs] = PARAMETERS.map((one, index) => kwargs.get(one) ?? args[index])
  const [host_node, old] = [textOf(interpreter, next), textOf(interpreter, name)]
  if (host_node === undefined || old === undefined) return undefined
  return { name: old, replaced_by: { host_node, inputs: readInputs(interpreter, inputs) } }
}

/** Reads a list of `{new_id, old_id}` and `{new_id, set_value}`, without inputs that keep their names. */
const readInputs = (interpreter: Interpreter, value: Value | undefined): Replacement['inputs'] => {
  if (value === undefined || value === null) return []
  return interpreter
    .readItems(value)
    .items.slice(0, INPUTS_MAX)
    .flatMap((item) => {
      const mapping = interpreter.asDict(item)
      const [input, from, set] = ['new_id', 'old_id', 'set_value'].map((name) =>
        textOf(interpreter, mapping && getEntry(interpreter.runtime, mapping, name)),
      )
      if (input === undefined || input === from) return []
      return [
        { input, ...(from !== undefined && { from }), ...(set !== undefined && { value: set }) },
      ]
    })
}

/** A short text, or what else a widget may hold as one. */
const textOf = (interpreter: Interpreter, value: Value | undefined): string | undefined => {
  if (value === undefined || value === null) return undefined
  const text = interpreter.text(value)
  return text !== undefined && text.length <= TEXT_MAX ? text : undefined
}
