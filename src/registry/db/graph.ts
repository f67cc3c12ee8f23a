import { platformCondition } from './search/node-filter.ts'
import type { Claim, LastVersion, LockedPack, Recorded } from '../domain/graph/resolve.ts'
import type { Fragment, Queryable } from '../../platform/db/client.ts'
import { claimsOf } from './host-node.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import type { Reading } from '../domain/graph/reading.ts'
import type { Replacement } from '../domain/graph/replacements.ts'
import { extractAdvice } from './registry-json.ts'
import { newestFirst } from './version-transition.ts'

/** Most packs that are read of one name; more only make a list longer. */
const CLAIMS = 11

/** Packs that have these names of host nodes in their latest version, of each name the best claim first. */
export const findClaims = async (sql: Queryable, names: readonly string[]): Promise<Claim[]> =>
  await sql<Claim[]>`
    select asked.name, claim.id as "nodeId", n.name as "nodeName",
      n.repository_key as "repositoryKey", claim.preempts, claim.ranking, claim.downloads
    from unnest(${[...names]}::text[]) with ordinality as asked (name, place)
    cross join lateral (
      select row_number() over () as rank, listed.*
      from (${claimsOf(sql, sql`asked.name`, CLAIMS)}) listed
    ) claim
    join node n on n.id = claim.id
    order by asked.place, claim.rank
  `

/** All names of versions: host nodes, nodes of the editor alone, and names that they have replaced. */
const namesOf = (sql: Queryable) => sql`(
  select version_id, host_node_name as name, false as "isEditorOnly", null::jsonb as "replacedBy"
  from host_node
  union all
  select version_id, name, replaced_by is null, replaced_by from workflow_name
)`

/** Packs whose latest version has a name in the editor alone, or has replaced it, of each name the best first. */
export const findWorkflowNames = async (
  sql: Queryable,
  names: readonly string[],
): Promise<Claim[]> =>
  await sql<Claim[]>`
    select asked.name, found.*
    from unnest(${[...names]}::text[]) with ordinality as asked (name, place)
    cross join lateral (
      select n.id as "nodeId", n.name as "nodeName", n.repository_key as "repositoryKey",
        false as preempts, s.search_ranking as ranking, s.downloads::float8 as downloads,
        w.replaced_by is null as "isEditorOnly", w.replaced_by as "replacedBy",
        row_number() over (order by s.search_ranking, s.created_at, n.id) as rank
      from workflow_name w
      join version v on v.id = w.version_id
      join node n on n.id = v.node_id and n.latest_version_id = v.id
      join node_stats s on s.node_id = n.id and s.listed
      where w.name = asked.name and ${isAllowed(sql, sql`n.id`, sql`asked.name`)}
      order by rank
      limit ${CLAIMS}
    ) found
    order by asked.place, found.rank
  `

/** The pack that has each name in one of these versions: the one that it was saved with, or else the first by ranking. */
export const findInstalled = async (
  sql: Queryable,
  used: readonly { name: string; pack: string | undefined }[],
  installed: readonly (readonly [id: string, canonical: string])[],
): Promise<Claim[]> =>
  await sql<Claim[]>`
    select distinct on (asked.name) asked.name, n.id as "nodeId", n.name as "nodeName",
      n.repository_key as "repositoryKey", false as preempts, s.search_ranking as ranking,
      s.downloads::float8 as downloads, h."isEditorOnly", h."replacedBy"
    from unnest(${installed.map(([id]) => id)}::text[], ${installed.map(([, canonical]) => canonical)}::text[])
      as given (id, canonical)
    join node n on n.id_lower = lower(given.id)
    join node_stats s on s.node_id = n.id and s.listed
    join version v on v.node_id = n.id and v.canonical = given.canonical
      and v.archive_state not in ('expired', 'replaced')
      and v.status <> 'NodeVersionStatusDeleted' and v.host_node_extract_status = 'success'
    join ${namesOf(sql)} h on h.version_id = v.id
    join unnest(${used.map(({ name }) => name)}::text[], ${used.map(({ pack }) => pack ?? null)}::text[])
      as asked (name, pack) on asked.name = h.name
    where ${isAllowed(sql, sql`n.id`, sql`asked.name`)}
    order by asked.name, coalesce(n.id_lower = lower(asked.pack)
      or n.repository_key = 'github.com/' || lower(asked.pack), false) desc, s.search_ranking, n.id
  `

