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

/** Starts the loop that dispatches what no fast path did: rows of a process that died, and of an outage of Temporal. */
export const startRelay = ({ sql, jobs, log, intervalMs }: RelayOptions): Loop =>
  startLoop(
    'relay',
    async (signal) => {
      for (const row of await leaseOutbox(sql)) {
        if (signal.aborted || !(await jobs.relay(row))) return
      }
    },
    { intervalMs, log },
  )
