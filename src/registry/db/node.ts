import type { MemberRole } from '../domain/member.ts'
import type { NewNode, Node, NodeFields, NodeStatus } from '../domain/node.ts'
import type { PublisherStatus } from '../domain/publisher.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { keepName, keepPictureUrl, keepText, keepTexts } from './keep.ts'
import { recordListChange } from './search/listed-count.ts'
import { joinNode, nodeJson, nodeRevision } from './registry-json.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'

/** Settings that records need beside their rows. */
export interface RecordOptions {
  /** Public base URL; links begin with it. */
  publicUrl: string
}

type NodeCreated =
  | { result: 'created'; node: Node }
  | { result: 'publisher_banned' | 'node_exists' | 'node_deleted' }

/** Creates a node of a publisher that is there. An id is taken in every spelling, whoever owns it, for ever. */
export const insertNode = async (
  sql: Transaction,
  { publisherId, node }: { publisherId: string; node: NewNode },
  options: RecordOptions,
): Promise<NodeCreated> => {
  const publisher = await lockPublisher(sql, publisherId, 'share')
  if (!publisher) throw new Error('a publisher that is not there')
  if (publisher.status !== 'PublisherStatusActive') return { result: 'publisher_banned' }
  if (!(await insertNodeRow(sql, { id: node.id, publisherId: publisher.id }))) {
    const taken = await lockNode(sql, node.id)
    return { result: taken?.status === 'NodeStatusDeleted' ? 'node_deleted' : 'node_exists' }
  }
  await setNodeFields(sql, { id: node.id, fields: node }, options)
  await recordListChange(sql, { nodes: 1 })
  return { result: 'created', node: await getNode(sql, node.id, options) }
}

/**
 * Inserts the bare rows of a node; false when its id is taken. The caller holds the row of its active publisher, then
 * sets the fields and notes the change.
 */
export const insertNodeRow = async (
  sql: Transaction,
  { id, publisherId }: { id: string; publisherId: string },
): Promise<boolean> => {
  // Trigger `node_stats_inserted` (0014): records the change for counts of searches, which `countNodes` reads.
  const { count } = await sql`
    with made as (
      insert into node (id, publisher_id, name) values (${id}, ${publisherId}, ${id})
      on conflict do nothing
      returning id, created_at
    )
    insert into node_stats (node_id, created_at) select id, created_at from made
  `
  return count === 1
}

/** Sets what is given of a member's fields; the caller holds the node's row. */
export const setNodeFields = async (
  sql: Transaction,
  { id, fields }: { id: string; fields: NodeFields },
  { publicUrl }: RecordOptions,
): Promise<void> => {
  const { translations } = fields
  // Triggers `node_words_set` (0088): makes the words that searches find; `node_text_changed` (0014): records the texts
  // before the change, likewise.
  await sql`
    update node
    set ${keepName(sql, fields.name)},
      ${keepText(sql, 'author', fields.author)},
      ${keepText(sql, 'description', fields.description)},
      ${keepPictureUrl(sql, ['banner_url', 'banner_picture'], { url: fields.banner_url, publicUrl })},
      ${keepPictureUrl(sql, ['icon', 'icon_picture'], { url: fields.icon, publicUrl })},
      ${keepText(sql, 'repository', fields.repository)},
      ${keepText(sql, 'license', fields.license)},
      ${keepText(sql, 'category', fields.category)},
      ${keepText(sql, 'supported_host_version', fields.supported_host_version)},
      ${keepText(sql, 'supported_host_frontend_version', fields.supported_host_frontend_version)},
      ${keepTexts(sql, 'tags', fields.tags)},
      ${keepTexts(sql, 'supported_os', fields.supported_os)},
      ${keepTexts(sql, 'supported_accelerators', fields.supported_accelerators)},
      translations = nullif(
        coalesce(${translations ? sql.json(translations) : null}::jsonb, translations), '{}'),
      updated_at = greatest(clock_timestamp(), updated_at),
      rev = rev + 1
    where id = ${id}
  `
}

interface NodeEdit {
  publisherId: string
  id: string
  fields: NodeFields
  /** The revision that the caller has seen (If-Match). */
  ifRev?: number | undefined
}

type NodeUpdated =
  | { result: 'updated'; node: Node; before: Node }
  | { result: 'node_not_found' | 'node_banned' | 'precondition_failed' }

/** Sets what a member gives of a node of theirs. */
export const updateNode = async (
  sql: Transaction,
  { publisherId, id, fields, ifRev }: NodeEdit,
  options: RecordOptions,
): Promise<NodeUpdated> => {
  const node = await lockNode(sql, id)
  if (!node || node.publisherId !== publisherId.toLowerCase()) return { result: 'node_not_found' }
  if (node.status === 'NodeStatusDeleted') return { result: 'node_not_found' }
  if (node.status === 'NodeStatusBanned') return { result: 'node_banned' }
  if (ifRev !== undefined && ifRev !== node.rev) return { result: 'precondition_failed' }
  const before = await getNode(sql, node.id, options)
  await setNodeFields(sql, { id: node.id, fields }, options)
  await recordListChange(sql)
  return { result: 'updated', node: await getNode(sql, node.id, options), before }
}

/** A node in any status, which must be there. */
export const getNode = async (
  sql: Queryable,
  id: string,
  { publicUrl }: RecordOptions,
): Promise<Node> => {
  const [row] = await sql<{ node: Node }[]>`
    select ${nodeJson(sql, publicUrl)} as node
    from node n ${joinNode(sql)}
    where n.id_lower = lower(${id}::text)
  `
  if (!row) throw new Error('a node that is not there')
  return row.node
}

/** Facts of a node that authorize a request and validate its cached response. */
export interface NodeFacts {
  /** As it is stored. */
  id: string
  status: NodeStatus
  /** Why it has this status; null when nobody said. */
  detail: string | null
  publisherId: string
  publisherStatus: PublisherStatus
  /** Why the publisher is banned; for its members. */
  publisherReason: string | null
  /** Role in the publisher of the user asked for; null when they are no member, or nobody. */
  role: MemberRole | null
  /** Revision that If-Match compares. */
  rev: number
  /** Differs whenever the node's response does: revisions of node, publisher and latest version, and downloads. */
  revision: string
}

export const findNodeFacts = async (
  sql: Queryable,
  { id, userId }: { id: string; userId: string | undefined },
): Promise<NodeFacts | undefined> => {
  const [row] = await sql<NodeFacts[]>`
    select ${nodeFactColumns(sql)},
      ${nodeRevision(sql)} as revision
    from node n ${joinNode(sql)} ${joinRole(sql, userId)}
    where n.id_lower = lower(${id}::text)
  `
  return row
}

/** Columns of `NodeFacts` from `node n`, `publisher p` and, by `joinRole`, `publisher_member m`. */
export const nodeFactColumns = (sql: Queryable) => sql`
  n.id, n.status, n.status_detail as detail, n.publisher_id as "publisherId",
  p.status as "publisherStatus", p.status_reason as "publisherReason", m.role, n.rev
`

export const joinRole = (sql: Queryable, userId: string | undefined) => sql`
  left join publisher_member m on m.publisher_id = p.id and m.user_id = ${userId ?? null}::text
`