/** Versions of one name that are looked through for the last: of a name that is gone there are some hundred. */
const HOLDERS = 1_000

/** The last version that had each name, of the pack that it was saved with, or else of the first by ranking. */
export const findLast = async (
  sql: Queryable,
  asked: readonly { name: string; nodeId: string | undefined }[],
): Promise<(LastVersion & { name: string })[]> =>
  await sql`
    select asked.name, last.node_id, last.version
    from unnest(${asked.map(({ name }) => name)}::text[],
      ${asked.map(({ nodeId }) => nodeId ?? null)}::text[]) as asked (name, node_id)
    cross join lateral (
      select v.node_id, v.version
      from (select version_id from host_node where host_node_name = asked.name limit ${HOLDERS}) h
      join version v on v.id = h.version_id
        and v.status = 'NodeVersionStatusActive' and v.host_node_extract_status = 'success'
      join node_stats s on s.node_id = v.node_id and s.listed
      where ${isAllowed(sql, sql`v.node_id`, sql`asked.name`)}
      order by (v.node_id is not distinct from asked.node_id) desc, s.search_ranking, s.created_at, v.node_id,
        v.major desc, v.minor desc, v.patch desc, v.pre_key desc
      limit 1
    ) last
  `

/** The condition that a pack's host node of this name is not banned. */
const isAllowed = (sql: Queryable, nodeId: Fragment, name: Fragment) => sql`
  not exists (select from node_host_policy y
    where y.node_id = ${nodeId} and y.host_node_name = ${name} and y.policy = 'HostNodePolicyBanned')
`

/** Packs that a workflow was saved with, by the name of the host node that they have no claim of. */
export const findRecorded = async (
  sql: Queryable,
  given: readonly Recorded[],
): Promise<(Pick<Claim, 'name' | 'nodeId' | 'nodeName'> & { latestId: string | null })[]> =>
  await sql`
    select distinct on (asked.name) asked.name, n.id as "nodeId", n.name as "nodeName",
      n.latest_version_id as "latestId"
    from unnest(${given.map(({ name }) => name)}::text[], ${given.map(({ pack }) => pack)}::text[])
      as asked (name, pack)
    cross join lateral (
      select id from node where id_lower = lower(asked.pack)
      union all
      select id from node where repository_key = 'github.com/' || lower(asked.pack)
    ) found
    join node n on n.id = found.id
    join node_stats s on s.node_id = found.id and s.listed
    where ${isAllowed(sql, sql`n.id`, sql`asked.name`)}
    order by asked.name, s.search_ranking, n.id
  `

/** Finds which of these names the host itself has, as an operator has said; undefined before. */
export const findBuiltIn = async (
  sql: Queryable,
  names: readonly string[],
): Promise<string[] | undefined> => {
  const [row] = await sql<{ isGiven: boolean; names: string[] }[]>`
    select exists (select from built_in_host_node) as "isGiven", array(
      select name from built_in_host_node where name = any(${[...names]}::text[])) as names
  `
  return row?.isGiven ? row.names : undefined
}

/** Replaces the names that the host itself has. Between the two statements it has more of them, not fewer. */
export const putBuiltIn = async (sql: Queryable, names: readonly string[]): Promise<void> => {
  await sql`
    insert into built_in_host_node (name) select unnest(${[...names]}::text[]) on conflict do nothing
  `
  await sql`delete from built_in_host_node where name <> all(${[...names]}::text[])`
}

/** A version that may be installed. */
export interface Candidate extends Omit<LockedPack, 'node'> {
  id: string
  nodeId: string
  isRead: boolean
  deprecated: boolean
  dependencies: string[]
  supported_host_version: string | null
}

/** Versions of one pack that are looked through for one that fits. */
const CANDIDATES = 20

