import type { NodeStatus } from '../domain/node.ts'
import type { PublisherStatus } from '../domain/publisher.ts'
import type { Transaction } from '../../platform/db/client.ts'

/**
 * The lock order of the registry. Every transaction takes what it needs of these rows in this order, so that none waits
 * for another that waits for it:
 *
 *   1. app_user       the creator of a publisher
 *   2. publisher      `share` to have it stay as it is, `update` to change it or its members
 *   3. node           several in the order of their ids; it guards its versions' moves, latest_version and `listed`
 *   4. version
 *   5. node_stats, download_day
 *   6. listed_count   at the end: it is kept until the commit, and 16 slots are few
 *
 * Rows of tokens, archives, host nodes, reviews and moves belong to one of these and are written under its lock. Rows
 * of audit_log and outbox are only inserted. `no key update`, not `update`: foreign keys of new rows do not wait.
 */

export interface LockedPublisher {
  id: string
  status: PublisherStatus
  rev: number
}

export const lockPublisher = async (
  sql: Transaction,
  id: string,
  mode: 'share' | 'update',
): Promise<LockedPublisher | undefined> => {
  const [row] = await sql<LockedPublisher[]>`
    select id, status, rev from publisher where id = lower(${id}::text)
    for ${mode === 'share' ? sql`share` : sql`no key update`}
  `
  return row
}

export interface LockedNode {
  id: string
  publisherId: string
  status: NodeStatus
  rev: number
}

export const lockNode = async (sql: Transaction, id: string): Promise<LockedNode | undefined> => {
  const [row] = await sql<LockedNode[]>`
    select id, publisher_id as "publisherId", status, rev
    from node where id_lower = lower(${id}::text)
    for no key update
  `
  return row
}

/** Locks the node of a version; undefined when there is no such version. */
export const lockNodeOfVersion = async (
  sql: Transaction,
  versionId: string,
): Promise<LockedNode | undefined> => {
  const [row] = await sql<LockedNode[]>`
    select id, publisher_id as "publisherId", status, rev
    from node where id = (select node_id from version where id = ${versionId})
    for no key update
  `
  return row
}
