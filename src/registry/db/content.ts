import type { SameContent } from '../domain/version.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { TAGS_MAX } from './scan.ts'

/** Rules with findings that flag nothing; they are shown as tags. */
const RULES = ['banned-file', 'banned-host-node', 'copied-host-node', 'look-alike-id']

/** Stands for the registry among the scanners: what it finds is in no archive alone. */
const SCANNER = 'registry'

const SAME_CONTENT =
  'A platform admin banned or flagged this content before: publish other code, or ask for a review'
const SAME_FILE = 'The file is that of a banned version or pack: a platform admin compares them'
const NEW_NAMES =
  'Host nodes of this pack are banned, and this version has names that the one before has not'
const COPIED_NAME =
  'A platform admin banned this host node in another pack, which has the same code'
const LIKE_ANOTHER = 'The id or name is that of a pack of another publisher but for marks'

const FILES_MAX = 50

/** Most names of host nodes that a finding shows. */
const NAMES_MAX = 5

/**
 * Stores findings that flag a version. It has the content of a version that a platform admin has banned or flagged, of
 * whatever node; or the content of a banned node or publisher; or the content of another node, and a host node that is
 * banned there. A node that has the content in an active version is not flagged by the ban of another: of two, nobody
 * knows who copied. Stores further findings that flag nothing, for platform admins to compare: files of what is banned,
 * or of a node where a host node of the version is banned; new names beside banned host nodes; in a first version, an
 * id like the id of another publisher's node. Stores nothing before the scan, so that it makes up no scan. Runs in the
 * transaction that decides: it waits for a ban of the same content that is being written.
 */
