import { Type, type Static } from 'typebox'

import { PublisherMember } from './member.ts'
import { URL_MAX, url, warnings } from './registry-fields.ts'
import {
  DESCRIPTION_MAX,
  NAME_MAX,
  REASON_MAX,
  instant,
  page,
  pageSize,
  reason,
  text,
} from '../../platform/domain/schema-fields.ts'
import { moderated } from './version.ts'

export const PublisherStatus = Type.Enum(['PublisherStatusActive', 'PublisherStatusBanned'])
export type PublisherStatus = Static<typeof PublisherStatus>

export const PUBLISHER_ID_MAX = 64

/** Words that a publisher's id cannot be: routes and hosts may need them. */
export const RESERVED_PUBLISHER_IDS = [
  'validate',
  'admin',
  'api',
  'archives',
  'bulk',
  'health',
  'host',
  'host-nodes',
  'metrics',
  'nodes',
  'openapi',
  'publishers',
  'ready',
  'registry',
  'search',
  'tasks',
  'uploads',
  'users',
  'versions',
] as const

export const PUBLISHER_ID_PATTERN = '^[a-z][a-z0-9-]*$'
export const PUBLISHER_ID_EXPECTATION = `1 to ${PUBLISHER_ID_MAX} lower-case letters, digits and hyphens, the first a letter`

/** Members that an admin of the publisher may set. */
const written = {
  name: Type.Optional(text(NAME_MAX, 'Display name; the id unless given.')),
  description: Type.Optional(text(DESCRIPTION_MAX, 'Who this is.')),
  logo: Type.Optional(url('Address of the logo.')),
  source_code_repo: Type.Optional(url('Address of the source code.')),
  website: Type.Optional(url('Address of the web site.')),
  support: Type.Optional(text(URL_MAX, 'Where to ask for help: an address, or any text.')),
}

/** Members that hold a URL. */
export const PUBLISHER_URLS = ['logo', 'source_code_repo', 'website'] as const

const FREE_ID_PATTERN = `^(?!(?:${RESERVED_PUBLISHER_IDS.join('|')})$)${PUBLISHER_ID_PATTERN.slice(1)}`

/** Body of POST /publishers. */
export const NewPublisher = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: PUBLISHER_ID_MAX,
    pattern: FREE_ID_PATTERN,
    description: 'Unique, never changes.',
    'x-expectation': `${PUBLISHER_ID_EXPECTATION}, and no reserved word`,
  }),
  ...written,
})
export type NewPublisher = Static<typeof NewPublisher>

/** Body of PUT /publishers/{p}: an absent member keeps its value, an empty text clears it (`name`: back to the id). */
export const PublisherUpdate = Type.Object(written)
export type PublisherUpdate = Static<typeof PublisherUpdate>

const shown = {
  ...written,
  id: Type.String({ description: 'Unique id.' }),
  name: text(NAME_MAX, 'Display name.'),
  status: PublisherStatus,
  createdAt: instant('When it was created.'),
}

export const Publisher = Type.Object({
  ...shown,
  members: Type.Optional(
    Type.Array(PublisherMember, {
      description: 'Who belongs to it; absent in the publisher of a pack.',
    }),
  ),
})
/** A publisher outside a node. */
export type Publisher = Static<typeof Publisher> & { members: PublisherMember[] }

export const WrittenPublisher = Type.Intersect([Publisher, Type.Object({ warnings })])

/** Response to a ban of a publisher, or its end. */
export const ModeratedPublisher = Type.Intersect([Publisher, moderated])

/** Response of GET /publishers/{p}. */
export const ReadPublisher = Type.Intersect([
  Publisher,
  Type.Object({
    banned_publishers: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Ids of banned publishers to which a member of this one belongs, too; at most 100. Only for platform admins.',
      }),
    ),
  }),
])

export const PublisherList = Type.Array(Publisher)

/** Query of GET /publishers/validate. */
export const PublisherIdQuery = Type.Object({
  username: Type.String({
    'x-pattern': `${FREE_ID_PATTERN.slice(0, -2)}{0,${PUBLISHER_ID_MAX - 1}}$`,
    description: `The id that is wanted: ${PUBLISHER_ID_EXPECTATION}, and no reserved word.`,
  }),
})
export type PublisherIdQuery = Static<typeof PublisherIdQuery>

export const PublisherIdAvailable = Type.Object({ isAvailable: Type.Literal(true) })

/** Query of GET /users/publishers/. */
export const OwnPublisherListQuery = Type.Object({ page: page(), limit: pageSize(100, 1_000) })
export type OwnPublisherListQuery = Static<typeof OwnPublisherListQuery>

/** Query of GET /publishers. */
export const PublisherListQuery = Type.Object({
  ...OwnPublisherListQuery.properties,
  status: Type.Optional(
    Type.Enum(PublisherStatus.enum, {
      description:
        'Only publishers of this status. Only for platform admins, ignored for anybody else.',
    }),
  ),
})
export type PublisherListQuery = Static<typeof PublisherListQuery>

/** Body of POST /admin/publishers/{p}/ban. */
export const PublisherBan = Type.Object({
  reason: reason('Why; shown to members of the publisher.'),
})
export type PublisherBan = Static<typeof PublisherBan>

/** Body of POST /admin/publishers/{p}/unban. */
export const PublisherUnban = Type.Object({
  reason: Type.Optional(text(REASON_MAX, 'Why; for the audit log.')),
})
export type PublisherUnban = Static<typeof PublisherUnban>
