import type { InputSpec, Limits, NodeClass, NodeClasses } from './classes.ts'
import type { Folders } from './folders.ts'

/** A node of a graph in API format. */
export interface GraphNode {
  class_type: string
  inputs: Record<string, unknown>
  _meta?: { title: string }
}

export type Graph = Record<string, GraphNode>

interface PromptError {
  type: string
  message: string
  details: string
  extra_info: Record<string, unknown>
}

interface NodeErrors {
  errors: PromptError[]
  dependent_outputs: string[]
  class_type: string
}

/** Result of a check: the outputs that run, or why none does. Errors of single nodes stand beside either. */
export interface Validation {
  outputs: string[]
  error?: PromptError
  nodeErrors: Record<string, NodeErrors>
}

interface Context {
  graph: Graph
  classes: NodeClasses
  folders: Folders
  /** Choices among the options are checked, as those in place of the type are. */
  checksOptions: boolean
  /** Errors by node; a node with an invalid one before it has none of its own. */
  validated: Map<string, { valid: boolean; errors: PromptError[] }>
}

/** Checks a prompt as ComfyUI does before it is queued. Throws where ComfyUI does: it responds 500 then. */
export const validatePrompt = (
  prompt: unknown,
  targets: unknown,
  context: Pick<Context, 'classes' | 'folders' | 'checksOptions'>,
): Validation => {
  if (typeof prompt !== 'object' || prompt === null) throw new TypeError('not iterable')
  if (Array.isArray(prompt) && prompt.length > 0) throw new TypeError('list indices')
  const graph = prompt as Graph
  const outputs: string[] = []
  for (const [id, node] of Object.entries(graph)) {
    if (!Object.hasOwn(Object(node), 'class_type'))
      return reject('Cannot execute because a node is missing the class_type property.', id)
    const found = context.classes[node.class_type]
    if (!found) return reject(`Cannot execute because node ${node.class_type} does not exist.`, id)
    if (found.isOutput && (!Array.isArray(targets) || targets.includes(id))) outputs.push(id)
  }
  if (outputs.length === 0) {
    const error = makeError('prompt_no_outputs', 'Prompt has no outputs', '')
    return { outputs: [], error, nodeErrors: {} }
  }
  return validateOutputs(outputs, { ...context, graph, validated: new Map() })
}

const reject = (message: string, id: string): Validation => ({
  outputs: [],
  error: makeError('invalid_prompt', message, `Node ID '#${id}'`),
  nodeErrors: {},
})

const validateOutputs = (outputs: string[], context: Context): Validation => {
  const nodeErrors: Validation['nodeErrors'] = {}
  const lines: string[] = []
  const good = outputs.filter((output) => {
    const { valid, errors } = validateOutput(output, context)
    if (valid) return true
    lines.push(...errors.map(({ message, details }) => `${message}: ${details}`))
    for (const [id, node] of context.validated)
      if (!node.valid && node.errors.length > 0) {
        const { class_type } = context.graph[id] as GraphNode
        nodeErrors[id] ??= { errors: node.errors, dependent_outputs: [], class_type }
        nodeErrors[id].dependent_outputs.push(output)
      }
    return false
  })
  if (good.length > 0) return { outputs: good, nodeErrors }
  const error = makeError(
    'prompt_outputs_failed_validation',
    'Prompt outputs failed validation',
    lines.join('\n'),
  )
  return { outputs: [], error, nodeErrors }
}

const validateOutput = (id: string, context: Context) => {
  try {
    return validateNode(id, context)
  } catch (error) {
    const message = messageOf(error)
    const failed = makeError(
      'exception_during_validation',
      'Exception when validating node',
      message,
    )
    const result = { valid: false, errors: [failed] }
    context.validated.set(id, result)
    return result
  }
}

