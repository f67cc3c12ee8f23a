import { Type, type Static } from 'typebox'

import { map } from '../../../platform/domain/schema-fields.ts'
import { EXPECTED } from './read-graph.ts'
import { WorkflowModel } from './models.ts'
import { describeReading, type Reading } from './reading.ts'
import { Replacement, describeReplacement } from './replacements.ts'
import { RequirementConflict } from './requirements.ts'
import { EDITOR_NODES, type Graph, type GraphNode } from './graph.ts'

const names = (max: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: max, description }))

/** The place where packs are to run. */
export const TARGET = {
  host_version: Type.Optional(
    Type.String({ maxLength: 64, description: 'Version of the host (PEP 440), such as 1.4.0.' }),
  ),
  supported_os: names(10, 'Systems it runs on, as in a search of packs: `Windows`, `Linux`.'),
  supported_accelerators: names(10, 'Accelerators it runs on: `CUDA`.'),
}

/** Member of a request that holds the workflow, which the readers of its forms validate. */
export const SavedWorkflow = Type.Unknown({
  description: 'A workflow as the host saves it, or exports it for its API.',
  'x-expectation': EXPECTED,
})

/** Body of POST /workflows/resolve. */
export const ResolveRequest = Type.Object({
  workflow: SavedWorkflow,
  installed: Type.Optional(
    map<string>(Type.String({ maxLength: 256 }), {
      description:
        'Versions that are installed, by the id of the pack. They are kept where they have what is needed.',
    }),
  ),
  prefer: Type.Optional(
    Type.Enum(['newest', 'saved'], {
      default: 'newest',
      description:
        '`saved` takes the versions that the workflow was saved with, before those of `installed`; what is gone, or was a commit, is named in the message of its pack.',
    }),
  ),
  ...TARGET,
})
export type ResolveRequest = Static<typeof ResolveRequest>

/** Sources of a host node. */
const ORIGINS = ['built_in', 'found', 'unknown'] as const

export const CHOICE_REASONS = {
  only_claim: 'No other pack has it.',
  named_by_workflow: 'The workflow was saved with this pack.',
  installed: 'This pack is installed.',
  preempted: 'The name is kept for this pack.',
  fewest_packs: 'With this pack the workflow needs the fewest packs.',
  ranking: 'This pack ranks before the others.',
  oldest_claim: 'This pack has had the name for longest.',
  recorded:
    'The workflow was saved with this pack, whose latest version does not list it: it may be a node of the editor alone, or of another version.',
} as const
export type ChoiceReason = keyof typeof CHOICE_REASONS

const count = (description: string) => Type.Integer({ minimum: 0, description })

const LastVersion = Type.Object(
  {
    node_id: Type.String({ description: 'Id of the pack.' }),
    version: Type.String({ description: 'Its last version that had it.' }),
  },
  { description: 'Where no latest version has it: the last one that had it.' },
)
export type LastVersion = Static<typeof LastVersion>

export const ResolvedHostNode = Type.Object({
  host_node: Type.String({ description: 'Name of the host node.' }),
  count: count('How often the workflow has it.'),
  nodes: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Id in the workflow.' }),
      title: Type.Optional(Type.String({ description: 'Title that its user gave it.' })),
      within: Type.Optional(Type.String({ description: 'The subgraph or group node it is in.' })),
    }),
    { description: 'The first 20 of them.' },
  ),
  origin: Type.Enum([...ORIGINS], {
    description: 'Part of the host, found in a pack, or unknown here.',
  }),
  node_id: Type.Optional(Type.String({ description: 'Id of the pack that it is taken from.' })),
  reason: Type.Optional(
    Type.Enum(Object.keys(CHOICE_REASONS) as ChoiceReason[], {
      description: 'Why it is taken from that pack.',
    }),
  ),
  message: Type.String({ description: 'The same as a sentence.' }),
  is_editor_only: Type.Optional(
    Type.Literal(true, {
      description: 'A script of the pack makes it in the editor: no server needs it.',
    }),
  ),
  last_version: Type.Optional(LastVersion),
  replaced_by: Type.Optional(Replacement),
  other_node_ids: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Other packs that have the name, the next best first; at most 10.',
    }),
  ),
})
export type ResolvedHostNode = Static<typeof ResolvedHostNode>

