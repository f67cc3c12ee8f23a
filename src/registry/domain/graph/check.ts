import { Type, type Static } from 'typebox'

import { CHANGE_CODES, CHANGE_LEVELS, makeChange } from '../comparison/change.ts'
import type { Change, ChangeLevel } from '../comparison/change.ts'
import { map } from '../../../platform/domain/schema-fields.ts'
import { ResolvedHostNode, SavedWorkflow, TARGET, showNode } from './resolve.ts'
import type { GraphNode } from './graph.ts'
import { Replacement, describeReplacement } from './replacements.ts'
import { parseVersionNumber } from '../version-number.ts'

const versions = (description: string) =>
  Type.Optional(map<string>(Type.String({ maxLength: 256 }), { description }))

/** Body of POST /workflows/check. */
export const CheckRequest = Type.Object({
  workflow: SavedWorkflow,
  from: versions(
    'Versions with which it works, by the id of the pack: those of a lock file. Others are those that the workflow was saved with.',
  ),
  to: versions('Versions to compare with, by the id of the pack. Others are the newest that fit.'),
  ...TARGET,
})
export type CheckRequest = Static<typeof CheckRequest>

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** One thing that becomes of a host node of the workflow. */
export const GraphChange = Type.Object({
  pack: Type.String({ description: 'Id of the pack.' }),
  node: Type.Object({
    id: Type.String({ description: 'Id in the workflow.' }),
    title: Type.Optional(Type.String({ description: 'Title that its user gave it.' })),
    within: Type.Optional(Type.String({ description: 'The subgraph or group node it is in.' })),
  }),
  host_node: Type.String({ description: 'Name of its class.' }),
  code: Type.Enum(CHANGE_CODES, { description: 'The rule that found it, as in a comparison.' }),
  level: Type.Enum([...CHANGE_LEVELS], { description: 'What it does to this workflow.' }),
  input: Type.Optional(Type.String({ description: 'Name of the input.' })),
  output: Type.Optional(count('Index of the output, from 0.')),
  before: Type.Optional(Type.String({ description: 'What was there.' })),
  after: Type.Optional(Type.String({ description: 'What is there.' })),
  message: Type.String({ description: 'The change as a sentence.' }),
  replaced_by: Type.Optional(Replacement),
})
export type GraphChange = Static<typeof GraphChange>

const VERDICTS = [...CHANGE_LEVELS, 'none'] as const

/** Reasons why a pack cannot be compared. A message names no field: it is for people who have a page or a command. */
const OBSTACLES = {
  from_unknown:
    'The workflow does not say with which version it was saved: choose the installed one.',
  from_not_found: 'There is no version "{version}" here to compare with: choose another.',
  to_unknown: 'No version of it can be installed there: choose one.',
  to_not_found: 'There is no version "{version}" here to compare with: choose another.',
  host_nodes_unread: 'The host nodes of version {version} have not been read.',
  many_packs: 'Too many packs for one request: send a part of the workflow.',
} as const
type ObstacleReason = keyof typeof OBSTACLES

export const obstacle = (reason: ObstacleReason, version = '') => ({
  reason,
  message: (reason.endsWith('not_found') && !parseVersionNumber(version)
    ? NO_VERSION
    : OBSTACLES[reason]
  ).replace('{version}', () => version),
})
const NO_VERSION = '"{version}" is a commit or a build, and no version: choose one.'
export type Obstacle = ReturnType<typeof obstacle>

export const CheckedPack = Type.Object({
  node_id: Type.String({ description: 'Id of the pack.' }),
  from: Type.Optional(
    Type.String({ description: 'The version before; absent where none is known.' }),
  ),
  to: Type.Optional(Type.String({ description: 'The version after; absent where none fits.' })),
  verdict: Type.Enum([...VERDICTS], {
    description:
      'The worst that the update does to this workflow; `none` where it could not be compared.',
  }),
  newest_safe: Type.Optional(
    Type.String({ description: 'Where it breaks: the newest version that breaks nothing here.' }),
  ),
  reason: Type.Optional(
    Type.Enum(Object.keys(OBSTACLES) as ObstacleReason[], {
      description:
        'Why it could not be compared. `from_…` and `to_…` name the member of the request that helps.',
    }),
  ),
  message: Type.Optional(Type.String({ description: 'The same as a sentence, with what to do.' })),
})
export type CheckedPack = Static<typeof CheckedPack>

