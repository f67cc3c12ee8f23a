import { Type, type Static } from 'typebox'

import { count, instant, uuid } from '../../platform/domain/schema-fields.ts'
import { FirstFinding } from './first-finding.ts'
import { ListedReview } from './review.ts'
import { ExtractSource, ExtractStatus, SameContent, VersionStatus } from './version.ts'

const { message, ...place } = FirstFinding.properties

export const Finding = Type.Object({
  id: uuid('Id of the finding.'),
  ...place,
  code_snippet: Type.Optional(Type.String({ description: 'The line, without secrets.' })),
  message,
  same_as: Type.Optional(
    Type.String({ description: 'The version `{n}@{v}` that it is about; for platform admins.' }),
  ),
  scanner: Type.String({ description: 'What found it.' }),
  scanner_version: Type.String({ description: 'Version of the scanner.' }),
})
export type Finding = Static<typeof Finding>

export const FindingCounts = Type.Object({
  high: count('Findings that flag.'),
  medium: count('Findings that are shown and do not flag.'),
  info: count('Findings that are only counted.'),
})
export type FindingCounts = Static<typeof FindingCounts>

/** Outcome of reading the host nodes, as members see it. */
const Extraction = Type.Object({
  status: ExtractStatus,
  reason: Type.Optional(Type.String({ description: 'Why it failed.' })),
  source: Type.Optional(ExtractSource),
  partial: Type.Boolean({ description: 'Whether some nodes could not be read.' }),
})
export type Extraction = Static<typeof Extraction>

export const ListedTransition = Type.Object({
  at: instant('When.'),
  from: Type.Optional(Type.Enum(VersionStatus.enum, { description: 'Absent for the first.' })),
  to: VersionStatus,
  reason: Type.String({ description: 'The reason that it left.' }),
  actor: Type.String({ description: 'Who made it: `user:<id>`, `workflow`, `operator`.' }),
})
export type ListedTransition = Static<typeof ListedTransition>

/** Response of GET /nodes/{n}/versions/{v}/findings; the lists and `extraction` for members and platform admins. */
export const VersionFindings = Type.Object({
  counts: FindingCounts,
  scanned_at: Type.Optional(instant('When the scan ended; absent before.')),
  findings: Type.Optional(Type.Array(Finding, { description: 'Only for members.' })),
  extraction: Type.Optional(Extraction),
  reviews: Type.Optional(Type.Array(ListedReview, { description: 'Only for members.' })),
  moves: Type.Optional(Type.Array(ListedTransition, { description: 'Only for members.' })),
  same_content: Type.Optional(SameContent),
})
export type VersionFindings = Static<typeof VersionFindings>
