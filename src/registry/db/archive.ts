import type { ArchiveFile } from '../../../packages/inspector/src/inspection.ts'
import type { ArchiveState, VersionStatus } from '../domain/version.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import type { OutboxSignal } from '../../platform/db/outbox.ts'
import { purgeBatch } from '../../platform/db/purge.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import { newestTransition, transitionVersion } from './version-transition.ts'

/** An upload that began in time may end this much after its deadline. */
export const UPLOAD_GRACE_SECONDS = 300

/** Bytes that one upload has put into the store; the key holds the digest, so that no other upload writes there. */
export interface StoredArchive {
  storageKey: string
  /** Lower-case hex. */
  sha256: string
  bytes: number
}

/** State of a version and its archive. */
export interface ArchivePlace {
  versionId: string
  nodeId: string
  /** Requirements that the publication named. */
  dependencies: string[]
  /** As its node names it. */
  license: string | null
  status: VersionStatus
  archiveState: ArchiveState
  /** The bytes, once they have arrived. */
  archive: StoredArchive | null
  /** Seconds until an upload that began in time must have ended; not above zero: it is over. */
  secondsLeft: number
  /** Id of its newest transition. */
  transition: string
}

export const findArchivePlace = async (
  sql: Queryable,
  versionId: string,
): Promise<ArchivePlace | undefined> => {
  const [row] = await sql<ArchivePlace[]>`
    select v.id as "versionId", v.node_id as "nodeId", v.dependencies, v.status,
      v.archive_state as "archiveState",
      ${secondsLeft(sql)} as "secondsLeft",
      ${newestTransition(sql)} as transition,
      (select license from node where id = v.node_id) as license,
      (select json_build_object('storageKey', a.storage_key, 'sha256', a.sha256, 'bytes', a.bytes)
        from archive a where a.version_id = v.id) as archive
    from version v
    where v.id = ${versionId}
  `
  return row
}

const secondsLeft = (sql: Queryable) => sql`
  extract(epoch from v.upload_expires_at - clock_timestamp())::float8 + ${UPLOAD_GRACE_SECONDS}
`

/** Joins `version`: whoever published it has lost their membership, token or account, and may still have a link. */
export const isRevoked = (sql: Queryable) => sql`(
  not exists (
    select from publisher_member m join node n on n.publisher_id = m.publisher_id
    where n.id = version.node_id and m.user_id = version.published_by
  ) or exists (
    select from personal_access_token t where t.id = version.token_id and t.revoked_at is not null
  ) or (
    select a.disabled_at from sign_in_account a where a.id = version.published_by collate "default"
  ) is not null
)`

/** The reason for which a link to upload has ended before its time; undefined for a live one. */
export type UploadObstacle =
  | 'node_deleted'
  | 'node_banned'
  | 'publisher_banned'
  | 'version_blocked'
  | 'revoked'

export const findUploadObstacle = async (
  sql: Queryable,
  versionId: string,
): Promise<UploadObstacle | undefined> => {
  const [row] = await sql<{ obstacle: UploadObstacle | null }[]>`
    select case
      when n.status = 'NodeStatusDeleted' then 'node_deleted'
      when n.status = 'NodeStatusBanned' then 'node_banned'
      when p.status <> 'PublisherStatusActive' then 'publisher_banned'
      when version.status = 'NodeVersionStatusBanned'
        and version.archive_state in ('awaiting', 'received') then 'version_blocked'
      when ${isRevoked(sql)} then 'revoked'
    end as obstacle
    from version join node n on n.id = version.node_id join publisher p on p.id = n.publisher_id
    where version.id = ${versionId}
  `
  return row?.obstacle ?? undefined
}

/**
 * Records that an upload has begun, so that a later cleanup looks for what it leaves. False when no upload is accepted
 * any more.
 */
export const startUpload = async (sql: Queryable, versionId: string): Promise<boolean> => {
  const { count } = await sql`
    update version set upload_started_at = clock_timestamp()
    where id = ${versionId} and status <> 'NodeVersionStatusDeleted'
      and archive_state in ('awaiting', 'received')
  `
  return count === 1
}

export type ArchiveRecorded =
  | {
      result: 'received'
      /** Key of the upload that this one replaces, to be removed; undefined for the first. */
      replacedKey: string | undefined
    }
  /**
   * `same`: these bytes were decided on already. A client that repeats its upload after a lost response must see
   * success.
   */
  | { result: 'same' | 'upload_closed' | 'upload_expired' | 'version_not_found' }
  | { result: 'archive_exists'; isRejected: boolean }
  | { result: 'link_ended'; because: UploadObstacle }

