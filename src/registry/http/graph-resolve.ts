import { BUILT_IN_NODE_NAMES } from '../../../packages/inspector/src/host-nodes.ts'
import { readRequirement } from '../../../packages/inspector/src/requirements.ts'
import type { Graph } from '../domain/graph/graph.ts'
import { EXACT_MAX, chooseFewest } from '../domain/graph/fewest-packs.ts'
import { listModels } from '../domain/graph/models.ts'
import { HOST_REPLACEMENTS } from '../domain/graph/replacements.ts'
import { findConflicts } from '../domain/graph/requirements.ts'
import {
  HOST_PACK,
  chooseClaim,
  chooseOrigin,
  chosenOfMany,
  listUsed,
  showHostNode,
  type Choice,
  type Claim,
  type Origin,
  type ResolveRequest,
  type ResolvedHostNode,
  type UsedHostNode,
  type WorkflowResolution,
} from '../domain/graph/resolve.ts'
import type { Room } from '../domain/graph/room.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import type { GraphReads } from './graph-reads.ts'
import { choosePacks, listSaved, type Installed } from './graph-versions.ts'

export const versionsByPack = (given: Readonly<Record<string, string>> = {}): Installed =>
  new Map(Object.entries(given).map(([id, version]) => [id.toLowerCase(), version]))

/** Finds the pack of each host node of a graph, and versions that fit where it is to run. */
export const resolveGraph = async (
  reads: GraphReads,
  graph: Graph,
  { installed: given, prefer, ...target }: Omit<ResolveRequest, 'workflow'>,
  { take, warn }: Room,
): Promise<WorkflowResolution> => {
  const used = listUsed(graph)
  const installed = versionsByPack(given)
  const { found, nodeNames, isExact } = await findOrigins(reads, used, installed)
  if (!isExact) graph.warnings.push(STEPWISE)
  const hostNodes = found.map((one) => showHostNode(one, one.from))
  const saved = listSaved(found)
  const asked = { hostNodes, nodeNames, target, installed, saved }
  const chosen = await choosePacks(reads, { ...asked, prefersSaved: prefer === 'saved' })
  const versions = chosen.flatMap(({ version }) => (version ? [version] : []))
  const count = (origin: ResolvedHostNode['origin']) =>
    hostNodes.reduce((sum, one) => sum + (one.origin === origin ? one.count : 0), 0)
  const conflicts = findConflicts(
    versions.map(({ nodeId, dependencies }) => ({ node_id: nodeId, dependencies })),
    readRequirement,
  )
  return {
    form: graph.form,
    counts: {
      nodes: hostNodes.reduce((sum, one) => sum + one.count, 0),
      built_in: count('built_in'),
      found: count('found'),
      unknown: count('unknown'),
    },
    packs: take(chosen.map(({ pack }) => pack)),
    lock: take(
      versions.map(({ nodeId, version, sha256, url }) => ({ node: nodeId, version, sha256, url })),
    ),
    models: take(listModels(graph)),
    conflicts: take(conflicts),
    host_nodes: take(hostNodes),
    warnings: warn(graph.warnings),
  }
}

const STEPWISE = `More than ${EXACT_MAX} host nodes are in several packs: packs with the most of them were taken first, and fewer may have all.`

/** Names with the packs that they were saved with; more of them than a person has, and they are looked for no more. */
const RECORDED_MAX = 500

/** Names that no pack claims whose last versions are looked for. */
export const UNKNOWN_MAX = 100

/** Installed packs whose versions are asked: the largest installations have some hundred. */
const INSTALLED_MAX = 2_000