/** Active versions of packs that run on these platforms, of each the wanted one, where it is given and there, and then the newest first. */
export const findCandidates = async (
  sql: Queryable,
  {
    packs,
    publicUrl,
    os,
    accelerators,
  }: {
    packs: readonly { nodeId: string; wanted?: string | undefined }[]
    publicUrl: string
    os?: readonly string[] | undefined
    accelerators?: readonly string[] | undefined
  },
): Promise<Candidate[]> =>
  await sql<Candidate[]>`
    select v.id, n.id as "nodeId", v.version, v.deprecated, v.dependencies, a.sha256,
      v.host_node_extract_status = 'success' as "isRead",
      coalesce(v.supported_host_version, n.supported_host_version) as supported_host_version,
      ${publicUrl}::text || '/archives/' || n.publisher_id || '/' || n.id || '/'
        || replace(v.version, '+', '%2B') || '/node.zip' as url
    from unnest(${packs.map(({ nodeId }) => nodeId)}::text[],
      ${packs.map(({ wanted = '' }) => parseVersionNumber(wanted)?.canonical ?? null)}::text[])
      with ordinality as asked (id, canonical, place)
    join node n on n.id = asked.id
    cross join lateral (
      select * from version v
      where v.node_id = n.id and v.status = 'NodeVersionStatusActive'
        ${os ? sql`and ${platformCondition(sql, sql`v.supported_os`, os)}` : sql``}
        ${accelerators ? sql`and ${platformCondition(sql, sql`v.supported_accelerators`, accelerators)}` : sql``}
      order by ${wantedFirst(sql)}, ${newestFirst(sql)}
      limit ${CANDIDATES}
    ) v
    join archive a on a.version_id = v.id
    order by asked.place, ${wantedFirst(sql)}, ${newestFirst(sql)}
  `

const wantedFirst = (sql: Queryable) => sql`(v.canonical is not distinct from asked.canonical) desc`

/** Finds the packs without an active version, and whether the host nodes of any of their versions were read. */
export const findInactive = async (
  sql: Queryable,
  nodeIds: readonly string[],
): Promise<Map<string, { wasRead: boolean }>> => {
  const rows = await sql<{ id: string; wasRead: boolean }[]>`
    select n.id, exists (
        select from version v where v.node_id = n.id and v.host_node_extract_status = 'success'
      ) as "wasRead"
    from node n
    where n.id = any(${[...nodeIds]}::text[]) and n.latest_version_id is null
  `
  return new Map(rows.map(({ id, ...facts }) => [id, facts]))
}

/** Finds of versions whose host nodes are not known how their reading went, by the id of the version. */
export const findUnread = async (
  sql: Queryable,
  versionIds: readonly string[],
): Promise<Map<string, Reading>> => {
  const rows = await sql<(Reading & { id: string })[]>`
    select v.id, v.version, v.host_node_extract_status as status,
      case when v.host_node_extract_status = 'failed' then ${extractAdvice(sql)} end as advice
    from version v
    where v.id = any(${[...versionIds]}::uuid[]) and v.host_node_extract_status <> 'success'
  `
  return new Map(rows.map(({ id, ...reading }) => [id, reading]))
}

/** Finds which of these names a version has replaced, and by what. */
export const findReplacements = async (
  sql: Queryable,
  versionId: string,
  names: readonly string[],
): Promise<Map<string, Replacement>> => {
  const rows = await sql<{ name: string; replacement: Replacement }[]>`
    select name, replaced_by as replacement from workflow_name
    where version_id = ${versionId} and name = any(${[...names]}::text[]) and replaced_by is not null
  `
  return new Map(rows.map(({ name, replacement }) => [name, replacement]))
}

/** Finds which of the names asked for each version has, by the id of the version. */
export const findNamesOf = async (
  sql: Queryable,
  asked: readonly { versionId: string; name: string }[],
): Promise<Map<string, string[]>> => {
  const rows = await sql<{ id: string; names: string[] }[]>`
    select asked.id, array_agg(h.name order by h.name) as names
    from unnest(${asked.map(({ versionId }) => versionId)}::uuid[],
      ${asked.map(({ name }) => name)}::text[]) as asked (id, name)
    join ${namesOf(sql)} h on h.version_id = asked.id and h.name = asked.name
    group by asked.id
  `
  return new Map(rows.map(({ id, names }) => [id, names]))
}
