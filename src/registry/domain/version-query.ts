import { Type, type Static } from 'typebox'

import {
  REASON_MAX,
  WITHOUT_NUL,
  count,
  page,
  pageSize,
  queryText,
} from '../../platform/domain/schema-fields.ts'
import { FindingCounts } from './finding.ts'
import { PublisherStatus } from './publisher.ts'
import { Review } from './review.ts'
import { Version, VersionStatus } from './version.ts'

const statuses = Type.Optional(
  Type.Array(VersionStatus, {
    minItems: 1,
    description: 'Only versions of these statuses; without it all but the deleted ones.',
  }),
)

/** Query of GET /nodes/{n}/versions. */
export const NodeVersionsQuery = Type.Object({ statuses })
export type NodeVersionsQuery = Static<typeof NodeVersionsQuery>

/** Query of GET /versions; `validateDepth` validates page × pageSize. */
export const VersionListQuery = Type.Object({
  page: page(),
  pageSize: pageSize(10, 100),
  statuses,
  status_reason: Type.Optional(
    queryText(REASON_MAX, 'A part of the reason of the status; case does not matter.'),
  ),
  nodeId: Type.Optional(queryText(100, 'Only versions of this pack.')),
  review_requested: Type.Optional(
    Type.Boolean({
      description:
        'Only versions with an open request for a review, or only those without. Only for platform admins, ignored for anybody else.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum(['review'], {
      description:
        'Only versions with an open request for a review, the oldest request first. Only for platform admins, ignored for anybody else.',
    }),
  ),
})
export type VersionListQuery = Static<typeof VersionListQuery>

/** Facts that a platform admin needs to decide on a version. */
const Moderation = Type.Object(
  {
    publisher: Type.Object({
      id: Type.String({ description: 'Id of the publisher.' }),
      name: Type.String({ description: 'Its name.' }),
      status: PublisherStatus,
    }),
    findings: FindingCounts,
    review: Type.Optional(Review),
    previous_version: Type.Optional(
      Type.String({ description: 'The highest Active version below it, to be compared with.' }),
    ),
  },
  { description: 'For platform admins.' },
)

/** Response of GET /versions. */
export const VersionPage = Type.Object({
  versions: Type.Array(
    Type.Object({ ...Version.properties, moderation: Type.Optional(Moderation) }),
    { description: 'Newest first.' },
  ),
  page: count('The page asked for.'),
  pageSize: count('Versions a page.'),
  total: count('Versions found.'),
  totalPages: count('Pages that they fill.'),
})
export type VersionPage = Static<typeof VersionPage>

const withoutNul = (description: string) =>
  Type.String({ pattern: WITHOUT_NUL, description, 'x-expectation': 'a string without NUL' })

/** One version that a bulk read asks for. */
export const VersionIdentifier = Type.Object({
  node_id: withoutNul('Id of the pack.'),
  version: withoutNul('The version.'),
})
export type VersionIdentifier = Static<typeof VersionIdentifier>

/** Body of POST /bulk/nodes/versions. */
export const BulkVersionsBody = Type.Object({
  node_versions: Type.Array(VersionIdentifier, {
    minItems: 1,
    maxItems: 500,
    description: 'What is asked for.',
    'x-expectation': 'a list of 1 to 500 versions',
  }),
})
export type BulkVersionsBody = Static<typeof BulkVersionsBody>

/** Outcome for one: `error` when it is there but banned, or when the response had no room for it. */
const BulkVersionStatus = Type.Enum(['success', 'not_found', 'error'])

export const BulkVersion = Type.Object({
  identifier: VersionIdentifier,
  status: BulkVersionStatus,
  node_version: Type.Optional(Version),
  error_message: Type.Optional(
    Type.String({ minLength: 1, description: 'Why there is no version here.' }),
  ),
})
export type BulkVersion = Static<typeof BulkVersion>

/** Response of POST /bulk/nodes/versions. */
export const BulkVersions = Type.Object({
  node_versions: Type.Array(BulkVersion, {
    description: 'In the order of the request; one that is asked for twice is there once.',
  }),
})
export type BulkVersions = Static<typeof BulkVersions>
