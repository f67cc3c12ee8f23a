import type { Sql } from './client.ts'

/** Version of the server, and its clock in unix milliseconds. */
export const readServer = async (sql: Sql): Promise<{ version: string; now: number }> => {
  const [server] = await sql<{ version: string; now: number }[]>`
    select current_setting('server_version') as version,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now
  `
  if (!server) throw new Error('PostgreSQL returned no row')
  return server
}
