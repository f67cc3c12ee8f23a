import { CHANGE_LEVELS, makeChange } from './change.ts'
import type { Change, ChangeLevel, HostNodeChange, VersionComparison } from './change.ts'

/** Raised with every change that can alter a comparison. */
export const COMPARISON_VERSION = 3

/** A host node that one of two versions has. */
export interface LoneHostNode {
  name: string
  side: 'removed' | 'added'
  /** Equal where inputs and outputs are equal. */
  print: string
  /** The machine decides whether it is there. */
  isConditional: boolean
}

/** Host nodes that came and went. One that went is perhaps one that came with the same inputs and outputs. */
export const compareLone = (
  lone: readonly LoneHostNode[],
  isPartial: boolean,
): HostNodeChange[] => {
  const come = new Map(
    lone.filter(({ side }) => side === 'added').map(({ print, name }) => [print, name]),
  )
  return lone.map(({ name, side, print, isConditional }) => {
    if (side === 'added') return ofHostNode(name, makeChange('host_node_added'))
    const after = come.get(print)
    const isDoubtful = isPartial || isConditional
    return ofHostNode(
      name,
      after === undefined
        ? makeChange('host_node_removed', {}, isDoubtful)
        : makeChange('host_node_renamed', { before: name, after }, isDoubtful),
    )
  })
}

export const ofHostNode = (host_node: string, change: Change): HostNodeChange => ({
  ...change,
  host_node,
})

/** Most changes of a response. */
const CHANGES_MAX = 2_000

/** Counts and sorts all changes of two versions. */
export const summarise = (
  changes: readonly HostNodeChange[],
  partial: boolean,
): Pick<VersionComparison, 'verdict' | 'partial' | 'counts' | 'changes'> => {
  const counts = { breaks: 0, may_break: 0, safe: 0 }
  const worst = new Map<string, number>()
  for (const { level, host_node: name } of changes) {
    counts[level] += 1
    worst.set(name, Math.min(worst.get(name) ?? Infinity, rankOf(level)))
  }
  const found = CHANGE_LEVELS.find((level) => counts[level] > 0) ?? 'safe'
  const sorted = changes.toSorted(
    (a, b) =>
      (worst.get(a.host_node) ?? 0) - (worst.get(b.host_node) ?? 0) ||
      (a.host_node === b.host_node ? 0 : a.host_node < b.host_node ? -1 : 1) ||
      rankOf(a.level) - rankOf(b.level),
  )
  return {
    verdict: partial && found === 'safe' ? 'may_break' : found,
    partial,
    counts,
    changes: sorted.slice(0, CHANGES_MAX),
  }
}

const rankOf = (level: ChangeLevel): number => CHANGE_LEVELS.indexOf(level)
