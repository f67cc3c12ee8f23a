import { isOneSlip } from '../../../platform/domain/meant.ts'
import { fileOf } from './fields.ts'
import { describeNode } from './graph.ts'
import { lostMark } from './title.ts'
import type { Template } from './template.ts'

/** Members that people give to kinds of their own; others are as good, unless they are one slip away. */
const USUAL = 'image video prompt negative seed width height frames seconds scale'.split(' ')

/** Lists what a template does that its author may not mean: it can be run all the same. */
export const listWarnings = (template: Template): string[] => [
  ...Object.entries(template.graph).flatMap(([id, node]) =>
    [lostMark(node), fixedFile(template, id)].flatMap((warning) =>
      warning === undefined ? [] : [`${describeNode(id, node)}: ${warning}`],
    ),
  ),
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
