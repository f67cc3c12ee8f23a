import { withinDeadline } from '../../db/client.ts'
import type { Candidate } from '../../db/registry/graph.ts'
import { listDifferences, readPairs } from '../../db/registry/host-node-compare.ts'
import type { VersionFacts } from '../../db/registry/version.ts'
import type { Change, ChangeLevel } from '../../domain/comparison/change.ts'
import { compareLone } from '../../domain/comparison/compare.ts'
import { makeCheck } from '../../domain/graph/check-node.ts'
import {
  makeChanges,
  summariseCheck,
  toGraphChange,
  worstOf,
  type Changes,
  type CheckRequest,
  type CheckedPack,
  type WorkflowCheck,
} from '../../domain/graph/check.ts'
import type { Graph, GraphNode } from '../../domain/graph/graph.ts'
import { listUsed, type UsedHostNode } from '../../domain/graph/resolve.ts'
import { ApiError } from '../../domain/shared/errors.ts'
import { getVersionAccess } from './access.ts'
import { inBatches } from './compare.ts'
import type { ListDeps } from './deps.ts'
import { findFitting, findOrigins, versionsByPack } from './graph-resolve.ts'

type Asked = Omit<CheckRequest, 'workflow'>

/** Says what of a graph changes between two versions of each pack that it needs. */
export const checkGraph = async (
  deps: ListDeps,
  graph: Graph,
  { from: given, to: wanted, ...target }: Asked,
): Promise<WorkflowCheck> => {
  const [from, to] = [versionsByPack(given), versionsByPack(wanted)]
  const packs = await listPacks(deps, graph, from)
  const fitting = await findFitting(deps, [...packs.keys()], target)
  const budget = { comparisons: COMPARISONS_MAX, steps: STEPS_MAX }
  const changes = makeChanges()
  const checked: CheckedPack[] = []
  for (const [nodeId, used] of [...packs].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    checked.push(
      await checkPack(deps, {
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
  const cut = budget.steps < 0 ? [TOO_LARGE] : []
  return { ...summariseCheck(checked, changes), warnings: [...graph.warnings, ...cut] }
}

/** Pairs of versions that one request compares: each reads what differs between them. */
const COMPARISONS_MAX = 60

/** Changes and widgets that are gone through, node by node: a graph of 1,000 nodes takes some 20,000 for a pair of versions. */
const STEPS_MAX = 2_000_000

const TOO_LARGE = 'Not all of it was checked, because it is too large: send a part of the workflow.'

/** The host nodes of each pack: the one that has the name now, or else the one that the workflow was saved with. */
const listPacks = async (
  deps: ListDeps,
  graph: Graph,
  from: ReadonlyMap<string, string>,
): Promise<Map<string, UsedHostNode[]>> => {
  const used = listUsed(graph)
  const { found } = await findOrigins(deps, used, new Set(from.keys()))
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
  budget: { comparisons: number; steps: number }
  /** Gets what is found. */
  changes: Changes
}

const checkPack = async (deps: ListDeps, check: PackCheck): Promise<CheckedPack> => {
  const { nodeId, fitting } = check
  const [before, after] = [check.from, check.to ?? fitting[0]?.version]
  const [from, to] = [await find(deps, nodeId, before), await find(deps, nodeId, after)]
  const shown = {
    node_id: nodeId,
    ...(from && { from: from.version }),
    ...(to && { to: to.version }),
  }
  const obstacle = obstacleOf({ before, after, from, to, budget: check.budget })
  if (!from || !to || obstacle !== undefined) {
    const message = obstacle ?? 'It could not be compared.'
    return { ...shown, verdict: 'none', message }
  }
  const verdict = await compare(deps, check, { from, to, onChange: check.changes.add })
  const safe = verdict === 'breaks' ? await findSafe(deps, check, { from, to }) : undefined
  return { ...shown, verdict, ...(safe !== undefined && { newest_safe: safe }) }
}

/** A version that everybody may read; undefined for any other. */
const find = async (
  deps: ListDeps,
  nodeId: string,
  version: string | undefined,
): Promise<VersionFacts | undefined> => {
  if (version === undefined) return undefined
  const asked = { nodeId, version, access: 'read', caller: undefined } as const
  try {
    return await getVersionAccess(deps, asked)
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}

interface Sides {
  from: VersionFacts
  to: VersionFacts
}

const obstacleOf = ({
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
}): string | undefined => {
  if (before === undefined)
    return 'The workflow does not say with which version it was saved: name the installed one in "from".'
  if (!from)
    return `There is no version ${JSON.stringify(before)} here to compare with: name another in "from".`
  if (after === undefined) return 'No version of it can be installed there: name one in "to".'
  if (!to) return `There is no version ${JSON.stringify(after)} here: name another in "to".`
  const unread = [from, to].find(({ isPartial }) => isPartial === null)
  if (unread) return `The host nodes of version ${unread.version} have not been read.`
  return budget.comparisons > 0
    ? undefined
    : 'Too many packs for one request: send a part of the workflow.'
}

/**
 * Hands over what each host node of the graph feels of the way from one version to the other, and returns the worst of it. Without
 * a taker it ends at what breaks.
 */
const compare = async (
  { sql, heavyReadSemaphore }: ListDeps,
  { nodeId, used, budget }: PackCheck,
  { from, to, onChange }: Sides & { onChange?: Changes['add'] },
): Promise<ChangeLevel> =>
  await heavyReadSemaphore.run(async () => {
    budget.comparisons -= 1
    const byName = new Map(used.map(({ name, nodes }) => [name, nodes]))
    let worst = 'safe' as ChangeLevel
    const add = (node: GraphNode, change: Change): void => {
      const felt = toGraphChange(nodeId, node, change)
      worst = worstOf([felt, { level: worst }])
      onChange?.(felt)
    }
    const versions = { from: from.id, to: to.id }
    const differences = await withinDeadline(sql, listDifferences(sql, versions))
    const lone = differences.flatMap((one) => (one.side === 'changed' ? [] : [one]))
    const isPartial = from.isPartial === true || to.isPartial === true
    const gone = compareLone(lone, isPartial).filter(({ code }) => code !== 'host_node_added')
    for (const { host_node: name, ...change } of gone)
      for (const node of byName.get(name) ?? []) add(node, change)
    const changed = differences.filter(({ side, name }) => side === 'changed' && byName.has(name))
    for (const names of inBatches(changed))
      for (const { name, before, after } of await withinDeadline(
        sql,
        readPairs(sql, versions, names),
      )) {
        const check = makeCheck(before, after)
        for (const node of byName.get(name) ?? []) {
          if ((budget.steps -= check.steps) < 0 || (!onChange && worst === 'breaks')) return worst
          for (const change of check(node)) add(node, change)
        }
      }
    return worst
  })

/** The newest version before the one that was asked for which breaks nothing of the graph. */
const findSafe = async (
  deps: ListDeps,
  check: PackCheck,
  { from, to }: Sides,
): Promise<string | undefined> => {
  const place = check.fitting.findIndex(({ version }) => version === to.version)
  for (const { version } of check.fitting.slice(place + 1)) {
    if (version === from.version) return version
    const older = await find(deps, check.nodeId, version)
    if (!older || older.isPartial === null || check.budget.comparisons <= 0) continue
    const worst = await compare(deps, check, { from, to: older })
    if (check.budget.steps < 0) return undefined
    if (worst !== 'breaks') return version
  }
  return undefined
}
