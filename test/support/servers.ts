import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

import { makeDatabase } from '../../src/platform/db/client.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { buildConsolePages } from '../../src/local/console-pages.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { findProcess } from '../../src/local/process-table.ts'
import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import { startTemporal } from '../../src/local/temporal.ts'
import { bundleWorkflows } from '../../src/local/workflow-bundle.ts'
import { openTemporal } from '../../src/platform/temporal/connection.ts'
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts'
import { readTemporal, withoutSecurity } from '../../src/platform/settings/temporal.ts'
import { PATIENCE_MS } from './patience.ts'
import { PATIENT, TEMPLATE } from './template.ts'

export interface TestServers {
  /** Environment by which the test files find them. */
  env: NodeJS.ProcessEnv & {
    TEST_DATABASE_URL: string
    TEST_TEMPORAL_ADDRESS: string
    WORKFLOW_BUNDLE: string
    NODE_ENV: string
  }
  /** For files of this run; removed with the servers. */
  folder: string
  stop(): Promise<void>
}

interface Started {
  address: string
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL with a migrated template and Temporal with its search attributes in a temporary folder, and bundles
 * the workflows and the console once. TEST_DATABASE_URL (a role that may create databases) and TEST_TEMPORAL_ADDRESS name servers to use
 * instead. Whatever was started is stopped again when one of them fails. Unless PostgreSQL is to sync to the `disk`, it leaves
 * syncing to the kernel, and the folder lies in memory where there is enough.
 */
export const startTestServers = async (
  say: (line: string) => void,
  { sync = 'kernel', signal }: { sync?: 'disk' | 'kernel'; signal?: AbortSignal } = {},
): Promise<TestServers> => {
  await removeLeftovers()
  const parent = sync === 'kernel' && (await hasMemory()) ? MEMORY : tmpdir()
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`))
  // PostgreSQL runs as another user when this is root, and has to get through.
  await chmod(folder, 0o711)
  const parts = await Promise.allSettled([
    startDatabase(folder, say, sync),
    startWorkflows(folder, say, signal),
    Promise.all([bundleWorkflows(), buildConsolePages()]),
  ])
  const [database, temporal, workflows] = parts
  const stop = async (): Promise<void> => {
    for (const part of [database, temporal])
      if (part.status === 'fulfilled') await part.value.stop()
    await rm(folder, { recursive: true, force: true })
  }
  if (
    database.status === 'rejected' ||
    temporal.status === 'rejected' ||
    workflows.status === 'rejected'
  ) {
    await stop()
    throw parts.find((part) => part.status === 'rejected')?.reason
  }
  return {
    env: {
      TEST_DATABASE_URL: database.value.address,
      TEST_TEMPORAL_ADDRESS: temporal.value.address,
      WORKFLOW_BUNDLE: workflows.value[0],
      NODE_ENV: 'test',
      ...(!process.env['TEST_TEMPORAL_ADDRESS'] && withoutSecurity(process.env)),
    },
    folder,
    stop,
  }
}

const PREFIX = 'kiln-test-'

/** A file system in memory: hundreds of databases are made and dropped there with a tenth less work than on a disk. */
const MEMORY = '/dev/shm'

/** All test databases of a run together take up to half of that. */
const MEMORY_BYTES = 4 * 2 ** 30

const hasMemory = async (): Promise<boolean> => {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = await statfs(MEMORY)
  return Math.min(bavail * bsize, freemem()) > MEMORY_BYTES
}

/** A run that was killed leaves its folder; the name says whose it was. */
const removeLeftovers = async (): Promise<void> => {
  for (const parent of [MEMORY, tmpdir()].filter(existsSync))
    for (const name of await readdir(parent)) {
      const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
      if (pid !== undefined && findProcess(Number(pid)) === undefined)
        await rm(join(parent, name), { recursive: true, force: true })
    }
}

const startDatabase = async (
  folder: string,
  say: (line: string) => void,
  sync: 'disk' | 'kernel',
): Promise<Started> => {
  const given = process.env['TEST_DATABASE_URL']
  if (given) return await prepare({ address: given, stop: async () => {} }, makeTemplate)
  const { url, remove } = await startPostgres({ dataDir: join(folder, 'postgres'), say })
  return await prepare({ address: url, stop: remove }, async () => {
    if (sync === 'kernel') await trustKernel(url)
    await makeTemplate(url)
  })
}

/** Does something to a server, which is stopped when that fails. */
const prepare = async (
  server: Started,
  act: (address: string) => Promise<void>,
): Promise<Started> => {
  try {
    await act(server.address)
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** A killed server leaves what it wrote with the kernel, and no test cuts the power. */
const trustKernel = async (url: string): Promise<void> => {
  const admin = makeDatabase({ url, ...PATIENT })
  await admin`alter system set fsync = off`
  await admin`alter system set full_page_writes = off`
  await admin`select pg_reload_conf()`
  await admin.end()
}

/** Nobody may connect to a database while it is copied, so the finished template takes no connections. */
const makeTemplate = async (url: string): Promise<void> => {
  const admin = makeDatabase({ url, ...PATIENT })
  const template = new URL(url)
  template.pathname = `/${TEMPLATE}`
  try {
    await admin`drop database if exists ${admin(TEMPLATE)}`
    await admin`create database ${admin(TEMPLATE)}`
    await migrate(template.href)
    await admin`alter database ${admin(TEMPLATE)} with allow_connections false`
  } finally {
    await admin.end()
  }
}

const startWorkflows = async (
  folder: string,
  say: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<Started> => {
  const given = process.env['TEST_TEMPORAL_ADDRESS']
  if (given) return await prepare({ address: given, stop: async () => {} }, register)
  const cli = await findTemporalCli({ env: process.env, say, ...(signal && { signal }) })
  const { address, kill } = await startTemporal({ cli, dataDir: join(folder, 'temporal') })
  return await prepare({ address, stop: kill }, register)
}

const register = async (address: string): Promise<void> => {
  const target = readTemporal({ ...process.env, TEMPORAL_ADDRESS: address })
  const connection = openTemporal(target, { connectTimeout: PATIENCE_MS })
  await registerSearchAttributes(connection, target.namespace).finally(
    async () => await connection.close(),
  )
}
