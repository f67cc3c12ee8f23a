import type { ErrorCodeName } from '../../platform/domain/errors.ts'
import type { NodeStatus } from './node.ts'
import type { PublisherStatus } from './publisher.ts'
import type { VersionStatus } from './version.ts'

/** The code that rejects an access; undefined where it is allowed. */
type Rejection = ErrorCodeName | undefined

/** Accesses to a node, its versions and its archives: reading by id, installing, changing, and publishing under its id. */
export type NodeAccess = 'read' | 'install' | 'write' | 'publish'

/** The state of a node for everybody but platform admins: its own status, or its publisher's ban. */
export type NodeCondition = 'active' | 'node_banned' | 'publisher_banned' | 'deleted'

/** The same rejection of every access. */
const all = (rejection: Rejection): Record<NodeAccess, Rejection> => ({
  read: rejection,
  install: rejection,
  write: rejection,
  publish: rejection,
})

const NODE_VISIBILITY: Readonly<Record<NodeCondition, Record<NodeAccess, Rejection>>> = {
  active: all(undefined),
  node_banned: all('node_banned'),
  publisher_banned: all('publisher_banned'),
  // Whoever creates or publishes it must learn that its id stays taken.
  deleted: { ...all('node_not_found'), publish: 'node_deleted' },
}

/** The condition of a node. Deleted comes before banned, and the publisher's ban before the node's. */
export const nodeCondition = (node: NodeStatus, publisher: PublisherStatus): NodeCondition => {
  if (node === 'NodeStatusDeleted') return 'deleted'
  if (publisher === 'PublisherStatusBanned') return 'publisher_banned'
  return node === 'NodeStatusBanned' ? 'node_banned' : 'active'
}

/** The code that rejects an access to a node. Platform admins may read what is banned. */
export const nodeRejection = (
  condition: NodeCondition,
  access: NodeAccess,
  { isPlatformAdmin }: { isPlatformAdmin: boolean } = { isPlatformAdmin: false },
): Rejection =>
  isPlatformAdmin && access === 'read' && condition !== 'deleted'
    ? undefined
    : NODE_VISIBILITY[condition][access]

/** The code that rejects an access to a publisher itself. */
export const publisherRejection = (
  status: PublisherStatus,
  access: 'read' | 'write',
  { isPlatformAdmin }: { isPlatformAdmin: boolean } = { isPlatformAdmin: false },
): Rejection =>
  status === 'PublisherStatusActive' || (isPlatformAdmin && access === 'read')
    ? undefined
    : 'publisher_banned'

/** Accesses to a version of a node that is visible: reading it, installing it, its archive, changing it. */
export type VersionAccess = 'read' | 'install' | 'archive' | 'write'

/** Rejections by access; all else is allowed. */
type VersionVisibility = Partial<Record<VersionAccess, Rejection>>

const BLOCKED: VersionVisibility = { install: 'version_blocked', archive: 'version_blocked' }
const NOT_READY: VersionVisibility = {
  install: 'version_not_installable',
  archive: 'archive_not_found',
}

const VERSION_VISIBILITY: Readonly<Record<VersionStatus, VersionVisibility>> = {
  NodeVersionStatusActive: {},
  NodeVersionStatusPending: NOT_READY,
  NodeVersionStatusFlagged: BLOCKED,
  NodeVersionStatusBanned: BLOCKED,
  NodeVersionStatusDeleted: { ...NOT_READY, read: 'version_not_found', write: 'version_not_found' },
}

/** The code that rejects an access to a version. */
export const versionRejection = (status: VersionStatus, access: VersionAccess): Rejection =>
  VERSION_VISIBILITY[status][access]
