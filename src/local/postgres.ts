import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import postgres from 'postgres'

import { untilReady, startChild } from './child.ts'
import {
  POSTGRES_ROLE,
  endLeftover,
  killServer,
  postgresEnvironment,
  prepareCluster,
} from './postgres-cluster.ts'
import { findPort } from './port.ts'
import { findPostgresPlace, type PostgresPlace } from './postgres-place.ts'
import { identityOf } from './postgres-user.ts'
import { ROOT } from './root.ts'
import { startServer, untilResponds, type OnSpawn, type Server } from './server.ts'

export interface PostgresOptions {
  /** Folder of the cluster, its password and its log. */
  dataDir: string
  /** A free one when absent. */
  port?: number
  say: (line: string) => void
}

/** A cluster that can be started: its address does not change from one start to the next. */
export interface PostgresCluster {
  /** postgres:// with role and password, database `kiln`. */
  url: string
  port: number
  version: string
  /** Starts the server; resolves when it responds and its database exists. */
  launch: (onSpawn: OnSpawn) => Promise<void>
  /** Deletes the cluster, wherever it lies. Only when it is stopped. */
  remove: () => Promise<void>
}

export interface PostgresServer extends Server {
  url: string
  port: number
  /** Stops the server and deletes its cluster. */
  remove(): Promise<void>
}

const DATABASE = 'kiln'

/** Recovery of a killed server reads its log first; a big one takes a while. */
const READY_MS = 120_000
const STOP_MS = 20_000

/** Starts the packaged PostgreSQL on 127.0.0.1, making its cluster first where needed. See PostgresServer. */
export const startPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  const cluster = await preparePostgres(options)
  const server = await startServer(cluster.launch)
  return Object.assign(server, {
    url: cluster.url,
    port: cluster.port,
    remove: async () => {
      await server.stop()
      await cluster.remove()
    },
  })
}

/** Makes the cluster unless it is there, ends what an earlier start left on it, and picks the port. */
export const preparePostgres = async (options: PostgresOptions): Promise<PostgresCluster> => {
  const { dataDir, say } = options
  const place = await findPostgresPlace({ dataDir, root: ROOT, say })
  const password = await prepareCluster(place, dataDir)
  const port = options.port ?? (await findPort())
  const url = `postgres://${POSTGRES_ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`
  return {
    url,
    port,
    version: place.version,
    launch: async (onSpawn) => {
      await endLeftover(place.cluster, say)
      await launch(place, { port, url, logPath: join(dataDir, 'postgres.log'), onSpawn })
    },
    remove: async () => await rm(place.cluster, { recursive: true, force: true }),
  }
}

interface LaunchOptions {
  port: number
  url: string
  logPath: string
  onSpawn: OnSpawn
}

const launch = async (place: PostgresPlace, options: LaunchOptions): Promise<void> => {
  const { port, url, logPath, onSpawn } = options
  const child = await startChild({
    name: 'PostgreSQL',
    command: join(place.programs, 'bin/postgres'),
    args: [
      '-D',
      place.cluster,
      '-p',
      String(port),
      ...SETTINGS.flatMap((setting) => ['-c', setting]),
    ],
    env: postgresEnvironment(),
    cwd: '/',
    ...identityOf(place.user),
    // Fast shutdown: it does not wait for clients to leave.
    stopSignal: 'SIGINT',
    deathSignal: 'SIGINT',
    stopMs: STOP_MS,
    logPath,
  })
  const kill = async (): Promise<void> => {
    await killServer(child.id)
    await child.exited
  }
  onSpawn({ ...child, kill })
  await untilReady(child, 'PostgreSQL', async (signal) => await waitUntilResponds(url, signal))
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  // A path of a socket may have 107 bytes at most, which a deep checkout exceeds.
  'unix_socket_directories=',
  // api, two workers and a test run with two files at once, ten connections or so each.
  'max_connections=200',
  // A registry of 100,000 nodes is searched in memory; pages are taken only as they are used.
  'shared_buffers=512MB',
  'timezone=UTC',
  'log_timezone=UTC',
  // A client that goes away is nothing to log.
  'log_disconnections=off',
]

const waitUntilResponds = async (url: string, signal: AbortSignal): Promise<void> => {
  const admin = new URL(url)
  admin.pathname = '/postgres'
  const wait = { signal, limitMs: READY_MS, pauseMs: 30, isFinal: isDenied }
  await untilResponds('PostgreSQL', () => makeDatabaseOnce(admin.href), wait)
}

const makeDatabaseOnce = async (admin: string): Promise<void> => {
  const sql = postgres(admin, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (found === undefined) await sql`create database ${sql(DATABASE)}`
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** Wrong password: the password file belongs to another cluster. Waiting would not help. */
const isDenied = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code.startsWith('28')
