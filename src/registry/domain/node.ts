import { Type, type Static } from 'typebox'

import { HOST_NODE_NAME_MAX } from './host-node.ts'
import { Publisher } from './publisher.ts'
import {
  LONG_TEXT_MAX,
  tags,
  url,
  warnings,
  withoutReason,
  shownSupport,
  writtenSupport,
} from './registry-fields.ts'
import {
  DESCRIPTION_MAX,
  NAME_MAX,
  REASON_MAX,
  count,
  instant,
  map,
  text,
  texts,
} from '../../platform/domain/schema-fields.ts'
import { Version, moderated } from './version.ts'

export const NodeStatus = Type.Enum(['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'])
export type NodeStatus = Static<typeof NodeStatus>
export const NODE_STATUSES_WITH_REASON: readonly NodeStatus[] = ['NodeStatusBanned']

export const NODE_ID_MAX = 100

/**
 * Ids of published packs may begin with a digit or double a mark. `search` and `v2` are excluded in every case, because
 * they are routes.
 */
export const NODE_ID_PATTERN =
  '^(?!(?:[sS][eE][aA][rR][cC][hH]|[vV]2)$)[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$'
export const NODE_ID_EXPECTATION = `1 to ${NODE_ID_MAX} letters, digits, dots, hyphens and underscores that begin and end with a letter or digit, and neither \`search\` nor \`v2\``

const DEFAULT_SEARCH_RANKING = 5

/** Texts that a member of the publisher may set, beside `name` and `description`. */
const writtenTexts = {
  author: Type.Optional(text(NAME_MAX, 'Who wrote it.')),
  banner_url: Type.Optional(url('Address of the banner.')),
  icon: Type.Optional(url('Address of the icon.')),
  repository: Type.Optional(
    url(
      'Address of the repository; several packs may share one. Also git, ssh and git+https.',
      'repository',
    ),
  ),
  license: Type.Optional(
    text(LONG_TEXT_MAX, 'The license as it was sent, such as the JSON text `{"file": "LICENSE"}`.'),
  ),
  category: Type.Optional(
    Type.String({
      maxLength: 128,
      deprecated: true,
      description: 'Deprecated: use `tags`. Accepted and echoed.',
    }),
  ),
  translations: Type.Optional(
    map<Record<string, string>>(map<string>(Type.String(), { description: 'Text by field.' }), {
      description: `Texts by language and field; at most ${LONG_TEXT_MAX} characters of JSON.`,
      'x-expectation': 'an object of the form {language: {field: text}}',
    }),
  ),
}

/** Members that hold a URL. */
export const NODE_URLS = ['banner_url', 'icon', 'repository'] as const

const name = text(NAME_MAX, 'Display name; the id unless given.')
const description = text(DESCRIPTION_MAX, 'What it is for.')
const ownTags = tags('Tags of the pack.')

/** All that a member of the publisher may set. */
const written = {
  name: Type.Optional(name),
  description: Type.Optional(description),
  ...writtenTexts,
  tags: Type.Optional(ownTags),
  ...writtenSupport,
}

/** Body of POST /publishers/{p}/nodes. */
export const NewNode = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: NODE_ID_MAX,
    pattern: NODE_ID_PATTERN,
    description: 'Unique without regard to case; never changes.',
    'x-expectation': NODE_ID_EXPECTATION,
  }),
  ...written,
})
export type NewNode = Static<typeof NewNode>

/**
 * Body of PUT /publishers/{p}/nodes/{n}, and `node` of the publish body. An absent member keeps its value. An empty
 * text or list clears the value in the first (`name` falls back to the id) and keeps it in the second (see
 * `publishedFields`).
 */
export const NodeUpdate = Type.Object({
  id: Type.Optional(
    Type.String({ description: 'The id in the path, when given at all; case does not matter.' }),
  ),
  ...written,
})
export type NodeUpdate = Static<typeof NodeUpdate>

/** Values of a node that a member's body sets. */
export type NodeFields = Omit<NodeUpdate, 'id'>

const searchRanking = Type.Integer({
  minimum: 1,
  maximum: 10,
  description: `Place in search results, lower first; ${DEFAULT_SEARCH_RANKING} unless set.`,
})
const githubStars = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'Stars of the repository, as github.com, gitlab.com or codeberg.org said last.',
})
const preempted = texts(
  500,
  HOST_NODE_NAME_MAX,
  'Host node names that belong to this pack, while its latest version has them, whoever else has them.',
)
const adminTags = tags('Tags that only platform admins set; readable by all.')