export const putContentFindings = async (sql: Transaction, versionId: string): Promise<void> => {
  // Its counterpart is in `record_content_decision` (0069), which triggers run at each decision of a platform admin.
  await sql`
    select pg_advisory_xact_lock_shared(hashtextextended('content ' || content, 0))
    from archive where version_id = ${versionId} and content is not null
  `
  await sql`delete from finding where version_id = ${versionId} and scanner = ${SCANNER}`
  await sql`delete from scan where version_id = ${versionId} and scanner = ${SCANNER}`
  await sql`
    with own as (
      select v.id, v.node_id, n.id_lower, n.publisher_id, n.name, n.latest_version_id, a.sha256, a.content, a.files,
        code_keys(a.files) as keys,
        exists (
          select from archive o join version w on w.id = o.version_id
          where o.content = a.content and w.node_id = v.node_id and w.status = 'NodeVersionStatusActive'
        ) as has_active
      from version v join node n on n.id = v.node_id join archive a on a.version_id = v.id
      where v.id = ${versionId}
        and exists (select from scan s where s.version_id = v.id and s.sha256 = a.sha256)
    ), banned as (
      select b.version_id from own join banned_content b on b.content = own.content
      union
      select v.id
      from own
      join archive a on a.content = own.content
      join version v on v.id = a.version_id
      join node n on n.id = v.node_id
      join publisher p on p.id = n.publisher_id
      where ${isBannedElsewhere(sql)}
    ), banned_files as (
      select b.sha256, b.version_id
      from own
      cross join lateral json_to_recordset(own.files) as f (sha256 text)
      join banned_file b on b.sha256 = f.sha256
      union
      select f.sha256, o.id
      from (
        -- One version of each node: to read the files of all takes 4 ms for each.
        select distinct on (n.id) v.id, a.files, own.keys
        from own
        join archive a on code_keys(a.files) && own.keys
        join version v on v.id = a.version_id
        join node n on n.id = v.node_id
        join publisher p on p.id = n.publisher_id
        where ${isBannedElsewhere(sql)}
        order by n.id, v.created_at, v.id
      ) o
      cross join lateral json_to_recordset(o.files) as f (sha256 text)
      where hashtextextended(f.sha256, 0) = any(o.keys)
    ), hit as (
      (
        select 'banned-content' as rule, 'high' as severity, null as path, ${SAME_CONTENT}::text as message,
          v.id as other
        from banned b join version v on v.id = b.version_id cross join own
        where v.node_id = own.node_id or not own.has_active
        order by v.created_at, v.id
        limit 1
      )
      union all
      (
        select distinct on (f.path) 'banned-file', 'medium', f.path, ${SAME_FILE}::text, b.version_id
        from own
        cross join lateral json_to_recordset(own.files) as f (path text, sha256 text)
        join banned_files b on b.sha256 = f.sha256
        where not exists (select from banned)
        order by f.path, b.version_id
        limit ${FILES_MAX}
      )
      union all
      select 'banned-host-node', 'medium', null, ${NEW_NAMES}::text || ': ' || (
        select string_agg(name, ', ' order by name) from (
          select h.host_node_name as name from host_node h
          where h.version_id = own.id and not exists (
            select from host_node o
            where o.version_id = own.latest_version_id and o.host_node_name = h.host_node_name)
          order by name limit ${NAMES_MAX}) shown), own.latest_version_id
      from own
      where exists (
        select from node_host_policy y
        where y.node_id = own.node_id and y.policy = 'HostNodePolicyBanned')
      union all
      (
        select 'copied-host-node',
          case when a.content = own.content and not own.has_active then 'high' else 'medium' end,
          null, ${COPIED_NAME}::text || ': ' || h.host_node_name, v.id
        from own
        join host_node h on h.version_id = own.id
        join node_host_policy y on y.host_node_name = h.host_node_name
          and y.policy = 'HostNodePolicyBanned' and y.node_id <> own.node_id
        join version v on v.node_id = y.node_id
        join archive a on a.version_id = v.id
        where a.content = own.content or code_keys(a.files) && own.keys
        order by a.content = own.content desc nulls last, v.created_at desc, h.host_node_name
        limit 1
      )
      union all
      (
        select 'look-alike-id', 'medium', null, ${LIKE_ANOTHER}::text || ': ' || o.id, o.latest_version_id
        from own cross join lateral (
          select * from node
          where regexp_replace(id_lower, '[-_.]+', '-', 'g') =
            regexp_replace(own.id_lower, '[-_.]+', '-', 'g')
          union
          select * from node where id_lower = lower(own.name)
        ) o
        where own.latest_version_id is null and o.publisher_id <> own.publisher_id
          and o.latest_version_id is not null and o.status = 'NodeStatusActive'
        order by o.created_at
        limit 1
      )
    ), found as (
      select * from hit where message is not null
    ), scanned as (
      insert into scan (version_id, scanner, scanner_version, sha256, complete, high, medium, info)
      select ${versionId}::uuid, ${SCANNER}, 1, own.sha256, true,
        count(*) filter (where severity = 'high'), count(*) filter (where severity = 'medium'), 0
      from own cross join found
      group by own.sha256
    ), tagged as (
      update version v set tags_admin = t.tags, rev = v.rev + 1
      from (
        select coalesce(array_agg(tag), '{}') as tags from (
          select tag from version, unnest(tags_admin) tag
          where id = ${versionId} and tag <> all(${RULES.map((rule) => `security:${rule}`)}::text[])
          union all
          select distinct 'security:' || rule from found where severity = 'medium'
          limit ${TAGS_MAX}) kept
      ) t
      where v.id = ${versionId} and v.tags_admin <> t.tags
    )
    insert into finding (version_id, scanner, position, issue_type, severity, file_path, message,
      other_version_id)
    select ${versionId}::uuid, ${SCANNER}, row_number() over (order by severity, rule, path), rule, severity,
      path, message, other
    from found
  `
}

/** Finds that `node n` or `publisher p` is banned, and that `own` is not of it. */
const isBannedElsewhere = (sql: Queryable) => sql`
  (n.status = 'NodeStatusBanned' and n.id <> own.node_id)
    or (p.status = 'PublisherStatusBanned' and p.id <> own.publisher_id)
`

/** Most versions that are named. */
const SAME_MAX = 100

interface Moderated {
  versionId?: string
  nodeId?: string
  publisherId?: string
}

/** Lists the versions beside a version, a node or a publisher that have content of it, newest first; for platform admins. */
export const listSameContent = async (sql: Queryable, of: Moderated): Promise<SameContent> => [
  ...(await sql<SameContent>`
    with own as (
      select distinct a.content
      from version v join node n on n.id = v.node_id join archive a on a.version_id = v.id
      where ${isOf(sql, of)}
    )
    select v.node_id, v.version, v.status
    from own
    join archive a on a.content = own.content
    join version v on v.id = a.version_id and v.status <> 'NodeVersionStatusDeleted'
    join node n on n.id = v.node_id
    where not (${isOf(sql, of)})
    order by v.created_at desc, v.id
    limit ${SAME_MAX}
  `),
]

const isOf = (sql: Queryable, { versionId, nodeId, publisherId }: Moderated) => {
  if (versionId !== undefined) return sql`v.id = ${versionId}`
  return nodeId === undefined ? sql`n.publisher_id = ${publisherId ?? null}` : sql`n.id = ${nodeId}`
}
