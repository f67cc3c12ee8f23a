import type { NodeStatus } from './node.ts'
import { registryFault } from './registry-fault.ts'
import type { Fault } from '../shared/validate.ts'
import type { VersionStatus } from './version.ts'

type Body = Readonly<Record<string, unknown>>

/** The rules of PUT /admin/nodes/{n} that its schema cannot say. */
export const judgeNodeAdminUpdate = (body: Body): Fault[] =>
  judgeReason(body, 'status_detail', NODE_STATUSES_WITH_REASON)

/** The rules of PUT /admin/nodes/{n}/versions/{v} that its schema cannot say. */
export const judgeVersionAdminUpdate = (body: Body): Fault[] =>
  judgeReason(body, 'status_reason', VERSION_STATUSES_WITH_REASON)

const NODE_STATUSES_WITH_REASON: readonly NodeStatus[] = ['NodeStatusBanned']
const VERSION_STATUSES_WITH_REASON: readonly VersionStatus[] = [
  'NodeVersionStatusFlagged',
  'NodeVersionStatusBanned',
]

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
