import { makeDatabase } from '../db/client.ts'
import { readStoreSize, type StoreSize } from '../db/temporal-store.ts'
import type { Metrics } from '../process/metrics.ts'

/** It grows by hours. */
const CACHE_MS = 60_000
/** Longest wait for a connection: nobody waits for these sizes. */
const WAIT_MS = 10_000

/** Reads the sizes of Temporal's database and of that of visibility, where PostgreSQL has it beside the first. */
export const readTemporalStore = async (
  url: string,
  waitMs = WAIT_MS,
): Promise<({ database: string } & StoreSize)[]> => {
  const visibility = await readOne(url.replace(/^[^?]*/, '$&_visibility'), waitMs).catch(
    (error: unknown) => {
      if ((error as { code?: unknown }).code === '3D000') return undefined
      throw error
    },
  )
  return [
    { database: 'temporal', ...(await readOne(url, waitMs)) },
    ...(visibility ? [{ database: 'visibility', ...visibility }] : []),
  ]
}

const readOne = async (url: string, waitMs: number): Promise<StoreSize> => {
  const limits = { statementTimeoutMs: waitMs, waitMs }
  const sql = makeDatabase({ url, pool: 1, name: 'kiln temporal size', ...limits })
  return await readStoreSize(sql).finally(() => sql.end({ timeout: 1 }))
}

/** Makes the function that shows these sizes. A database that does not respond has none. */
export const makeStoreReader = ({ url, metrics }: { url: string; metrics: Metrics }) => {
  const bytes = metrics.gauge('temporal_store_bytes', 'Size of the databases of Temporal.', [
    'database',
    'part',
  ])
  let read = -Infinity
  return async (): Promise<void> => {
    if (performance.now() - read < CACHE_MS) return
    const sizes = await readTemporalStore(url).catch(() => [])
    if (sizes.length > 0) read = performance.now()
    bytes.reset()
    for (const { database, tables, indexes } of sizes) {
      bytes.set({ database, part: 'tables' }, tables)
      bytes.set({ database, part: 'indexes' }, indexes)
    }
  }
}
