import type { Change } from './types.ts'
import { keyOf, type Part } from './read-workflow.ts'

/** The worst first. */
export const MARKS = ['breaks', 'may_break', 'unknown'] as const
export type Mark = (typeof MARKS)[number]

export type Marks = ReadonlyMap<string, Mark>

const worstOf = (marks: readonly (Mark | undefined)[]): Mark | undefined =>
  MARKS.find((mark) => marks.includes(mark))

interface Found {
  changes: readonly Change[]
  /** Classes that nobody has. */
  unknown: ReadonlySet<string>
}

/** Marks of nodes by their key. A subgraph has the worst of what is in it. */
export const markNodes = (parts: readonly Part[], { changes, unknown }: Found): Marks => {
  const marks = new Map<string, Mark>()
  for (const { level, node } of changes)
    if (level !== 'safe') {
      const key = keyOf(node)
      const worst = worstOf([marks.get(key), level])
      if (worst) marks.set(key, worst)
    }
  for (const { key, type } of parts.flatMap(({ nodes }) => nodes))
    if (unknown.has(type) && !marks.has(key)) marks.set(key, 'unknown')
  for (const part of parts) markInner(part, { parts, marks, seen: new Set() })
  return marks
}

interface Walk {
  parts: readonly Part[]
  marks: Map<string, Mark>
  /** Parts that are walked already: one that holds itself has no end. */
  seen: Set<Part>
}

const markInner = (part: Part, walk: Walk): Mark | undefined => {
  const { parts, marks, seen } = walk
  if (!seen.has(part)) {
    seen.add(part)
    for (const { key, inner } of part.nodes) {
      const found = inner === undefined ? undefined : parts.find(({ name }) => name === inner)
      const mark = found && markInner(found, walk)
      if (mark) marks.set(key, mark)
    }
  }
  return worstOf(part.nodes.map(({ key }) => marks.get(key)))
}