/**
 * Records the bytes of an upload and signals `receive-archive/<id>`, unless the same bytes were here before. Of several
 * uploads at once each replaces the one before as a whole, and after the checks have decided none does. The same bytes
 * once more do too, which makes whole what the store has lost. The version's row is the lock; the node's is not needed,
 * since nothing that lists show changes.
 */
export const recordArchive = async (
  sql: Transaction,
  { versionId, signal, ...stored }: StoredArchive & { versionId: string; signal: OutboxSignal },
  enqueue: Enqueue,
): Promise<ArchiveRecorded> => {
  const [version] = await sql<Pick<ArchivePlace, 'status' | 'archiveState' | 'secondsLeft'>[]>`
    select status, archive_state as "archiveState", ${secondsLeft(sql)} as "secondsLeft"
    from version v where id = ${versionId}
    for no key update
  `
  if (!version) return { result: 'version_not_found' }
  if (version.status === 'NodeVersionStatusDeleted') return { result: 'upload_closed' }
  const [old] = await sql<{ storageKey: string; sha256: string }[]>`
    select storage_key as "storageKey", sha256 from archive where version_id = ${versionId}
  `
  const isSame = old?.sha256 === stored.sha256
  const isOpen = version.archiveState === 'awaiting' || version.archiveState === 'received'
  if (!isOpen)
    return isSame
      ? { result: 'same' }
      : { result: 'archive_exists', isRejected: version.archiveState === 'rejected' }
  if (version.secondsLeft <= 0 && !isSame) return { result: 'upload_expired' }
  const because = await findUploadObstacle(sql, versionId)
  if (because) return { result: 'link_ended', because }
  await putArchive(sql, versionId, stored)
  if (!isSame) await enqueue(signal)
  return { result: 'received', replacedKey: old?.storageKey }
}

const putArchive = async (
  sql: Transaction,
  versionId: string,
  { storageKey, sha256, bytes }: StoredArchive,
): Promise<void> => {
  // Trigger `version_event` (0069): records the event `version.received` for the publisher's endpoints.
  await sql`
    with received as (
      update version set archive_state = 'received', rev = rev + 1
      where id = ${versionId} and archive_state in ('awaiting', 'received')
      returning id
    )
    insert into archive (version_id, storage_key, sha256, bytes)
    select id, ${storageKey}, ${sha256}, ${bytes}::bigint from received
    on conflict (version_id) do update set
      storage_key = excluded.storage_key,
      sha256 = excluded.sha256,
      bytes = excluded.bytes,
      received_at = excluded.received_at
  `
}

interface CheckedBytes {
  versionId: string
  /** Hash of the bytes that were checked; an upload that has replaced them was not. */
  sha256: string
}

/**
 * Accepts the bytes that were checked, at the key where they lie for good; from here on the version has a downloadUrl.
 * False when they were replaced, or decided on already.
 */
export const acceptArchive = async (
  sql: Transaction,
  {
    versionId,
    sha256,
    storageKey,
    entries,
    files,
  }: CheckedBytes & { storageKey: string; entries?: number; files?: readonly ArchiveFile[] },
): Promise<boolean> => {
  if (!(await decide(sql, { versionId, sha256 }, 'accepted'))) return false
  await sql`update archive set storage_key = ${storageKey}, entries = ${entries ?? null} where version_id = ${versionId}`
  if (files) await putFiles(sql, { versionId, sha256, files })
  return true
}

export const putFiles = async (
  sql: Transaction,
  { versionId, sha256, files }: CheckedBytes & { files: readonly ArchiveFile[] },
): Promise<void> => {
  // Triggers `archive_content` and `archive_content_known` (0029) digest the content, and ban it with a version that was
  // banned before.
  await sql`
    update archive set files = ${sql.json(files)}
    where version_id = ${versionId} and sha256 = ${sha256}
  `
}

/** Stores the license of a version, and of its node where it is the latest one. Bytes that were replaced have none. */
export const putLicense = async (
  sql: Transaction,
  { versionId, sha256, licenseId = null }: CheckedBytes & { licenseId?: string | null | undefined },
): Promise<void> => {
  const node = await lockNodeOfVersion(sql, versionId)
  if (!node) return
  // Trigger `node_license_set` (0039): a version that becomes the latest brings its license with it.
  const { count } = await sql`
    update version v set license_id = ${licenseId}, rev = rev + 1
    where id = ${versionId} and license_id is distinct from ${licenseId}
      and exists (select from archive a where a.version_id = v.id and a.sha256 = ${sha256})
  `
  if (count === 0) return
  await sql`
    update node set license_id = ${licenseId}, updated_at = greatest(clock_timestamp(), updated_at)
    where id = ${node.id} and latest_version_id = ${versionId}
  `
  await recordListChange(sql)
}

