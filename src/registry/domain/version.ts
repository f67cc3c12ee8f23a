import { Type, type Static } from 'typebox'

import { FirstFinding } from './first-finding.ts'
import { HostNodePolicy } from './host-node.ts'
import { Provenance } from './trusted-publisher.ts'
import {
  LONG_TEXT_MAX,
  tags,
  withoutReason,
  shownSupport,
  writtenSupport,
} from './registry-fields.ts'
import {
  REASON_MAX,
  count,
  instant,
  map,
  text,
  texts,
  uuid,
} from '../../platform/domain/schema-fields.ts'
import { VERSION_EXPECTATION, VERSION_PATTERN, VERSION_TEXT_MAX } from './version-number.ts'

export const VersionStatus = Type.Enum([
  'NodeVersionStatusActive',
  'NodeVersionStatusDeleted',
  'NodeVersionStatusBanned',
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
])
export type VersionStatus = Static<typeof VersionStatus>
export const VERSION_STATUSES_WITH_REASON: readonly VersionStatus[] = [
  'NodeVersionStatusFlagged',
  'NodeVersionStatusBanned',
]

/** Statuses that a listing shows when its caller names none. */
export const LISTED_VERSION_STATUSES: readonly VersionStatus[] = VersionStatus.enum.filter(
  (status) => status !== 'NodeVersionStatusDeleted',
)

/** Outcome of reading the host nodes out of an archive. */
export const ExtractStatus = Type.Enum(['pending', 'reported', 'success', 'failed'], {
  description:
    'What has become of reading the host nodes out of the archive. `reported`: somebody without a credential says so, and nobody has vouched for it.',
})
export type ExtractStatus = Static<typeof ExtractStatus>

/** Source of the host nodes of a version. */
export const ExtractSource = Type.Enum(['derived', 'reported', 'trusted'], {
  description:
    'Where they come from: the archive, a report, or a report with the extraction token.',
})

/** State of the archive itself; callers do not see it. */
export type ArchiveState =
  | 'awaiting'
  | 'received'
  | 'accepted'
  | 'rejected'
  | 'expired'
  /** Its number was published again. */
  | 'replaced'

const changelog = text(LONG_TEXT_MAX, 'What has changed.')
const deprecated = Type.Boolean({ description: 'Whether users are to move away from it.' })
const dependencies = texts(500, 512, 'Requirements in the form of pip.')

/** `node_version` of the publish body. */
export const NewVersion = Type.Object({
  version: Type.String({
    minLength: 1,
    maxLength: VERSION_TEXT_MAX,
    pattern: VERSION_PATTERN,
    description:
      'Semantic Versioning 2.0.0; unique in the pack, build metadata aside. `7.8`, `v1.0.0` and `01.2.3` are taken for what they mean and returned in the strict form.',
    'x-expectation': VERSION_EXPECTATION,
  }),
  changelog: Type.Optional(changelog),
  dependencies: Type.Optional(dependencies),
  deprecated: Type.Optional(deprecated),
  tags: Type.Optional(tags('Tags of this version.')),
  ...writtenSupport,
})
export type NewVersion = Static<typeof NewVersion>

/** Body of PUT /publishers/{p}/nodes/{n}/versions/{versionId}: an empty text or list clears its value. */
export const VersionUpdate = Type.Object({
  changelog: Type.Optional(changelog),
  dependencies: Type.Optional(dependencies),
  deprecated: Type.Optional(deprecated),
  tags: Type.Optional(tags('Tags of this version.')),
})
export type VersionUpdate = Static<typeof VersionUpdate>

/** The same body as clients send it that return a version as they read it. */
export const OwnVersionUpdate = Type.Object({
  ...VersionUpdate.properties,
  status: Type.Optional(Type.Unknown()),
})
export type OwnVersionUpdate = Static<typeof OwnVersionUpdate>

/** A member of the body that says nothing. */
const NULL = { type: 'null' }
const NOTHING_SET = Object.fromEntries(
  [
    'status',
    'status_reason',
    'tags_admin',
    'host_node_policies',
    ...Object.keys(writtenSupport),
  ].map((name) => [name, NULL]),
)

