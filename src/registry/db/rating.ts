import { auditTarget } from '../../platform/domain/audit-log.ts'
import type { RatingDecision, RatingUpdate } from '../domain/rating.ts'
import type { Fragment, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { insertAudit, type Audit } from '../../platform/db/audit-log.ts'
import { lockNode } from './registry-lock.ts'

/** All changes of reviews hold the row of the node. Trigger `rating_counted` (0034) counts them in `node_stats`. */

interface OfAuthor {
  nodeId: string
  userId: string
}

interface RatingPut extends OfAuthor {
  fields: Omit<RatingUpdate, 'version'>
  /** Canonical form of the version; empty for none, undefined to keep what is stored. */
  canonical?: string | undefined
  /** Age in hours from which on the reviews of an account count (REVIEW_MIN_AGE_HOURS). */
  minAgeHours: number
}

/**
 * Writes a user's one review of a node; what is absent is kept. Membership is asked for here and not later: an owner adds
 * members without asking them, and would silence a critic by it.
 */
export const putRating = async (
  sql: Transaction,
  { nodeId, userId, fields, canonical, minAgeHours }: RatingPut,
): Promise<'written' | 'node_not_found' | 'is_member' | 'version_not_found'> => {
  const node = await lockNode(sql, nodeId)
  if (node?.status !== 'NodeStatusActive') return 'node_not_found'
  const [found] = await sql<{ isMember: boolean; version: string | null }[]>`
    select exists (
      select from publisher_member where publisher_id = ${node.publisherId} and user_id = ${userId}
    ) as "isMember", (
      select version from version
      where node_id = ${node.id} and canonical = ${canonical ?? null}::text
        and archive_state not in ('expired', 'replaced') and status <> 'NodeVersionStatusDeleted'
    ) as version
  `
  if (found?.isMember) return 'is_member'
  const version = canonical ? found?.version : canonical
  if (canonical && !version) return 'version_not_found'
  const { stars, text = null } = fields as { stars: number; text?: string | null }
  const { count } = await sql`
    insert into rating as r (node_id, user_id, stars, text, version, state, counts_at)
    select ${node.id}, u.id, ${stars}, nullif(${text}::text, ''),
      nullif(${version ?? null}::text, ''),
      case when due.at > clock_timestamp() then 'waiting' else 'visible' end, due.at
    from app_user u
    cross join lateral (select u.created_at + make_interval(hours => ${minAgeHours}) as at) due
    where u.id = ${userId}
    on conflict (node_id, user_id) do update
    set stars = excluded.stars,
      text = case when ${text}::text is null then r.text else excluded.text end,
      version = case when ${version ?? null}::text is null then r.version else excluded.version end,
      edited_at = clock_timestamp(), withdrawn_at = null
    where r.withdrawn_at is not null or r.stars <> excluded.stars
      or ${text}::text is not null and r.text is distinct from excluded.text
      or ${version ?? null}::text is not null and r.version is distinct from excluded.version
  `
  if (count > 0) await recordListChange(sql)
  return 'written'
}

/** Deletes a user's review with its reports; of a hidden one the decision is left. False when there is none. */
export const deleteRating = async (
  sql: Transaction,
  { nodeId, userId }: OfAuthor,
): Promise<boolean> => {
  await lockNode(sql, nodeId)
  const [row] = await sql<{ isFound: boolean }[]>`
    with deleted as (
      delete from rating where node_id = ${nodeId} and user_id = ${userId} and state <> 'hidden'
      returning id
    ), withdrawn as (
      update rating
      set withdrawn_at = clock_timestamp(), text = null, version = null, reply = null, reports = 0
      where node_id = ${nodeId} and user_id = ${userId} and state = 'hidden'
        and withdrawn_at is null
      returning id
    )
    select exists (select from deleted union all select from withdrawn) as "isFound"
  `
  if (row?.isFound) await recordListChange(sql)
  return row?.isFound ?? false
}

/** A review that others see: what they do about it is false when there is none. */
interface OfRating {
  nodeId: string
  id: string
}

/** Sets a user's one open report. */
export const putReport = async (
  sql: Transaction,
  { nodeId, id, userId, reason }: OfRating & { userId: string; reason: string },
): Promise<boolean> => {
  await lockNode(sql, nodeId)
  const { count } = await sql`
    insert into rating_report (rating_id, user_id, reason)
    select id, ${userId}, ${reason} from rating
    where id = ${id} and node_id = ${nodeId} and state = 'visible'
    on conflict (rating_id, user_id) do update set reason = excluded.reason
  `
  if (count > 0)
    await sql`
      update rating set reports = (select count(*) from rating_report where rating_id = ${id})
      where id = ${id}
    `
  return count > 0
}

/** Sets the publisher's one reply; an empty text deletes it. */
export const putReply = async (
  sql: Transaction,
  { nodeId, id, text }: OfRating & { text: string },
): Promise<boolean> => {
  await lockNode(sql, nodeId)
  const { count } = await sql`
    update rating set reply = nullif(${text}::text, ''), replied_at = clock_timestamp()
    where id = ${id} and node_id = ${nodeId} and state = 'visible'
  `
  return count > 0
}

/** Hides a review or shows it again, closes its reports, and writes the audit entry; a repeat changes nothing. */
export const decideRating = async (
  sql: Transaction,
  { nodeId, id, fields, audit }: OfRating & { fields: RatingDecision; audit: Audit },
): Promise<boolean> => {
  await lockNode(sql, nodeId)
  const isHidden = fields.status === 'hidden'
  const [row] = await sql<{ before: object; after: object; isChanged: boolean }[]>`
    with decided as (
      update rating
      set state = case when ${isHidden} then 'hidden'
          when counts_at > clock_timestamp() then 'waiting' else 'visible' end,
        hidden_reason = case when ${isHidden} then ${fields.reason}::text end, reports = 0
      where id = ${id} and node_id = ${nodeId} and withdrawn_at is null
      returning *
    ), reported as (
      delete from rating_report where rating_id in (select id from decided)
    )
    select before, after, before::text <> after::text as "isChanged"
    from decided join rating old on old.id = decided.id
    cross join lateral (
      select ${stateJson(sql, sql`old`)} as before, ${stateJson(sql, sql`decided`)} as after
    ) change
  `
  if (row?.isChanged) {
    const action = isHidden ? 'review.hide' : 'review.show'
    const { before, after } = row
    const target = auditTarget.node(nodeId)
    await insertAudit(sql, audit, { action, target, before, after, reason: fields.reason })
    await recordListChange(sql)
  }
  return row !== undefined
}

const stateJson = (sql: Transaction, of: Fragment) => sql`
  json_build_object('review', ${of}.id, 'status', ${of}.state, 'reason', ${of}.hidden_reason,
    'reports', ${of}.reports)
`
