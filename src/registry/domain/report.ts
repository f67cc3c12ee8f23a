import { Type, type Static } from 'typebox'

import {
  count,
  instant,
  page,
  pageSize,
  queryText,
  reason,
  text,
  uuid,
} from '../../platform/domain/schema-fields.ts'

const ReportReason = Type.Enum(['malware', 'spam', 'name', 'licence', 'broken', 'other'], {
  description: 'What is wrong with the pack.',
})

/** Body of POST /nodes/{n}/reports. */
export const NewReport = Type.Object({
  reason: ReportReason,
  text: text(2_000, 'What whoever looks at it should know.'),
})
export type NewReport = Static<typeof NewReport>

/** A report as its author sees it. */
export const Report = Type.Object({
  id: uuid('Id of the report.'),
  node_id: Type.String({ description: 'The pack.' }),
  reason: ReportReason,
  text: Type.String({ description: 'In the words of its author.' }),
  created_at: instant('When it was made, or changed last.'),
  closed_at: Type.Optional(instant('When it was decided on; absent while it is open.')),
  decision: Type.Optional(Type.String({ description: 'What has come of it.' })),
})
export type Report = Static<typeof Report>

export const Reports = Type.Object({
  reports: Type.Array(Report, { description: 'Newest first.' }),
})

/** Query of GET /admin/reports. */
export const ReportQuery = Type.Object({
  page: page(),
  pageSize: pageSize(10, 100),
  nodeId: Type.Optional(queryText(100, 'Only those about this pack, closed ones too.')),
})
export type ReportQuery = Static<typeof ReportQuery>

/** A report as platform admins see it. */
const ListedReport = Type.Intersect([
  Report,
  Type.Object({
    reported_by: Type.String({ description: 'Id of the user.' }),
    decided_by: Type.Optional(Type.String({ description: 'Id of the admin.' })),
    open_of_node: count('Open reports about the same pack.'),
  }),
])
export type ListedReport = Static<typeof ListedReport>

export const ReportPage = Type.Object({
  reports: Type.Array(ListedReport, {
    description: 'Open ones, oldest first; those of one pack newest first.',
  }),
  page: count('The page asked for.'),
  pageSize: count('Reports a page.'),
  total: count('Reports found.'),
  totalPages: count('Pages that they fill.'),
})

/** Body of POST /admin/reports/{id}/close. */
export const ReportDecision = Type.Object({
  decision: reason('What has come of it; its author reads it.'),
  all: Type.Optional(
    Type.Boolean({ description: 'Whether it closes all open reports about the pack.' }),
  ),
})
export type ReportDecision = Static<typeof ReportDecision>

export const ClosedReports = Type.Object({ closed: count('Reports that it has closed.') })
