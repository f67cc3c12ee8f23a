import type { VersionFindings } from '../../domain/registry/finding.ts'
import type { Queryable, Transaction } from '../client.ts'

/** Stands for the registry among the scanners: what it finds is in no archive alone. */
const SCANNER = 'registry'

const SAME_CONTENT =
  'A platform admin banned or flagged this content before: publish other code, or ask for a review'
const SAME_FILE = 'The file is that of a banned version: a platform admin compares them'

/** Most files that are named. */
const FILES_MAX = 50

/**
 * Stores as findings that a version has the content of one that a platform admin has banned or flagged, of whatever
 * node, which flags it; and files of banned versions, which does not, because most files of a mended pack stay. In the
 * transaction that decides: a ban of the same content that is being written is waited for.
 */
export const putContentFindings = async (sql: Transaction, versionId: string): Promise<void> => {
  // Its counterpart is in `note_content_decision` (0029), which triggers run at each decision of a platform admin.
  await sql`
    select pg_advisory_xact_lock_shared(hashtextextended('content ' || content, 0))
    from archive where version_id = ${versionId} and content is not null
  `
  await sql`delete from finding where version_id = ${versionId} and scanner = ${SCANNER}`
  await sql`delete from scan where version_id = ${versionId} and scanner = ${SCANNER}`
  await sql`
    with own as (
      select sha256, content, files from archive where version_id = ${versionId}
    ), hit as (
      select 'banned-content' as rule, 'high' as severity, null as path, ${SAME_CONTENT}::text as message,
        b.version_id as other
      from own join banned_content b on b.content = own.content
      union all
      (
        select distinct on (f.path) 'banned-file', 'medium', f.path, ${SAME_FILE}::text, b.version_id
        from own
        cross join lateral json_to_recordset(own.files) as f (path text, sha256 text)
        join banned_file b on b.sha256 = f.sha256
        where not exists (select from banned_content b where b.content = own.content)
        order by f.path, b.version_id
        limit ${FILES_MAX}
      )
    ), scanned as (
      insert into scan (version_id, scanner, scanner_version, sha256, complete, high, medium, info)
      select ${versionId}::uuid, ${SCANNER}, 1, own.sha256, true,
        count(*) filter (where severity = 'high'), count(*) filter (where severity = 'medium'), 0
      from own cross join hit
      group by own.sha256
    )
    insert into finding (version_id, scanner, position, issue_type, severity, file_path, message,
      other_version_id)
    select ${versionId}::uuid, ${SCANNER}, row_number() over (order by severity, path), rule, severity,
      path, message, other
    from hit
  `
}

type SameContent = NonNullable<VersionFindings['same_content']>

/** Most versions that are named. */
const SAME_MAX = 100

/** Lists the other versions that have the content of one, newest first; for platform admins. */
export const listSameContent = async (sql: Queryable, versionId: string): Promise<SameContent> => [
  ...(await sql<SameContent>`
    select v.node_id, v.version, v.status
    from archive own
    join archive a on a.content = own.content and a.version_id <> own.version_id
    join version v on v.id = a.version_id and v.status <> 'NodeVersionStatusDeleted'
    where own.version_id = ${versionId}
    order by v.created_at desc, v.id
    limit ${SAME_MAX}
  `),
]
