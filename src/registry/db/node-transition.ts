import { auditTarget } from '../../platform/domain/audit-log.ts'
import { ADMIN_NODE_TRANSITIONS, NODE_TRANSITIONS } from '../domain/node-transition.ts'
import type { NodeTransitionName } from '../domain/node-transition.ts'
import type { Node, NodeAdminFields } from '../domain/node.ts'
import { changesOf, insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import type { Transaction } from '../../platform/db/client.ts'
import { keepNumber, keepText, keepTexts } from './keep.ts'
import { recordListChange } from './search/listed-count.ts'
import type { CountChange } from './search/listed-count.ts'
import { getNode, setNodeFields } from './node.ts'
import type { RecordOptions } from './node.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'
import type { LockedNode, LockedPublisher } from './registry-lock.ts'

/**
 * Deletes a node of a publisher for its owner. Its versions keep their statuses and are hidden through it, so that an
 * admin can bring it back as it was; its id stays taken. Whoever has a banned version must go on seeing that it is one.
 */
export const deleteNode = async (
  sql: Transaction,
  { publisherId, id }: { publisherId: string; id: string },
): Promise<'deleted' | 'node_not_found' | 'node_banned' | 'version_banned'> => {
  const locked = await lockWithPublisher(sql, id)
  if (!locked || locked.publisher.id !== publisherId.toLowerCase()) return 'node_not_found'
  if (locked.node.status === 'NodeStatusDeleted') return 'node_not_found'
  const [version] = await sql<{ isBanned: boolean }[]>`
    select exists (
      select from version where node_id = ${locked.node.id} and status = 'NodeVersionStatusBanned'
    ) as "isBanned"
  `
  if (version?.isBanned) return 'version_banned'
  const isTransitioned = await transitionNode(sql, locked, 'delete')
  if (!isTransitioned) return 'node_banned'
  await recordListChange(sql, isTransitioned)
  return 'deleted'
}

type NodeEditedByAdmin =
  | { result: 'updated'; node: Node }
  | { result: 'node_not_found' | 'illegal_move' | 'precondition_failed' }
  | ({ result: 'preempted' } & Preempted)

interface NodeAdminEdit {
  id: string
  fields: NodeAdminFields
  /** Preempts host node names that another node preempts already. */
  force?: boolean
  /** The revision that the caller has seen (If-Match). */
  ifRev?: number | undefined
  audit: Audit
}

/**
 * Sets what a platform admin gives of a node, with its audit entry. The present status is no move; another one must be
 * a legal transition, or nothing changes.
 */
export const updateNodeByAdmin = async (
  sql: Transaction,
  { id, fields, force = false, ifRev, audit }: NodeAdminEdit,
  options: RecordOptions,
): Promise<NodeEditedByAdmin> => {
  const locked = await lockWithPublisher(sql, id)
  if (!locked) return { result: 'node_not_found' }
  const { node } = locked
  if (ifRev !== undefined && ifRev !== node.rev) return { result: 'precondition_failed' }
  const { status = node.status, status_detail: detail } = fields
  const before = await getNode(sql, node.id, options)
  const added = fields.preempted_host_node_names?.filter(
    (name) => !before.preempted_host_node_names.includes(name),
  )
  const preempted = added?.length && !force && (await findPreempted(sql, node.id, added))
  if (preempted) return { result: 'preempted', ...preempted }
  let change: CountChange = {}
  if (status !== node.status) {
    const isTransitioned = await transitionNode(sql, locked, ADMIN_NODE_TRANSITIONS[status], detail)
    if (!isTransitioned) return { result: 'illegal_move' }
    change = isTransitioned
  }
  await setNodeFields(sql, { id: node.id, fields }, options)
  await setAdminFields(sql, node.id, fields)
  const after = await getNode(sql, node.id, options)
  await insertAudit(sql, audit, {
    action: 'node.update',
    target: auditTarget.node(node.id),
    ...changesOf(before, after, fields),
    reason: detail || undefined,
  })
  await recordListChange(sql, change)
  return { result: 'updated', node: after }
}

interface Preempted {
  name: string
  /** The node that preempts it. */
  nodeId: string
}

/** Finds a host node name that another node preempts. Of two admins that name one at once the second waits. */
const findPreempted = async (
  sql: Transaction,
  nodeId: string,
  names: readonly string[],
): Promise<Preempted | undefined> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('preempted names', 0))`
  const [found] = await sql<Preempted[]>`
    select taken.name, n.id as "nodeId"
    from node n cross join lateral unnest(n.preempted_host_node_names) as taken (name)
    where n.preempted_host_node_names && ${[...names]}::text[]
      and taken.name = any(${[...names]}::text[])
      and n.id <> ${nodeId} and n.status = 'NodeStatusActive'
    order by taken.name, n.id
    limit 1
  `
  return found
}

/** The members of a record that a body names. */
export const pick = (record: object, body: object): object =>
  Object.fromEntries(
    Object.keys(body).map((name) => [name, (record as Record<string, unknown>)[name] ?? null]),
  )

interface Locked {
  publisher: LockedPublisher
  node: LockedNode
}

/** Locks both rows, because both decide whether a node is listed. */
const lockWithPublisher = async (sql: Transaction, id: string): Promise<Locked | undefined> => {
  const [found] = await sql<{ publisherId: string }[]>`
    select publisher_id as "publisherId" from node where id_lower = lower(${id}::text)
  `
  const publisher = found && (await lockPublisher(sql, found.publisherId, 'share'))
  const node = publisher && (await lockNode(sql, id))
  // It was transferred meanwhile.
  if (node && node.publisherId !== publisher?.id) return await lockWithPublisher(sql, id)
  return node && { publisher, node }
}

/** Moves a node, and lists or hides it. Returns how the counts change; undefined when the transition is not legal. */
const transitionNode = async (
  sql: Transaction,
  { publisher, node }: Locked,
  name: NodeTransitionName,
  detail?: string,
): Promise<CountChange | undefined> => {
  const { from, to } = NODE_TRANSITIONS[name]
  const { count } = await sql`
    update node
    set status = ${to}, status_detail = nullif(${detail ?? null}::text, ''),
      updated_at = greatest(clock_timestamp(), updated_at), rev = rev + 1
    where id = ${node.id} and status = any(${[...from]})
  `
  if (count === 0) return undefined
  const listed = to === 'NodeStatusActive' && publisher.status === 'PublisherStatusActive'
  // Trigger `node_stats_listed` (0014): records the change for counts of searches.
  const [change] = await sql<{ versions: number }[]>`
    with changed as (
      update node_stats set listed = ${listed} where node_id = ${node.id} and listed <> ${listed}
      returning node_id
    )
    select (
      select count(*)::integer from version
      where node_id = changed.node_id and status <> 'NodeVersionStatusDeleted'
    ) as versions
    from changed
  `
  if (!change) return {}
  return listed
    ? { nodes: 1, versions: change.versions }
    : { nodes: -1, versions: -change.versions }
}

/** Takes for an admin’s number only another one than is shown, since clients send whole nodes back. */
const keepStars = (sql: Transaction, { github_stars: stars, own_stars = false }: NodeAdminFields) =>
  own_stars
    ? sql`stars_by_admin = null, github_stars = coalesce((
        select s.stars from repository_stars s where s.key = repository_key), github_stars)`
    : sql`
        stars_by_admin = coalesce(nullif(${stars ?? null}::integer, github_stars), stars_by_admin),
        ${keepNumber(sql, 'github_stars', stars)}`

const setAdminFields = async (
  sql: Transaction,
  id: string,
  fields: NodeAdminFields,
): Promise<void> => {
  await sql`
    update node
    set ${keepText(sql, 'status_detail', fields.status_detail)},
      ${keepStars(sql, fields)},
      ${keepTexts(sql, 'preempted_host_node_names', fields.preempted_host_node_names)},
      ${keepTexts(sql, 'tags_admin', fields.tags_admin)},
      updated_at = greatest(clock_timestamp(), updated_at),
      rev = rev + 1
    where id = ${id}
  `
  await sql`
    update node_stats set ${keepNumber(sql, 'search_ranking', fields.search_ranking)}
    where node_id = ${id}
  `
}
