import { fileOf, takesFileName } from './fields.ts'
import type { Field } from './fields.ts'
import type { InputSpec, NodeClasses } from './fill.ts'
import { describeNode } from './graph.ts'
import type { Graph } from './graph.ts'
import type { Literal, Mark, Template } from './template.ts'

/** Member of the body of a custom kind, as its marks and the instances describe it. */
export interface CustomField extends Field {
  /** Of a file. */
  media?: 'image' | 'video'
  isWhole?: boolean
  min?: number
  max?: number
  /** What the graph has; absent of a file, which must be given, and of a seed. */
  default?: Literal
  description: string
}
export type CustomFields = Readonly<Record<string, CustomField>>

/**
 * Describes the fields of a custom kind by what instances say of its marked inputs. Where they differ, a value is taken
 * that all take.
 * @param known classes of the instances that can run it, one at least
 * @returns the fields, or the issues for an operator
 */
export const describeFields = (
  { graph, marks, values }: Template,
  known: readonly NodeClasses[],
): { fields: CustomFields; issues: string[] } => {
  const fields = new Map<string, CustomField>()
  const issues: string[] = []
  for (const mark of marks)
    for (const classes of known) {
      const described = describeMark(graph, mark, { classes, map: values[mark.name] })
      const before = fields.get(mark.name)
      const field = typeof described === 'string' ? described : join(before, described)
      const { node } = mark
      if (typeof field !== 'string') fields.set(mark.name, field)
      else if (graph[node]) issues.push(`${describeNode(node, graph[node])}: ${field}`)
    }
  return { fields: Object.fromEntries(fields), issues: [...new Set(issues)] }
}

const describeMark = (
  graph: Graph,
  { name, node, input, divisor }: Mark,
  { classes, map }: { classes: NodeClasses; map: Template['values'][string] | undefined },
): CustomField | string => {
  const { class_type: type = '', inputs = {} } = graph[node] ?? {}
  const spec = classes[type]?.[input]
  if (!spec) return `${input} is no input of ${type}`
  const description = spec.tooltip ?? `${input} of ${type}.`
  const media = fileOf(type, input)
  if (media) return { type: 'file', media, description }
  if (spec.isUpload) return `${input} takes a file, which only LoadImage and LoadVideo do here`
  const literal = inputs[input] as Literal
  if (map) {
    const [choice] = Object.entries(map).find(([, value]) => value === literal) ?? []
    return { ...choiceOf(Object.keys(map), choice), description }
  }
  switch (spec.type) {
    case 'STRING':
      if (takesFileName(type)) return `${type} names a file by it, and no caller may name one`
      return { type: 'text', default: String(literal), description }
    case 'BOOLEAN':
      return { type: 'flag', default: literal === true, description }
    case 'INT':
    case 'FLOAT':
      return { ...numberOf(spec, Number(literal), divisor, name === 'seed'), description }
    case 'COMBO': {
      const choices = (spec.choices ?? []).filter((choice) => typeof choice === 'string')
      if (choices.length === 0) return `${input} has no choices`
      return { ...choiceOf(choices, literal), description }
    }
    default:
      return `${input} is of type ${spec.type}, which no field can be`
  }
}

const choiceOf = (choices: string[], literal: Literal | undefined) => ({
  type: 'choice' as const,
  choices,
  ...(typeof literal === 'string' && choices.includes(literal) && { default: literal }),
})

/** Callers give what the node takes, times the divisor. What the graph has is always allowed. */
const numberOf = (
  { type, min = -Infinity, max = Infinity }: InputSpec,
  literal: number,
  divisor: number,
  isSeed: boolean,
) => {
  const toField = (value: number): number => {
    const product = Number((value * divisor).toPrecision(12))
    return Math.min(Number.MAX_SAFE_INTEGER, Math.max(-Number.MAX_SAFE_INTEGER, product))
  }
  const ends = [min, max].map(toField)
  const value = toField(literal)
  return {
    type: 'number' as const,
    ...(type === 'INT' && divisor === 1 && { isWhole: true }),
    ...(Number.isFinite(min) && Number.isFinite(max)
      ? { min: Math.min(value, ...ends), max: Math.max(value, ...ends) }
      : {}),
    ...(!isSeed && { default: value }),
  }
}

/** Joins what two inputs, or two instances, say of a field. */
const join = (before: CustomField | undefined, field: CustomField): CustomField | string => {
  if (!before) return field
  if (before.type !== field.type || before.media !== field.media)
    return `a field has one type, and others of its name are a ${before.media ?? before.type}`
  const choices = before.choices?.filter((choice) => field.choices?.includes(choice))
  if (choices?.length === 0) return 'there is no choice that all inputs of its name have'
  const { default: value, ...rest } = before
  return {
    ...rest,
    ...(value !== undefined && (choices?.includes(String(value)) ?? true) && { default: value }),
    ...(choices && { choices }),
    ...((before.isWhole || field.isWhole) && { isWhole: true }),
    ...narrow(before, field),
  }
}

const narrow = (a: CustomField, b: CustomField) => ({
  ...((a.min ?? b.min) !== undefined && { min: Math.max(a.min ?? -Infinity, b.min ?? -Infinity) }),
  ...((a.max ?? b.max) !== undefined && { max: Math.min(a.max ?? Infinity, b.max ?? Infinity) }),
})

/** The template of a custom kind with its fields, as the engine takes one. */
export const withFields = (template: Template, fields: CustomFields): Template => ({
  ...template,
  kind: template.name,
  marks: template.marks.map((mark) => ({ ...mark, field: fields[mark.name] })),
})
