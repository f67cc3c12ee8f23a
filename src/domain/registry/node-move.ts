import type { NodeStatus } from './node.ts'
import type { PublisherStatus } from './publisher.ts'

interface Move<Status> {
  from: readonly Status[]
  to: Status
}

const ACTIVE = 'NodeStatusActive'
const DELETED = 'NodeStatusDeleted'
const BANNED = 'NodeStatusBanned'

/** Every move of a node. The id of a deleted one stays taken. */
export const NODE_MOVES = {
  delete: { from: [ACTIVE], to: DELETED },
  admin_activate: { from: [BANNED, DELETED], to: ACTIVE },
  admin_ban: { from: [ACTIVE], to: BANNED },
  admin_delete: { from: [ACTIVE, BANNED], to: DELETED },
} as const satisfies Record<string, Move<NodeStatus>>

export type NodeMoveName = keyof typeof NODE_MOVES

/** The move by which a platform admin sets a status. */
export const ADMIN_NODE_MOVES: Readonly<Record<NodeStatus, NodeMoveName>> = {
  [ACTIVE]: 'admin_activate',
  [BANNED]: 'admin_ban',
  [DELETED]: 'admin_delete',
}

/** Every move of a publisher. Its nodes keep their status and are hidden through it. */
export const PUBLISHER_MOVES = {
  ban: { from: ['PublisherStatusActive'], to: 'PublisherStatusBanned' },
  unban: { from: ['PublisherStatusBanned'], to: 'PublisherStatusActive' },
} as const satisfies Record<string, Move<PublisherStatus>>
