import type { Storage } from '../../src/adapters/storage/storage.ts'
import type { Sql } from '../../src/db/client.ts'
import type { NotifyChange } from '../../src/db/shared/change-notification.ts'
import type { Log } from '../../src/log.ts'
import type { Metrics } from '../../src/process/metrics.ts'
import type { Tracing } from '../../src/process/tracing.ts'

/** Dependencies of the activities of every worker. */
export interface CommonDependencies {
  sql: Sql
  storage: Storage
  log: Log
  /** Absent: nothing is counted. */
  metrics?: Metrics | undefined
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined
  /** Notifies those who watch a task or version that it has changed. */
  notifyChange: NotifyChange
}
