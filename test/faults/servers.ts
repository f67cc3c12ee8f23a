import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Connection } from '@temporalio/client'

import { makeDatabase } from '../../src/platform/db/client.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import { startTemporal } from '../../src/local/temporal.ts'
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts'
import type { TestDatabase } from '../support/stack.ts'
import { PATIENT } from '../support/template.ts'

const say = (): void => {}

export type OwnTemporal = Awaited<ReturnType<typeof startOwnTemporal>>

/** A Temporal server that one test file may kill. */
export const startOwnTemporal = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-temporal-'))
  const cli = await findTemporalCli({ env: process.env, say })
  const server = await startTemporal({ cli, dataDir: folder })
  const connection = await Connection.connect({ address: server.address })
  await registerSearchAttributes(connection, 'default')
  return {
    server,
    connection,
    /** SIGKILL, and everything it knew is lost; starts empty. */
    async lose() {
      await server.kill()
      for (const name of await readdir(folder))
        if (name.includes('.db')) await rm(join(folder, name))
      await server.restart()
      await registerSearchAttributes(connection, 'default')
    },
    async stop() {
      await connection.close()
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>

/** A PostgreSQL server that one test file may kill, with a migrated database. */
export const startOwnPostgres = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-postgres-'))
  // PostgreSQL runs as another user when this is root, and has to get through.
  await chmod(folder, 0o711)
  const server = await startPostgres({ dataDir: folder, say })
  const sql = makeDatabase({ url: server.url, ...PATIENT, pool: 4 })
  await migrate(server.url)
  const drop = async (): Promise<void> => {
    await sql.end({ timeout: 1 })
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
  return { server, database: { url: server.url, sql, drop } satisfies TestDatabase }
}
