import type { Candidate } from '../db/graph.ts'
import type {
  Origin,
  ResolveRequest,
  ResolvedHostNode,
  ResolvedPack,
  UsedHostNode,
} from '../domain/graph/resolve.ts'
import { describeReading, type Reading } from '../domain/graph/reading.ts'
import { listExcluding } from '../domain/host-version.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import type { GraphReads } from './graph-reads.ts'

/** Versions that are installed, by the id of the pack in lower case. */
export type Installed = ReadonlyMap<string, string>

export type Target = Omit<ResolveRequest, 'workflow' | 'installed' | 'prefer'>

interface Chosen {
  pack: ResolvedPack
  version: Candidate | undefined
}

interface PacksAsked {
  hostNodes: readonly ResolvedHostNode[]
  nodeNames: ReadonlyMap<string, string>
  target: Target
  installed: Installed
  /** Versions that the workflow names, by the id of the pack. */
  saved: ReadonlyMap<string, string>
  prefersSaved: boolean
}

/** Lists the version that most host nodes of each pack were saved with, by its id; the editor records a commit where it has no version. */
export const listSaved = (
  found: readonly (UsedHostNode & { from: Origin })[],
): ReadonlyMap<string, string> => {
  const counts = new Map<string, Map<string, number>>()
  for (const { nodes, from } of found)
    for (const { pack, version } of from.node_id === undefined ? [] : nodes) {
      const id = from.node_id ?? ''
      if (!version || !(pack?.toLowerCase() === id.toLowerCase() || pack?.includes('/'))) continue
      const versions = counts.get(id) ?? new Map<string, number>()
      counts.set(id, versions.set(version, (versions.get(version) ?? 0) + 1))
    }
  return new Map(
    [...counts].map(([id, versions]) => {
      const [first] = [...versions].toSorted(([, a], [, b]) => b - a)
      return [id, first?.[0] ?? '']
    }),
  )
}

/** Chooses a version of each pack that a graph needs, by the id of the pack. */
export const choosePacks = async (
  reads: GraphReads,
  { hostNodes, nodeNames, target, installed, saved, prefersSaved }: PacksAsked,
): Promise<Chosen[]> => {
  const needed = new Map<string, string[]>()
  for (const { node_id: id, host_node: name } of hostNodes)
    if (id !== undefined) needed.set(id, [...(needed.get(id) ?? []), name])
  const asked = [...needed.keys()].toSorted().map((nodeId) => {
    const named = saved.get(nodeId)
    const own = installed.get(nodeId.toLowerCase())
    return { nodeId, named, own, wanted: (prefersSaved ? named : undefined) ?? own }
  })
  const onServer = new Map<string, string[]>()
  for (const { node_id: id, host_node: name, is_editor_only: isEditorOnly } of hostNodes)
    if (id !== undefined && !isEditorOnly) onServer.set(id, [...(onServer.get(id) ?? []), name])
  const candidates = await findFitting(reads, asked, target)
  const unfit = asked.map(({ nodeId }) => nodeId).filter((id) => !candidates.has(id))
  const [choose, inactive] = await Promise.all([
    chooseVersions(reads, { candidates, needed: onServer, asked }),
    reads.findInactive(unfit),
  ])
  const picked = asked.map((one) => ({ ...one, ...choose(one.nodeId) }))
  const unread = await reads.findUnread(
    picked.flatMap(({ version }) => (version && !version.isRead ? version.id : [])),
  )
  return picked.map(({ nodeId: node_id, named, own, version, missing, passed }) => {
    const isElse = prefersSaved && version && named !== undefined
    const messages = [
      ...(isElse && !isSame(version.version, named) ? [describeSaved(named, version)] : []),
      ...passed,
      ...obstacleOf({ version, missing, unread }, inactive.get(node_id)),
    ]
    const pack = {
      node_id,
      name: nodeNames.get(node_id) ?? node_id,
      host_nodes: needed.get(node_id) ?? [],
      ...(version && { version: version.version }),
      is_installed: version !== undefined && isSame(version.version, own),
      ...(named !== undefined && { saved_version: named }),
      missing_host_nodes: missing,
      ...(messages.length > 0 && { message: messages.join(' ') }),
    }
    return { pack, version }
  })
}

interface ChosenVersion {
  version: Candidate | undefined
  /** Host nodes that it lacks, as far as it was read. */
  missing: string[]
  /** A sentence about the newest version, where an older one has more. */
  passed: string[]
}

