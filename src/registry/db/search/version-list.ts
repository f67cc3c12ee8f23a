import { LISTED_VERSION_STATUSES } from '../../domain/version.ts'
import type { Version, VersionStatus } from '../../domain/version.ts'
import type { NodeStatus } from '../../domain/node.ts'
import type { PublisherStatus } from '../../domain/publisher.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { isWithin, toEntries, type Entries, type EntryRow } from './entries.ts'
import { changesOf, getListed, type Counted } from './listed-count.ts'
import type { NodePageOptions } from './node-page.ts'
import type { RecordOptions } from '../node.ts'
import { choosePagePlan, type PagePlan } from './page-plan.ts'
import { versionBytes, versionJson } from '../registry-json.ts'
import {
  isOfStatus,
  versionConditions,
  versionEntriesQuery,
  versionPageQuery,
} from './version-statements.ts'
import type { VersionFilter, VersionForm, VersionPageQuery } from './version-statements.ts'

/** Lists the versions of a node, newest first; without statuses all but Deleted ones. The id is as it is stored. */
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

/** Reads versions that a list has left for later, newest first. */
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

/** A page of the versions of all listed nodes, newest first, and how many there are. */
export const listVersions = async (
  sql: Queryable,
  { filter, offset, limit, form }: VersionPageQuery,
  { cache, publicUrl }: NodePageOptions,
): Promise<{ versions: Entries; total: number }> => {
  const listed = await getListed(sql, 'version')
  const total = isUnfiltered(filter)
    ? listed.n
    : await cache.get(`version ${JSON.stringify(filter)}`, listed.changes, () =>
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

/** A version that one identifier of a bulk read names. */
export interface BulkVersionRow {
  status: VersionStatus
  nodeStatus: NodeStatus
  publisherStatus: PublisherStatus
  /** Null past the limit on the texts of a response. */
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
      where node_id = n.id and canonical = asked.canonical and archive_state not in ('expired', 'replaced')
      offset 0
    ) v
    window listed as (order by asked.place)
  `
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return pairs.map((_pair, index) => found.get(index + 1))
}