export const ResolvedPack = Type.Object({
  node_id: Type.String({ description: 'Id of the pack.' }),
  name: Type.String({ description: 'Its name.' }),
  host_nodes: Type.Array(Type.String(), { description: 'Host nodes that are taken from it.' }),
  version: Type.Optional(
    Type.String({
      description:
        'The installed version, or the saved one where it is preferred, or the newest that fits and has the most of the host nodes; absent where none does.',
    }),
  ),
  is_installed: Type.Boolean({ description: 'Whether that version is installed.' }),
  saved_version: Type.Optional(
    Type.String({
      description: 'The version that the workflow names, as it does: also a commit or `nightly`.',
    }),
  ),
  missing_host_nodes: Type.Array(Type.String(), {
    description: 'Those of them that this version has not, as far as it was read.',
  }),
  message: Type.Optional(Type.String({ description: 'What stands in the way, and what to do.' })),
})
export type ResolvedPack = Static<typeof ResolvedPack>

/** One archive to install. */
export const LockedPack = Type.Object({
  node: Type.String({ description: 'Id of the pack.' }),
  version: Type.String({ description: 'Its version.' }),
  sha256: Type.String({ description: 'SHA-256 of the archive, in hexadecimal.' }),
  url: Type.String({ description: 'Address of the archive.' }),
})
export type LockedPack = Static<typeof LockedPack>

/** Response of POST /workflows/resolve. */
export const WorkflowResolution = Type.Object({
  form: Type.Enum(['editor', 'api'], { description: 'The form in which it was saved.' }),
  counts: Type.Object({
    nodes: count('Host nodes of the workflow, those of the editor alone aside.'),
    built_in: count('Those that are part of the host.'),
    found: count('Those found in packs.'),
    unknown: count('Those that are unknown here.'),
  }),
  host_nodes: Type.Array(ResolvedHostNode, { description: 'By name.' }),
  packs: Type.Array(ResolvedPack, { description: 'The packs that it needs, by id.' }),
  lock: Type.Array(LockedPack, { description: 'What to install, exactly, by id.' }),
  models: Type.Array(WorkflowModel, {
    description: 'Files of models that it names, by their names; at most 500.',
  }),
  conflicts: Type.Array(RequirementConflict, {
    description: 'Python packages of which no version suits all of these packs.',
  }),
  warnings: Type.Array(Type.String(), { description: 'What of the workflow was left out.' }),
})
export type WorkflowResolution = Static<typeof WorkflowResolution>

export interface UsedHostNode {
  name: string
  nodes: GraphNode[]
  /** The pack that most of them were saved with, and its version. */
  pack: string | undefined
}

/** Most names that are looked for: the largest published graphs have some hundred. */
const NAMES_MAX = 2_000

