import type { Outbound } from '../../adapters/outbound/client.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Sql } from '../../db/client.ts'
import type { News } from '../../db/shared/news.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { Jobs } from '../../jobs/client.ts'
import type { LiveDeps } from '../live/prefer.ts'

/** What the routes of either family of tasks work with. */
export interface TaskDeps extends LiveDeps {
  sql: Sql
  jobs: Jobs
  news: News
  storage: Storage
  signer: Signer
  outbound: Outbound
  publicUrl: string
  taskQueue: string
  quotas: Quotas
  now: () => Date
}
