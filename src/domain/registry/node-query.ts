import { Type, type Static } from 'typebox'

import { Node } from './node.ts'
import { count, instant, map, page, pageSize, queryText } from './registry-fields.ts'

/** Longest text that a search takes, in code points. */
const SEARCH_TEXT_MAX = 200

const names = (maxItems: number, description: string) =>
  Type.Optional(Type.Array(queryText(100), { minItems: 1, maxItems, description }))

const support = {
  supported_os: names(
    50,
    'The node lists at least one of these operating systems by any of its usual names (`Windows`, `Microsoft :: Windows`), lists none, or says that it runs everywhere.',
  ),
  supported_accelerator: names(50, 'The same of accelerators (`CUDA`, `GPU :: NVIDIA CUDA`).'),
}

const include_banned = Type.Optional(
  Type.Boolean({
    description: 'Also what is banned. Only for platform admins, ignored for anybody else.',
  }),
)

const term = (description: string) => Type.Optional(queryText(SEARCH_TEXT_MAX, description))

const SORTS = [
  'name',
  'name;desc',
  'created_at',
  'created_at;desc',
  'downloads',
  'downloads;desc',
  'search_ranking',
  'search_ranking;desc',
] as const
export type NodeSort = (typeof SORTS)[number]

const sort = (usual: string) =>
  Type.Optional(
    Type.Enum([...SORTS], {
      description: `Order of the list, ${usual} unless given; equal ones by their ids.`,
    }),
  )

/** Query of GET /nodes/search; `validateDepth` validates page × limit. */
export const NodeSearchQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 100),
  search: term('Words, each of which must match.'),
  repository_url_search: term('A part of the repository, as given or normalised.'),
  host_node_search: term('A part of the name of a host node of the latest version.'),
  ...support,
  tag: names(50, 'The node has at least one of these tags.'),
  include_banned,
  sort: sort('by relevance'),
  facets: Type.Optional(
    Type.Boolean({ description: 'Also how often each tag, system and accelerator is found.' }),
  ),
})
export type NodeSearchQuery = Static<typeof NodeSearchQuery>

const ListedNodeStatus = Type.Enum(['NodeStatusActive', 'NodeStatusBanned'], {
  description:
    'Only nodes of this status, whatever their publisher’s. Only for platform admins, ignored for anybody else.',
})
export type ListedNodeStatus = Static<typeof ListedNodeStatus>

/** Query of GET /nodes, which has no depth cap: a full sync walks it. */
export const NodeListQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 1_000),
  timestamp: Type.Optional(
    instant(
      'Nodes created or changed at this time or later; a transition of a version is a change.',
    ),
  ),
  node_id: names(1_000, 'Only these nodes.'),
  sort: sort('`created_at`'),
  status: Type.Optional(ListedNodeStatus),
  ...support,
  include_banned,
})
export type NodeListQuery = Static<typeof NodeListQuery>

/** Query of GET /publishers/{p}/nodes. */
export const PublisherNodesQuery = Type.Object({
  page: page(),
  limit: pageSize(100, 1_000),
  include_banned,
})
export type PublisherNodesQuery = Static<typeof PublisherNodesQuery>

/** Query of GET /publishers/{p}/nodes/v2. */
export const PublisherNodePageQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 100),
  include_banned,
})

const facet = (description: string) =>
  Type.Array(
    Type.Object({ value: Type.String({ description: 'In lower case.' }), count: count('Nodes.') }),
    { description },
  )

/** The values of each facet among the nodes that are found without its own filter, the most frequent first. */
const NodeFacets = Type.Object({
  tag: facet('Up to 20 tags.'),
  os: facet('Up to 20 operating systems.'),
  accelerator: facet('Up to 20 accelerators.'),
})
export type NodeFacets = Static<typeof NodeFacets>

/** Response of GET /nodes/search, GET /nodes and GET /publishers/{p}/nodes/v2. */
export const NodePage = Type.Object({
  nodes: Type.Array(Node),
  page: count('The page asked for.'),
  limit: count('Nodes a page.'),
  total: count('Nodes found.'),
  totalPages: count('Pages that they fill.'),
  matched_host_nodes: Type.Optional(
    map<string[]>(Type.Array(Type.String()), {
      description: 'Of a search for host nodes: up to three names by id of the node.',
    }),
  ),
  facets: Type.Optional(NodeFacets),
})
export type NodePage = Static<typeof NodePage>
