import type { MemberRole } from '../domain/member.ts'
import type { ArchiveState, Version, VersionStatus, VersionUpdate } from '../domain/version.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { keepFlag, keepText, keepTexts } from './keep.ts'
import { transitionVersion, updateLatestVersion } from './version-transition.ts'
import { recordListChange } from './search/listed-count.ts'
import { joinRole, nodeFactColumns } from './node.ts'
import type { NodeFacts, RecordOptions } from './node.ts'
import { versionJson } from './registry-json.ts'
import { lockNode } from './registry-lock.ts'

/** Key of a version: its id in the paths of its publisher, its canonical form in the paths that everybody reads. */
export type VersionKey = { id: string } | { canonical: string }

/** A version that expired or was replaced is not found by its canonical form, which was free again. */
const isVersion = (sql: Queryable, key: VersionKey) =>
  'id' in key
    ? sql`v.id = ${key.id}::uuid`
    : sql`v.canonical = ${key.canonical} and v.archive_state not in ('expired', 'replaced')`

/** A version whose id is known to be one; with its first findings for whoever may see them. */
export const getVersion = async (
  sql: Queryable,
  id: string,
  { publicUrl, withFindings = false }: RecordOptions & { withFindings?: boolean },
): Promise<Version> => {
  const findings = withFindings ? sql`, 'findings', first_findings(v.id)` : sql``
  const [row] = await sql<{ version: Version }[]>`
    select ${versionJson(sql, publicUrl, findings)} as version
    from version v join node n on n.id = v.node_id
    where v.id = ${id}
  `
  if (!row) throw new Error('a version that is not there')
  return row.version
}

/** Finds the newest pre-release that stands above the latest version of a node; undefined where none does. */
export const findPreRelease = async (
  sql: Queryable,
  nodeId: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ id: string }[]>`
    select v.id
    from node n
    join version l on l.id = n.latest_version_id
    cross join lateral (
      select id, major, minor, patch, pre_key from version
      where node_id = n.id and status = 'NodeVersionStatusActive' and pre_key <> '~' and not deprecated
      order by major desc, minor desc, patch desc, pre_key desc
      limit 1
    ) v
    where n.id = ${nodeId}
      and (v.major, v.minor, v.patch, v.pre_key) > (l.major, l.minor, l.patch, l.pre_key)
  `
  return row?.id
}

/** Facts of a version and its node that authorize a request and validate its cached response. */
export interface VersionFacts {
  node: NodeFacts
  id: string
  version: string
  status: VersionStatus
  reason: string
  archiveState: ArchiveState
  /** Revision that If-Match compares. */
  rev: number
  /** Differs whenever the version's response does. */
  revision: string
  /** It is decided on, and its host nodes are read. */
  hasSettled: boolean
  /** True when host nodes may be missing; null while they have not been read. */
  isPartial: boolean | null
}

export const findVersionFacts = async (
  sql: Queryable,
  { nodeId, key, userId }: { nodeId: string; key: VersionKey; userId: string | undefined },
): Promise<VersionFacts | undefined> => {
  const [row] = await sql<(NodeFacts & VersionColumns & { role: MemberRole | null })[]>`
    select ${nodeFactColumns(sql)}, concat_ws('.', n.rev, p.rev) as revision,
      v.id as "versionId", v.version, v.status as "versionStatus", v.status_reason as reason,
      v.archive_state as "archiveState", v.rev as "versionRev",
      v.status <> 'NodeVersionStatusPending' and (
        v.host_node_extract_status not in ('pending', 'reported') or v.archive_state not in ('received', 'accepted')) as "hasSettled",
      v.host_node_partial as "isPartial"
    from node n
    join publisher p on p.id = n.publisher_id
    join version v on v.node_id = n.id
    ${joinRole(sql, userId)}
    where n.id_lower = lower(${nodeId}::text) and ${isVersion(sql, key)}
  `
  if (!row) return undefined
  const {
    versionId,
    version,
    versionStatus: status,
    reason,
    archiveState,
    versionRev: rev,
    hasSettled,
    isPartial,
    ...node
  } = row
  return {
    node,
    id: versionId,
    version,
    status,
    reason,
    archiveState,
    rev,
    // With the id: a number that is free again is published as another version.
    revision: `${rev}.${versionId}`,
    hasSettled,
    isPartial,
  }
}

type VersionColumns = Omit<VersionFacts, 'node' | 'id' | 'status' | 'rev' | 'revision'> & {
  versionId: string
  versionStatus: VersionStatus
  versionRev: number
}

