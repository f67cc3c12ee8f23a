import postgres from 'postgres'

import { readDatabaseAddress } from '../settings/database.ts'
import { makeBatch } from './batch.ts'
import { withinDeadline, type Sql } from './client.ts'
import { withoutSync } from './without-sync.ts'

/**
 * Notifies every api that something a reader of this task or version can see has changed, and core workers that first
 * attempts wait. It is a hint, sent after the commit and outside of it: a transaction that notifies commits while no
 * other one does, in the whole server. Where a hint is lost with its process, the next poll finds the change.
 * `unitOfWork` sends it; `listenForChanges` (src/api.ts) and `listenForFirstAttempts` (src/worker.ts) receive it.
 */
export type NotifyChange = (id: string) => void

/** In place of an id: pauses, breakers, rules of owners or templates have changed, which apis keep in memory. */
export const RULES = 'rules'

/** In place of an id: a task may be admitted. */
export const ADMISSION = 'admission'

/** In place of an id: the outbox has a row that no process dispatches at once. SQL function `send_signal` (0066) sends it. */
export const OUTBOX = 'outbox'

const CHANGES = 'kiln_changes'
const FIRST_ATTEMPTS = 'kiln_first_tries'
const PREVIEWS = 'kiln_previews'

export const makeNotifyChange = (sql: Sql): NotifyChange => {
  const notify = makeBatch(async (ids: readonly string[]) => {
    const notified = sql`
      select pg_notify(${CHANGES}, ${ids.join(' ')}),
        case when exists (select from first_attempt) then pg_notify(${FIRST_ATTEMPTS}, '') end,
        ${withoutSync(sql)}
    `
    // One that never gets a response must not hold back those after it.
    await withinDeadline(sql, notified)
    return ids
  })
  return (id) => void notify(id).catch(() => {})
}

/** Sends a small picture of a task that is being made to every api. One that is lost is replaced by the next. */
export const notifyPreview = async (sql: Sql, id: string, webp: Buffer): Promise<void> => {
  const payload = `${id} ${webp.toString('base64')}`
  await withinDeadline(sql, sql`select pg_notify(${PREVIEWS}, ${payload}), ${withoutSync(sql)}`)
}

export interface ListenOptions {
  /** URL of PostgreSQL itself: a pooler that lends connections for a transaction passes on no notification. */
  url: string
  /** Name of the connection, for operators. */
  name: string
  /** Called with the id of a row that has changed; for first attempts, with an empty text. */
  onChange(id: string): void
  /** Called with previews of tasks, in Base64. */
  onPreview?(id: string, webp: string): void
  /** Called whenever it has begun to listen: earlier notifications are lost. */
  onConnect(): void
}

/** Listens for the ids of rows that have changed, one after another. Returns the function that ends it. */
export const listenForChanges = ({ onChange, onPreview, ...options }: ListenOptions) => {
  const onNotification = (ids: string): void => {
    for (const id of ids.split(' ')) onChange(id)
  }
  const onPicture = (text: string): void => {
    const [id = '', webp = ''] = text.split(' ')
    onPreview?.(id, webp)
  }
  const channels = { [CHANGES]: onNotification, ...(onPreview && { [PREVIEWS]: onPicture }) }
  return listen(channels, options)
}

/** Listens for first attempts that wait. Returns the function that ends it. */
export const listenForFirstAttempts = ({ onChange, ...options }: ListenOptions) =>
  listen({ [FIRST_ATTEMPTS]: onChange }, options)

/**
 * Listens on a connection of its own, which the driver makes again when it breaks. A standby rejects LISTEN, and stays one
 * connection when it is promoted, so only a primary is listened to.
 */
const listen = (
  channels: Readonly<Record<string, (text: string) => void>>,
  { url, name, onConnect }: Omit<ListenOptions, 'onChange'>,
): (() => Promise<void>) => {
  const { url: address, ssl } = readDatabaseAddress(url)
  const sql = postgres(address, {
    ssl,
    connect_timeout: 2,
    backoff: () => 1,
    target_session_attrs: 'primary',
    connection: { application_name: name },
  })
  // The driver tries again.
  for (const [channel, onText] of Object.entries(channels))
    sql.listen(channel, onText, onConnect).catch(() => {})
  return () => sql.end({ timeout: 0 })
}

/** Reads the revisions of these tasks and versions, as far as they exist. */
export const readRevisions = async (
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql<{ id: string; rev: number }[]>`
    select id, rev from task where id = any(${ids}::uuid[])
    union all select id, rev from version where id = any(${ids}::uuid[])
  `
  return new Map(rows.map(({ id, rev }) => [id, rev]))
}
