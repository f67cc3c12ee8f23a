import type { ListedReview, Review } from '../domain/review.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { instant } from '../../platform/db/instant.ts'

type ReviewCreated =
  | { result: 'created'; review: Review }
  | { result: 'version_not_flagged' | 'not_reviewable' | 'review_already_requested' }

/** Asks for a person to look at a flagged version; one request is open at a time, and a decision closes it. */
export const insertReview = async (
  sql: Transaction,
  { versionId, note, userId }: { versionId: string; note: string | undefined; userId: string },
): Promise<ReviewCreated> => {
  // Shared, so that it stays flagged until this is committed.
  const [flagged] = await sql<{ isRejected: boolean }[]>`
    select archive_state = 'rejected' as "isRejected" from version
    where id = ${versionId} and status = 'NodeVersionStatusFlagged' for share
  `
  if (!flagged) return { result: 'version_not_flagged' }
  // No decision could make it Active.
  if (flagged.isRejected) return { result: 'not_reviewable' }
  // Trigger `review_requested_event` (0069): records an event for the publisher's endpoints, and
  // `review_requested_platform_event` (0069) for the platform's endpoints.
  const [row] = await sql<{ review: Review }[]>`
    insert into review_request as r (version_id, note, requested_by)
    values (${versionId}, ${note ?? ''}, ${userId})
    on conflict (version_id) where closed_at is null do nothing
    returning json_build_object(${reviewMembers(sql)}) as review
  `
  if (!row) return { result: 'review_already_requested' }
  await recordListChange(sql)
  return { result: 'created', review: row.review }
}

/** The reviews of a version, newest first; for members and platform admins. */
export const listReviews = async (sql: Queryable, versionId: string): Promise<ListedReview[]> => {
  const rows = await sql<{ review: ListedReview }[]>`
    select json_strip_nulls(json_build_object(${reviewMembers(sql)}, 'by', r.requested_by,
      'closed_at', ${instant(sql, sql`r.closed_at`)}, 'decision', case when r.decided_status is not null
        then json_build_object('status', r.decided_status, 'reason', r.decided_reason) end)) as review
    from review_request r where r.version_id = ${versionId}
    order by r.created_at desc, r.id
  `
  return rows.map(({ review }) => review)
}

export const reviewMembers = (sql: Queryable) => sql`
  'id', r.id, 'version_id', r.version_id, 'note', r.note,
  'createdAt', ${instant(sql, sql`r.created_at`)}
`
