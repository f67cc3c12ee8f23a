import { Type, type Static } from 'typebox'

import { timeBounds } from './time-bounds.ts'
import { count, instant, page, pageSize, queryText, uuid } from './schema-fields.ts'

/** All that admins, members of publishers and holders of keys change; a task, report or upload is its own entry. */
export const AuditAction = Type.Enum([
  'publisher.create',
  'publisher.update',
  'member.put',
  'member.remove',
  'token.create',
  'token.revoke',
  'node.create',
  'node.update',
  'node.delete',
  'node.offer',
  'node.withdraw',
  'node.transfer',
  'report.close',
  'host_node.update',
  'host_node.report',
  'host_node.confirm',
  'version.publish',
  'version.update',
  'version.delete',
  'version.review',
  'version.retry',
  'review.put',
  'review.delete',
  'review.reply',
  'review.hide',
  'review.show',
  'publisher.ban',
  'publisher.unban',
  'trusted_publisher.create',
  'trusted_publisher.delete',
  'endpoint.create',
  'endpoint.update',
  'endpoint.delete',
  'webhook_secret.rotate',
  'api_key.create',
  'api_key.revoke',
  'account.invite',
  'account.reset',
  'account.disable',
  'account.role',
  'account.link',
  'account.sessions_end',
  'account.password',
  'account.passkey_add',
  'account.passkey_remove',
  'upload.delete',
  'task.cancel',
  'task.delete',
  'batch.cancel',
  'operation.create',
  'operation.cancel',
  'task_token.create',
  'task.restart',
  'task.fail',
  'version.restart',
  'instance.drain',
  'instance.resume',
  'pause.set',
  'pause.end',
  'owner.limit',
  'owner.reset',
  'secrets.forget',
])
export type AuditAction = Static<typeof AuditAction>

/** Query of GET /admin/audit-log. */
export const AuditLogQuery = Type.Object({
  page: page(),
  pageSize: pageSize(10, 100),
  actor: Type.Optional(queryText(256, 'Id of the user.')),
  action: Type.Optional(AuditAction),
  target: Type.Optional(queryText(512, 'What was changed, exactly as an entry names it.')),
  address: Type.Optional(queryText(64, 'IP address of the client.')),
  ...timeBounds('Changes made'),
})
export type AuditLogQuery = Static<typeof AuditLogQuery>

const change = (description: string) =>
  Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', description }))

export const AuditLogEntry = Type.Object({
  id: uuid('Id of the entry.'),
  at: instant('When.'),
  actor: Type.String({
    description: 'Id of the user; `operator:` and a name where it was a command of `kiln operate`.',
  }),
  actor_name: Type.Optional(
    Type.String({ description: 'Email address or name of the user, as a token last had it.' }),
  ),
  action: AuditAction,
  target: Type.String({
    description:
      'What was changed, or whose: `publisher/{p}`, `node/{n}`, `version/{n}@{v}`, `task/{id}`, `batch/{id}`, `operation/{id}`, `user/{id}`, `instance/{name}`, `pause/{scope}`, `owner/{id}` or `secrets/{kind}`.',
  }),
  before: change('The members that changed, as they were.'),
  after: change('The same members as they are now.'),
  reason: Type.Optional(Type.String({ description: 'Why, in the words of the actor.' })),
  address: Type.Optional(
    Type.String({ description: 'IP address of the client, as TRUST_PROXY lets it be seen.' }),
  ),
  credential: Type.Optional(
    Type.String({
      description: 'What it was done by: `jwt`, `session`, or a kind and id as `api_key/{id}`.',
    }),
  ),
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

/** The name of a thing in the log; API keys, endpoints, uploads and accounts are under their user, tokens under their publisher. */
export const auditTarget = {
  user: (id: string): string => `user/${id}`,
  task: (id: string): string => `task/${id}`,
  bulk: (kind: 'batch' | 'operation', id: string): string => `${kind}/${id}`,
  owner: (id: string): string => `owner/${id}`,
  pause: (scope: string): string => `pause/${scope}`,
  instance: (name: string): string => `instance/${name}`,
  secrets: (what: string): string => `secrets/${what}`,
  publisher: (id: string): string => `publisher/${id}`,
  node: (id: string): string => `node/${id}`,
  version: (nodeId: string, version: string): string => `version/${nodeId}@${version}`,
}
