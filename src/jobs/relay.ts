import { withinDeadline } from '../db/client.ts'
import type { Sql } from '../db/client.ts'
import { leaseOutbox } from '../db/shared/outbox.ts'
import type { Jobs } from './client.ts'
import type { Log } from '../log.ts'
import { startLoop } from '../process/loop.ts'
import type { Loop } from '../process/loop.ts'

export interface RelayOptions {
  sql: Sql
  jobs: Jobs
  log: Log
  intervalMs: number
}

/** Starts the loop that dispatches the rows that no fast path did: its process died, or Temporal was away. */
export const startRelay = ({ sql, jobs, log, intervalMs }: RelayOptions): Loop =>
  startLoop(
    'relay',
    async (signal) => {
      for (const row of await withinDeadline(sql, leaseOutbox(sql))) {
        if (signal.aborted || !(await jobs.relay(row))) return
      }
    },
    { intervalMs, log },
  )
