import postgres from 'postgres'

import { makeBatch } from '../batch.ts'
import { withinDeadline } from '../client.ts'
import type { Sql } from '../client.ts'
import { withoutSync } from '../without-sync.ts'

/**
 * Tells every api that something a reader of this task or version can see has changed, and core workers that first tries
 * wait. It is a hint, sent after the commit and outside of it: a transaction that notifies commits while no other one does,
 * in the whole server. Where a hint is lost with its process, the next look at the rows finds the change. `unitOfWork`
 * sends it; `listenForNews` (src/api.ts) and `listenForFirstTries` (src/worker.ts) hear it.
 */
export type News = (id: string) => void

const NEWS = 'kiln_news'
const FIRST_TRIES = 'kiln_first_tries'

export const makeNews = (sql: Sql): News => {
  const notify = makeBatch(async (ids: readonly string[]) => {
    const told = sql`
      select pg_notify(${NEWS}, ${ids.join(' ')}),
        case when exists (select from first_try) then pg_notify(${FIRST_TRIES}, '') end,
        ${withoutSync(sql)}
    `
    // One that is never answered must not hold back those after it.
    await withinDeadline(sql, told)
    return ids
  })
  return (id) => void notify(id).catch(() => {})
}

export interface ListenOptions {
  /** Of PostgreSQL itself: behind a pooler that lends connections for a transaction nobody hears anything. */
  url: string
  /** Of the connection, for operators. */
  name: string
  /** Hears which row has changed; of first tries nothing but that there are some. */
  onNews(id: string): void
  /** Called whenever it has begun to hear: what was told before is lost. */
  onConnect(): void
}

/** Hears which rows have changed, one after another. Answers what ends it. */
export const listenForNews = ({ onNews, ...options }: ListenOptions) => {
  const hear = (ids: string): void => {
    for (const id of ids.split(' ')) onNews(id)
  }
  return listen(NEWS, { ...options, onNews: hear })
}

/** Hears that first tries wait. Answers what ends it. */
export const listenForFirstTries = (options: ListenOptions) => listen(FIRST_TRIES, options)

/**
 * Listens on a connection of its own, which the driver makes anew when it breaks. A standby refuses LISTEN, and stays one
 * connection when it is promoted, so only a primary is listened to.
 */
const listen = (
  channel: string,
  { url, name, onNews, onConnect }: ListenOptions,
): (() => Promise<void>) => {
  const sql = postgres(url, {
    connect_timeout: 2,
    backoff: () => 1,
    target_session_attrs: 'primary',
    connection: { application_name: name },
  })
  // The driver tries again.
  sql.listen(channel, onNews, onConnect).catch(() => {})
  return () => sql.end({ timeout: 0 })
}
