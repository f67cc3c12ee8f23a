import type { Fragment, Queryable } from '../../platform/db/client.ts'
import { ADVICE, adviceOf } from '../../../packages/inspector/src/advice.ts'
import { instant } from '../../platform/db/instant.ts'

/**
 * The database makes the records of the registry. Members stand in the order of the interface; those without a value
 * are removed once, from the whole, at every depth. Each fragment reads the aliases that its comment names.
 */

/** Builds JSON from `publisher p` with its members; the caller takes e-mail addresses out. */
export const publisherWithMembersJson = (sql: Queryable, publicUrl: string) => sql`
  json_strip_nulls(json_build_object(${publisherMembers(sql, publicUrl)},
    'members', coalesce((
      select json_agg(${memberJson(sql)} order by m.created_at, m.id)
      from publisher_member m join app_user u on u.id = m.user_id
      where m.publisher_id = p.id
    ), '[]')))
`

const publisherMembers = (sql: Queryable, publicUrl: string) => sql`
  'id', p.id, 'name', p.name, 'description', p.description,
  'logo', coalesce(p.logo, ${publicUrl}::text || '/publishers/' || p.id || '/logo?v=' || p.logo_picture),
  'source_code_repo', p.source_code_repo, 'website', p.website, 'support', p.support,
  'status', p.status, 'createdAt', ${instant(sql, sql`p.created_at`)}
`

/** Builds JSON from `publisher_member m` and `app_user u`. */
export const memberJson = (sql: Queryable) => sql`
  json_strip_nulls(json_build_object('id', m.id, 'role', m.role,
    'user', json_build_object('id', u.id, 'name', u.name, 'email', u.email)))
`

/** Builds JSON from `node n`, `node_stats s`, `publisher p` and, where there is one, the latest `version v`. */
export const nodeJson = (sql: Queryable, publicUrl: string) => sql`
  json_strip_nulls(json_build_object(
    'id', n.id, 'name', n.name, 'author', n.author, 'description', coalesce(n.description, ''),
    'banner_url', coalesce(n.banner_url,
      ${publicUrl}::text || '/nodes/' || n.id || '/banner?v=' || n.banner_picture),
    'icon', coalesce(n.icon, ${publicUrl}::text || '/nodes/' || n.id || '/icon?v=' || n.icon_picture),
    'category', n.category, 'license', n.license,
    'repository', n.repository, 'translations', n.translations, 'tags', n.tags,
    'supported_os', n.supported_os, 'supported_accelerators', n.supported_accelerators,
    'supported_host_version', n.supported_host_version,
    'supported_host_frontend_version', n.supported_host_frontend_version,
    'status', n.status, 'status_detail', n.status_detail,
    'created_at', ${instant(sql, sql`n.created_at`)}, 'downloads', s.downloads,
    'github_stars', n.github_stars,
    'stars_updated_at', case when n.stars_by_admin is null then ${instant(sql, sql`n.stars_updated_at`)} end,
    'rating', ${ratingOf(sql)}, 'rating_count', s.rating_count,
    'search_ranking', s.search_ranking,
    'preempted_host_node_names', n.preempted_host_node_names, 'tags_admin', n.tags_admin,
    'publisher', json_build_object(${publisherMembers(sql, publicUrl)}),
    'availability', case when v.id is null then 'none' when v.deprecated then 'deprecated' else 'available' end,
    'latest_version',
      case when v.id is not null then json_build_object(${versionMembers(sql, publicUrl)}) end))
`

/** Mean of the reviews that count, which trigger `rating_counted` (0034) counts in `node_stats s`. */
const ratingOf = (sql: Queryable) => sql`
  coalesce(round(s.rating_sum::numeric / nullif(s.rating_count, 0), 2), 0)::float8
`