/** A version by the id in a path of its node's publisher. */
interface OwnVersion {
  publisherId: string
  nodeId: string
  id: string
}

interface VersionEdit extends OwnVersion {
  fields: VersionUpdate
  /** The revision that the caller has seen (If-Match). */
  ifRev?: number | undefined
}

/** Why tags or dependencies stay: somebody has the version, or it was checked without the new dependencies. */
type Settled = 'version_installed' | 'version_checked'

type VersionUpdated =
  | { result: 'updated'; version: Version; before: Version }
  | {
      result:
        | 'node_not_found'
        | 'node_banned'
        | 'version_not_found'
        | 'precondition_failed'
        | Settled
    }

/**
 * Sets changelog and deprecation, which may change which version is the latest; and tags and dependencies until the
 * first install, because whoever has the version has them, too. The scan reads dependencies with the archive: none is
 * added once that is there.
 */
export const updateVersion = async (
  sql: Transaction,
  { fields, ifRev, ...own }: VersionEdit,
  options: RecordOptions,
): Promise<VersionUpdated> => {
  const found = await lockOwnVersion(sql, own)
  if (typeof found === 'string') return { result: found }
  if (ifRev !== undefined && ifRev !== found.rev) return { result: 'precondition_failed' }
  const { dependencies, tags } = fields
  if (dependencies ?? tags) {
    const settled = await findSettled(sql, own.id, fields)
    if (settled) return { result: settled }
  }
  const before = await getVersion(sql, own.id, options)
  await sql`
    update version
    set ${keepText(sql, 'changelog', fields.changelog)},
      ${keepFlag(sql, 'deprecated', fields.deprecated)},
      ${keepTexts(sql, 'dependencies', dependencies)},
      ${keepTexts(sql, 'tags', tags)},
      rev = rev + 1
    where id = ${own.id}
  `
  await updateLatestVersion(sql, found.nodeId)
  await recordListChange(sql)
  return { result: 'updated', version: await getVersion(sql, own.id, options), before }
}

/** Finds why a version that is locked keeps its tags and dependencies; equal ones change nothing. */
const findSettled = async (
  sql: Transaction,
  id: string,
  { dependencies, tags }: VersionUpdate,
): Promise<Settled | undefined> => {
  const [row] = await sql<{ settled: Settled }[]>`
    select case when installed then 'version_installed' else 'version_checked' end as settled
    from (
      select
        dependencies <> coalesce(${dependencies ? [...dependencies] : null}::text[], dependencies)
          or tags <> coalesce(${tags ? [...tags] : null}::text[], tags) as changed,
        exists (select from download_day where version_id = v.id) as installed,
        archive_state <> 'awaiting'
          and not ${dependencies ? [...dependencies] : []}::text[] <@ dependencies as checked
      from version v where id = ${id}
    ) found
    where changed and (installed or checked)
  `
  return row?.settled
}

/** Deletes a version for its owner: a Banned one stays, and the number is never free again. */
export const deleteVersion = async (
  sql: Transaction,
  { userId, ...own }: OwnVersion & { userId: string },
): Promise<'deleted' | 'node_not_found' | 'node_banned' | 'version_not_found' | 'illegal_move'> => {
  const found = await lockOwnVersion(sql, own)
  if (typeof found === 'string') return found
  const isTransitioned = await transitionVersion(sql, {
    id: own.id,
    name: 'delete',
    actor: `user:${userId}`,
  })
  return isTransitioned ? 'deleted' : 'illegal_move'
}

/** Locks node and version; the id is a UUID. */
const lockOwnVersion = async (
  sql: Transaction,
  { publisherId, nodeId, id }: OwnVersion,
): Promise<
  { nodeId: string; rev: number } | 'node_not_found' | 'node_banned' | 'version_not_found'
> => {
  const node = await lockNode(sql, nodeId)
  if (!node || node.publisherId !== publisherId.toLowerCase()) return 'node_not_found'
  if (node.status === 'NodeStatusDeleted') return 'node_not_found'
  if (node.status === 'NodeStatusBanned') return 'node_banned'
  const [version] = await sql<{ rev: number }[]>`
    select rev from version
    where id = ${id} and node_id = ${node.id} and status <> 'NodeVersionStatusDeleted'
    for no key update
  `
  return version ? { nodeId: node.id, rev: version.rev } : 'version_not_found'
}
