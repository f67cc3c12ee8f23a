import { shown } from '../../platform/domain/errors.ts'
import { POLICIES_WITH_REASON } from './host-node.ts'
import { idKey } from './publisher-validation.ts'
import { validateNodeUpdate } from './node-validation.ts'
import { NODE_ADMIN_FIELDS, NODE_STATUSES_WITH_REASON } from './node.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { VERSION_STATUSES_WITH_REASON, VersionAdminUpdate } from './version.ts'

type Body = Readonly<Record<string, unknown>>

/** The rule of a node's status that its schema cannot say. */
export const validateNodeStatus = (body: Body): Issue[] =>
  validateReason(body, 'status_detail', NODE_STATUSES_WITH_REASON)

/** The rules of PUT /admin/nodes/{n} that its schema cannot say. */
export const validateNodeAdminUpdate = (body: Body, path: { nodeId: string }): Issue[] => [
  ...validateSettable(body, NODE_ADMIN_FIELDS),
  ...validateNodeUpdate(body, path),
  ...validateNodeStatus(body),
]

/** The rules of PUT /admin/nodes/{n}/versions/{v} that its schema cannot say. */
export const validateVersionAdminUpdate = (body: Body): Issue[] => [
  ...validateSettable(body, Object.keys(VersionAdminUpdate.properties)),
  ...validateReason(body, 'status_reason', VERSION_STATUSES_WITH_REASON),
]

/** Requires a known member: others were dropped, and a 200 would let their sender believe that they were stored. */
const validateSettable = (body: Body, names: readonly string[]): Issue[] =>
  names.some((name) => body[name] !== undefined)
    ? []
    : [makeIssue('', `the body must set one of ${names.join(', ')}, but has none of them`)]

/** The rule of PUT /admin/nodes/{n}/host-nodes/{hostNodeName} that its schema cannot say. */
export const validateHostNodePolicy = (body: Body): Issue[] =>
  validateReason(body, 'reason', POLICIES_WITH_REASON, 'policy')

/** A node keeps its publisher. */
export const validateSamePublisher = (
  id: string | undefined,
  publisherId: string,
): Issue | undefined =>
  id === undefined || idKey(id) === publisherId
    ? undefined
    : makeIssue('/publisher/id', `must be ${publisherId}, which the pack keeps, got ${shown(id)}`)

/** Requires a reason with these statuses: whoever is banned or flagged learns why. */
const validateReason = (
  body: Body,
  member: string,
  statuses: readonly string[],
  of = 'status',
): Issue[] => {
  const { [of]: status, [member]: reason } = body
  if (typeof status !== 'string' || !statuses.includes(status)) return []
  if (typeof reason === 'string' && reason.trim() !== '') return []
  const came = reason === undefined ? 'absent' : 'empty'
  return [makeIssue(`/${member}`, `must be given with the ${of} ${status}, but is ${came}`)]
}
