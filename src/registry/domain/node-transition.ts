import type { NodeStatus } from './node.ts'
import type { PublisherStatus } from './publisher.ts'

interface Transition<Status> {
  from: readonly Status[]
  to: Status
}

const ACTIVE = 'NodeStatusActive'
const DELETED = 'NodeStatusDeleted'
const BANNED = 'NodeStatusBanned'

/** Every transition of a node. The id of a deleted one stays taken. */
export const NODE_TRANSITIONS = {
  delete: { from: [ACTIVE], to: DELETED },
  admin_activate: { from: [BANNED, DELETED], to: ACTIVE },
  admin_ban: { from: [ACTIVE], to: BANNED },
  admin_delete: { from: [ACTIVE, BANNED], to: DELETED },
} as const satisfies Record<string, Transition<NodeStatus>>

export type NodeTransitionName = keyof typeof NODE_TRANSITIONS

/** The move by which a platform admin sets a status. */
export const ADMIN_NODE_TRANSITIONS: Readonly<Record<NodeStatus, NodeTransitionName>> = {
  [ACTIVE]: 'admin_activate',
  [BANNED]: 'admin_ban',
  [DELETED]: 'admin_delete',
}

/** The statuses that a platform admin can set in place of one. */
export const listPossibleNodeStatuses = (status: NodeStatus): NodeStatus[] =>
  Object.values(ADMIN_NODE_TRANSITIONS)
    .map((name): Transition<NodeStatus> => NODE_TRANSITIONS[name])
    .filter(({ from }) => from.includes(status))
    .map(({ to }) => to)

/** Every transition of a publisher. Its nodes keep their status and are hidden through it. */
export const PUBLISHER_TRANSITIONS = {
  ban: { from: ['PublisherStatusActive'], to: 'PublisherStatusBanned' },
  unban: { from: ['PublisherStatusBanned'], to: 'PublisherStatusActive' },
} as const satisfies Record<string, Transition<PublisherStatus>>
