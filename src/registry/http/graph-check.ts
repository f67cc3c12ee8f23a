import type { Candidate } from '../db/graph.ts'
import type { VersionFacts } from '../db/version.ts'
import type { ChangeLevel } from '../domain/comparison/change.ts'
import { compareLone } from '../domain/comparison/compare.ts'
import { makeCheck } from '../domain/graph/check-node.ts'
import {
  makeChanges,
  obstacle,
  replacedChange,
  summariseCheck,
  toGraphChange,
  worstOf,
  type Changes,
  type CheckRequest,
  type CheckedPack,
  type GraphFelt,
  type Obstacle,
  type WorkflowCheck,
} from '../domain/graph/check.ts'
import type { Graph, GraphNode } from '../domain/graph/graph.ts'
import { describeReading } from '../domain/graph/reading.ts'
import { HOST_REPLACEMENTS, type Replacement } from '../domain/graph/replacements.ts'
import { listUsed, type Origin, type UsedHostNode } from '../domain/graph/resolve.ts'
import type { Room } from '../domain/graph/room.ts'
import { inBatches } from './compare.ts'
import type { GraphReads } from './graph-reads.ts'
import { UNKNOWN_MAX, findOrigins, versionsByPack } from './graph-resolve.ts'
import { findFitting } from './graph-versions.ts'

type Asked = Omit<CheckRequest, 'workflow'>

