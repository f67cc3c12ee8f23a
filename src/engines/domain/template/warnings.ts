import { isOneSlip } from '../../../platform/domain/meant.ts'
import { fileOf } from './fields.ts'
import { describeNode } from './graph.ts'
import { lostMark } from './title.ts'
import type { Mark, Template } from './template.ts'

/** Members that people give to kinds of their own; others are as good, unless they are one slip away. */
const USUAL = 'image video prompt negative seed width height frames seconds scale'.split(' ')

/** Lists what a template does that its author may not mean: it can be run all the same. */
export const listWarnings = (template: Template): string[] => [
  ...Object.entries(template.graph).flatMap(([id, node]) =>
    [lostMark(node), fixedFile(template, id)].flatMap((warning) =>
      warning === undefined ? [] : [`${describeNode(id, node)}: ${warning}`],
    ),
  ),
  ...listShared(template),
  ...(template.kind === undefined ? listSlips(template) : []),
]

/** Says of a node that loads a file which every task gets. */
const fixedFile = ({ graph, marks }: Template, id: string): string | undefined => {
  const { class_type: type = '', inputs = {} } = graph[id] ?? {}
  const input = Object.keys(inputs).find((name) => fileOf(type, name) !== undefined)
  if (input === undefined || Array.isArray(inputs[input])) return undefined
  if (marks.some((mark) => mark.node === id && mark.input === input)) return undefined
  const mark = `kiln:${fileOf(type, input)}`
  return `${type} has no mark, so every task gets ${JSON.stringify(inputs[input])}: title it ${mark} to have callers give it`
}

const listSlips = ({ graph, marks }: Template): string[] =>
  marks.flatMap(({ name, node: id }) => {
    const meant = /\d/.test(name) ? undefined : USUAL.find((usual) => isOneSlip(usual, name))
    const node = graph[id]
    return meant === undefined || !node
      ? []
      : [`${describeNode(id, node)}: ${name} is a member of its own; did you mean ${meant}?`]
  })

/** Says of marks that another one shares its name or its input with: a copy of a node keeps the title. */
const listShared = (template: Template): string[] =>
  template.marks.flatMap((mark, index) => {
    const before = template.marks.slice(0, index)
    const twin = before.find((one) => one.node === mark.node && one.input === mark.input)
    const other = before.find((one) => one.name === mark.name && one !== twin)
    const { name, node: id, input } = mark
    const place = placeOf(template, id)
    return [
      ...(twin && twin.name !== name
        ? [
            `${place}: ${input} takes ${twin.name} and ${name}: where both are given, ${name} counts`,
          ]
        : []),
      ...(other && name !== 'seed' && !isShareable(template, other, mark)
        ? [
            `${place}: ${name} sets ${other.input} of ${placeOf(template, other.node)}, too, which ${isFile(template, mark) ? 'loads a file of its own' : 'has another value'}; is it a copy that needs another name?`,
          ]
        : []),
    ]
  })

const placeOf = ({ graph }: Template, id: string): string => {
  const { [id]: node } = graph
  return node ? describeNode(id, node) : id
}

const isFile = ({ graph }: Template, { node, input }: Mark): boolean =>
  fileOf(graph[node]?.class_type ?? '', input) !== undefined

/** True of inputs that begin as one value, which one member is for. */
const isShareable = (template: Template, one: Mark, other: Mark): boolean => {
  const valueOf = ({ node, input, divisor }: Mark): unknown => {
    const value = template.graph[node]?.inputs[input]
    return typeof value === 'number' ? (value * divisor).toPrecision(12) : value
  }
  return !isFile(template, other) && valueOf(one) === valueOf(other)
}
