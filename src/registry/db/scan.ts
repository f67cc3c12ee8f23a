import type { Finding, FindingCounts } from '../domain/finding.ts'
import type { FindingsSection, ScannedFinding } from '../../../packages/inspector/src/inspection.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { recordListChange } from './search/listed-count.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import { updateLatestVersion } from './version-transition.ts'
import { toStorable } from '../../platform/db/storable-text.ts'

/** Most `tags_admin` of a version. */
export const TAGS_MAX = 50

/**
 * Stores a scan with its findings in place of the scanner's earlier one, and its tags among the version's. Drops a scan
 * of bytes that were replaced meanwhile: an attempt that was given up may go on, and come after the scan of the new
 * bytes.
 */
export const putScan = async (
  sql: Transaction,
  { versionId, sha256 }: { versionId: string; sha256: string },
  { scanner, scannerVersion, complete, counts, findings, tags }: FindingsSection,
): Promise<void> => {
  const node = await lockNodeOfVersion(sql, versionId)
  const [scanned] = await sql`
    select from archive where version_id = ${versionId} and sha256 = ${sha256}
  `
  if (!node || !scanned) return
  await sql`
    insert into scan (version_id, scanner, scanner_version, sha256, complete, high, medium, info)
    values (${versionId}, ${scanner}, ${scannerVersion}, ${sha256}, ${complete}, ${counts.high},
      ${counts.medium}, ${counts.info})
    on conflict (version_id, scanner) do update set
      scanner_version = excluded.scanner_version, sha256 = excluded.sha256,
      complete = excluded.complete, high = excluded.high, medium = excluded.medium,
      info = excluded.info, scanned_at = excluded.scanned_at
  `
  await sql`delete from finding where version_id = ${versionId} and scanner = ${scanner}`
  await sql`
    insert into finding (version_id, scanner, position, issue_type, severity, file_path, line_number,
      code_snippet, message)
    select ${versionId}::uuid, ${scanner}, position, issue_type, severity, file_path, line_number,
      code_snippet, message
    from rows from (json_to_recordset(${sql.json(findings.map(toRow) as never)}::json) as (
      issue_type text, severity text, file_path text, line_number integer, code_snippet text,
      message text)) with ordinality
      as given (issue_type, severity, file_path, line_number, code_snippet, message, position)
  `
  await sql`
    update version set
      tags_admin = (select coalesce(array_agg(tag), '{}') from (
        select tag from unnest(tags_admin) tag where tag not like 'security:%'
        union all
        select tag from unnest(${tags}::text[]) tag
        limit ${TAGS_MAX}) kept),
      rev = rev + 1
    where id = ${versionId}
  `
  await updateLatestVersion(sql, node.id)
  await recordListChange(sql)
}

/** Most texts come from the pack, so they may hold NUL. */
const toRow = (finding: ScannedFinding) => ({
  ...finding,
  file_path: finding.file_path && toStorable(finding.file_path),
  code_snippet: finding.code_snippet && toStorable(finding.code_snippet),
  message: toStorable(finding.message),
})

/** Forgets the scan of a version, so that its archive is scanned again. */
export const forgetScan = async (sql: Transaction, versionId: string): Promise<void> => {
  await sql`delete from finding where version_id = ${versionId}`
  await sql`delete from scan where version_id = ${versionId}`
}

/** Findings in the bytes that a version now has, all scanners together. */
interface ScanSummary {
  complete: boolean
  counts: FindingCounts
  /** The first of high severity. */
  worst: Pick<Finding, 'message'> | null
  scanned_at: string
}

/** Undefined before a scan of these bytes has ended. */
export const findScan = async (
  sql: Queryable,
  versionId: string,
): Promise<ScanSummary | undefined> => {
  const [row] = await sql<{ scan: ScanSummary | null }[]>`
    select (
      select json_build_object(
        'complete', bool_and(s.complete),
        'counts', json_build_object('high', sum(s.high), 'medium', sum(s.medium), 'info', sum(s.info)),
        'worst', (
          select json_build_object('message', message)
          from finding f where f.version_id = ${versionId} and severity = 'high'
          order by scanner, position limit 1),
        'scanned_at', ${instant(sql, sql`max(s.scanned_at)`)})
      from scan s join archive a on a.version_id = s.version_id and a.sha256 = s.sha256
      where s.version_id = ${versionId}
      having count(*) > 0
    ) as scan
  `
  return row?.scan ?? undefined
}

interface ScanKey {
  versionId: string
  sha256: string
  scanner: string
  scannerVersion: number
}

export const hasScan = async (
  sql: Queryable,
  { versionId, sha256, scanner, scannerVersion }: ScanKey,
): Promise<boolean> => {
  const [row] = await sql`
    select from scan
    where version_id = ${versionId} and sha256 = ${sha256} and scanner = ${scanner}
      and scanner_version = ${scannerVersion}
  `
  return row !== undefined
}

/**
 * All findings of a version, the worst of each scanner first.
 * @param isNamed whether findings about another version name it
 */
export const listFindings = async (
  sql: Queryable,
  versionId: string,
  isNamed: boolean,
): Promise<Finding[]> => {
  const rows = await sql<{ finding: Finding }[]>`
    select json_strip_nulls(json_build_object('id', f.id, 'issue_type', issue_type, 'severity', severity,
      'file_path', file_path, 'line_number', line_number, 'code_snippet', code_snippet,
      'message', message, 'scanner', f.scanner, 'scanner_version', s.scanner_version::text, 'same_as', (
        select o.node_id || '@' || o.version from version o
        where o.id = f.other_version_id and ${isNamed}))) as finding
    from finding f join scan s on s.version_id = f.version_id and s.scanner = f.scanner
    where f.version_id = ${versionId}
    order by f.scanner, position
  `
  return rows.map(({ finding }) => finding)
}
