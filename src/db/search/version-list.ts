import { LISTED_VERSION_STATUSES } from '../../domain/registry/version.ts'
import type { Version, VersionStatus } from '../../domain/registry/version.ts'
import type { NodeStatus } from '../../domain/registry/node.ts'
import type { PublisherStatus } from '../../domain/registry/publisher.ts'
import type { Fragment, Queryable } from '../client.ts'
import { isWithin, toEntries } from './entries.ts'
import type { Entries, EntryRow } from './entries.ts'
import { partPattern } from './like.ts'
import { changesOf, getListed } from './listed-count.ts'
import type { Counted } from './listed-count.ts'
import type { NodePageOptions } from './node-page.ts'
import type { RecordOptions } from '../registry/node.ts'
import { reviewMembers } from '../registry/review.ts'
import { choosePagePlan, limitForPlanner, limitTo } from './page-plan.ts'
import type { PagePlan } from './page-plan.ts'
import { versionBytes, versionJson } from '../registry/registry-json.ts'

/** The versions of a node, newest first; without statuses all but Deleted ones. The id is as it is stored. */
export const listNodeVersions = async (
  sql: Queryable,
  {
    nodeId,
    statuses = LISTED_VERSION_STATUSES,
  }: { nodeId: string; statuses?: readonly VersionStatus[] | undefined },
  { publicUrl }: RecordOptions,
): Promise<Entries> => {
  const all = sql`
    select id from version
    where node_id = ${nodeId} and status = any(${[...statuses]})
  `
  return toEntries(await sql<EntryRow[]>`${versionEntriesQuery(sql, all, publicUrl)}`)
}

/** Versions that a list has left for later, newest first. */
export const readVersionEntries = async (
  sql: Queryable,
  ids: readonly string[],
  { publicUrl, isByReview, isModerated }: RecordOptions & VersionForm,
): Promise<Entries> => {
  const asked = sql`select id from unnest(${[...ids]}::uuid[]) id`
  return toEntries(
    await sql<
      EntryRow[]
    >`${versionEntriesQuery(sql, asked, publicUrl, { isByReview, isModerated })}`,
  )
}

/** How versions are listed for platform admins. */
export interface VersionForm {
  /** By their open requests for a review, oldest first; else newest first. */
  isByReview?: boolean | undefined
  /** With what is needed to judge them. */
  isModerated?: boolean | undefined
}

