import { BUILT_IN_NODE_NAMES } from '../../../packages/inspector/src/host-nodes.ts'
import { readRequirement } from '../../../packages/inspector/src/requirements.ts'
import type { Candidate } from '../db/graph.ts'
import type { Graph } from '../domain/graph/graph.ts'
import { findConflicts } from '../domain/graph/requirements.ts'
import {
  HOST_PACK,
  chooseOrigin,
  listUsed,
  showHostNode,
  type Claim,
  type Origin,
  type ResolveRequest,
  type ResolvedHostNode,
  type ResolvedPack,
  type UsedHostNode,
  type WorkflowResolution,
} from '../domain/graph/resolve.ts'
import type { Room } from '../domain/graph/room.ts'
import { listExcluding } from '../domain/host-version.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import type { GraphReads } from './graph-reads.ts'

/** Versions that are installed, by the id of the pack in lower case. */
type Installed = ReadonlyMap<string, string>

export const versionsByPack = (given: Readonly<Record<string, string>> = {}): Installed =>
  new Map(Object.entries(given).map(([id, version]) => [id.toLowerCase(), version]))

export type Target = Omit<ResolveRequest, 'workflow' | 'installed'>

/** Finds the pack of each host node of a graph, and versions that fit where it is to run. */
export const resolveGraph = async (
  reads: GraphReads,
  graph: Graph,
  { installed: given, ...target }: Omit<ResolveRequest, 'workflow'>,
  { take, warn }: Room,
): Promise<WorkflowResolution> => {
  const used = listUsed(graph)
  const installed = versionsByPack(given)
  const { found, nodeNames } = await findOrigins(reads, used, installed)
  const hostNodes = found.map((one) => showHostNode(one, one.from))
  const chosen = await choosePacks(reads, { hostNodes, nodeNames, target, installed })
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
    conflicts: take(conflicts),
    host_nodes: take(hostNodes),
    warnings: warn(graph.warnings),
  }
}

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
): Promise<{ found: (Used & { from: Origin })[]; nodeNames: Map<string, string> }> => {
  const names = used.map(({ name }) => name)
  const versions = [...installed]
    .slice(0, INSTALLED_MAX)
    .map(([id, version]) => [id, parseVersionNumber(version)?.canonical ?? ''] as const)
  const [ofInstalled, latest, builtIn] = await Promise.all([
    reads.findInstalled(
      used.map(({ name, pack }) => ({ name, pack })),
      versions,
    ),
    reads.findClaims(names),
    reads.findBuiltIn(names),
  ])
  const known = builtIn ? new Set(builtIn) : BUILT_IN_NODE_NAMES
  const byName = new Map<string, Claim[]>()
  for (const claim of [...ofInstalled, ...latest]) {
    const others = byName.get(claim.name) ?? []
    if (!others.some(({ nodeId }) => nodeId === claim.nodeId))
      byName.set(claim.name, [...others, claim])
  }
  const unclaimed = used.filter(
    ({ name, pack }) => pack !== HOST_PACK && !known.has(name) && !byName.has(name),
  )
  const left = unclaimed.flatMap(({ name, pack }) => (pack === undefined ? [] : { name, pack }))
  const recorded = await reads.findRecorded(left.slice(0, RECORDED_MAX))
  const saved = new Map(recorded.map((one) => [one.name, one]))
  const asked = unclaimed.map(({ name }) => ({ name, nodeId: saved.get(name)?.nodeId }))
  const last = await reads.findLast(asked.slice(0, UNKNOWN_MAX))
  const had = new Map(last.map(({ name, ...version }) => [name, version]))
  const found = used.map((one) => {
    const isBuiltIn = known.has(one.name) || one.pack === HOST_PACK
    const claims = byName.get(one.name) ?? []
    const own = { isBuiltIn, claims, recorded: saved.get(one.name), last: had.get(one.name) }
    return { ...one, from: chooseOrigin(own, { pack: one.pack, installed }) }
  })
  const packs = [...ofInstalled, ...latest, ...recorded]
  return { found, nodeNames: new Map(packs.map(({ nodeId, nodeName }) => [nodeId, nodeName])) }
}

