import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Sql } from '../../db/client.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { Jobs } from '../../jobs/client.ts'

/** What the routes of either family of tasks work with. */
export interface TaskDeps {
  sql: Sql
  jobs: Jobs
  storage: Storage
  signer: Signer
  outbound: Outbound
  publicUrl: string
  taskQueue: string
  quotas: Quotas
  now: () => Date
}
