import { isObject } from '../../../platform/domain/is-object.ts'
import { adviseModel, describeNode, isLiteral, PREFIX } from './graph.ts'
import type { GraphNode } from './graph.ts'
import type { Literal, Mark, Template } from './template.ts'

/** An input of a class, as an instance describes it. */
export interface InputSpec {
  /** `INT`, `FLOAT`, `STRING`, `BOOLEAN`, `COMBO` and types of links. */
  type: string
  choices?: readonly unknown[]
  min?: number
  max?: number
  /** It takes the name of a file that was uploaded. */
  isUpload?: boolean
  /** Its explanation for whoever edits a graph. */
  tooltip?: string
}

/** Inputs of a class, as an instance has them; undefined for one that it does not have. */
export type NodeClass = Readonly<Record<string, InputSpec>>
/** Classes of an instance by their names. */
export type NodeClasses = Readonly<Record<string, NodeClass | undefined>>

/** Reads the body of `GET /object_info/{name}`: `{}` of a class that the instance does not have. */
export const readNodeClass = (
  body: Record<string, unknown>,
  name: string,
): NodeClass | undefined => {
  const info = body[name]
  if (!isObject(info) || !isObject(info['input'])) return undefined
  const { required, optional } = info['input']
  return Object.fromEntries(
    [required, optional]
      .filter(isObject)
      .flatMap((inputs) =>
        Object.entries(inputs).flatMap(([input, spec]) =>
          Array.isArray(spec) ? [[input, readSpec(spec as unknown[])] as const] : [],
        ),
      ),
  )
}

/** Choices stand in place of the type (old nodes), or among the options. */
const readSpec = ([type, given]: unknown[]): InputSpec => {
  const options = isObject(given) ? given : {}
  const choices: unknown = Array.isArray(type) ? type : options['options']
  const { min, max, tooltip } = options
  const isUpload = Object.keys(options).some((name) => name.endsWith('_upload') && options[name])
  return {
    type: Array.isArray(type) ? 'COMBO' : String(type),
    ...(Array.isArray(choices) && { choices }),
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
    ...(isUpload && { isUpload }),
    ...(typeof tooltip === 'string' && { tooltip: tooltip.slice(0, TOOLTIP_CHARACTERS) }),
  }
}

const TOOLTIP_CHARACTERS = 300

/** Lists why an instance with these classes cannot run a template; empty where it can. */
export const abilityIssues = ({ graph, marks, values }: Template, classes: NodeClasses): string[] =>
  Object.entries(graph).flatMap(([id, node]) => {
    const known = classes[node.class_type]
    const place = describeNode(id, node)
    if (!known) return [`${place}: there is no class ${node.class_type}`]
    return Object.entries(node.inputs).flatMap(([input, value]) => {
      const spec = known[input]
      const marked = marks.filter((mark) => mark.node === id && mark.input === input)
      const advise = (choice: unknown) => adviseModel(node, input, choice)
      const issues =
        spec && isLiteral(value) ? inputIssues(spec, { value, marked, values, advise }) : []
      return issues.map((issue) => `${place}: ${input} ${issue}`)
    })
  })

const inputIssues = (
  { type, choices }: InputSpec,
  {
    value,
    marked,
    values,
    advise,
  }: {
    value: unknown
    marked: readonly Mark[]
    values: Template['values']
    /** Says where a model belongs. */
    advise(choice: unknown): string
  },
): string[] => {
  if (marked.length === 0)
    return choices && !choices.includes(value)
      ? [`has no choice ${String(value)}${advise(value)}`]
      : []
  return marked.flatMap(({ name, field }) => {
    const kind = field?.type
    if (kind === 'text' && type !== 'STRING') return [`is no text (${type}), as ${name} is`]
    if (kind === 'file' && type !== 'COMBO') return [`is no file (${type}), as ${name} is`]
    if (kind !== 'choice' || !choices) return []
    return Object.values(values[name] ?? field?.choices ?? [])
      .filter((choice) => !choices.includes(choice))
      .map((choice) => `has no choice ${String(choice)} for ${name}${advise(choice)}`)
  })
}

interface Filling {
  /** By the names of marks. A value that is undefined leaves what stands in the graph. */
  values: Readonly<Record<string, Literal | undefined>>
  /** Names that the instance gave to the files that were uploaded, by the names of marks. */
  files: Readonly<Record<string, string>>
  /** Name of the placement, below which all its files are; `listGivenNames` knows what follows it. */
  prefix: string
}

type FilledNode = Pick<GraphNode, 'class_type' | 'inputs'>

/**
 * Input that no class has, which ComfyUI ignores and still compares: a result without a prefix would come from its cache, by
 * the name of a file that was emptied.
 */
const UNIQUE = 'kiln_placement'

/** Makes the graph of one placement, as `POST /prompt` takes it. */
export const fillTemplate = (
  { graph, marks, results, values: mapped }: Template,
  { values, files, prefix }: Filling,
  classes: NodeClasses,
): Record<string, FilledNode> => {
  const filled: Record<string, FilledNode> = Object.fromEntries(
    Object.entries(graph).map(([id, { class_type, inputs }]) => [
      id,
      { class_type, inputs: { ...inputs, ...(PREFIX in inputs && { [PREFIX]: `${prefix}/r` }) } },
    ]),
  )
  for (const { node } of results) {
    const { inputs = {} } = filled[node] ?? {}
    if (!(PREFIX in inputs)) inputs[UNIQUE] = prefix
  }
  for (const { name, field, node, input, divisor } of marks) {
    const target = filled[node]
    const given = field?.type === 'file' ? files[name] : (files[name] ?? values[name])
    const value = mapped[name] && given !== undefined ? mapped[name][String(given)] : given
    if (!target || value === undefined) continue
    target.inputs[input] = convert(value, divisor, classes[target.class_type]?.[input])
  }
  return filled
}

const convert = (given: Literal, divisor: number, spec: InputSpec | undefined): Literal => {
  if (spec?.type === 'STRING') return String(given)
  if (typeof given !== 'number') return given
  const { type, min = -Infinity, max = Infinity } = spec ?? {}
  const value = Math.min(max, Math.max(min, given / divisor))
  return type === 'INT' ? Math.round(value) : value
}
