import { Type, type Static } from 'typebox'

import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { Node, RemovedNode } from './node.ts'
import {
  count,
  instant,
  map,
  page,
  pageSize,
  queryText,
} from '../../platform/domain/schema-fields.ts'

/** Longest text that a search takes, in code points. */
const SEARCH_TEXT_MAX = 200

const names = (maxItems: number, description: string) =>
  Type.Optional(Type.Array(queryText(100), { minItems: 1, maxItems, description }))

const support = {
  supported_os: names(
    50,
    'The pack lists at least one of these operating systems by any of its usual names (`Windows`, `Microsoft :: Windows`), lists none, or says that it runs everywhere.',
  ),
  supported_accelerator: names(50, 'The same of accelerators (`CUDA`, `GPU :: NVIDIA CUDA`).'),
}

const license = names(
  50,
  'The license in the archive of the latest version is one of these, by SPDX identifier (`MIT`, `Apache-2.0`).',
)

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
  'github_stars',
  'github_stars;desc',
  'search_ranking',
  'search_ranking;desc',
  'rating',
  'rating;desc',
] as const
export type NodeSort = (typeof SORTS)[number]

const sort = (usual: string) =>
  Type.Optional(
    Type.Enum([...SORTS], {
      description: `Order of the list, ${usual} unless given; equal ones by their ids. By \`rating\` a pack counts as if it had five further reviews of the mean of all packs.`,
    }),
  )

/** Query of GET /nodes/search; `validateDepth` validates page × limit. */
export const NodeSearchQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 100),
  search: term(
    'Words, each of which must begin one of id, name, tags, author, publisher, description or host nodes; Chinese, Japanese and Korean by any part. `publisher/id` finds one pack, and the address of a repository its packs.',
  ),
  repository_url_search: term('A part of the repository, as given or normalised.'),
  host_node_search: term(
    'A part of the name or display name of a host node of the latest version.',
  ),
  ...support,
  host_version: Type.Optional(
    queryText(
      64,
      'The pack supports this version of the host (PEP 440), or says nothing that can be compared.',
    ),
  ),
  tag: names(50, 'The pack has at least one of these tags.'),
  license,
  include_banned,
  sort: sort('by relevance'),
  facets: Type.Optional(
    Type.Boolean({
      description: 'Also how often each tag, system, accelerator and license is found.',
    }),
  ),
})
export type NodeSearchQuery = Static<typeof NodeSearchQuery>

const ListedNodeStatus = Type.Enum(['NodeStatusActive', 'NodeStatusBanned'], {
  description:
    'Only packs of this status, whatever their publisher’s. Only for platform admins, ignored for anybody else.',
})
export type ListedNodeStatus = Static<typeof ListedNodeStatus>

/** Query of GET /nodes, which has no depth cap: a full sync walks it. */
export const NodeListQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 1_000),
  timestamp: Type.Optional(
    instant(
      'Packs created or changed at this time or later; a transition of a version is a change.',
    ),
  ),
  include_removed: Type.Optional(
    Type.Boolean({
      description:
        'For clients that keep a copy: also what is listed no more, that is banned and deleted packs and those of banned publishers, by `id`, `status` and `status_detail` alone.',
    }),
  ),
  node_id: names(1_000, 'Only these packs.'),
  sort: sort('`created_at`'),
  status: Type.Optional(ListedNodeStatus),
  license,
  ...support,
  include_banned,
})
export type NodeListQuery = Static<typeof NodeListQuery>

/** Names of a query by which a node leaves a list, or its place in it, and is still listed. */
const LEAVING = ['supported_os', 'supported_accelerator', 'license', 'sort', 'status'] as const

/** The rule of GET /nodes that its schema cannot say: a copy must show all that leaves the list. */
export const validateNodeList = (query: Readonly<Record<string, unknown>>): Issue[] =>
  LEAVING.filter((name) => query['include_removed'] === true && query[name] !== undefined).map(
    (name) =>
      makeIssue(
        `?${name}`,
        'must be absent with include_removed, because a pack that leaves such a list would not be shown; filter and sort the copy',
      ),
  )

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
    Type.Object({
      value: Type.String({ description: 'In lower case, but for licenses.' }),
      count: count('Packs.'),
    }),
    { description },
  )

/** The values of each facet among the nodes that are found without its own filter, the most frequent first. */
const NodeFacets = Type.Object({
  tag: facet('Up to 20 tags.'),
  os: facet('Up to 20 operating systems.'),
  accelerator: facet('Up to 20 accelerators.'),
  license: facet('Up to 20 licenses.'),
})
export type NodeFacets = Static<typeof NodeFacets>

/** Response of GET /nodes/search and GET /publishers/{p}/nodes/v2. */
export const NodePage = Type.Object({
  nodes: Type.Array(Node),
  page: count('The page asked for.'),
  limit: count('Packs a page.'),
  total: count('Packs found.'),
  totalPages: count('Pages that they fill.'),
  matched_host_nodes: Type.Optional(
    map<string[]>(Type.Array(Type.String()), {
      description: 'Of a search for host nodes: up to three names by id of the pack.',
    }),
  ),
  facets: Type.Optional(NodeFacets),
  did_you_mean: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        host_node: Type.Optional(
          Type.String({
            description: 'Its host node that is most like the text, where host nodes are meant.',
          }),
        ),
      }),
      {
        description:
          'Of a search that finds nothing: up to three packs that match its other filters, most like the term first: by id or name, and where no pack is like it, or without `search`, by a host node. Absent when none is.',
      },
    ),
  ),
})
export type NodePage = Static<typeof NodePage>

/** Response of GET /nodes. */
export const NodeListPage = Type.Object({
  ...Type.Omit(NodePage, ['matched_host_nodes', 'facets', 'did_you_mean']).properties,
  nodes: Type.Array(Type.Union([Node, RemovedNode])),
  next_timestamp: Type.Optional(
    instant(
      'With `include_removed`: what has changed since this walk began is at or after the time of its first page. The next walk takes it as `timestamp`.',
    ),
  ),
})
export type NodeListPage = Static<typeof NodeListPage>