/** Finds the source of each name, first in the versions that are installed, and the names of the packs by their ids. */
export const findOrigins = async <Used extends Pick<UsedHostNode, 'name' | 'pack'>>(
  reads: GraphReads,
  used: readonly Used[],
  installed: Installed,
): Promise<{
  found: (Used & { from: Origin })[]
  nodeNames: Map<string, string>
  /** False where fewer packs may have all names. */
  isExact: boolean
}> => {
  const names = used.map(({ name }) => name)
  const versions = [...installed]
    .slice(0, INSTALLED_MAX)
    .map(([id, version]) => [id, parseVersionNumber(version)?.canonical ?? ''] as const)
  const [ofInstalled, latest, others, builtIn] = await Promise.all([
    reads.findInstalled(
      used.map(({ name, pack }) => ({ name, pack })),
      versions,
    ),
    reads.findClaims(names),
    reads.findWorkflowNames(names),
    reads.findBuiltIn(names),
  ])
  const known = builtIn ? new Set(builtIn) : BUILT_IN_NODE_NAMES
  const byName = listByName([...ofInstalled, ...latest, ...others])
  const unclaimed = used.filter(
    ({ name, pack }) => pack !== HOST_PACK && !known.has(name) && !byName.has(name),
  )
  const left = unclaimed.flatMap(({ name, pack }) => (pack === undefined ? [] : { name, pack }))
  const recorded = await reads.findRecorded(left.slice(0, RECORDED_MAX))
  const saved = new Map(recorded.map((one) => [one.name, one]))
  const unread = await reads.findUnread(recorded.flatMap(({ latestId }) => latestId ?? []))
  const asked = unclaimed.map(({ name }) => ({ name, nodeId: saved.get(name)?.nodeId }))
  const last = await reads.findLast(asked.slice(0, UNKNOWN_MAX))
  const had = new Map(last.map(({ name, ...version }) => [name, version]))
  const isBuiltIn = ({ name, pack }: Used) => known.has(name) || pack === HOST_PACK
  const { choices, isExact } = chooseClaims(
    used.map((one) => ({ ...one, isBuiltIn: isBuiltIn(one), claims: byName.get(one.name) ?? [] })),
    { installed, recorded },
  )
  const found = used.map((one) => {
    const { name, pack } = one
    const claims = byName.get(name) ?? []
    const own = { claims, chosen: choices.get(name), recorded: saved.get(name) }
    // The host replaces only what it does not have itself.
    const replacement = known.has(name) ? undefined : HOST_REPLACEMENTS.get(name)
    const latestId = saved.get(name)?.latestId ?? ''
    const facts = { last: had.get(name), replacement, unread: unread.get(latestId) }
    const from = chooseOrigin({ ...own, ...facts, isBuiltIn: isBuiltIn(one) }, pack)
    return { ...one, from }
  })
  const packs = [...ofInstalled, ...latest, ...others, ...recorded]
  const nodeNames = new Map(packs.map(({ nodeId, nodeName }) => [nodeId, nodeName]))
  return { found, nodeNames, isExact }
}

/** Lists the claims of each name, one of each pack. What a pack has replaced counts where no other has the name. */
const listByName = (claims: readonly Claim[]): Map<string, Claim[]> => {
  const byName = new Map<string, Claim[]>()
  for (const claim of claims.toSorted((a, b) => Number(!!a.replacedBy) - Number(!!b.replacedBy))) {
    const others = byName.get(claim.name) ?? []
    const isLate = claim.replacedBy ? others.some(({ replacedBy }) => !replacedBy) : false
    if (!isLate && !others.some(({ nodeId }) => nodeId === claim.nodeId))
      byName.set(claim.name, [...others, claim])
  }
  return byName
}

/** Chooses a claim of each name: what the workflow or the installation decides, and for the others the fewest packs. */
const chooseClaims = (
  names: readonly {
    name: string
    pack: string | undefined
    isBuiltIn: boolean
    claims: readonly Claim[]
  }[],
  { installed, recorded }: { installed: Installed; recorded: readonly { nodeId: string }[] },
): { choices: ReadonlyMap<string, Choice>; isExact: boolean } => {
  const choices = new Map<string, Choice>()
  for (const { name, pack, claims } of names) {
    const choice = chooseClaim(claims, { pack, installed })
    if (choice) choices.set(name, choice)
  }
  const open = names.filter(
    ({ name, isBuiltIn, claims }) => !isBuiltIn && claims.length > 0 && !choices.has(name),
  )
  const needed = names.flatMap(({ name, isBuiltIn }) => {
    const choice = choices.get(name)
    const isTaken = choice && (!isBuiltIn || choice.reason === 'named_by_workflow')
    return isTaken ? [choice.claim.nodeId] : []
  })
  const ids = new Set([...needed, ...recorded.map(({ nodeId }) => nodeId)])
  const fewest = chooseFewest(open, ids)
  for (const { name, claims } of open) {
    const claim = fewest.claims.get(name)
    if (claim) choices.set(name, chosenOfMany(claim, claims))
  }
  return { choices, isExact: fewest.isExact }
}