/** Body of PUT /admin/nodes/{n}/versions/{v}. */
export const VersionAdminUpdate = Type.Object(
  {
    status: Type.Optional(VersionStatus),
    status_reason: Type.Optional(
      text(REASON_MAX, 'Why; required with the statuses Flagged and Banned.'),
    ),
    tags_admin: Type.Optional(tags('Tags that only platform admins set; readable by all.')),
    host_node_policies: Type.Optional(
      map<HostNodePolicy>(HostNodePolicy, {
        description:
          'Policy by name of the host node, for all versions of the pack; `status_reason` is its reason, too.',
      }),
    ),
    ...writtenSupport,
  },
  {
    not: {
      anyOf: [
        withoutReason('status_reason', VERSION_STATUSES_WITH_REASON),
        { properties: NOTHING_SET },
      ],
    },
  },
)
export type VersionAdminUpdate = Static<typeof VersionAdminUpdate>

/** NodeVersion of the interface, as every route returns it. A member without a value is absent, never null. */
export const Version = Type.Object({
  id: uuid('Id of the version.'),
  node_id: Type.String({ description: 'Id of its pack.' }),
  version: Type.String({ description: 'The version, strictly by Semantic Versioning 2.0.0.' }),
  status: VersionStatus,
  status_reason: text(REASON_MAX, 'Why it has this status.'),
  deprecated,
  license_id: Type.Optional(
    Type.String({
      description:
        'SPDX identifier of the license in its archive; absent where there is none that is known.',
    }),
  ),
  createdAt: instant('When it was published.'),
  host_node_extract_status: ExtractStatus,
  host_node_extract_reason: Type.Optional(
    Type.String({
      description:
        'Why the extract status is `failed`, as a code such as `no_init`; `reported`: whoever reported it says so.',
    }),
  ),
  host_node_extract_advice: Type.Optional(
    Type.String({ description: 'What that code means, and what to do.' }),
  ),
  host_nodes: Type.Optional(
    Type.Object(
      {
        count: count('How many there are.'),
        partial: Type.Boolean({ description: 'Whether some may be missing.' }),
        source: Type.Optional(ExtractSource),
        updated_at: Type.Optional(
          instant('When they, or their policies, last changed; absent: not since they were read.'),
        ),
      },
      { description: 'Its host nodes; absent unless they were read.' },
    ),
  ),
  changelog: Type.Optional(changelog),
  dependencies,
  downloadUrl: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'Where the archive is; absent unless the version is Active.',
    }),
  ),
  ...shownSupport,
  provenance: Type.Optional(Provenance),
  tags: tags('Tags of this version.'),
  tags_admin: tags('Tags that platform admins and the scanner set.'),
  findings: Type.Optional(
    Type.Array(FirstFinding, {
      description:
        'The first fifty findings of a Flagged or Banned version, the worst first; where it is read by itself, for members of its publisher and platform admins.',
    }),
  ),
})
export type Version = Static<typeof Version>

export const VersionList = Type.Array(Version)

/** Versions with the same files as what is moderated. */
export const SameContent = Type.Array(
  Type.Object({
    node_id: Type.String({ description: 'Id of its pack.' }),
    version: Type.String({ description: 'The version.' }),
    status: VersionStatus,
  }),
  {
    description:
      'The other versions of any pack with the same files, the project file aside, newest first; at most 100. Only for platform admins.',
  },
)
export type SameContent = Static<typeof SameContent>

/** Members of a response to a platform admin who sets a status. */
export const moderated = Type.Object({ same_content: Type.Optional(SameContent) })

/** Response of PUT /admin/nodes/{n}/versions/{v}. */
export const ModeratedVersion = Type.Intersect([Version, moderated])

/** Query of GET /nodes/{n}/install. */
export const InstallQuery = Type.Object({
  version: Type.Optional(
    Type.String({
      'x-pattern': VERSION_PATTERN,
      description: 'The version that is wanted; without it the latest.',
    }),
  ),
  channel: Type.Optional(
    Type.Enum(['latest', 'pre'], {
      description:
        '`pre`: the newest pre-release where one is newer than the latest version, and not deprecated; else, as with `latest`, the latest version. Absent beside `version`.',
    }),
  ),
})
export type InstallQuery = Static<typeof InstallQuery>
