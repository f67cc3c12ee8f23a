import type { Quota } from '../domain/quota.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { isMakerLive } from '../../identity/db/api-key.ts'
import { chargeBytes } from './account.ts'

/** Life of an upload and of its links. */
const UPLOAD_HOURS = 24

export interface NewUploadRow {
  id: string
  owner: string
  /** Key whose end ends the link. */
  apiKeyId: string | null
  fileName: string
  declaredType: string | null
}

export interface Upload {
  id: string
  file_name: string
  expires_at: Date
}

export const insertUpload = async (sql: Transaction, upload: NewUploadRow): Promise<Upload> => {
  const [row] = await sql<Upload[]>`
    insert into upload (id, owner, api_key_id, file_name, declared_type, expires_at)
    values (${upload.id}, ${upload.owner}, ${upload.apiKeyId}, ${upload.fileName}, ${upload.declaredType},
      clock_timestamp() + make_interval(hours => ${UPLOAD_HOURS}))
    returning id, file_name, expires_at
  `
  if (!row) throw new Error('insert returned no row')
  return row
}

/** The owner's live upload with this digest, as we counted it; its hours begin again, by the key that asks now. */
export const renewUpload = async (
  sql: Transaction,
  { owner, apiKeyId, sha256 }: Pick<NewUploadRow, 'owner' | 'apiKeyId'> & { sha256: string },
): Promise<Upload | undefined> => {
  const [row] = await sql<Upload[]>`
    update upload
    set expires_at = clock_timestamp() + make_interval(hours => ${UPLOAD_HOURS}),
      api_key_id = ${apiKeyId}
    where id = (
      select id from upload
      where owner = ${owner} and sha256 = ${sha256} and purged_at is null
        and expires_at > clock_timestamp()
      order by received_at desc
      limit 1
    )
    returning id, file_name, expires_at
  `
  return row
}

export const existsUpload = async (sql: Queryable, id: string): Promise<boolean> => {
  const [row] = await sql`select from upload where id = ${id} and purged_at is null`
  return row !== undefined
}

export interface ReceivedFile {
  id: string
  storageKey: string
  contentType: string
  bytes: number
  sha256: string
}

/** Result of recording the bytes of an upload. */
interface Received {
  /** The file that they replace and that no open task holds: to be removed after the commit. */
  replacedKey: string | null
}

/**
 * Records the bytes of an upload; a later PUT replaces them, and their account is charged with the difference. A replaced
 * file that an open task holds goes with the upload. Undefined when the upload is gone, or the credential of its maker. Throws 429 `quota_exceeded`.
 */
export const receiveUpload = async (
  sql: Transaction,
  file: ReceivedFile,
  quota: Quota,
): Promise<Received | undefined> => {
  const [old] = await sql<LockedUpload[]>`
    select owner, storage_key as "storageKey", least(bytes, stored_bytes)::float8 as bytes
    from upload t where t.id = ${file.id} and t.purged_at is null and ${isMakerLive(sql)}
    for update
  `
  if (!old) return undefined
  // Whoever makes a task of the old file locks the row, too: it has committed, or will not find the file.
  const isUsed = old.storageKey !== null && (await isUsedByTask(sql, old.storageKey))
  const growth = file.bytes - (isUsed ? 0 : (old.bytes ?? 0))
  await sql`
    update upload
    set storage_key = ${file.storageKey},
      content_type = ${file.contentType},
      bytes = ${file.bytes},
      sha256 = ${file.sha256},
      stored_bytes = stored_bytes + ${growth},
      received_at = clock_timestamp()
    where id = ${file.id}
  `
  await chargeBytes(sql, { account: old.owner, bytes: growth }, quota)
  return { replacedKey: isUsed ? null : old.storageKey }
}

interface LockedUpload {
  owner: string
  storageKey: string | null
  bytes: number | null
}

/** Finds what keeps an upload of an owner from being deleted; 'none' locks it until the transaction ends. */
export const lockUpload = async (
  sql: Transaction,
  { id, owner }: { id: string; owner: string },
): Promise<'not_found' | 'in_use' | 'none'> => {
  const [row] = await sql<{ storageKey: string | null }[]>`
    select storage_key as "storageKey" from upload
    where id = ${id} and owner = ${owner} and purged_at is null
    for update
  `
  if (!row) return 'not_found'
  return row.storageKey !== null && (await isUsedByTask(sql, row.storageKey)) ? 'in_use' : 'none'
}

/** Ends an upload and its links now. */
export const expireUpload = async (sql: Transaction, id: string): Promise<void> => {
  await sql`update upload set expires_at = clock_timestamp() - interval '2 hours' where id = ${id}`
}

const isUsedByTask = async (sql: Transaction, storageKey: string): Promise<boolean> => {
  const [used] = await sql`
    select from task_input i
    join task open on open.id = i.task_id and open.ended_at is null
    where i.storage_key = ${storageKey}
    limit 1
  `
  return used !== undefined
}

/** True when the bytes of an upload were recorded; for a commit whose outcome is not known. */
export const hasReceived = async (
  sql: Sql,
  { id, storageKey }: Pick<ReceivedFile, 'id' | 'storageKey'>,
): Promise<boolean> => {
  const [row] = await sql`select from upload where id = ${id} and storage_key = ${storageKey}`
  return row !== undefined
}
