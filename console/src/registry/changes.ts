import type { Answer } from '../api/schema.ts'
import { readCard, type HostNode, type Mark, type Marks } from '../host-node/inputs.ts'

export type Comparison = Answer<'/nodes/{nodeId}/compare'>
export type Change = Comparison['changes'][number]

/** All changes of one host node. */
export interface HostNodeChanges {
  name: string
  /** What it perhaps is now. */
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
    const group = groups.get(name)
    if (group) group.changes.push(change)
    else
      groups.set(name, {
        name,
        nameAfter: code === 'host_node_renamed' ? change.after : undefined,
        isGone: code === 'host_node_removed' || code === 'host_node_renamed',
        isNew: code === 'host_node_added',
        level: change.level,
        changes: [change],
      })
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
  const inputs = new Set(
    changes.flatMap(({ code, input, after: name }) => [
      ...(input === undefined ? [] : [input]),
      ...(code === 'input_renamed' && name !== undefined ? [name] : []),
    ]),
  )
  const outputs = new Set(changes.flatMap(({ output }) => output ?? []))
  const mark = (mine: Rows, others: Rows, alone: Mark): Marks => ({
    inputs: new Map(
      [...inputs]
        .filter((name) => mine.inputs.has(name))
        .map((name) => [name, others.inputs.has(name) ? 'changed' : alone]),
    ),
    outputs: new Map(
      [...outputs]
        .filter((index) => index < mine.outputs)
        .map((index) => [index, index < others.outputs ? 'changed' : alone]),
    ),
  })
  return { before: mark(old, now, 'gone'), after: mark(now, old, 'come') }
}

interface Rows {
  inputs: ReadonlySet<string>
  outputs: number
}

const rowsOf = (node: HostNode): Rows => {
  const { sockets, widgets, outputs } = readCard(node)
  return {
    inputs: new Set([...sockets, ...widgets].map(({ name }) => name)),
    outputs: outputs.length,
  }
}
