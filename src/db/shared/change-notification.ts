import postgres from 'postgres'

import { makeBatch } from '../batch.ts'
import { withinDeadline } from '../client.ts'
import type { Sql } from '../client.ts'
import { withoutSync } from '../without-sync.ts'

/**
 * Tells every api that something a reader of this task or version can see has changed, and core workers that first attempts
 * wait. It is a hint, sent after the commit and outside of it: a transaction that notifies commits while no other one does,
 * in the whole server. Where a hint is lost with its process, the next look at the rows finds the change. `unitOfWork`
 * sends it; `listenForChanges` (src/api.ts) and `listenForFirstAttempts` (src/worker.ts) hear it.
 */
export type NotifyChange = (id: string) => void

const CHANGES = 'kiln_news'
const FIRST_ATTEMPTS = 'kiln_first_tries'

export const makeNotifyChange = (sql: Sql): NotifyChange => {
  const notify = makeBatch(async (ids: readonly string[]) => {
    const notified = sql`
      select pg_notify(${CHANGES}, ${ids.join(' ')}),
        case when exists (select from first_try) then pg_notify(${FIRST_ATTEMPTS}, '') end,
        ${withoutSync(sql)}
    `
    // One that is never answered must not hold back those after it.
    await withinDeadline(sql, notified)
    return ids
  })
  return (id) => void notify(id).catch(() => {})
}

export interface ListenOptions {
  /** Of PostgreSQL itself: behind a pooler that lends connections for a transaction nobody hears anything. */
  url: string
  /** Of the connection, for operators. */
  name: string
  /** Hears which row has changed; of first attempts nothing but that there are some. */
  onChange(id: string): void
  /** Called whenever it has begun to hear: what was told before is lost. */
  onConnect(): void
}

/** Hears which rows have changed, one after another. Answers what ends it. */
export const listenForChanges = ({ onChange, ...options }: ListenOptions) => {
  const hear = (ids: string): void => {
    for (const id of ids.split(' ')) onChange(id)
  }
  return listen(CHANGES, { ...options, onChange: hear })
}

/** Hears that first attempts wait. Answers what ends it. */
export const listenForFirstAttempts = (options: ListenOptions) => listen(FIRST_ATTEMPTS, options)

/**
 * Listens on a connection of its own, which the driver makes again when it breaks. A standby rejects LISTEN, and stays one
 * connection when it is promoted, so only a primary is listened to.
 */
const listen = (
  channel: string,
  { url, name, onChange, onConnect }: ListenOptions,
): (() => Promise<void>) => {
  const sql = postgres(url, {
    connect_timeout: 2,
    backoff: () => 1,
    target_session_attrs: 'primary',
    connection: { application_name: name },
  })
  // The driver tries again.
  sql.listen(channel, onChange, onConnect).catch(() => {})
  return () => sql.end({ timeout: 0 })
}