const validateNode = (id: string, context: Context): { valid: boolean; errors: PromptError[] } => {
  const earlier = context.validated.get(id)
  if (earlier) return earlier
  const node = context.graph[id]
  if (!node) throw new Error(`'${id}'`)
  const found = context.classes[node.class_type] as NodeClass
  const errors: PromptError[] = []
  let valid = true
  for (const [name, spec, isRequired] of listLive(found, node.inputs)) {
    const value = node.inputs[name]
    if (value === undefined) {
      if (isRequired)
        errors.push(inputError('required_input_missing', 'Required input is missing', name))
    } else if (Array.isArray(value)) {
      const problem = validateLink(name, { spec, link: value, context })
      if (problem === 'before') valid = false
      else if (problem) errors.push(problem)
    } else {
      const problem = validateValue(name, { spec, node, context })
      if (problem) errors.push(problem)
    }
  }
  const result = { valid: valid && errors.length === 0, errors }
  context.validated.set(id, result)
  return result
}

type Groups = Pick<NodeClass, 'required' | 'optional'>
type Live = [name: string, spec: InputSpec, isRequired: boolean]

interface Growing {
  input: Groups
  names?: string[]
  prefix?: string
  min: number
  max?: number
}

/** Lists the inputs that a node has with its values: a choice is one while it is known, and then has those below it. */
const listLive = (groups: Groups, values: GraphNode['inputs'], prefix = ''): Live[] =>
  [groups.required, groups.optional ?? {}].flatMap((inputs, index) =>
    Object.entries(inputs).flatMap(([name, spec]): Live[] => {
      const path = prefix + name
      const [type, limits = {}] = spec
      if (type === 'COMFY_AUTOGROW_V3') return listGrown(path, limits.template as Growing)
      if (type !== 'COMFY_DYNAMICCOMBO_V3') return [[path, spec, index === 0]]
      const options = limits.options as { key: string; inputs: Groups }[]
      const chosen = options.find(({ key }) => key === values[path])
      if (!chosen) return []
      return [[path, spec, index === 0], ...listLive(chosen.inputs, values, `${path}.`)]
    }),
  )

const listGrown = (path: string, { input, names, prefix, min, max }: Growing): Live[] => {
  const [required, optional] = [Object.values(input.required), Object.values(input.optional ?? {})]
  const [spec = ['*']] = [...required, ...optional]
  const all = names ?? Array.from({ length: max ?? 0 }, (_, index) => `${prefix}${index}`)
  return all.map((name, index) => [`${path}.${name}`, spec, required.length > 0 && index < min])
}

/** True of a link between these types: some inputs take several, and some whatever others have. */
const isOf = (received: string, type: InputSpec[0]): boolean => {
  const types = String(type).split(',')
  return [received, ...types].some((one) => one === 'COMFY_MATCHTYPE_V3' || one === '*')
    ? true
    : types.includes(received)
}

interface LinkOrder {
  spec: InputSpec
  link: unknown[]
  context: Context
}

/** `before`: what is wrong is at the node that the link comes from, or before it. */
const validateLink = (
  name: string,
  { spec, link, context }: LinkOrder,
): PromptError | 'before' | undefined => {
  if (link.length !== 2)
    return inputError(
      'bad_linked_input',
      'Bad linked input, must be a length-2 list of [node_id, slot_index]',
      name,
    )
  const [id, slot] = link as [string, number]
  const source = context.graph[id]
  if (!source) throw new Error(`'${id}'`)
  const received = context.classes[source.class_type]?.output[slot]
  if (received === undefined) throw new Error('tuple index out of range')
  const [type] = spec
  if (!isOf(received, type) && type !== '*')
    return makeError(
      'return_type_mismatch',
      'Return type mismatch between linked nodes',
      `${name}, received_type(${received}) mismatch input_type(${String(type)})`,
      { input_name: name, received_type: received, linked_node: link },
    )
  try {
    return validateNode(id, context).valid ? undefined : 'before'
  } catch (error) {
    const details = messageOf(error)
    const failed = makeError(
      'exception_during_inner_validation',
      'Exception when validating inner node',
      details,
      { input_name: name, exception_message: details, traceback: [], linked_node: link },
    )
    context.validated.set(id, { valid: false, errors: [failed] })
    return 'before'
  }
}

