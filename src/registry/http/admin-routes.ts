import { Type } from 'typebox'

import { readAddress } from '../../platform/adapters/network-of.ts'
import {
  validateHostNodePolicy,
  validateNodeAdminUpdate,
  validateVersionAdminUpdate,
} from '../domain/admin-validation.ts'
import { AuditLogPage, AuditLogQuery } from '../../platform/domain/audit-log.ts'
import { HostNodePolicyUpdate, NodeHostPolicy } from '../domain/host-node.ts'
import { Node, NodeAdminUpdate, WrittenNode } from '../domain/node.ts'
import { ModeratedPublisher, PublisherBan, PublisherUnban } from '../domain/publisher.ts'
import { ModeratedVersion, Version, VersionAdminUpdate } from '../domain/version.ts'
import { shown } from '../../platform/domain/errors.ts'
import { makeIssue } from '../../platform/domain/validate.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import {
  editHostNodePolicy,
  editNodeByAdmin,
  editVersionByAdmin,
  makePublisherTransition,
  readAuditLog,
  retryVersionByAdmin,
} from './admin.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import type { CheckDeps, RecordDeps, RegistryDeps } from './deps.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import {
  OfNode,
  OfNodeHostNode,
  OfPublisher,
  OfVersion,
  PUBLISHER_PATH,
  VERSION_PATH,
  WRITE_ERRORS,
  queryOf,
} from './paths.ts'
import { AUDIT_ENTRY, HOST_POLICY, NODE, PUBLISHER, VERSION } from './examples.ts'

const COMMON = { tag: 'Registry admin', auth: 'required' } as const
const VERSION_ERRORS = ['node_not_found', 'version_not_found', ...WRITE_ERRORS] as const

/** The routes of platform admins. Each change is written to the audit log with it. */
export const makeRegistryAdminRoutes = (deps: CheckDeps & RegistryDeps): Route[] => [
  editNode(deps),
  editVersion(deps),
  editPolicy(deps),
  retry(deps),
  ban(deps),
  unban(deps),
  auditLog(deps),
]

const editNode = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'put',
    path: '/admin/nodes/:nodeId',
    summary: 'Moderate a pack',
    description:
      'Sets what a member may set, too. A status other than the present one must be an allowed transition. A body with nothing to set is rejected.',
    params: OfNode,
    body: {
      ...SMALL_BODY,
      schema: NodeAdminUpdate,
      emptyIsAbsent: 'optional',
      sentBack: Object.keys(Node.properties),
      examples: { ban: { status: 'NodeStatusBanned', status_detail: 'malware' } },
    },
    responses: ok('The pack as it is now.', WrittenNode, { example: NODE }),
    errors: [
      'url_refused',
      'id_mismatch',
      'node_not_found',
      ...WRITE_ERRORS,
      'illegal_move',
      'host_node_preempted',
    ],
    validate: ({ params, body }) =>
      validateNodeAdminUpdate(body, { nodeId: String(params['nodeId']) }),
    handler: (request) => editNodeByAdmin(deps, request),
  })

const editVersion = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'put',
    path: `/admin${VERSION_PATH}`,
    summary: 'Moderate a version',
    description:
      'A status other than the present one must be an allowed transition; Active needs an accepted archive. A decision closes the open review. Banned and Flagged also hold for the content: the same files in any other version flag that one, until a version with them is set Active; `same_content` names the versions that have them now, and those that were flagged stay so until each is set Active. A deleted version can still be banned once its archive was accepted.',
    params: OfVersion,
    body: {
      ...SMALL_BODY,
      schema: VersionAdminUpdate,
      emptyIsAbsent: 'optional',
      sentBack: Object.keys(Version.properties),
      examples: {
        approve: { status: 'NodeVersionStatusActive', status_reason: 'looked at: harmless' },
      },
    },
    responses: ok(
      'The version as it is now; with the status others that have its content.',
      ModeratedVersion,
      { example: VERSION },
    ),
    errors: [...VERSION_ERRORS, 'illegal_move', 'host_node_not_found'],
    validate: ({ body }) => validateVersionAdminUpdate(body),
    handler: (request) => editVersionByAdmin(deps, request),
  })

const editPolicy = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'put',
    path: '/admin/nodes/:nodeId/host-nodes/:hostNodeName',
    summary: 'Set the policy of a host node',
    description:
      'For all versions of the pack, past and to come. A banned one is shown where the host nodes of a version are listed, and found nowhere else. A repeat changes nothing.',
    params: OfNodeHostNode,
    body: {
      ...SMALL_BODY,
      schema: HostNodePolicyUpdate,
      emptyIsAbsent: 'optional',
      examples: { ban: { policy: 'HostNodePolicyBanned', reason: 'it deletes files' } },
    },
    responses: ok('The policy as it is now.', NodeHostPolicy, { example: HOST_POLICY }),
    errors: ['node_not_found', ...WRITE_ERRORS],
    validate: ({ body }) => validateHostNodePolicy(body),
    handler: (request) => editHostNodePolicy(deps, request),
  })

const retry = (deps: CheckDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'post',
    path: `/admin${VERSION_PATH}/retry`,
    summary: 'Check a version again',
    description: 'Starts what did not succeed: its checks, its extraction, or both.',
    params: OfVersion,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: ok('The version.', Version, { example: VERSION }),
    errors: [...VERSION_ERRORS, 'nothing_to_retry'],
    handler: (request) => retryVersionByAdmin(deps, request),
  })

const PUBLISHER_TRANSITION = {
  ...COMMON,
  method: 'post',
  params: OfPublisher,
  responses: ok(
    'The publisher as it is now, and versions of others that have content of it.',
    ModeratedPublisher,
    { example: PUBLISHER },
  ),
  errors: ['publisher_not_found', ...WRITE_ERRORS],
} as const

const ban = (deps: CommitDeps & RecordDeps): Route =>
  defineRoute({
    ...PUBLISHER_TRANSITION,
    path: `/admin${PUBLISHER_PATH}/ban`,
    summary: 'Ban a publisher',
    description: 'Its packs are hidden and keep their statuses. A repeat changes nothing.',
    body: { ...SMALL_BODY, schema: PublisherBan, examples: { spam: { reason: 'spam' } } },
    handler: makePublisherTransition(deps, 'ban'),
  })

const unban = (deps: CommitDeps & RecordDeps): Route =>
  defineRoute({
    ...PUBLISHER_TRANSITION,
    path: `/admin${PUBLISHER_PATH}/unban`,
    summary: 'Lift the ban of a publisher',
    description: 'Everything is as it was before the ban. A repeat changes nothing.',
    body: {
      ...SMALL_BODY,
      schema: PublisherUnban,
      emptyIsAbsent: 'optional',
      required: false,
      examples: { nothing: {}, reason: { reason: 'a mistake' } },
    },
    handler: makePublisherTransition(deps, 'unban'),
  })

const auditLog = (deps: ReadDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/audit-log',
    summary: 'List what was changed, by whom and from where, newest first',
    description:
      'What platform admins, members of publishers, holders of API keys and operators have changed. Entries are kept for ever.',
    ...queryOf(AuditLogQuery),
    read: 'private',
    responses: ok('A page of entries.', AuditLogPage, {
      example: { entries: [AUDIT_ENTRY], page: 1, pageSize: 10, total: 1, totalPages: 1 },
    }),
    errors: ['forbidden'],
    validateQuery: ({ query: { address } }) =>
      typeof address !== 'string' || readAddress(address) !== undefined
        ? []
        : [makeIssue('?address', `must be an IP address, got ${shown(address)}`)],
    handler: (request) => readAuditLog(deps, request),
  })
