import type { Storage } from '../../src/platform/storage/storage.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import type { NotifyChange } from '../../src/platform/db/change-notification.ts'
import type { Journal, Log } from '../../src/platform/log.ts'
import type { Metrics } from '../../src/platform/process/metrics.ts'
import type { Tracing } from '../../src/platform/process/tracing.ts'

/** Dependencies of the activities of every worker. */
export interface CommonDependencies {
  sql: Sql
  storage: Storage
  log: Log
  /** Absent: nothing is counted. */
  metrics?: Metrics | undefined
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined
  /** Notifies the watchers of a task or version of its change. */
  notifyChange: NotifyChange
  /** Absent: no line is logged for what has ended. */
  journal?: Journal | undefined
}
