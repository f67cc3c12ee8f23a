import { LISTED_VERSION_STATUSES, type VersionStatus } from '../../domain/version.ts'
import { versionBytes, versionJson } from '../registry-json.ts'
import { reviewMembers } from '../review.ts'
import type { Fragment, Queryable } from '../../../platform/db/client.ts'
import { isWithin } from './entries.ts'
import { partPattern } from './node-filter.ts'
import { limitForPlanner, type PagePlan } from './page-plan.ts'

/** Filter of the list of all versions; all that is given must hold. */
export interface VersionFilter {
  /** undefined: all but Deleted. */
  statuses?: readonly VersionStatus[] | undefined
  /** A part of `status_reason`, in any case. */
  reason?: string | undefined
  /** A node's id, in any case. */
  nodeId?: string | undefined
  /** With an open request for a review, or without one; for platform admins. */
  reviewRequested?: boolean | undefined
}

/** Form in which versions are listed for platform admins. */
export interface VersionForm {
  /** By their open requests for a review, oldest first; else newest first. */
  isByReview?: boolean | undefined
  /** With what is needed to decide about them. */
  isModerated?: boolean | undefined
}

export interface VersionPageQuery {
  filter: VersionFilter
  offset: number
  limit: number
  form?: VersionForm | undefined
}

/** The entries of versions, in the order of their form. */
export const versionEntriesQuery = (
  sql: Queryable,
  ids: Fragment,
  publicUrl: string,
  { isByReview, isModerated }: VersionForm = {},
) => sql`
  select v.id,
    ${isModerated ? sql`concat_ws('.', v.rev, md5(moderation.json::text))` : sql`v.rev::text`} as revision,
    case when ${isWithin(sql, versionBytes(sql))}
      then ${versionJson(sql, publicUrl, isModerated ? sql`, 'moderation', moderation.json` : sql``)}::text
    end as text
  from (${ids}) page
  join version v on v.id = page.id
  join node n on n.id = v.node_id
  ${isModerated ? joinModeration(sql) : sql``}
  window listed as (order by ${orderOf(sql, isByReview)})
  order by ${orderOf(sql, isByReview)}
`

const orderOf = (sql: Queryable, isByReview = false) =>
  isByReview
    ? sql`(select created_at from review_request where version_id = v.id and closed_at is null), v.id`
    : sql`v.created_at desc, v.id`

/** Joins the moderation of `version v` and its `node n`. With an offset it is read once for each, though it is named twice. */
const joinModeration = (sql: Queryable) => sql`cross join lateral (select json_build_object(
  'publisher', (
    select json_build_object('id', p.id, 'name', p.name, 'status', p.status)
    from publisher p where p.id = n.publisher_id),
  'findings', (
    select json_build_object('high', coalesce(sum(s.high), 0), 'medium', coalesce(sum(s.medium), 0),
      'info', coalesce(sum(s.info), 0))
    from scan s join archive a on a.version_id = s.version_id and a.sha256 = s.sha256
    where s.version_id = v.id),
  'review', (
    select json_build_object(${reviewMembers(sql)})
    from review_request r where r.version_id = v.id and r.closed_at is null),
  'previous_version', (
    select o.version from version o
    where o.node_id = v.node_id and o.status = 'NodeVersionStatusActive'
      and (o.major, o.minor, o.patch, o.pre_key) < (v.major, v.minor, v.patch, v.pre_key)
    order by o.major desc, o.minor desc, o.patch desc, o.pre_key desc limit 1)) as json
  offset 0) moderation
`

/** The statement of a page of versions: its ids by one of three plans, then what is shown of them. */
export const versionPageQuery = (
  sql: Queryable,
  query: VersionPageQuery,
  plan: PagePlan,
  publicUrl: string,
) => {
  // Few requests are open, so those are never walked to.
  const form = { ...query.form, isByReview: query.form?.isByReview && plan !== 'walk' }
  const ids = sql`
    select id from (${STATEMENTS[plan](sql, { ...query, form })}) found
    ${limitForPlanner(sql, query.limit)}
  `
  return versionEntriesQuery(sql, ids, publicUrl, form)
}

/** Takes all hits from the indexes of the filters, joins them in one pass, and sorts them. */
const gatherStatement = (sql: Queryable, { filter, limit, offset, form }: VersionPageQuery) => sql`
  with hit as materialized (
    select v.id, v.node_id, v.created_at
    from version v
    where ${isOfStatus(sql, filter)} ${versionConditions(sql, filter)}
  )
  select v.id
  from hit v
  join node_stats s on s.node_id = v.node_id and s.listed
  order by ${orderOf(sql, form?.isByReview)}
  limit (select ${limit}::integer) offset (select ${offset}::integer)
`

/** Takes a few hits from the indexes of the filters, looks up the node of each, and sorts them. */
const pickStatement = (sql: Queryable, { filter, limit, offset, form }: VersionPageQuery) => sql`
  with hit as materialized (
    select v.id, v.node_id, v.created_at
    from version v
    where ${isOfStatus(sql, filter)} ${versionConditions(sql, filter)}
  )
  select v.id
  from hit v
  cross join lateral (
    select from node_stats s where s.node_id = v.node_id and s.listed offset 0
  ) s
  order by ${orderOf(sql, form?.isByReview)}
  limit (select ${limit}::integer) offset (select ${offset}::integer)
`

/** Walks the index by time. The conditions stand inside the look-up, so that no other index fits. */
const walkStatement = (sql: Queryable, { filter, limit, offset }: VersionPageQuery) =>
  filter.statuses?.length === 1
    ? sql`
        select v.id
        from version v
        cross join lateral (
          select from node_stats s
          where s.node_id = v.node_id and s.listed ${versionConditions(sql, filter)}
          offset 0
        ) s
        -- A single status has an index by time of its own.
        where ${isOfStatus(sql, filter)}
        order by v.created_at desc, v.id
        limit (select ${limit}::integer) offset (select ${offset}::integer)
      `
    : sql`
        select v.id
        from version v
        cross join lateral (
          select from node_stats s
          where s.node_id = v.node_id and s.listed
            and ${isOfStatus(sql, filter)} ${versionConditions(sql, filter)}
          offset 0
        ) s
        order by v.created_at desc, v.id
        limit (select ${limit}::integer) offset (select ${offset}::integer)
      `

const STATEMENTS = { gather: gatherStatement, pick: pickStatement, walk: walkStatement }

export const isOfStatus = (sql: Queryable, { statuses = LISTED_VERSION_STATUSES }: VersionFilter) =>
  statuses.length === 1
    ? sql`v.status = ${statuses[0] ?? null}`
    : sql`v.status = any(${[...statuses]})`

export const versionConditions = (
  sql: Queryable,
  { reason, nodeId, reviewRequested }: VersionFilter,
) => sql`
  ${reason === undefined ? sql`` : sql`and lower(v.status_reason) like ${partPattern(sql, reason)}`}
  ${
    nodeId === undefined
      ? sql``
      : sql`and v.node_id = (select id from node where id_lower = lower(${nodeId}::text))`
  }
  ${
    reviewRequested === undefined
      ? sql``
      : sql`and ${reviewRequested ? sql`` : sql`not`} exists (
          select from review_request r where r.version_id = v.id and r.closed_at is null)`
  }
`
