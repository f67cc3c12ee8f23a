import { withinDeadline } from '../../db/client.ts'
import type { Candidate } from '../../db/registry/graph.ts'
import { listDifferences, readPairs } from '../../db/registry/host-node-compare.ts'
import type { VersionFacts } from '../../db/registry/version.ts'
import { compareLone } from '../../domain/comparison/compare.ts'
import { makeCheck } from '../../domain/graph/check-node.ts'
import {
  summariseCheck,
  toGraphChange,
  worstOf,
  type CheckRequest,
  type CheckedPack,
  type GraphChange,
  type WorkflowCheck,
} from '../../domain/graph/check.ts'
import type { Graph, GraphNode } from '../../domain/graph/graph.ts'
import { HOST_PACK, listUsed } from '../../domain/graph/resolve.ts'
import { ApiError } from '../../domain/shared/errors.ts'
import { getVersionAccess } from './access.ts'
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
  const budget = { left: COMPARISONS_MAX }
  const checked: Checked[] = []
  for (const [nodeId, nodes] of [...packs].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    checked.push(
      await checkPack(deps, {
        nodeId,
        nodes,
        budget,
        fitting: fitting.get(nodeId) ?? [],
        from:
          from.get(nodeId.toLowerCase()) ??
          nodes.find(({ version }) => version !== undefined)?.version,
        to: to.get(nodeId.toLowerCase()),
      }),
    )
  const all = checked.flatMap(({ changes }) => changes)
  const found = checked.map(({ pack }) => pack)
  return { ...summariseCheck(found, all), warnings: graph.warnings }
}

/** Pairs of versions that one request compares: each reads what differs between them. */
const COMPARISONS_MAX = 60

/** The host nodes of each pack: the one that has the name now, or else the one that the workflow was saved with. */
const listPacks = async (
  deps: ListDeps,
  graph: Graph,
  from: ReadonlyMap<string, string>,
): Promise<Map<string, GraphNode[]>> => {
  const used = listUsed(graph)
  const { found } = await findOrigins(deps, used, new Set(from.keys()))
  const packs = new Map<string, GraphNode[]>()
  for (const { nodes, pack, from } of found) {
    const id = from.node_id ?? pack
    if (from.origin !== 'built_in' && id !== undefined)
      packs.set(id, (packs.get(id) ?? []).concat(nodes))
  }
  return packs
}

interface PackCheck {
  nodeId: string
  nodes: readonly GraphNode[]
  /** The versions before and after, as they were asked for. */
  from: string | undefined
  to: string | undefined
  /** Versions that may be installed, the newest first. */
  fitting: readonly Candidate[]
  budget: { left: number }
}

interface Checked {
  pack: CheckedPack
  changes: GraphChange[]
}

const checkPack = async (deps: ListDeps, check: PackCheck): Promise<Checked> => {
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
    return { pack: { ...shown, verdict: 'none', message }, changes: [] }
  }
  const changes = await compare(deps, check, { from, to })
  const verdict = worstOf(changes)
  const safe = verdict === 'breaks' ? await findSafe(deps, check, { from, to }) : undefined
  return {
    pack: { ...shown, verdict, ...(safe !== undefined && { newest_safe: safe }) },
    changes,
  }
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
  return budget.left > 0
    ? undefined
    : 'Too many packs for one request: send a part of the workflow.'
}

/** Changes that each host node of the graph feels of the way from one version to the other. */
const compare = async (
  { sql, heavyReadSemaphore }: ListDeps,
  { nodeId, nodes, budget }: PackCheck,
  { from, to }: Sides,
): Promise<GraphChange[]> =>
  await heavyReadSemaphore.run(async () => {
    budget.left -= 1
    const versions = { from: from.id, to: to.id }
    const differences = await withinDeadline(sql, listDifferences(sql, versions))
    const lone = differences.flatMap((one) => (one.side === 'changed' ? [] : [one]))
    const isPartial = from.isPartial === true || to.isPartial === true
    const gone = compareLone(lone, isPartial).filter(({ code }) => code !== 'host_node_added')
    const used = new Set(nodes.map(({ hostNode }) => hostNode))
    const changed = differences.flatMap(({ side, name }) =>
      side === 'changed' && used.has(name) ? [name] : [],
    )
    const pairs = await withinDeadline(sql, readPairs(sql, versions, changed))
    const checks = new Map(pairs.map(({ name, before, after }) => [name, makeCheck(before, after)]))
    return nodes.flatMap((node) => {
      const check = checks.get(node.hostNode)
      const own = gone.filter(({ host_node: name }) => name === node.hostNode)
      const felt = check ? check(node) : own
      return felt.map((change) => toGraphChange(nodeId, node, change))
    })
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
    if (!older || older.isPartial === null || check.budget.left <= 0) continue
    if (worstOf(await compare(deps, check, { from, to: older })) !== 'breaks') return version
  }
  return undefined
}
