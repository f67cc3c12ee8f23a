import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { makeDatabase } from '../../src/db/client.ts'
import type { Sql } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { startService } from '../../test/support/service.ts'
import type { Service } from '../../test/support/service.ts'
import { planCatalogue } from '../search/catalogue.ts'
import { loadCatalogue } from '../search/load.ts'
import { POOL } from '../search/sides.ts'
import { verifyCatalogue } from '../search/verify.ts'
import { say } from './figures.ts'

interface Registry {
  url: string
  /** A pool as large as the api's, without a limit of time. */
  sql: Sql
}

/** Runs `work` on a PostgreSQL of its own that holds a made-up registry, and removes it. */
export const withRegistry = async (
  nodes: number,
  work: (registry: Registry) => Promise<void>,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-bench-registry-'))
  // PostgreSQL runs as another user when this is root, and has to get through.
  await chmod(folder, 0o711)
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const { url, remove } = await startPostgres({ dataDir: join(folder, 'postgres'), say })
    stops.unshift(remove)
    const sql = makeDatabase({ url, pool: POOL, name: 'kiln bench', statementTimeoutMs: 0 })
    stops.unshift(() => sql.end())
    await fill(sql, url, nodes)
    await work({ url, sql })
  } finally {
    for (const stop of stops) await stop()
  }
}

const fill = async (sql: Sql, url: string, nodes: number): Promise<void> => {
  const start = performance.now()
  await migrate(sql)
  const plan = planCatalogue(nodes)
  await loadCatalogue(url, plan)
  await verifyCatalogue(sql)
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  say(`${nodes} nodes, ${10 * nodes} versions, ${plan.publishers} publishers made in ${seconds} s`)
}

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
      RATE_LIMITS: 'off',
      RECONCILE_INTERVAL_SECONDS: '3600',
      RELAY_INTERVAL_MS: '10000',
      ...env,
    },
    database: { url, sql, drop: () => Promise.resolve() },
  })
}