/** Lists host nodes by name, except nodes that only the editor has. */
export const listUsed = ({ nodes, warnings }: Graph): UsedHostNode[] => {
  const used = new Map<string, GraphNode[]>()
  for (const node of nodes) {
    if (EDITOR_NODES.has(node.hostNode)) continue
    const others = used.get(node.hostNode)
    if (others) others.push(node)
    else used.set(node.hostNode, [node])
  }
  if (used.size > NAMES_MAX)
    warnings.push(`Of ${used.size} different host nodes the first ${NAMES_MAX} are looked for.`)
  return [...used]
    .slice(0, NAMES_MAX)
    .map(([name, nodes]) => ({ name, nodes, pack: nodes.find(({ pack }) => pack)?.pack }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The pack that the host's editor names as the source of the host's own nodes. */
export const HOST_PACK = 'comfy-core'

/** A pack that has a name, the best claim first. */
export interface Claim {
  name: string
  nodeId: string
  nodeName: string
  repositoryKey: string | null
  preempts: boolean
  ranking: number
  downloads: number
  /** The pack's scripts have it in the editor alone. */
  isEditorOnly?: boolean
  /** Host node that the pack has in its place. */
  replacedBy?: Replacement | null
}

/** A name of host nodes with the pack that a workflow was saved with. */
export interface Recorded {
  name: string
  pack: string
}

/** A claim and why it is taken. */
export interface Choice {
  claim: Claim
  reason: ChoiceReason
}

/** Chooses the pack of a name that nothing else of the workflow decides: the one it was saved with, one that is installed, or the only one. */
export const chooseClaim = (
  claims: readonly Claim[],
  { pack, installed }: { pack: string | undefined; installed: Pick<ReadonlySet<string>, 'has'> },
): Choice | undefined => {
  const [best, next] = claims
  if (!best) return undefined
  if (!next) return { claim: best, reason: 'only_claim' }
  const named = claims.find((claim) => pack !== undefined && isPack(claim, pack.toLowerCase()))
  if (named) return { claim: named, reason: 'named_by_workflow' }
  const found = claims.find(({ nodeId }) => installed.has(nodeId.toLowerCase()))
  if (found) return { claim: found, reason: 'installed' }
  return best.preempts && !next.preempts ? { claim: best, reason: 'preempted' } : undefined
}

/** Says why a claim was taken that the fewest packs have. */
export const chosenOfMany = (claim: Claim, [best, next]: readonly Claim[]): Choice => {
  if (claim !== best || !next) return { claim, reason: 'fewest_packs' }
  return { claim, reason: best.ranking < next.ranking ? 'ranking' : 'oldest_claim' }
}

/** The editor records the id of a pack, or for one that came from elsewhere `owner/repository`. */
const isPack = ({ nodeId, repositoryKey }: Claim, pack: string): boolean =>
  nodeId.toLowerCase() === pack || repositoryKey === `github.com/${pack}`

/** Facts about one name. */
export interface KnownName {
  isBuiltIn: boolean
  claims: readonly Claim[]
  /** The claim that is taken. */
  chosen: Choice | undefined
  /** The pack that it was saved with, where that is here and has no claim. */
  recorded: { nodeId: string; latestId: string | null } | undefined
  /** Outcome of reading that pack's latest version, where it did not succeed. */
  unread: Reading | undefined
  /** The last version that had it, where nothing claims it. */
  last: LastVersion | undefined
  /** Host node that the host has put in its place. */
  replacement: Replacement | undefined
}

/** The source of one name. */
export type Origin = Pick<
  ResolvedHostNode,
  | 'origin'
  | 'node_id'
  | 'reason'
  | 'message'
  | 'is_editor_only'
  | 'last_version'
  | 'replaced_by'
  | 'other_node_ids'
>

export const chooseOrigin = (
  { isBuiltIn, claims, chosen, recorded, unread, last, replacement }: KnownName,
  pack: string | undefined,
): Origin => {
  const id = chosen?.claim.nodeId ?? recorded?.nodeId
  const isGone = replacement !== undefined && id === undefined
  if (isGone || (isBuiltIn && chosen?.reason !== 'named_by_workflow'))
    return {
      origin: 'built_in',
      ...(replacement
        ? { message: describeReplacement('host', replacement), replaced_by: replacement }
        : { message: 'It is part of the host.' }),
    }
  const shown = last && { last_version: last }
  if (id === undefined) return { origin: 'unknown', message: unknownMessage(pack, last), ...shown }
  const reason = chosen?.reason ?? 'recorded'
  const others = claims.map(({ nodeId }) => nodeId).filter((other) => other !== id)
  return {
    origin: 'found',
    node_id: id,
    reason,
    ...(last?.node_id === id
      ? { message: `The workflow was saved with this pack, which ${hadUntil(last)}`, ...shown }
      : { message: chosen ? CHOICE_REASONS[reason] : describeRecorded(recorded, unread) }),
    ...(chosen && describeClaim(chosen)),
    ...(others.length > 0 && { other_node_ids: others }),
  }
}

/** Says what a claim is that is no host node of its pack. */
const describeClaim = ({ claim: { isEditorOnly, replacedBy }, reason }: Choice) => ({
  ...(isEditorOnly && {
    message: `${CHOICE_REASONS[reason]} It is a node of the editor alone.`,
    is_editor_only: true as const,
  }),
  ...(replacedBy && {
    message: `${CHOICE_REASONS[reason]} ${describeReplacement('pack', replacedBy)}`,
    replaced_by: replacedBy,
  }),
})

const describeRecorded = (recorded: KnownName['recorded'], unread: Reading | undefined): string => {
  if (recorded?.latestId === null) return INACTIVE
  return unread
    ? `The workflow was saved with this pack. ${describeReading(unread)}`
    : CHOICE_REASONS.recorded
}

const INACTIVE =
  'The workflow was saved with this pack, which has no active version now: nobody can say if it has this node.'

const NODES_SHOWN = 20

/** The shown form of one name. */
export const showHostNode = ({ name, nodes }: UsedHostNode, origin: Origin): ResolvedHostNode => ({
  host_node: name,
  count: nodes.length,
  nodes: nodes.slice(0, NODES_SHOWN).map(showNode),
  ...origin,
})

export const showNode = ({ id, title, within }: GraphNode) => ({
  id,
  ...(title !== undefined && { title }),
  ...(within !== undefined && { within }),
})

/** A version that was not read may have it, too. */
const hadUntil = ({ version }: LastVersion): string =>
  `had it until version ${version}, as far as its versions were read.`

const unknownMessage = (pack: string | undefined, last: LastVersion | undefined): string => {
  const had = last ? ` Pack ${last.node_id} ${hadUntil(last)}` : ''
  const saved = pack && ` The workflow was saved with ${JSON.stringify(pack)}, which is not here.`
  const advice = had + (saved ?? '') || ' Ask whoever made the workflow for the pack.'
  return `No pack here has it in its latest version.${advice}`
}
