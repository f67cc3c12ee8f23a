import { mkdtemp, chmod, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { makeDatabase } from '../src/db/client.ts'
import type { Sql } from '../src/db/client.ts'
import { migrate } from '../src/db/migrate.ts'
import { startPostgres } from '../src/local/postgres.ts'
import { startService } from '../test/support/service.ts'
import { planCatalogue } from './search/catalogue.ts'
import { loadCatalogue } from './search/load.ts'
import { CONCURRENCIES, measureShape } from './search/measure.ts'
import type { Measured } from './search/measure.ts'
import { showFigures, showHead, showRow, showWalk } from './search/report.ts'
import { listShapes } from './search/shapes.ts'
import { POOL, makeBareSide, makeHttpSide } from './search/sides.ts'
import { startRecorder } from './search/statements.ts'
import { verifyCatalogue } from './search/verify.ts'
import { measureWalk } from './search/walk.ts'
import { say } from './support/figures.ts'

/** A quick look: `NODES=20000 npm run bench -- search`. */
const NODES = Number(process.env['NODES'] ?? 100_000)

/**
 * Reads of the registry at 100,000 nodes and 1,000,000 versions, over HTTP against a real api process without rate
 * limits, and the same SQL sent by postgres.js alone: pool, connection options, statements and values of the api, no HTTP,
 * no schemas, no JSON written. Each of 1, 16 and 64 callers sends its next request when it has the answer to the last;
 * both sides take turns, and a figure is the middle of three rounds. The service is to cost at most what the database
 * does: a ratio of 2 for the median and the 99th percentile. And with one caller no 99th percentile is above 50 ms.
 *
 * Counts of filters are in memory where the api keeps them, which is until something is published; what the first search
 * after that costs is a shape of its own. All processes share the cores of this machine, so with many callers the ratio
 * also holds what the api takes from the database.
 */
export const run = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-bench-search-'))
  // PostgreSQL runs as another user when this is root, and has to get through.
  await chmod(folder, 0o711)
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const server = await startPostgres({ dataDir: join(folder, 'postgres'), say })
    stops.unshift(() => server.remove())
    const sql = makeDatabase({
      url: server.url,
      pool: POOL,
      name: 'kiln bench',
      statementTimeoutMs: 0,
    })
    stops.unshift(() => sql.end())
    await prepare(sql, server.url)
    await measure(sql, server.url)
  } finally {
    for (const stop of stops) await stop()
  }
}

const prepare = async (sql: Sql, url: string): Promise<void> => {
  const start = performance.now()
  await migrate(sql)
  const plan = planCatalogue(NODES)
  await loadCatalogue(url, plan)
  await verifyCatalogue(sql)
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  say(`${NODES} nodes, ${10 * NODES} versions, ${plan.publishers} publishers made in ${seconds} s`)
}

const measure = async (sql: Sql, url: string): Promise<void> => {
  const service = await startApi(sql, url)
  const recorder = await startRecorder(url, service.baseUrl)
  try {
    const sides = { http: makeHttpSide(service.baseUrl), bare: makeBareSide(sql, recorder) }
    const shapes = await listShapes(sql, service.baseUrl)
    const all: Measured[] = []
    showHead(loadavg()[0] ?? 0)
    for (const shape of shapes)
      for (const concurrency of shape.before ? [1] : CONCURRENCIES) {
        const measured = await measureShape(shape, concurrency, sides)
        showRow(measured)
        all.push(measured)
      }
    const walk = await measureWalk(NODES, sides)
    showWalk(walk)
    showFigures(all, walk)
  } finally {
    await recorder.stop()
    await service.stop()
  }
}

/** The api alone: reads do not need Temporal, so none is started. */
const startApi = async (sql: Sql, url: string) => {
  process.env['TEST_TEMPORAL_ADDRESS'] ??= '127.0.0.1:1'
  process.env['WORKFLOW_BUNDLE'] ??= 'none'
  return await startService({
    roles: ['api'],
    env: {
      DATABASE_POOL: String(POOL),
      RATE_LIMITS: 'off',
      RECONCILE_INTERVAL_SECONDS: '3600',
      RELAY_INTERVAL_MS: '10000',
    },
    database: { url, sql, drop: () => Promise.resolve() },
  })
}
