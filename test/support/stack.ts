import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'

import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { pickSecurity } from '../../src/platform/settings/temporal.ts'
import { PATIENCE_MS } from './patience.ts'
import { PATIENT, TEMPLATE } from './template.ts'

export interface TestDatabase {
  url: string
  sql: Sql
  /** Closes the pool and deletes the database; a test file calls it in its `after`. */
  drop(): Promise<void>
}

/** A migrated, empty database of its own for one test file. */
export const createDatabase = async (): Promise<TestDatabase> => {
  const { create, ...database } = planDatabase()
  await create()
  return database
}

/** The same for all tests of a file or a suite: it is there, and prepared, before the first and gone after the last. */
export const useDatabase = (prepare?: (database: TestDatabase) => unknown): TestDatabase => {
  const { create, ...database } = planDatabase()
  before(async () => {
    await create()
    await prepare?.(database)
  })
  after(database.drop)
  return database
}

/** A database that is still to be created. Its pool connects with the first query. */
export const planDatabase = (): TestDatabase & { create(): Promise<void> } => {
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = new URL(readServer('TEST_DATABASE_URL'))
  url.pathname = `/${name}`
  // A deadlock ends after a second all the same.
  const times = { statementTimeoutMs: PATIENCE_MS, waitMs: PATIENCE_MS }
  // A test may hold a lock for as long as it needs.
  const patient = `${url.href}?idle_in_transaction_session_timeout=0`
  const sql = makeDatabase({ url: patient, pool: 10, name, ...times })
  return {
    url: url.href,
    sql,
    create: () =>
      withAdmin(async (admin) => {
        await admin`create database ${admin(name)} template ${admin(TEMPLATE)} strategy file_copy`
      }),
    drop: async () => {
      await sql.end({ timeout: 1 })
      await withAdmin(async (admin) => {
        await admin`drop database if exists ${admin(name)} with (force)`
      })
    },
  }
}

/** Opens a database, or closes it: nobody gets in any more, and whoever is in is thrown out. */
export const allowConnections = async (
  { url }: Pick<TestDatabase, 'url'>,
  allowed: boolean,
): Promise<void> => {
  const name = new URL(url).pathname.slice(1)
  await withAdmin(async (admin) => {
    const value = admin.unsafe(String(allowed))
    await admin`alter database ${admin(name)} with allow_connections ${value}`
    if (!allowed)
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  })
}

/** host:port of the Temporal server of this run. */
export const temporalAddress = (): string => readServer('TEST_TEMPORAL_ADDRESS')

/**
 * Settings by which a server is reached: of the server of this run, which a test with its own has none of, with TLS, key
 * and namespace of the caller's shell.
 */
export const temporalSettings = (address = temporalAddress()): NodeJS.ProcessEnv => ({
  ...(address === process.env['TEST_TEMPORAL_ADDRESS'] && pickSecurity(process.env)),
  TEMPORAL_ADDRESS: address,
})

/** Path of the workflow bundle of this run, for `workflowBundle: { codePath }`. */
export const workflowBundle = (): string => readServer('WORKFLOW_BUNDLE')

/** A task queue of its own for one test file, so that no other file's worker takes its tasks. */
export const makeTaskQueue = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`

export const withAdmin = async (act: (admin: Sql) => Promise<void>): Promise<void> => {
  const admin = makeDatabase({ url: readServer('TEST_DATABASE_URL'), ...PATIENT })
  try {
    await act(admin)
  } finally {
    await admin.end()
  }
}

const readServer = (name: string): string => {
  const value = process.env[name]
  if (value) return value
  throw new Error(`${name} is not set: run this file with \`npm test -- <path of the file>\``)
}
