import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import envPaths from 'env-paths'

import { makeDatabase } from '../../src/platform/db/client.ts'
import { openTemporal } from '../../src/platform/temporal/connection.ts'
import { hasGrpcCode } from '../../src/platform/temporal/grpc-error.ts'
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts'
import { startChild, untilReady } from '../../src/local/child.ts'
import { findPort } from '../../src/local/port.ts'
import { ROOT } from '../../src/local/root.ts'
import { TEMPORAL_SERVER_VERSION } from '../../src/local/temporal-version.ts'
import { readTemporal, type TemporalOptions } from '../../src/platform/settings/temporal.ts'
import { PATIENCE_MS } from './patience.ts'
import { waitFor } from './wait.ts'

export interface TemporalOnPostgres {
  /** host:port of the frontend. Its namespace `default` has our search attributes. */
  address: string
  visibilityUrl: string
  /** Warnings and errors of the server so far. */
  log: readonly string[]
  /** Stops the server and drops its databases. */
  stop(): Promise<void>
}

interface Options {
  /** postgres:// of a role that may create databases and extensions. */
  postgresUrl: string
  /** For its log and its configuration. */
  dataDir: string
  /** Settings of the server besides ours, such as NUM_HISTORY_SHARDS and SQL_MAX_CONNS. */
  env?: NodeJS.ProcessEnv
  /** Makes the options of a connection where the address is not enough. */
  target?: (address: string) => TemporalOptions
}

/** The other one rejects the password of the embedded cluster, which is hashed once. */
const PLUGIN = 'postgres12_pgx'
const HOST = '127.0.0.1'

/** Why the server cannot be started; undefined when it is built. */
export const whyNoTemporalServer = async (): Promise<string | undefined> =>
  await access(programOf('server')).then(
    () => undefined,
    () => `no ${programOf('server')}: \`node tools/run.mjs tools/temporal-server.ts\` builds it`,
  )

/**
 * Starts the real Temporal server on two new databases of a PostgreSQL, as docker-compose.yml does: same plugins, same
 * schema, same dynamic configuration. Throws when it is not built.
 */
export const startTemporalOnPostgres = async ({
  postgresUrl,
  dataDir,
  env = {},
  target = (address) => readTemporal({ TEMPORAL_ADDRESS: address }),
}: Options): Promise<TemporalOnPostgres> => {
  const missing = await whyNoTemporalServer()
  if (missing !== undefined) throw new Error(missing)
  await mkdir(dataDir, { recursive: true })
  const name = `temporal_${randomBytes(4).toString('hex')}`
  const databases = { temporal: name, visibility: `${name}_visibility` }
  const drop = (): Promise<void> => dropAll(postgresUrl, Object.values(databases))
  try {
    for (const [schema, database] of Object.entries(databases))
      await setUpSchema(postgresUrl, schema, database)
    const server = await startServer({ postgresUrl, dataDir, env, target, databases })
    const visibilityUrl = new URL(postgresUrl)
    visibilityUrl.pathname = `/${databases.visibility}`
    const stop = async (): Promise<void> => {
      await server.kill()
      await drop()
    }
    return { ...server, visibilityUrl: visibilityUrl.href, stop }
  } catch (error) {
    await drop()
    throw error
  }
}

const programOf = (name: 'server' | 'sql'): string =>
  join(envPaths('kiln', { suffix: '' }).cache, `temporal-server-${TEMPORAL_SERVER_VERSION}`, name)

/** Does what deploy/temporal/set-up-schema.sh does. */
const setUpSchema = async (url: string, schema: string, database: string): Promise<void> => {
  const { hostname, port, username, password } = new URL(url)
  const server = { SQL_PLUGIN: PLUGIN, SQL_HOST: hostname, SQL_PORT: port }
  const login = { SQL_USER: username, SQL_PASSWORD: password, SQL_DATABASE: database }
  const env = { ...server, ...login }
  for (const args of [
    ['create-database'],
    ['setup-schema', '--version', '0.0'],
    ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
  ])
    await promisify(execFile)(programOf('sql'), args, { env })
}

