import postgres from 'postgres'

import { makeBatch } from '../batch.ts'
import { withinDeadline } from '../client.ts'
import type { Sql } from '../client.ts'
import { withoutSync } from '../without-sync.ts'

/**
 * Tells every api that something a reader of this task or version can see has changed. It is a hint, sent after the commit
 * and outside of it: a transaction that notifies commits while no other one does, in the whole server. Where a hint is lost
 * with its process, the next look of the api finds the change.
 */
export type News = (id: string) => void

const CHANNEL = 'kiln_news'

export const makeNews = (sql: Sql): News => {
  const notify = makeBatch(async (ids: readonly string[]) => {
    const told = sql`select pg_notify(${CHANNEL}, ${ids.join(' ')}), ${withoutSync(sql)}`
    // One that is never answered must not hold back those after it.
    await withinDeadline(sql, told)
    return ids
  })
  return (id) => void notify(id).catch(() => {})
}

export interface NewsOptions {
  /** Of PostgreSQL itself: behind a pooler that lends connections for a transaction nobody hears anything. */
  url: string
  /** Hears which row has changed. */
  onNews(id: string): void
  /** Called whenever it has begun to hear: what was told before is lost. */
  onConnect(): void
}

/** Listens on a connection of its own, which the driver makes anew when it breaks. Answers what ends it. */
export const listenForNews = ({ url, onNews, onConnect }: NewsOptions): (() => Promise<void>) => {
  const sql = postgres(url, {
    connect_timeout: 2,
    backoff: () => 1,
    connection: { application_name: 'kiln api news' },
  })
  const hear = (ids: string): void => {
    for (const id of ids.split(' ')) onNews(id)
  }
  // The driver tries again.
  sql.listen(CHANNEL, hear, onConnect).catch(() => {})
  return () => sql.end({ timeout: 0 })
}
