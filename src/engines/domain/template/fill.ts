import { isOneSlip } from '../../../platform/domain/meant.ts'
import { adviseLoader } from './fields.ts'
import { describeNode, isLiteral, PREFIX } from './graph.ts'
import type { GraphNode } from './graph.ts'
import { adviseModel, listModels } from './models.ts'
import { describeAbsent, fitMembers, listInputs, mediaOf } from './node-class.ts'
import type { InputSpec, NodeClasses } from './node-class.ts'
import { WORKFLOW } from './template.ts'
import type { Literal, Mark, Template } from './template.ts'

/**
 * Lists why an instance with these classes cannot run a template; empty where it can.
 * @param listed names of all classes there, of which the nearest is named
 */
export const abilityIssues = (
  template: Template,
  classes: NodeClasses,
  listed: readonly string[] = [],
): string[] => {
  const models = listModels(template)
  const advise = (value: unknown): string => {
    const model = models.find(({ file }) => file === value)
    return model ? adviseModel(model) : ''
  }
  return Object.entries(template.graph).flatMap(([id, node]) => {
    const known = classes[node.class_type]
    const place = describeNode(id, node)
    if (!known) {
      const near = listed.find((name) => isOneSlip(name, node.class_type))
      const meant = near === undefined ? '' : `; did you mean ${near}?`
      return [`${place}: there is no class ${node.class_type}${meant}`]
    }
    const specs = listInputs(known, node.inputs)
    return Object.entries(node.inputs).flatMap(([input, value]) => {
      const { [input]: spec, [input.split('.')[0] ?? '']: head } = specs
      const marked = template.marks.filter((mark) => mark.node === id && mark.input === input)
      if (!spec && head?.members && marked.length > 0)
        return [`${place}: ${describeAbsent(node, input)}`]
      const order = { node, input, marked, values: template.values, advise }
      const issues = spec && isLiteral(value) ? inputIssues(spec, order) : []
      return issues.map((issue) => `${place}: ${input} ${issue}`)
    })
  })
}

const inputIssues = (
  spec: InputSpec,
  {
    node: { class_type: type, inputs },
    input,
    marked,
    values,
    advise,
  }: {
    node: GraphNode
    input: string
    marked: readonly Mark[]
    values: Template['values']
    /** Says where a model belongs. */
    advise(choice: unknown): string
  },
): string[] => {
  const { choices } = spec
  const value = inputs[input]
  const media = mediaOf(type, { input, spec, value })
  if (marked.length === 0)
    return choices && !choices.includes(value)
      ? [`has no choice ${String(value)}${advise(value)}`]
      : []
  return marked.flatMap(({ name, field }) => {
    const kind = field?.type
    if (kind === 'text' && spec.type !== 'STRING')
      return [`is no text (${spec.type}), as ${name} is`]
    if (kind === 'file' && (spec.type !== 'COMBO' || !media))
      return [`is no file (${spec.type}), as ${name} is: ${adviseLoader(name)}`]
    if (!choices || media) return []
    // The graph's own is sent where a caller gives none.
    const sent = values[name] ? Object.values(values[name]) : [...(field?.choices ?? []), value]
    return [...new Set(sent)]
      .filter((choice) => !choices.includes(choice))
      .map((choice) => `has no choice ${String(choice)} for ${name}${advise(choice)}`)
  })
}

/** Lists what an operator should know of a template that can be run. */
export const listAdvice = ({ name, graph, workflow }: Template, classes: NodeClasses): string[] =>
  Object.entries(workflow ? {} : graph).flatMap(([id, node]) => {
    const inputs = Object.values(classes[node.class_type] ?? {})
    if (!inputs.some(({ type }) => type === 'EXTRA_PNGINFO')) return []
    const advice = `reads the workflow as the editor saves it: put that into ${name}${WORKFLOW}`
    return [`${describeNode(id, node)}: ${node.class_type} ${advice}`]
  })

/** Makes the members that are sent with a prompt for nodes that read the workflow as the editor saves it. */
export const extraOf = ({ workflow }: Template) =>
  workflow ? { extra_data: { extra_pnginfo: { workflow } } } : {}

interface Filling {
  /** By the names of marks. A value that is undefined leaves what stands in the graph. */
  values: Readonly<Record<string, Literal | undefined>>
  /** Names that the instance gave to the files that were uploaded, by the names of marks. */
  files: Readonly<Record<string, string>>
  /** Name of the placement, below which all its files are; `listGivenNames` knows what follows it. */
  prefix: string
}

export type FilledNode = Pick<GraphNode, 'class_type' | 'inputs'>

const depthOf = ({ input }: Mark): number => input.split('.').length
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
  /** Nodes in which a caller has made another choice than the graph. */
  const changed = new Set<FilledNode>()
  // A choice comes before what is below it.
  for (const mark of marks.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const { name, field, node, input, divisor } = mark
    const target = filled[node]
    const given = field?.type === 'file' ? files[name] : (files[name] ?? values[name])
    const value = mapped[name] && given !== undefined ? mapped[name][String(given)] : given
    if (!target || value === undefined) continue
    const specs = listInputs(classes[target.class_type] ?? {}, target.inputs)
    target.inputs[input] = convert(value, divisor, specs[input])
    if (specs[input]?.members && target.inputs[input] !== graph[node]?.inputs[input])
      changed.add(target)
  }
  for (const node of changed) node.inputs = fitMembers(classes[node.class_type] ?? {}, node.inputs)
  return filled
}

const convert = (given: Literal, divisor: number, spec: InputSpec | undefined): Literal => {
  if (spec?.type === 'STRING') return String(given)
  if (typeof given !== 'number') return given
  const { type, min = -Infinity, max = Infinity } = spec ?? {}
  const value = Math.min(max, Math.max(min, given / divisor))
  return type === 'INT' ? Math.round(value) : value
}
