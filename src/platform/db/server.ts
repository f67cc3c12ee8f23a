import { OperatorError } from '../process/operator-error.ts'
import type { Sql } from './client.ts'
import { renewSessions } from './pool.ts'

/** Oldest version of PostgreSQL whose functions the schema calls. */
const LEAST = 16

/** Reads the version of the server. Throws an OperatorError where it is too old or takes no writes. */
export const readServer = async (sql: Sql): Promise<{ version: string }> => {
  const [server] = await sql<{ version: string; isStandby: boolean; isReadOnly: boolean }[]>`
    select current_setting('server_version') as version,
      pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only')::boolean as "isReadOnly"
  `
  if (!server) throw new Error('PostgreSQL returned no row')
  const { version, isStandby, isReadOnly } = server
  if (Number.parseInt(version, 10) < LEAST)
    throw new OperatorError(`PostgreSQL ${version} is too old: upgrade to ${LEAST} or later`)
  if (isStandby)
    throw new OperatorError(
      'PostgreSQL takes no writes, because it is a standby: have DATABASE_URL lead to the primary',
    )
  // A session keeps the default that it began with: another one is asked next.
  if (isReadOnly) renewSessions(sql)
  if (isReadOnly)
    throw new OperatorError(
      'PostgreSQL takes no writes: set default_transaction_read_only to off for the server, the database and the user',
    )
  return { version }
}

/** The clock of the server in unix milliseconds. */
export const readDatabaseClock = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ now: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now
  `
  return row?.now ?? Number.NaN
}