/** Says what of a graph changes between two versions of each pack that it needs. */
export const checkGraph = async (
  reads: GraphReads,
  graph: Graph,
  { from: given, to: wanted, ...target }: Asked,
  { take, warn }: Room,
): Promise<WorkflowCheck> => {
  const [from, to] = [versionsByPack(given), versionsByPack(wanted)]
  const { found } = await findOrigins(reads, listUsed(graph), from)
  const packs = listPacks(found)
  const fitting = await findFitting(
    reads,
    [...packs.keys()].map((nodeId) => ({ nodeId })),
    target,
  )
  const budget = { packs: PACKS_MAX, comparisons: COMPARISONS_MAX, steps: STEPS_MAX }
  const changes = makeChanges()
  const checked: CheckedPack[] = []
  for (const [nodeId, used] of [...packs].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    checked.push(
      await checkPack(reads, {
        nodeId,
        used,
        budget,
        changes,
        fitting: fitting.get(nodeId) ?? [],
        from:
          from.get(nodeId.toLowerCase()) ??
          used.flatMap(({ nodes }) => nodes).find(({ version }) => version !== undefined)?.version,
        to: to.get(nodeId.toLowerCase()),
      }),
    )
  const warnings = [...(budget.steps < 0 ? [TOO_LARGE] : []), ...graph.warnings]
  const unknown = found.filter((one) => one.from.origin === 'unknown')
  const replaced = found.filter((one) => one.from.replaced_by !== undefined)
  const isWhole = unknown.length === 0 && warnings.length === 0
  const { verdict, counts, ...summary } = summariseCheck(checked, changes, isWhole)
  return {
    verdict,
    counts: { ...counts, nodes: countNodes(found), unknown: countNodes(unknown) },
    packs: take(summary.packs),
    unknown_host_nodes: take(unknown.map(({ name }) => name)),
    unknown: take(unknown.slice(0, UNKNOWN_MAX).map(showOrigin)),
    replaced: take(replaced.slice(0, UNKNOWN_MAX).map(showOrigin)),
    changes: take(summary.changes),
    warnings: warn(warnings),
  }
}

const showOrigin = ({ name, from }: { name: string; from: Origin }) => ({
  host_node: name,
  ...from,
})

const countNodes = (used: readonly UsedHostNode[]): number =>
  used.reduce((sum, { nodes }) => sum + nodes.length, 0)

/** Packs whose versions one request looks up, one after another. */
const PACKS_MAX = 200

/** Pairs of versions that one request compares: each reads what differs between them. */
const COMPARISONS_MAX = 60

/** Changes and widgets that are gone through, node by node: a graph of 1,000 nodes takes some 20,000 for a pair of versions. */
const STEPS_MAX = 2_000_000

const TOO_LARGE = 'Not all of it was checked, because it is too large: send a part of the workflow.'

/** The host nodes of each pack: the one that has the name now, or else the one that the workflow was saved with. */
const listPacks = (
  found: readonly (UsedHostNode & { from: Origin })[],
): Map<string, UsedHostNode[]> => {
  const packs = new Map<string, UsedHostNode[]>()
  for (const { from, ...one } of found) {
    const id = from.node_id ?? one.pack
    if (from.origin !== 'built_in' && id !== undefined)
      packs.set(id, [...(packs.get(id) ?? []), one])
  }
  return packs
}

interface PackCheck {
  nodeId: string
  used: readonly UsedHostNode[]
  /** The versions before and after, as they were asked for. */
  from: string | undefined
  to: string | undefined
  /** Versions that may be installed, the newest first. */
  fitting: readonly Candidate[]
  budget: Record<'packs' | 'comparisons' | 'steps', number>
  /** Gets what is found. */
  changes: Changes
}

const checkPack = async (reads: GraphReads, check: PackCheck): Promise<CheckedPack> => {
  const { nodeId, fitting } = check
  if ((check.budget.packs -= 1) < 0)
    return { node_id: nodeId, verdict: 'none', ...obstacle('many_packs') }
  const [before, after] = [check.from, check.to ?? fitting[0]?.version]
  const find = async (version: string | undefined) =>
    version === undefined ? undefined : await reads.findVersion(nodeId, version)
  const [from, to] = [await find(before), await find(after)]
  const shown = {
    node_id: nodeId,
    ...(from && { from: from.version }),
    ...(to && { to: to.version }),
  }
  const sides = findSides({ before, after, from, to, budget: check.budget })
  if ('reason' in sides) {
    const unread = await reads.findUnread([from, to].flatMap((side) => side?.id ?? []))
    const [why] = sides.reason === 'host_nodes_unread' ? unread.values() : []
    return { ...shown, verdict: 'none', ...sides, ...(why && { message: describeReading(why) }) }
  }
  const verdict = await compare(reads, check, { ...sides, onChange: check.changes.add })
  const safe = verdict === 'breaks' ? await findSafe(reads, check, sides) : undefined
  return { ...shown, verdict, ...(safe !== undefined && { newest_safe: safe }) }
}

interface Sides {
  from: VersionFacts
  to: VersionFacts
}

/** Returns both versions, or why they cannot be compared. */
const findSides = ({
  before,
  after,
  from,
  to,
  budget,
}: {
  before: string | undefined
  after: string | undefined
  from: VersionFacts | undefined
  to: VersionFacts | undefined
  budget: PackCheck['budget']
}): Sides | Obstacle => {
  if (before === undefined) return obstacle('from_unknown')
  if (!from) return obstacle('from_not_found', before)
  if (after === undefined) return obstacle('to_unknown')
  if (!to) return obstacle('to_not_found', after)
  const unread = [from, to].find(({ isPartial }) => isPartial === null)
  if (unread) return obstacle('host_nodes_unread', unread.version)
  return budget.comparisons > 0 ? { from, to } : obstacle('many_packs')
}

/**
 * Hands over what each host node of the graph feels of the way from one version to the other, and returns the worst of it. Without
 * a taker it ends at what breaks.
 */
const compare = async (
  reads: GraphReads,
  { nodeId, used, budget }: PackCheck,
  { from, to, onChange }: Sides & { onChange?: Changes['add'] },
): Promise<ChangeLevel> => {
  budget.comparisons -= 1
  const byName = new Map(used.map(({ name, nodes }) => [name, nodes]))
  let worst = 'safe' as ChangeLevel
  const add = (node: GraphNode, change: GraphFelt): void => {
    const felt = toGraphChange(nodeId, node, change)
    worst = worstOf([felt, { level: worst }])
    onChange?.(felt)
  }
  const versions = { from: from.id, to: to.id }
  const differences = await reads.listDifferences(versions)
  const lone = differences.flatMap((one) => (one.side === 'changed' ? [] : [one]))
  const isPartial = from.isPartial === true || to.isPartial === true
  const gone = compareLone(lone, isPartial).filter(({ code }) => code !== 'host_node_added')
  const missed = gone.filter(({ host_node: name }) => byName.has(name))
  const names = missed.map(({ host_node: name }) => name)
  const byPack = names.length > 0 ? await reads.findReplacements(to.id, names) : undefined
  for (const { host_node: name, ...change } of missed) {
    const replaced = findReplaced(name, byPack)
    for (const node of byName.get(name) ?? []) add(node, replaced ?? change)
  }
  const changed = differences.filter(({ side, name }) => side === 'changed' && byName.has(name))
  for (const names of inBatches(changed))
    for (const { name, before, after } of await reads.readPairs(versions, names)) {
      const check = makeCheck(before, after)
      for (const node of byName.get(name) ?? []) {
        if ((budget.steps -= check.steps(node)) < 0 || (!onChange && worst === 'breaks'))
          return worst
        for (const change of check(node)) add(node, change)
      }
    }
  return worst
}

/** Finds what the pack, or else the host, has in the place of a host node that is gone. */
const findReplaced = (
  name: string,
  byPack: ReadonlyMap<string, Replacement> | undefined,
): GraphFelt | undefined => {
  const own = byPack?.get(name)
  if (own) return replacedChange('pack', own)
  const replacement = HOST_REPLACEMENTS.get(name)
  return replacement && replacedChange('host', replacement)
}

/** The newest version before the one that was asked for which breaks nothing of the graph. */
const findSafe = async (
  reads: GraphReads,
  check: PackCheck,
  { from, to }: Sides,
): Promise<string | undefined> => {
  const place = check.fitting.findIndex(({ version }) => version === to.version)
  for (const { version } of check.fitting.slice(place + 1)) {
    if (version === from.version) return version
    const older = await reads.findVersion(check.nodeId, version)
    if (!older || older.isPartial === null || check.budget.comparisons <= 0) continue
    const worst = await compare(reads, check, { from, to: older })
    if (check.budget.steps < 0) return undefined
    if (worst !== 'breaks') return version
  }
  return undefined
}