interface ValueOrder {
  spec: InputSpec
  node: GraphNode
  context: Context
}

/** Files are looked for by functions of these two classes, which take over the check of the choice. */
const FILES: Readonly<Record<string, string>> = { LoadImage: 'image', LoadVideo: 'file' }

const validateValue = (
  name: string,
  { spec, node, context: { folders, checksOptions } }: ValueOrder,
): PromptError | undefined => {
  const [type, limits = {}] = spec
  const converted = convert(type, node.inputs[name])
  if (converted === undefined)
    return inputError(
      'invalid_input_type',
      `Failed to convert an input value to a ${String(type)} value`,
      `${name}, ${String(node.inputs[name])}, could not convert`,
      { name, spec },
    )
  node.inputs[name] = converted
  if (FILES[node.class_type] === name) return validateFile(name, { value: converted, folders })
  const options = type === 'COMBO' && checksOptions ? (limits.options ?? []) : undefined
  const choices = typeof type === 'string' ? options : type
  if (choices && !choices.includes(converted))
    return inputError(
      'value_not_in_list',
      'Value not in list',
      `${name}: ${show(converted)} not in ${listChoices(choices)}`,
      { name, ...(choices.length <= MAX_LISTED && { spec }) },
    )
  return typeof converted === 'number' ? validateRange(name, converted, spec) : undefined
}

const validateFile = (
  name: string,
  { value, folders }: { value: unknown; folders: Folders },
): PromptError | undefined =>
  folders.findAnnotated(String(value)) === undefined
    ? inputError(
        'custom_validation_failed',
        'Custom validation failed for node',
        `${name} - Invalid ${name === 'file' ? 'video' : 'image'} file: ${String(value)}`,
        { name },
      )
    : undefined

const validateRange = (name: string, value: number, spec: InputSpec): PromptError | undefined => {
  const [type, { min, max } = {} as Limits] = spec
  const shown = (number: number): string =>
    type === 'FLOAT' && Number.isInteger(number) ? `${number}.0` : String(number)
  if (min !== undefined && value < min)
    return inputError(
      'value_smaller_than_min',
      `Value ${shown(value)} smaller than min of ${min}`,
      name,
      { name, spec },
    )
  if (max !== undefined && value > max)
    return inputError(
      'value_bigger_than_max',
      `Value ${shown(value)} bigger than max of ${max}`,
      name,
      { name, spec },
    )
  return undefined
}

/** Converts as `int`, `float` and `str` do in Python; undefined where they raise. */
const convert = (type: InputSpec[0], value: unknown): unknown => {
  if (type === 'STRING') return typeof value === 'string' ? value : JSON.stringify(value)
  if (type === 'BOOLEAN') return Boolean(value)
  if (type !== 'INT' && type !== 'FLOAT') return value
  if (typeof value === 'number') return type === 'INT' ? Math.trunc(value) : value
  if (typeof value === 'boolean') return Number(value)
  const pattern =
    type === 'INT' ? /^\s*[+-]?\d+\s*$/ : /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i
  return typeof value === 'string' && pattern.test(value) ? Number(value) : undefined
}

const show = (value: unknown): string =>
  typeof value === 'string' ? `'${value}'` : JSON.stringify(value)

/** A list that is longer is not sent back. */
const MAX_LISTED = 20

const listChoices = (choices: readonly unknown[]): string =>
  choices.length > MAX_LISTED
    ? `(list of length ${choices.length})`
    : `[${choices.map((choice) => show(choice)).join(', ')}]`

const inputError = (
  type: string,
  message: string,
  details: string,
  { name = details, spec }: { name?: string; spec?: InputSpec } = {},
): PromptError =>
  makeError(type, message, details, { input_name: name, ...(spec && { input_config: spec }) })

const makeError = (
  type: string,
  message: string,
  details: string,
  extra_info: Record<string, unknown> = {},
): PromptError => ({ type, message, details, extra_info })

const messageOf = (error: unknown): string =>
  error instanceof RangeError
    ? 'maximum recursion depth exceeded'
    : error instanceof Error
      ? error.message
      : String(error)
