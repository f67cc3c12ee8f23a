import { withinDeadline } from '../db/client.ts'
import type { Sql } from '../db/client.ts'
import { leaseOutbox } from '../db/outbox.ts'
import type { Jobs } from './client.ts'
import type { Notifier } from '../domain/notifier.ts'
import type { Log } from '../log.ts'
import { startLoop } from '../process/loop.ts'
import type { Loop } from '../process/loop.ts'

export interface RelayOptions {
  sql: Sql
  jobs: Jobs
  log: Log
  /** Notified when a row waits for the relay. */
  notifier?: Notifier
  intervalMs: number
}

/** After so long without a row a pause is that much longer. */
const QUIET_AFTER_MS = 30_000
const QUIET_FACTOR = 5

/** Starts the loop that dispatches the rows that no fast path did: its process died, or Temporal was away. */
export const startRelay = ({ sql, jobs, intervalMs, ...options }: RelayOptions): Loop => {
  let workedAt = Date.now()
  return startLoop(
    'relay',
    async (signal) => {
      const rows = await withinDeadline(sql, leaseOutbox(sql))
      if (rows.length > 0) workedAt = Date.now()
      for (const row of rows) if (signal.aborted || !(await jobs.relay(row))) break
      return Date.now() - workedAt > QUIET_AFTER_MS ? QUIET_FACTOR * intervalMs : intervalMs
    },
    { intervalMs, ...options },
  )
}
