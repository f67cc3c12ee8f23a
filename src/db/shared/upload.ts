import type { Queryable, Sql, Transaction } from '../client.ts'

/** Life of an upload and of its links. */
const UPLOAD_HOURS = 24

export interface NewUploadRow {
  id: string
  owner: string
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
    insert into upload (id, owner, file_name, declared_type, expires_at)
    values (${upload.id}, ${upload.owner}, ${upload.fileName}, ${upload.declaredType},
      clock_timestamp() + make_interval(hours => ${UPLOAD_HOURS}))
    returning id, file_name, expires_at
  `
  if (!row) throw new Error('insert returned no row')
  return row
}

/** The owner's live upload with this digest, as we counted it; its hours begin anew. */
export const renewUpload = async (
  sql: Transaction,
  { owner, sha256 }: { owner: string; sha256: string },
): Promise<Upload | undefined> => {
  const [row] = await sql<Upload[]>`
    update upload
    set expires_at = clock_timestamp() + make_interval(hours => ${UPLOAD_HOURS})
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

/** Records the bytes of an upload; a later PUT replaces them. False when it is gone. */
export const receiveUpload = async (sql: Sql, file: ReceivedFile): Promise<boolean> => {
  const rows = await sql`
    update upload
    set storage_key = ${file.storageKey},
      content_type = ${file.contentType},
      bytes = ${file.bytes},
      sha256 = ${file.sha256},
      received_at = clock_timestamp()
    where id = ${file.id} and purged_at is null
    returning 1
  `
  return rows.length === 1
}