/** Rejects the bytes that were checked, with the code of what is wrong with them. False as in `acceptArchive`. */
export const rejectArchive = async (
  sql: Transaction,
  { versionId, sha256, code }: CheckedBytes & { code: string },
): Promise<boolean> => {
  if (!(await decide(sql, { versionId, sha256 }, 'rejected'))) return false
  await sql`update archive set code = ${code} where version_id = ${versionId}`
  return true
}

const decide = async (
  sql: Transaction,
  { versionId, sha256 }: CheckedBytes,
  to: 'accepted' | 'rejected',
): Promise<boolean> => {
  // The row is locked first, so that the next statement reads the archive under the lock.
  await sql`select from version where id = ${versionId} for no key update`
  const { count } = await sql`
    update version v set archive_state = ${to}, rev = v.rev + 1
    from archive a
    where v.id = ${versionId} and v.archive_state = 'received'
      and a.version_id = v.id and a.sha256 = ${sha256}
  `
  return count === 1
}

/**
 * Ends a version whose upload never came: Deleted, its extraction failed, its number free again. False while there is
 * time left, or when an upload came after all.
 */
export const expireVersion = async (sql: Transaction, versionId: string): Promise<boolean> => {
  if (!(await lockNodeOfVersion(sql, versionId))) return false
  const [late] = await sql`
    select from version v
    where id = ${versionId} and archive_state = 'awaiting' and ${secondsLeft(sql)} <= 0
    for no key update
  `
  if (!late) return false
  if (!(await transitionVersion(sql, { id: versionId, name: 'expire', actor: 'workflow' })))
    return false
  await sql`
    update version
    set archive_state = 'expired', host_node_extract_status = 'failed',
      extract_reason = 'archive_missing', extract_source = 'derived'
    where id = ${versionId}
  `
  return true
}

/** Ends a version whose number is published again; it stays in the history. The caller holds the node's row. */
export const replaceVersion = async (
  sql: Transaction,
  { id, status, by }: { id: string; status: VersionStatus; by: string },
): Promise<void> => {
  if (status !== 'NodeVersionStatusDeleted')
    await transitionVersion(sql, { id, name: 'replace', actor: `user:${by}` })
  await sql`update version set archive_state = 'replaced', rev = rev + 1 where id = ${id}`
}

/** Archive as its download needs it. */
export interface ArchiveDownload extends StoredArchive {
  versionId: string
}

/** Finds the archive of a version in any status; the caller authorizes its download. */
export const findArchive = async (
  sql: Queryable,
  versionId: string,
): Promise<ArchiveDownload | undefined> => {
  const [row] = await sql<ArchiveDownload[]>`
    select version_id as "versionId", storage_key as "storageKey", sha256, bytes::float8 as bytes
    from archive where version_id = ${versionId}
  `
  return row
}

/** An accepted archive with its files, by path; undefined where they were never noted. */
export const findFiles = async (
  sql: Queryable,
  versionId: string,
): Promise<{ storageKey: string; sha256: string; files: ArchiveFile[] } | undefined> => {
  const [row] = await sql<{ storageKey: string; sha256: string; files: ArchiveFile[] }[]>`
    select a.storage_key as "storageKey", a.sha256, a.files
    from archive a join version v on v.id = a.version_id and v.archive_state = 'accepted'
    where a.version_id = ${versionId} and a.files is not null
  `
  return row
}

/**
 * Versions that take no archive any more and whose last upload began so long ago that it has ended. What a process
 * stored for them before it was killed is of no use.
 */
export const listVersionsToCleanUp = async (sql: Sql): Promise<string[]> => {
  const rows = await sql`
    select id from version
    where upload_started_at < now() - interval '1 hour'
      and (archive_state in ('accepted', 'rejected', 'expired')
        or status = 'NodeVersionStatusDeleted')
    order by upload_started_at
    ${purgeBatch(sql)}
  `
  return rows.map((row) => row['id'] as string)
}

export const markVersionCleaned = async (sql: Sql, id: string): Promise<void> => {
  await sql`update version set upload_started_at = null where id = ${id}`
}

/** Lists the accepted archives of the next versions after an id. */
export const listArchiveFiles = async (
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<{ id: string; keys: string[] }[]> =>
  await sql<{ id: string; keys: string[] }[]>`
  select a.version_id as id, array[a.storage_key] as keys
  from archive a join version v on v.id = a.version_id and v.archive_state = 'accepted'
  where a.version_id > ${after}
  order by a.version_id
  limit ${limit}
`