const writtenByAdmin = {
  status: Type.Optional(NodeStatus),
  status_detail: Type.Optional(text(REASON_MAX, 'Why; required with the status Banned.')),
  search_ranking: Type.Optional(searchRanking),
  preempted_host_node_names: Type.Optional(preempted),
  tags_admin: Type.Optional(adminTags),
  github_stars: Type.Optional({
    ...githubStars,
    description: 'Holds in place of the number of the repository, until `own_stars`.',
  }),
  own_stars: Type.Optional(
    Type.Boolean({ description: 'Whether the number of the repository is to hold again.' }),
  ),
}

/** Body of PUT /admin/nodes/{n}, and of a platform admin's PUT of a publisher's node. */
export const NodeAdminUpdate = Type.Object(
  {
    ...NodeUpdate.properties,
    ...writtenByAdmin,
    force: Type.Optional(
      Type.Boolean({
        description: 'Whether to preempt a host node name that another pack preempts already.',
      }),
    ),
    publisher: Type.Optional(
      Type.Object(
        { id: Type.Optional(Type.String()) },
        { description: 'The publisher that the pack has, when given at all.' },
      ),
    ),
  },
  { not: withoutReason('status_detail', NODE_STATUSES_WITH_REASON) },
)
export type NodeAdminUpdate = Static<typeof NodeAdminUpdate>

/** Values of a node that a platform admin's body sets. */
export type NodeAdminFields = Omit<NodeAdminUpdate, 'id' | 'publisher' | 'force'>
export const NODE_ADMIN_FIELDS = Object.keys({ ...written, ...writtenByAdmin })

/** Members that only platform admins set. */
export const NODE_ADMIN_MEMBERS = [...Object.keys(writtenByAdmin), 'force']

const unruled = Type.Optional(Type.Unknown())

/** The same body, from anybody: members that platform admins set have any type, and are validated for them alone. */
export const OwnNodeUpdate = Type.Object({
  ...NodeUpdate.properties,
  ...(Object.fromEntries(
    ['publisher', ...NODE_ADMIN_MEMBERS].map((name) => [name, unruled]),
  ) as Record<keyof typeof writtenByAdmin | 'publisher' | 'force', typeof unruled>),
})
export type OwnNodeUpdate = Static<typeof OwnNodeUpdate>

/** A node, as every route returns it. A member without a value is absent, never null. */
export const Node = Type.Object({
  id: Type.String({ description: 'Unique id, as it was created.' }),
  name,
  description,
  ...writtenTexts,
  tags: ownTags,
  ...shownSupport,
  status: NodeStatus,
  status_detail: Type.Optional(text(REASON_MAX, 'Why it has this status.')),
  created_at: instant('When it was created.'),
  downloads: count('Installs counted.'),
  github_stars: githubStars,
  stars_updated_at: Type.Optional(
    instant('When that number came from the repository; absent of one that an admin has set.'),
  ),
  rating: Type.Number({
    minimum: 0,
    maximum: 5,
    description: 'Mean of the stars of its reviews, rounded to .01; 0 until there are any.',
  }),
  rating_count: count('Reviews that count.'),
  search_ranking: searchRanking,
  preempted_host_node_names: preempted,
  tags_admin: adminTags,
  publisher: Publisher,
  availability: Type.Enum(['available', 'deprecated', 'none'], {
    description:
      '`none`: no version is active, so nothing can be installed. `deprecated`: the latest one is, because all active releases are, or all versions where there is no release.',
  }),
  latest_version: Type.Optional(Version),
})
export type Node = Static<typeof Node>

/** Response to a change of a node. */
export const WrittenNode = Type.Intersect([Node, Type.Object({ warnings }), moderated])

export const NodeList = Type.Array(Node)

/** A node that was listed once, for clients that keep a copy of the lists. */
export const RemovedNode = Type.Object({
  id: Type.String({ description: 'Unique id, as it was created.' }),
  status: Type.Enum(['NodeStatusDeleted', 'NodeStatusBanned'], {
    description: 'That which holds: of a banned publisher’s packs it is Banned.',
  }),
  status_detail: Type.Optional(text(REASON_MAX, 'Why it has this status.')),
})
export type RemovedNode = Static<typeof RemovedNode>

/** Response of GET /host-nodes/{hostNodeName}/node. */
export const NodeOfHostNode = Type.Intersect([
  Node,
  Type.Object({
    other_node_ids: Type.Array(Type.String(), {
      description:
        'Ids of the other packs that have the name, the next in line first; at most 100.',
    }),
  }),
])
export type NodeOfHostNode = Static<typeof NodeOfHostNode>