/** Response of POST /workflows/check. */
export const WorkflowCheck = Type.Object({
  verdict: Type.Enum([...VERDICTS, 'unknown'], {
    description:
      'The worst that was found. If that is nothing: `unknown` where a host node is unknown here or was left out, else `none` where a pack could not be compared, else `safe`.',
  }),
  counts: Type.Object({
    breaks: count('Changes that break it.'),
    may_break: count('Changes that may break it.'),
    nodes: count('Host nodes of the workflow, those of the editor alone aside.'),
    unknown: count('Those that are unknown here, and are not compared.'),
  }),
  unknown_host_nodes: Type.Array(Type.String(), { description: 'Names of those, in order.' }),
  unknown: Type.Array(
    Type.Pick(ResolvedHostNode, ['host_node', 'origin', 'message', 'last_version']),
    { description: 'The first 100 of them, as `POST /workflows/resolve` shows them.' },
  ),
  replaced: Type.Array(
    Type.Pick(ResolvedHostNode, ['host_node', 'origin', 'node_id', 'message', 'replaced_by']),
    {
      description:
        'The first 100 that the host, or the latest version of a pack, has replaced, as `POST /workflows/resolve` shows them.',
    },
  ),
  packs: Type.Array(CheckedPack, { description: 'The packs that it needs, by id.' }),
  changes: Type.Array(GraphChange, {
    description: 'The worst first; at most 2,000, but all are counted.',
  }),
  warnings: Type.Array(Type.String(), { description: 'What of the workflow was left out.' }),
})
export type WorkflowCheck = Static<typeof WorkflowCheck>

/** A change, maybe with what stands in the place of what is gone. */
export type GraphFelt = Change & Pick<GraphChange, 'replaced_by'>

/** A change as one host node of a pack has it. Where that is muted or bypassed, it breaks no run. */
export const toGraphChange = (pack: string, node: GraphNode, change: GraphFelt): GraphChange => ({
  pack,
  node: showNode(node),
  host_node: node.hostNode,
  ...change,
  level: node.isActive || change.level === 'safe' ? change.level : 'may_break',
})

/** Makes the change of a host node that is gone: whoever has another in its place puts that there when the workflow is opened. */
export const replacedChange = (by: 'host' | 'pack', replacement: Replacement): GraphFelt => ({
  ...makeChange('host_node_replaced', { after: replacement.host_node }),
  message: describeReplacement(by, replacement),
  replaced_by: replacement,
})

const rankOf = (level: ChangeLevel): number => CHANGE_LEVELS.indexOf(level)

export const worstOf = (changes: readonly { level: ChangeLevel }[]): ChangeLevel =>
  CHANGE_LEVELS.find((level) => changes.some((one) => one.level === level)) ?? 'safe'

const CHANGES_MAX = 2_000

/** Changes of all packs: all are counted, the first of each level are kept. */
export const makeChanges = () => {
  const counts: Record<ChangeLevel, number> = { breaks: 0, may_break: 0, safe: 0 }
  const kept: GraphChange[] = []
  return {
    counts,
    kept,
    add: (change: GraphChange): void => {
      if (counts[change.level] < CHANGES_MAX) kept.push(change)
      counts[change.level] += 1
    },
  }
}
export type Changes = ReturnType<typeof makeChanges>

/** Sums up the changes of all packs. */
export const summariseCheck = (
  packs: readonly CheckedPack[],
  { counts: { breaks, may_break }, kept }: Changes,
  isWhole: boolean,
): Pick<WorkflowCheck, 'verdict' | 'packs' | 'changes'> & {
  counts: Record<'breaks' | 'may_break', number>
} => {
  const worst = worstOf(kept)
  const isComplete = packs.every(({ verdict }) => verdict !== 'none')
  const nothing = isWhole ? (isComplete ? 'safe' : 'none') : 'unknown'
  return {
    verdict: worst === 'safe' ? nothing : worst,
    counts: { breaks, may_break },
    packs: [...packs],
    changes: kept.toSorted((a, b) => rankOf(a.level) - rankOf(b.level)).slice(0, CHANGES_MAX),
  }
}
