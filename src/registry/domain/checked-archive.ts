import { Type, type Static } from 'typebox'

import { count, queryText } from '../../platform/domain/schema-fields.ts'
import { Finding, FindingCounts } from './finding.ts'

/** Folder of the store for an archive that is checked, and what is found in it. Nothing of it stays. */
export const checkFolder = (checkId: string): string => `${CHECKS_FOLDER}/${checkId}`
export const CHECKS_FOLDER = 'checks'
export const CHECK_RESULT = 'result.json'

/** Query of POST /registry/check. */
export const CheckQuery = Type.Object({
  publisher_id: Type.Optional(
    queryText(
      64,
      'Publisher that it will be of; absent: the one that the archive or the token names.',
    ),
  ),
  node_id: Type.Optional(queryText(100, 'Id of the pack; absent: the name in pyproject.toml.')),
  version: Type.Optional(queryText(256, 'The version; absent: the one in pyproject.toml.')),
})
export type CheckQuery = Static<typeof CheckQuery>

/** Texts of pyproject.toml, as the service reads them. */
const ReadProject = Type.Object({
  node_id: Type.Optional(Type.String({ description: '`name` of `[project]`.' })),
  version: Type.Optional(Type.String({ description: '`version` of `[project]`.' })),
  publisher_id: Type.Optional(Type.String({ description: '`PublisherId` of a tool.' })),
  name: Type.Optional(Type.String({ description: '`DisplayName` of a tool.' })),
  icon: Type.Optional(Type.String({ description: '`Icon` of a tool.' })),
  banner_url: Type.Optional(Type.String({ description: '`Banner` of a tool.' })),
})
export type ReadProject = Static<typeof ReadProject>

const { issue_type, severity, file_path, line_number, code_snippet, message } = Finding.properties

/** Everything that an archive alone shows. A media worker leaves it in the store for the api that waits. */
export const ReadArchive = Type.Object({
  status: Type.Enum(['NodeVersionStatusActive', 'NodeVersionStatusFlagged'], {
    description: 'Status that a version with this archive would get.',
  }),
  status_reason: Type.String({ description: 'Reason of that status.' }),
  archive: Type.Object({
    verdict: Type.Enum(['sound', 'rejected'], { description: 'Whether the zip can be used.' }),
    code: Type.Optional(Type.String({ description: 'Why it is rejected.' })),
    message: Type.Optional(Type.String({ description: 'What to do about it.' })),
    sha256: Type.String({ description: 'SHA-256 of the archive, in lower-case hex.' }),
    bytes: count('Bytes of the archive.'),
    files: count('Files in it.'),
  }),
  project: ReadProject,
  license_id: Type.Optional(Type.String({ description: 'SPDX id of the license in the archive.' })),
  counts: FindingCounts,
  scanned: Type.Boolean({ description: 'False when the scan could not end.' }),
  findings: Type.Array(
    Type.Object({ issue_type, severity, file_path, line_number, code_snippet, message }),
    { description: 'Findings of the scan, the gravest first.' },
  ),
  extraction: Type.Object({
    status: Type.Enum(['success', 'failed'], { description: 'Whether host nodes can be read.' }),
    reason: Type.Optional(Type.String({ description: 'Why not.' })),
    partial: Type.Boolean({ description: 'Whether some may be missing.' }),
    reasons: Type.Array(Type.String(), { description: 'Why some may be.' }),
  }),
  host_nodes: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the host node.' }),
      display_name: Type.Optional(Type.String({ description: 'Name that the host shows.' })),
      category: Type.String({ description: 'Its place in the menu.' }),
      dynamic: Type.Array(Type.String(), {
        description:
          'What the machine decides: fields, and `host_node_name` where it is registered under a condition.',
      }),
    }),
    { description: 'Host nodes that a version with this archive would have.' },
  ),
  warnings: Type.Array(Type.String(), {
    description:
      'What may surprise or will not work, such as a WEB_DIRECTORY that the archive lacks.',
  }),
})
export type ReadArchive = Static<typeof ReadArchive>

/** Response of POST /registry/check. */
export const CheckedArchive = Type.Object({
  ...ReadArchive.properties,
  is_new_node: Type.Optional(
    Type.Boolean({ description: 'Whether a publication would make the pack; absent: not known.' }),
  ),
  version_free: Type.Optional(
    Type.Boolean({
      description: 'Whether the number is free; absent where the caller may not publish the pack.',
    }),
  ),
  issues: Type.Array(Type.String(), {
    description:
      'Why a publication would be rejected before its archive is read; empty: it would not.',
  }),
})
export type CheckedArchive = Static<typeof CheckedArchive>
