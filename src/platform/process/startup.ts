import { setTimeout as sleep } from 'node:timers/promises'

import type { Sql } from '../db/client.ts'
import { checkSchema } from '../db/migrate.ts'
import { advisePostgres } from './postgres-advice.ts'
import { readServer } from '../db/server.ts'
import { isUnavailable } from '../db/sqlstate.ts'
import type { Log } from '../log.ts'

const PAUSE_MS = 500
/** One line every five seconds. */
const LOGGED_ATTEMPTS = 10

interface Wait {
  /** The server that does not respond. */
  name: string
  isOutage: (error: unknown) => boolean
  /** Says what an operator does about it, where that is known. */
  advise?: (error: unknown) => Promise<string | undefined> | string | undefined
  log: Log
}

/** Tries until a server responds, so that processes and servers may start in any order. Throws any other error. */
export const untilResponds = async <T>(
  call: () => Promise<T>,
  { name, isOutage, advise, log }: Wait,
): Promise<T> => {
  for (let attempts = 0; ; attempts += 1)
    try {
      return await call()
    } catch (error) {
      if (!isOutage(error)) throw error
      if (attempts % LOGGED_ATTEMPTS === 0)
        log.warn(
          { err: error },
          `${(await advise?.(error)) ?? `${name} does not respond`}; waiting`,
        )
      await sleep(PAUSE_MS)
    }
}

/** Waits for PostgreSQL. Ends the process unless the database has the schema of this code. */
export const requireSchema = async (sql: Sql, log: Log): Promise<void> => {
  const wait = {
    name: 'PostgreSQL',
    isOutage: isUnavailable,
    advise: (error: unknown) => advisePostgres(error, 'DATABASE_URL'),
    log,
  }
  const check = async (): Promise<void> => {
    await readServer(sql)
    await checkSchema(sql)
  }
  await untilResponds(check, wait).catch((error: unknown) => {
    log.fatal(
      { err: error },
      error instanceof Error ? error.message : 'the schema could not be checked',
    )
    process.exit(1)
  })
}
