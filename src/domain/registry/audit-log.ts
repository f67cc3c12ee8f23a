import { Type, type Static } from 'typebox'

import { count, instant, page, pageSize, queryText, uuid } from './registry-fields.ts'

/** Actions of platform admins, and changes of whom the admins of a publisher trust. */
export const AuditAction = Type.Enum([
  'node.update',
  'node.transfer',
  'report.close',
  'host_node.update',
  'version.update',
  'version.retry',
  'review.hide',
  'review.show',
  'publisher.ban',
  'publisher.unban',
  'trusted_publisher.create',
  'trusted_publisher.delete',
  'task.restart',
  'task.fail',
  'version.restart',
  'instance.drain',
  'instance.resume',
  'pause.set',
  'pause.end',
])
export type AuditAction = Static<typeof AuditAction>

/** Query of GET /admin/audit-log. */
export const AuditLogQuery = Type.Object({
  page: page(),
  pageSize: pageSize(10, 100),
  actor: Type.Optional(queryText(256, 'Id of the admin.')),
  action: Type.Optional(AuditAction),
  target: Type.Optional(queryText(512, 'What was changed, exactly as an entry names it.')),
})
export type AuditLogQuery = Static<typeof AuditLogQuery>

const change = (description: string) =>
  Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', description }))

export const AuditLogEntry = Type.Object({
  id: uuid('Id of the entry.'),
  at: instant('When.'),
  actor: Type.String({ description: 'Id of the user.' }),
  action: AuditAction,
  target: Type.String({
    description:
      'What was changed: `publisher/{p}`, `node/{n}`, `version/{n}@{v}`, `task/{id}`, `instance/{name}` or `pause/{scope}`.',
  }),
  before: change('The members that changed, as they were.'),
  after: change('The same members as they are now.'),
  reason: Type.Optional(Type.String({ description: 'Why, in the words of the admin.' })),
  request_id: Type.String({ description: 'Id of the request.' }),
})
export type AuditLogEntry = Static<typeof AuditLogEntry>

export const AuditLogPage = Type.Object({
  entries: Type.Array(AuditLogEntry, { description: 'Newest first.' }),
  page: count('The page asked for.'),
  pageSize: count('Entries a page.'),
  total: count('Entries found.'),
  totalPages: count('Pages that they fill.'),
})
export type AuditLogPage = Static<typeof AuditLogPage>

/** The name of a thing in the log. */
export const auditTarget = {
  task: (id: string): string => `task/${id}`,
  pause: (scope: string): string => `pause/${scope}`,
  instance: (name: string): string => `instance/${name}`,
  publisher: (id: string): string => `publisher/${id}`,
  node: (id: string): string => `node/${id}`,
  version: (nodeId: string, version: string): string => `version/${nodeId}@${version}`,
}
