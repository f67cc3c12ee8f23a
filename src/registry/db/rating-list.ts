import type { Rating } from '../domain/rating.ts'
import type { Queryable } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { offsetOf } from '../../platform/db/audit-log.ts'

/** Reader of reviews. */
interface Viewer {
  userId: string | undefined
  isAdmin: boolean
}

/** Builds JSON from `rating r`, in a select without its end. */
const selectRating = (sql: Queryable, { userId = '', isAdmin }: Viewer) => sql`
  select json_strip_nulls(json_build_object('id', r.id, 'node_id', r.node_id,
    'author', json_build_object('id', u.id, 'name', u.name, 'is_member', m.id is not null),
    'stars', r.stars, 'text', r.text, 'version', r.version,
    'createdAt', ${instant(sql, sql`r.created_at`)}, 'edited_at', ${instant(sql, sql`r.edited_at`)},
    'status', r.state,
    'hidden_reason', case when r.user_id = ${userId} or ${isAdmin} then r.hidden_reason end,
    'reply', case when r.reply is not null then
      json_build_object('text', r.reply, 'at', ${instant(sql, sql`r.replied_at`)}) end,
    'is_mine', r.user_id = ${userId},
    'reports', case when r.reports > 0 and ${isAdmin} then (
      select json_agg(reason) from rating_report where rating_id = r.id
    ) end)) as rating
  from rating r
  join app_user u on u.id = r.user_id
  join node n on n.id = r.node_id
  left join publisher_member m on m.publisher_id = n.publisher_id and m.user_id = r.user_id
`

/** A review by its id or its author, in any state. */
export const findRating = async (
  sql: Queryable,
  key: { nodeId: string; id?: string; authorId?: string },
  viewer: Viewer,
): Promise<Rating | undefined> => {
  const [row] = await sql<{ rating: Rating }[]>`
    ${selectRating(sql, viewer)}
    where r.node_id = ${key.nodeId} and r.withdrawn_at is null
      and (r.id = ${key.id ?? null}::uuid or r.user_id = ${key.authorId ?? null}::text)
  `
  return row?.rating
}

interface RatingList {
  /** Undefined: the reported reviews of all nodes, the most reported first. */
  nodeId: string | undefined
  /** Also reviews that are hidden or wait. */
  includeHidden: boolean
  page: number
  limit: number
}

/** Lists a page of reviews, how many are listed, and how many visible reviews have 1, 2, 3, 4 and 5 stars. */
export const listRatings = async (
  sql: Queryable,
  { nodeId, includeHidden, page, limit }: RatingList,
  viewer: Viewer,
): Promise<{ reviews: Rating[]; total: number; distribution: number[] }> => {
  const isListed =
    nodeId === undefined
      ? sql`r.reports > 0`
      : sql`r.node_id = ${nodeId} and r.withdrawn_at is null`
  const isShown = includeHidden ? sql`true` : sql`r.state = 'visible'`
  const order = nodeId === undefined ? sql`r.reports desc, r.id` : sql`r.created_at desc, r.id`
  const [rows, counts] = await Promise.all([
    sql<{ rating: Rating }[]>`
      ${selectRating(sql, viewer)}
      where ${isListed} and ${isShown}
      order by ${order}
      limit ${limit} offset ${offsetOf(page, limit)}
    `,
    sql<{ stars: number; listed: number; counted: number }[]>`
      select r.stars, count(*)::integer as listed,
        (count(*) filter (where r.state = 'visible'))::integer as counted
      from rating r
      where ${isListed} and ${isShown}
      group by r.stars
    `,
  ])
  return {
    reviews: rows.map(({ rating }) => rating),
    total: counts.reduce((sum, { listed }) => sum + listed, 0),
    distribution: [1, 2, 3, 4, 5].map(
      (stars) => counts.find((row) => row.stars === stars)?.counted ?? 0,
    ),
  }
}