/** Builds JSON from `node n` that nobody may see any more. Members of a banned publisher alone know why it is. */
export const removedNodeJson = (sql: Queryable) => sql`
  json_strip_nulls(json_build_object('id', n.id,
    'status', case n.status when 'NodeStatusActive' then 'NodeStatusBanned' else n.status end,
    'status_detail', case n.status when 'NodeStatusActive' then 'Its publisher is banned.'
      else n.status_detail end))
`

/** Bytes of the members of `nodeJson` that may be long. */
export const nodeBytes = (sql: Queryable) => sql`
  stored_bytes(n.license) + stored_bytes(n.translations) + stored_bytes(n.tags)
    + stored_bytes(n.supported_os) + stored_bytes(n.supported_accelerators)
    + stored_bytes(n.preempted_host_node_names) + ${versionBytes(sql)}
`

/** Differs whenever `nodeJson` does: revisions of node, publisher and latest version, downloads and reviews. */
export const nodeRevision = (sql: Queryable) =>
  sql`concat_ws('.', n.rev, p.rev, v.rev, s.downloads, s.rating_count, s.rating_sum)`

/** The rows `nodeJson` reads, of nodes that `node n` names already. */
export const joinNode = (sql: Queryable) => sql`
  join node_stats s on s.node_id = n.id
  join publisher p on p.id = n.publisher_id
  left join version v on v.id = n.latest_version_id
`

/** Builds JSON from `version v` and its `node n`. */
export const versionJson = (sql: Queryable, publicUrl: string, more: Fragment = sql``) =>
  sql`json_strip_nulls(json_build_object(${versionMembers(sql, publicUrl)} ${more}))`

/** Bytes of the members of `versionJson` that may be long. */
export const versionBytes = (sql: Queryable) => sql`
  stored_bytes(v.changelog) + stored_bytes(v.dependencies) + stored_bytes(v.tags)
    + stored_bytes(v.supported_os) + stored_bytes(v.supported_accelerators)
`

/** Why the host nodes of a version were not read; the text of a report is for members. */
const extractCode = (sql: Queryable) => sql`
  case when v.extract_source = 'derived' then coalesce(v.extract_reason, 'crashed') else 'reported' end
`

/** The sentence of that code. */
export const extractAdvice = (sql: Queryable) => sql`
  (select coalesce(advice ->> code, advice ->> regexp_replace(code, '^(archive|budget)_.*$', '\\1'),
    ${adviceOf('crashed')}::text)
    from (select ${JSON.stringify(ADVICE)}::text::json as advice, ${extractCode(sql)} as code) as read)
`

const versionMembers = (sql: Queryable, publicUrl: string) => sql`
  'id', v.id, 'node_id', v.node_id, 'version', v.version, 'status', v.status,
  'status_reason', v.status_reason, 'changelog', v.changelog,
  'createdAt', ${instant(sql, sql`v.created_at`)},
  'dependencies', v.dependencies, 'deprecated', v.deprecated,
  'downloadUrl', case when v.status = 'NodeVersionStatusActive' then
    ${publicUrl}::text || '/archives/' || n.publisher_id || '/' || n.id || '/'
      || replace(v.version, '+', '%2B') || '/node.zip' end,
  'host_node_extract_status', v.host_node_extract_status,
  'host_node_extract_reason',
    case when v.host_node_extract_status = 'failed' then ${extractCode(sql)} end,
  'host_node_extract_advice',
    case when v.host_node_extract_status = 'failed' then ${extractAdvice(sql)} end,
  'host_nodes', case when v.host_node_count is not null then
    json_build_object('count', v.host_node_count, 'partial', v.host_node_partial,
      'source', v.extract_source, 'updated_at', ${instant(sql, sql`v.host_nodes_at`)}) end,
  'license_id', v.license_id, 'tags', v.tags,
  'tags_admin', v.tags_admin, 'supported_os', v.supported_os,
  'supported_accelerators', v.supported_accelerators,
  'supported_host_version', v.supported_host_version,
  'supported_host_frontend_version', v.supported_host_frontend_version,
  'provenance', v.provenance
`
