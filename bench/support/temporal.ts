import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { TestServers } from '../../test/support/servers.ts'
import { startTemporalOnPostgres } from '../../test/support/temporal-postgres.ts'
import type { Keep } from './keep.ts'

export interface Temporal {
  address: string
  /** In which it works. */
  folder: string
}

export const temporalOnSqlite = ({ folder, env }: TestServers): Temporal => ({
  address: env.TEST_TEMPORAL_ADDRESS,
  folder: join(folder, 'temporal'),
})

/** Another server, which writes to the same PostgreSQL as the service. */
export const startOnPostgres = async (
  keep: Keep,
  { folder, env }: TestServers,
): Promise<Temporal> => {
  const dataDir = join(folder, 'temporal-postgres')
  await mkdir(dataDir)
  const postgresUrl = env.TEST_DATABASE_URL
  const { address } = keep(await startTemporalOnPostgres({ postgresUrl, dataDir }))
  return { address, folder: dataDir }
}