const versionEntriesQuery = (
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

/** Of `version v` and its `node n`. With an offset it is read once for each, though it is named twice. */
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

/** What the list of all versions is narrowed by; all that is given must hold. */
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

interface VersionPageQuery {
  filter: VersionFilter
  offset: number
  limit: number
  form?: VersionForm | undefined
}

/** A page of the versions of all listed nodes, newest first, and how many there are. */
export const listVersions = async (
  sql: Queryable,
  { filter, offset, limit, form }: VersionPageQuery,
  { memo, publicUrl }: NodePageOptions,
): Promise<{ versions: Entries; total: number }> => {
  const listed = await getListed(sql, 'version')
  const total = isUnfiltered(filter)
    ? listed.n
    : await memo.get(`version ${JSON.stringify(filter)}`, listed.changes, () =>
        countVersions(sql, filter),
      )
  if (offset >= total) return { versions: toEntries([]), total }
  const plan = planVersionPage({ filter, offset, limit }, { total, listed: listed.n })
  const rows = await sql<EntryRow[]>`
    ${versionPageQuery(sql, { filter, offset, limit, form }, plan, publicUrl)}
  `
  return { versions: toEntries(rows), total }
}

const isUnfiltered = (filter: VersionFilter): boolean =>
  Object.values(filter).every((value) => value === undefined)

/** Counts what a filter finds, with the change number of the same snapshot. */
const countVersions = async (sql: Queryable, filter: VersionFilter): Promise<Counted<number>> => {
  const [row] = await sql<Counted<number>[]>`
    select ${changesOf(sql, 'version')} as changes, count(*)::float8 as counts
    from version v join node_stats s on s.node_id = v.node_id
    where s.listed and ${isOfStatus(sql, filter)} ${versionConditions(sql, filter)}
  `
  if (!row) throw new Error('a select without a row')
  return row
}

export const planVersionPage = (
  { filter, offset, limit }: VersionPageQuery,
  { total, listed }: { total: number; listed: number },
): PagePlan => {
  if (isUnfiltered(filter)) return 'walk'
  // A node has few versions, and few requests are open.
  if (filter.nodeId !== undefined || filter.reviewRequested)
    return total <= 1_000 ? 'pick' : 'gather'
  return choosePagePlan({ gathered: total, hits: total, reach: offset + limit, walked: listed })
}

export const versionPageQuery = (
  sql: Queryable,
  { filter, offset, limit, form }: VersionPageQuery,
  plan: PagePlan,
  publicUrl: string,
) => {
  // Few requests are open, so those are never walked to.
  const isByReview = form?.isByReview && plan !== 'walk'
  const page = sql`order by ${orderOf(sql, isByReview)} ${limitTo(sql, { limit, offset })}`
  const ids = sql`
    select id
    from (${plan === 'walk' ? walkQuery(sql, filter) : gatherQuery(sql, filter, plan)} ${page}) found
    ${limitForPlanner(sql, limit)}
  `
  return versionEntriesQuery(sql, ids, publicUrl, { ...form, isByReview })
}

const gatherQuery = (sql: Queryable, filter: VersionFilter, plan: PagePlan) => sql`
  with hit as materialized (
    select v.id, v.node_id, v.created_at from version v
    where ${isOfStatus(sql, filter)} ${versionConditions(sql, filter)}
  )
  select v.id from hit v
  ${
    plan === 'pick'
      ? sql`cross join lateral (
          select from node_stats s where s.node_id = v.node_id and s.listed offset 0) s`
      : sql`join node_stats s on s.node_id = v.node_id and s.listed`
  }
`

/** The conditions stand inside the look-up, so that only the indexes by time fit. A single status has such an index. */
const walkQuery = (sql: Queryable, filter: VersionFilter) => {
  const isOne = filter.statuses?.length === 1
  return sql`
    select v.id
    from version v
    cross join lateral (
      select from node_stats s
      where s.node_id = v.node_id and s.listed
        ${isOne ? sql`` : sql`and ${isOfStatus(sql, filter)}`}
        ${versionConditions(sql, filter)}
      offset 0
    ) s
    ${isOne ? sql`where ${isOfStatus(sql, filter)}` : sql``}
  `
}

const isOfStatus = (sql: Queryable, { statuses = LISTED_VERSION_STATUSES }: VersionFilter) =>
  statuses.length === 1
    ? sql`v.status = ${statuses[0] ?? null}`
    : sql`v.status = any(${[...statuses]})`

const versionConditions = (
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

/** What one identifier of a bulk read names. */
export interface BulkVersionRow {
  status: VersionStatus
  nodeStatus: NodeStatus
  publisherStatus: PublisherStatus
  /** null past the bound of an answer's texts. */
  version: Version | null
}

/**
 * The versions that pairs of a node's id and a canonical version name, in the order of the pairs; undefined where there
 * is none. A pair without a canonical version names nothing.
 */
export const listVersionsInBulk = async (
  sql: Queryable,
  pairs: readonly { nodeId: string; canonical: string | undefined }[],
  { publicUrl }: RecordOptions,
): Promise<(BulkVersionRow | undefined)[]> => {
  const rows = await sql<(BulkVersionRow & { place: number })[]>`
    select asked.place::integer as place, v.status, n.status as "nodeStatus",
      p.status as "publisherStatus",
      case when ${isWithin(sql, versionBytes(sql))} then ${versionJson(sql, publicUrl)} end as version
    from unnest(${pairs.map(({ nodeId }) => nodeId)}::text[],
      ${pairs.map(({ canonical }) => canonical ?? null)}::text[]) with ordinality
      as asked (node_id, canonical, place)
    join node n on n.id_lower = lower(asked.node_id)
    join publisher p on p.id = n.publisher_id
    -- With its own offset it stays one look-up for each: the planner would look at all versions of the node.
    cross join lateral (
      select * from version
      where node_id = n.id and canonical = asked.canonical and archive_state <> 'expired'
      offset 0
    ) v
    window listed as (order by asked.place)
  `
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return pairs.map((_pair, index) => found.get(index + 1))
}
