import { shown } from '../shared/errors.ts'
import { idKey } from './publisher-judge.ts'
import { judgeNodeUpdate } from './node-judge.ts'
import { NODE_ADMIN_FIELDS, NODE_STATUSES_WITH_REASON } from './node.ts'
import { registryFault } from './registry-fault.ts'
import type { Fault } from '../shared/validate.ts'
import { VERSION_STATUSES_WITH_REASON, VersionAdminUpdate } from './version.ts'

type Body = Readonly<Record<string, unknown>>

/** The rule of a node's status that its schema cannot say. */
export const judgeNodeStatus = (body: Body): Fault[] =>
  judgeReason(body, 'status_detail', NODE_STATUSES_WITH_REASON)

/** The rules of PUT /admin/nodes/{n} that its schema cannot say. */
export const judgeNodeAdminUpdate = (body: Body, path: { nodeId: string }): Fault[] => [
  ...judgeSettable(body, NODE_ADMIN_FIELDS),
  ...judgeNodeUpdate(body, path),
  ...judgeNodeStatus(body),
]

/** The rules of PUT /admin/nodes/{n}/versions/{v} that its schema cannot say. */
export const judgeVersionAdminUpdate = (body: Body): Fault[] => [
  ...judgeSettable(body, Object.keys(VersionAdminUpdate.properties)),
  ...judgeReason(body, 'status_reason', VERSION_STATUSES_WITH_REASON),
]

/** What is unknown has been dropped: a 200 would let its sender believe that it was stored. */
const judgeSettable = (body: Body, names: readonly string[]): Fault[] =>
  names.some((name) => body[name] !== undefined)
    ? []
    : [registryFault('', `the body must set one of ${names.join(', ')}, but has none of them`)]

/** A node keeps its publisher. */
export const judgeSamePublisher = (
  id: string | undefined,
  publisherId: string,
): Fault | undefined =>
  id === undefined || idKey(id) === publisherId
    ? undefined
    : registryFault(
        '/publisher/id',
        `must be ${publisherId}, which the node keeps, got ${shown(id)}`,
      )

/** Whoever is banned or flagged is told why. */
const judgeReason = (body: Body, member: string, statuses: readonly string[]): Fault[] => {
  const { status, [member]: reason } = body
  if (typeof status !== 'string' || !statuses.includes(status)) return []
  if (typeof reason === 'string' && reason.trim() !== '') return []
  return [
    registryFault(`/${member}`, `must be given with the status ${status}, ${whatCame(reason)}`),
  ]
}

const whatCame = (reason: unknown): string =>
  reason === undefined ? 'but is absent' : 'but is empty'
