import { join } from 'node:path'

import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { startService } from '../../test/support/service.ts'
import type { Service } from '../../test/support/service.ts'
import { planCatalogue } from '../search/catalogue.ts'
import { loadCatalogue } from '../search/load.ts'
import { POOL } from '../search/measure.ts'
import { say } from './results.ts'
import { makeFolder, withKept } from '../../test/support/keep.ts'
import type { Keep } from '../../test/support/keep.ts'

interface Registry {
  url: string
  /** A pool as large as the api's, without a limit of time. */
  sql: Sql
}

/** Runs `work` on a PostgreSQL of its own that holds a made-up registry, and removes it. */
export const withRegistry = async (
  nodes: number,
  work: (keep: Keep, registry: Registry) => Promise<void>,
): Promise<void> =>
  await withKept(async (keep) => {
    const { path } = keep(await makeFolder())
    const { url, remove } = await startPostgres({ dataDir: join(path, 'postgres'), say })
    keep({ stop: remove })
    const sql = makeDatabase({ url, pool: POOL, name: 'kiln bench', statementTimeoutMs: 0 })
    keep({ stop: () => sql.end() })
    await migrate(url)
    await loadCatalogue(url, planCatalogue(nodes))
    say(`${nodes} nodes and ${10 * nodes} versions are made`)
    await work(keep, { url, sql })
  })

/** The api alone, without limits of requests. Where no Temporal is named none is there: reads do not need one. */
export const startApi = async (
  { url, sql }: Registry,
  env: NodeJS.ProcessEnv = {},
): Promise<Service> => {
  process.env['TEST_TEMPORAL_ADDRESS'] ??= '127.0.0.1:1'
  process.env['WORKFLOW_BUNDLE'] ??= 'none'
  return await startService({
    roles: ['api'],
    env: {
      DATABASE_POOL: String(POOL),
      OVERRIDE_RECONCILE_INTERVAL_SECONDS: '3600',
      OVERRIDE_RELAY_INTERVAL_MS: '10000',
      ...env,
    },
    database: { url, sql, drop: () => Promise.resolve() },
  })
}