interface Chosen {
  pack: ResolvedPack
  version: Candidate | undefined
}

interface Choice {
  hostNodes: readonly ResolvedHostNode[]
  nodeNames: ReadonlyMap<string, string>
  target: Target
  installed: Installed
}

const choosePacks = async (
  reads: GraphReads,
  { hostNodes, nodeNames, target, installed }: Choice,
): Promise<Chosen[]> => {
  const needed = new Map<string, string[]>()
  for (const { node_id: id, host_node: name } of hostNodes)
    if (id !== undefined) needed.set(id, [...(needed.get(id) ?? []), name])
  const nodeIds = [...needed.keys()].toSorted()
  const candidates = await findFitting(reads, nodeIds, target)
  const versions = nodeIds.map((id) =>
    chooseVersion(candidates.get(id) ?? [], installed.get(id.toLowerCase())),
  )
  const asked = versions.flatMap((version) =>
    version
      ? (needed.get(version.nodeId) ?? []).map((name) => ({ versionId: version.id, name }))
      : [],
  )
  const [found, inactive] = await Promise.all([
    reads.findNamesOf(asked),
    reads.findInactive(nodeIds.filter((_, place) => !versions[place])),
  ])
  return nodeIds.map((node_id, place) => {
    const version = versions[place]
    const host_nodes = needed.get(node_id) ?? []
    const has = new Set(version && found.get(version.id))
    const missing = version?.isRead ? host_nodes.filter((name) => !has.has(name)) : []
    const message = obstacleOf(version, missing, inactive.get(node_id))
    const pack = {
      node_id,
      name: nodeNames.get(node_id) ?? node_id,
      host_nodes,
      ...(version && { version: version.version }),
      is_installed:
        version !== undefined && isSame(version.version, installed.get(node_id.toLowerCase())),
      missing_host_nodes: missing,
      ...(message !== undefined && { message }),
    }
    return { pack, version }
  })
}

/** Versions that fit, by the id of the pack, the newest first. */
export const findFitting = async (
  reads: GraphReads,
  nodeIds: readonly string[],
  { host_version: host, supported_os: os, supported_accelerators: accelerators }: Target,
): Promise<Map<string, Candidate[]>> => {
  const all = await reads.findCandidates({ nodeIds, os, accelerators })
  const fitting = new Map<string, Candidate[]>()
  for (const one of all) {
    const asked = one.supported_host_version
    if (host && asked !== null && listExcluding([asked], host).length > 0) continue
    fitting.set(one.nodeId, [...(fitting.get(one.nodeId) ?? []), one])
  }
  return fitting
}

const chooseVersion = (
  candidates: readonly Candidate[],
  installed: string | undefined,
): Candidate | undefined =>
  candidates.find(({ version }) => isSame(version, installed)) ?? candidates[0]

const isSame = (version: string, other: string | undefined): boolean =>
  other !== undefined &&
  parseVersionNumber(version)?.canonical === parseVersionNumber(other)?.canonical

const obstacleOf = (
  version: Candidate | undefined,
  missing: readonly string[],
  inactive: { wasRead: boolean } | undefined,
): string | undefined => {
  if (inactive)
    return `It has no active version, so nothing of it can be installed${inactive.wasRead ? '' : ', and its host nodes were never read'}: look for another pack, or ask its publisher.`
  if (!version)
    return 'None of its newest 20 versions can be installed there: ask for another host version or system, or look at the versions of the pack.'
  if (missing.length > 0)
    return `Version ${version.version} does not list: ${missing.slice(0, 5).join(', ')}. Another version may, or they are nodes of the editor alone.`
  return version.deprecated ? `Version ${version.version} is deprecated.` : undefined
}