const startServer = async ({
  postgresUrl,
  dataDir,
  env,
  target,
  databases,
}: Required<Options> & { databases: { temporal: string; visibility: string } }) => {
  const { hostname, port, username, password } = new URL(postgresUrl)
  const ports = await pickPorts()
  const address = `${HOST}:${ports['FRONTEND_GRPC_PORT']}`
  const log: string[] = []
  const child = await startChild({
    name: 'Temporal on PostgreSQL',
    command: programOf('server'),
    args: ['--allow-no-auth', 'start'],
    env: {
      PATH: process.env['PATH'],
      DB: PLUGIN,
      POSTGRES_SEEDS: hostname,
      DB_PORT: port,
      POSTGRES_USER: username,
      POSTGRES_PWD: password,
      DBNAME: databases.temporal,
      VISIBILITY_DBNAME: databases.visibility,
      NUM_HISTORY_SHARDS: '4',
      BIND_ON_IP: HOST,
      LOG_LEVEL: 'warn',
      DYNAMIC_CONFIG_FILE_PATH: await writeDynamicConfig(dataDir),
      ...ports,
      ...env,
    },
    cwd: dataDir,
    stopSignal: 'SIGTERM',
    deathSignal: 'SIGKILL',
    stopMs: 15_000,
    logPath: join(dataDir, 'temporal.log'),
    onLine: (line) => log.push(line),
  })
  await untilReady(child, 'Temporal', (signal) => waitUntilPrepared(target(address), signal)).catch(
    async (error: unknown) => {
      await child.kill()
      throw error
    },
  )
  return { address, log, kill: child.kill }
}

/** Each of its four services has two ports, which PostgreSQL keeps as SMALLINT. */
const pickPorts = async (): Promise<Record<string, string>> => {
  const names = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].flatMap((service) => [
    `${service}_GRPC_PORT`,
    `${service}_MEMBERSHIP_PORT`,
  ])
  const ports: Record<string, string> = {}
  for (const name of [...names, 'FRONTEND_HTTP_PORT']) ports[name] = String(await findPort())
  return ports
}

/** That of docker-compose.yml. A new search attribute is to be usable at once. */
const writeDynamicConfig = async (dataDir: string): Promise<string> => {
  const given = await readFile(join(ROOT, 'deploy/temporal/dynamic-config.yaml'), 'utf8')
  const path = join(dataDir, 'dynamic-config.yaml')
  const refresh = 'system.forceSearchAttributesCacheRefreshOnRead:\n  - value: true\n'
  await writeFile(path, given + refresh)
  return path
}

/** Makes the namespace and its search attributes as soon as the server lets us. */
const waitUntilPrepared = async (target: TemporalOptions, signal: AbortSignal): Promise<void> => {
  const isPrepared = () => prepareNamespace(target).then(() => true, String)
  await waitFor('the namespace', async () => signal.aborted || (await isPrepared()) === true)
}

const prepareNamespace = async (target: TemporalOptions): Promise<void> => {
  const connection = openTemporal(target, { connectTimeout: PATIENCE_MS })
  try {
    await connection.ensureConnected()
    const workflowExecutionRetentionPeriod = { seconds: (72 * 3600) as never }
    await connection.workflowService
      .registerNamespace({ namespace: 'default', workflowExecutionRetentionPeriod })
      .catch((error: unknown) => {
        if (!hasGrpcCode(error, 'ALREADY_EXISTS')) throw error
      })
    await registerSearchAttributes(connection, 'default')
  } finally {
    await connection.close()
  }
}

const dropAll = async (url: string, databases: readonly string[]): Promise<void> => {
  const admin = makeDatabase({ url, pool: 1, name: 'kiln temporal', statementTimeoutMs: 0 })
  try {
    for (const name of databases) await admin`drop database if exists ${admin(name)} with (force)`
  } finally {
    await admin.end()
  }
}