/**
 * Makes the choice of one pack's version: the wanted one, or else the newest that lacks the fewest of the host nodes. Older
 * versions are looked through of a few packs.
 */
const chooseVersions = async (
  reads: GraphReads,
  {
    candidates,
    needed,
    asked,
  }: {
    candidates: ReadonlyMap<string, Candidate[]>
    needed: ReadonlyMap<string, readonly string[]>
    asked: readonly { nodeId: string; wanted: string | undefined }[]
  },
) => {
  const namesOf = (versions: readonly Candidate[]) =>
    reads.findNamesOf(
      versions.flatMap(({ id, nodeId }) =>
        (needed.get(nodeId) ?? []).map((name) => ({ versionId: id, name })),
      ),
    )
  const lacking = (version: Candidate, has: ReadonlyMap<string, string[]>): string[] =>
    version.isRead
      ? (needed.get(version.nodeId) ?? []).filter((name) => !has.get(version.id)?.includes(name))
      : []
  const known = await namesOf([...candidates.values()].flatMap(([first]) => first ?? []))
  const undecided = asked.flatMap(({ nodeId, wanted }) => {
    const [first] = candidates.get(nodeId) ?? []
    const isOpen = first && !isSame(first.version, wanted) && lacking(first, known).length > 0
    return isOpen ? [nodeId] : []
  })
  const looked = new Map(
    undecided
      .slice(0, UNDECIDED_MAX)
      .map((id) => [id, (candidates.get(id) ?? []).slice(1).filter(({ isRead }) => isRead)]),
  )
  const has = await namesOf([...looked.values()].flat())
  return (nodeId: string): ChosenVersion => {
    const [first] = candidates.get(nodeId) ?? []
    if (!first) return { version: undefined, missing: [], passed: [] }
    const missing = lacking(first, known)
    const [best] = (looked.get(nodeId) ?? [])
      .map((version) => ({ version, missing: lacking(version, has) }))
      .toSorted((a, b) => a.missing.length - b.missing.length)
    if (!best || best.missing.length >= missing.length)
      return { version: first, missing, passed: [] }
    return { ...best, passed: [`Version ${first.version} does not list: ${shorten(missing)}.`] }
  }
}

/** Packs whose older versions one request looks through. */
const UNDECIDED_MAX = 20

const describeSaved = (saved: string, { version }: Candidate): string => {
  const why = parseVersionNumber(saved)
    ? 'is not among its versions that can be installed there'
    : 'is a commit or a build, and no version'
  return `The workflow was saved with ${saved}, which ${why}: ${version} is taken.`
}

/** Versions that fit, by the id of the pack, the wanted one and then the newest first. */
export const findFitting = async (
  reads: GraphReads,
  packs: readonly { nodeId: string; wanted?: string | undefined }[],
  { host_version: host, supported_os: os, supported_accelerators: accelerators }: Target,
): Promise<Map<string, Candidate[]>> => {
  const all = await reads.findCandidates({
    packs: packs.map(({ nodeId, wanted }) => ({ nodeId, wanted })),
    os,
    accelerators,
  })
  const fitting = new Map<string, Candidate[]>()
  for (const one of all) {
    const asked = one.supported_host_version
    if (host && asked !== null && listExcluding([asked], host).length > 0) continue
    fitting.set(one.nodeId, [...(fitting.get(one.nodeId) ?? []), one])
  }
  return fitting
}

const isSame = (version: string, other: string | undefined): boolean =>
  other !== undefined &&
  parseVersionNumber(version)?.canonical === parseVersionNumber(other)?.canonical

const obstacleOf = (
  {
    version,
    missing,
    unread,
  }: Omit<ChosenVersion, 'passed'> & { unread: ReadonlyMap<string, Reading> },
  inactive: { wasRead: boolean } | undefined,
): string[] => {
  if (inactive)
    return [
      `It has no active version, so nothing of it can be installed${inactive.wasRead ? '' : ', and its host nodes were never read'}: look for another pack, or ask its publisher.`,
    ]
  if (!version)
    return [
      'None of its newest 20 versions can be installed there: ask for another host version or system, or look at the versions of the pack.',
    ]
  if (missing.length > 0)
    return [
      `Version ${version.version} does not list: ${shorten(missing)}. Another version may, or they are nodes of the editor alone.`,
    ]
  const reading = unread.get(version.id)
  if (reading) return [describeReading(reading)]
  return version.deprecated ? [`Version ${version.version} is deprecated.`] : []
}

const shorten = (names: readonly string[]): string => names.slice(0, 5).join(', ')
