import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import type { PostgresServer } from '../../src/local/postgres.ts'
import { PATIENT } from '../support/template.ts'
import { waitFor } from '../support/wait.ts'
import { startLink } from '../support/link.ts'

/**
 * Copies the cluster of a running server into a folder that PostgreSQL may start from, without pg_basebackup, which the
 * packaged server lacks. What is committed when it ends is in it.
 */
export const backUp = async (primary: PostgresServer, folder: string): Promise<string> => {
  const source = await open(primary.url)
  const [row] = await source<{ from: string }[]>`select current_setting('data_directory') as from`
  const from = row?.from ?? ''
  const cluster = join(folder, 'cluster')
  const copy = (...args: string[]) => promisify(execFile)('cp', ['-a', ...args])
  // The label belongs to the session that has begun the backup: the pool has one connection.
  await source`select pg_backup_start('machines', true)`
  await copy(from, cluster)
  const [label] = await source<{ text: string }[]>`
    select labelfile as text from pg_backup_stop(false)
  `
  await source.end()
  // The log up to the end of the backup makes the copy whole.
  await copy(join(from, 'pg_wal'), cluster)
  for (const left of ['postmaster.pid', 'postmaster.opts', 'pg_replslot/standby'])
    await rm(join(cluster, left), { recursive: true, force: true })
  await writeOwned(cluster, { backup_label: label?.text ?? '' })
  await copyFile(join(dirname(from), 'password'), join(folder, 'password'))
  return cluster
}

/** Writes files for the user that PostgreSQL runs as. */
const writeOwned = async (cluster: string, files: Record<string, string>): Promise<void> => {
  const { uid, gid } = await stat(cluster)
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(cluster, name), text)
    await chown(join(cluster, name), uid, gid)
  }
}

/** Starts a standby of a primary, which streams. */
export const startStandby = async (primary: PostgresServer) => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-standby-'))
  await chmod(folder, 0o711)
  const source = await open(primary.url)
  await source`select pg_create_physical_replication_slot('standby', true)`
  await source.end()
  const cluster = await backUp(primary, folder)
  const { username, password } = new URL(primary.url)
  const way = await startLink(primary.url, '127.0.0.10')
  await writeOwned(cluster, {
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = 'host=${way.host} port=${way.port} user=${username} password=${password}'\nprimary_slot_name = 'standby'\n`,
  })
  const server = await startPostgres({ dataDir: folder, say: () => {} })
  const sql = await open(server.url)
  await waitFor('it streams', async () => (await sql`select from pg_stat_wal_receiver`).length > 0)
  return {
    server,
    sql,
    /** Loses on its way what the primary sends from now on. */
    fallBehind: () => way.set({ name: 'hold' }),
    promote: async () => void (await sql`select pg_promote()`),
    async stop() {
      await way.stop()
      await sql.end({ timeout: 1 })
      await server.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const open = async (url: string): Promise<Sql> => {
  const sql = makeDatabase({ url, ...PATIENT })
  await sql`select 1`
  return sql
}
