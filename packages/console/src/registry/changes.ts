import type { Data } from '../api/schema.ts'
import { readCard, type HostNode, type Mark, type Marks } from '../host-node/inputs.ts'

export type Comparison = Data<'/nodes/{nodeId}/compare'>
export type Change = Comparison['changes'][number]

/** All changes of one host node. */
export interface HostNodeChanges {
  name: string
  /** Its likely new name. */
  nameAfter: string | undefined
  isGone: boolean
  isNew: boolean
  /** The worst. */
  level: Change['level']
  changes: Change[]
}

/** By host node in the order of the changes, worst first: those of a level, and of a text in their names. */
export const groupChanges = (
  changes: readonly Change[],
  { level, search = '' }: { level: Change['level'] | undefined; search: string | undefined },
): HostNodeChanges[] => {
  const groups = new Map<string, HostNodeChanges>()
  const wanted = search.toLowerCase()
  for (const change of changes) {
    const { host_node: name, code, input = '' } = change
    if (level !== undefined && change.level !== level) continue
    if (!name.toLowerCase().includes(wanted) && !input.toLowerCase().includes(wanted)) continue
    const nameAfter = code === 'host_node_renamed' ? change.after : undefined
    const group = groups.get(name) ?? {
      name,
      nameAfter,
      isGone: code === 'host_node_removed' || nameAfter !== undefined,
      isNew: code === 'host_node_added',
      level: change.level,
      changes: [],
    }
    group.changes.push(change)
    groups.set(name, group)
  }
  return [...groups.values()]
}

/** Which rows of both cards the changes are about: gone from the first, come to the second, or changed. */
export const marksOf = (
  changes: readonly Change[],
  before: HostNode,
  after: HostNode,
): { before: Marks; after: Marks } => {
  const [old, now] = [rowsOf(before), rowsOf(after)]
  const inputs = changes.flatMap(({ code, input = [], after: name = [] }) =>
    code === 'input_renamed' ? [input, name].flat() : input,
  )
  const outputs = changes.flatMap(({ output = [] }) => output)
  const mark = (mine: typeof old, others: typeof old, alone: Mark): Marks => ({
    inputs: markRows(inputs, mine.inputs, others.inputs, alone),
    outputs: markRows(outputs, mine.outputs, others.outputs, alone),
  })
  return { before: mark(old, now, 'gone'), after: mark(now, old, 'come') }
}

const markRows = <Row>(
  changed: readonly Row[],
  mine: ReadonlySet<Row>,
  others: ReadonlySet<Row>,
  alone: Mark,
): ReadonlyMap<Row, Mark> => {
  const rows = changed.filter((row) => mine.has(row))
  return new Map(rows.map((row) => [row, others.has(row) ? 'changed' : alone]))
}

const rowsOf = (node: HostNode) => {
  const { sockets, widgets, outputs } = readCard(node)
  const inputs = [...sockets, ...widgets].map(({ name }) => name)
  return { inputs: new Set(inputs), outputs: new Set(outputs.keys()) }
}
