import { setTimeout as sleep } from 'node:timers/promises'

import { makeDatabase, type Sql } from './client.ts'

/** Session that holds a lock which another waits for. */
export interface Blocker {
  pid: number
  /** Empty where the role may not see it. */
  application_name: string
  state: string
  /** Age of its query, of its last one when it is idle in a transaction. */
  query_seconds: number
}

export interface LockWatch {
  /** Session that waits. */
  pid: number
  /** Advisory lock whose holder is waited for, too. */
  advisory: number
  intervalMs: number
  onBlocked: (blockers: Blocker[]) => void
}

/** An attempt waits for a lock in 50 of some 350 ms: as often as that it is looked for. */
const SAMPLES = 200
const SAMPLE_MS = 10

/** Reports each interval, on a connection of its own, whom a session waits for. Returns the function that ends it. */
export const watchLocks = (url: string, watch: LockWatch): (() => Promise<void>) => {
  const sql = makeDatabase({ url, pool: 1, name: 'kiln migrate watch', statementTimeoutMs: 5000 })
  const stopped = new AbortController()
  const { signal } = stopped
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(watch.intervalMs, undefined, { signal })
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        const blockers = await listBlockers(sql, watch)
        if (blockers.length > 0) watch.onBlocked(blockers)
        if (blockers.length > 0) break
        await sleep(SAMPLE_MS, undefined, { signal })
      }
    }
  }
  // Without a report the migration goes on all the same.
  const running = run().catch(() => {})
  return async () => {
    stopped.abort()
    await running
    await sql.end({ timeout: 1 })
  }
}

const listBlockers = async (sql: Sql, { pid, advisory }: LockWatch): Promise<Blocker[]> =>
  await sql<Blocker[]>`
    select pid, coalesce(application_name, '') as application_name, coalesce(state, '') as state,
      coalesce(extract(epoch from clock_timestamp() - query_start), 0)::integer as query_seconds
    from pg_stat_activity
    where pid <> ${pid} and pid <> pg_backend_pid() and (
      pid = any(pg_blocking_pids(${pid}))
      or pid in (
        select l.pid from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and l.granted and l.objid = ${advisory}
          and d.datname = current_database()
      )
    )
    order by pid
  `
