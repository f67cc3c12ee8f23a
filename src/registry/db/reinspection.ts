import type { NodesSection } from '../../../packages/inspector/src/inspection.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { putDerivedHostNodes, putExtraction } from './extraction.ts'
import { lockNodeOfVersion } from './registry-lock.ts'

/** A version whose archive may be read again. */
export interface Inspected {
  versionId: string
  nodeId: string
  version: string
}

export interface InspectedFilter {
  /** Leaves out archives that an extractor or scanner of this version or a later one has read. */
  below: number
  nodeId?: string | undefined
  limit: number
}

/** Versions with an accepted archive that only older extractors have read, oldest reading first. */
export const listOlderExtractions = async (
  sql: Sql,
  { below, nodeId, limit }: InspectedFilter,
): Promise<Inspected[]> =>
  await sql<Inspected[]>`
    select v.id as "versionId", v.node_id as "nodeId", v.version
    from version v join archive a on a.version_id = v.id
    left join lateral (
      select max(extractor_version) as latest from extraction e
      where e.version_id = v.id and e.sha256 = a.sha256) e on true
    where ${isInspected(sql)} ${ofNode(sql, nodeId)} and coalesce(e.latest, 0) < ${below}
    order by e.latest nulls first, v.created_at, v.id
    limit ${limit}
  `

/** The same of scans. */
export const listOlderScans = async (
  sql: Sql,
  { below, nodeId, limit, scanner }: InspectedFilter & { scanner: string },
): Promise<Inspected[]> =>
  await sql<Inspected[]>`
    select v.id as "versionId", v.node_id as "nodeId", v.version
    from version v join archive a on a.version_id = v.id
    left join scan s on s.version_id = v.id and s.scanner = ${scanner} and s.sha256 = a.sha256
    where ${isInspected(sql)} ${ofNode(sql, nodeId)} and coalesce(s.scanner_version, 0) < ${below}
    order by s.scanner_version nulls first, v.created_at, v.id
    limit ${limit}
  `

const isInspected = (sql: Queryable) => sql`
  v.status <> 'NodeVersionStatusDeleted' and v.archive_state = 'accepted'
`

const ofNode = (sql: Queryable, nodeId: string | undefined) =>
  nodeId === undefined
    ? sql``
    : sql`and v.node_id = (select id from node where id_lower = lower(${nodeId}))`

/** Changes by a new reading. */
export interface Reextracted {
  /** `kept`: the new reading is partial and loses a name, or it failed; a person has to look. */
  outcome: 'replaced' | 'kept'
  gained: string[]
  lost: string[]
}

/** The outcome of a new reading that is stored already. */
export const findReextraction = async (
  sql: Queryable,
  {
    versionId,
    sha256,
    extractorVersion,
  }: { versionId: string; sha256: string; extractorVersion: number },
): Promise<Reextracted | undefined> => {
  const [row] = await sql<Reextracted[]>`
    select coalesce(outcome, 'replaced') as outcome, gained, lost from extraction
    where version_id = ${versionId} and sha256 = ${sha256} and extractor_version = ${extractorVersion}
  `
  return row
}

/**
 * Stores a new reading. Its host nodes replace the earlier ones, unless it failed where an earlier reading did not, or
 * is partial and loses a name. A trusted report stays, too.
 */
export const putReextraction = async (
  sql: Transaction,
  { versionId, sha256 }: { versionId: string; sha256: string },
  section: NodesSection,
): Promise<Reextracted> => {
  await lockNodeOfVersion(sql, versionId)
  const names = await listNames(sql, versionId)
  const found = new Set(section.nodes.map(({ name }) => name))
  const gained = [...found].filter((name) => !names.has(name)).toSorted()
  const lost = [...names].filter((name) => !found.has(name)).toSorted()
  const isWorse = section.status === 'failed' ? names.size > 0 : section.partial && lost.length > 0
  const put = isWorse ? 'kept' : await putDerivedHostNodes(sql, versionId, section)
  const outcome = put === 'done' ? 'replaced' : 'kept'
  await putExtraction(sql, { versionId, sha256 }, section)
  await sql`
    update extraction set outcome = ${outcome}, gained = ${gained}, lost = ${lost}, nodes = null
    where version_id = ${versionId} and sha256 = ${sha256}
      and extractor_version = ${section.extractorVersion}
  `
  return { outcome, gained, lost }
}

const listNames = async (sql: Transaction, versionId: string): Promise<Set<string>> => {
  const rows = await sql<{ name: string }[]>`
    select host_node_name as name from host_node h
    join version v on v.id = h.version_id and v.host_node_extract_status = 'success'
    where h.version_id = ${versionId}
  `
  return new Set(rows.map(({ name }) => name))
}
