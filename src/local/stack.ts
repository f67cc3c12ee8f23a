import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import getPort from 'get-port'
import type { JWK } from 'jose'

import { DEVELOPMENT_ISSUER } from '../config.ts'
import { claimDataFolder } from './claim.ts'
import type { Claim } from './claim.ts'
import { secondsSince } from './console.ts'
import type { Say } from './console.ts'
import type { Interrupt } from './interrupt.ts'
import { DEVELOPMENT_AUDIENCE, loadIssuerKey, signToken, startIssuer } from './issuer.ts'
import { loadKeys } from './keys.ts'
import { makeNodeService, runNode } from './node-service.ts'
import { preparePostgres } from './postgres.ts'
import { makeSupervisor } from './supervisor.ts'
import type { Service, Supervisor } from './supervisor.ts'
import { findTemporalCli } from './temporal-cli.ts'
import { prepareTemporal } from './temporal.ts'

export interface StackOptions {
  /** Everything of this stack lies here; two stacks need two folders. */
  dataDir: string
  /** Folder of the development issuer's key; tokens are good for every stack that shares it. */
  issuerDir: string
  /** The caller's environment; DATABASE_URL and TEMPORAL_ADDRESS in it take the place of the embedded servers. */
  env: NodeJS.ProcessEnv
  /** Wished ports; a taken one is replaced by a free one, and said. Absent: free ones. */
  port?: number
  uiPort?: number
  /** Settings of the processes that the environment does not change. */
  settings?: NodeJS.ProcessEnv
  say: Say
  /** Stops it, also in the middle of the start. */
  interrupt: Pick<Interrupt, 'stop' | 'force'>
}

export interface Stack {
  /** Address of the api. */
  url: string
  /** Address of the Temporal UI; undefined when TEMPORAL_ADDRESS names a server of somebody else. */
  ui: string | undefined
  /** Folder of the logs. */
  logDir: string
  /** Name and pid of what runs now. */
  pids(): Record<string, number>
  /** A bearer token of the development issuer. */
  token(subject: string): Promise<string>
  /** Stops everything in order: api, workers, Temporal, PostgreSQL. */
  stop(): Promise<void>
}

/** What a part of the start needs. */
interface Context extends StackOptions {
  supervisor: Supervisor
  logDir: string
  /** What else is to be closed at the end. */
  closers: (() => Promise<void>)[]
}

/** Longer than the processes give themselves: api 10 s, workers 45 s. */
const API_STOP_MS = 12_000
const WORKER_STOP_MS = 47_000
const STOP_ORDER = [['api'], ['worker-core', 'worker-media'], ['temporal'], ['postgres']]

/**
 * Starts PostgreSQL, Temporal, the token issuer, the api and both workers, and keeps them running. Throws a
 * StackRunningError when a living stack has the data folder; any other failure stops what was started already.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { dataDir, say } = options
  const claim = await claimDataFolder(dataDir, say)
  const pids: Record<string, number> = {}
  const addresses: Record<string, string> = {}
  const supervisor = makeSupervisor({ say, changed: makeRecorder(claim, addresses, pids) })
  const logDir = join(dataDir, 'logs')
  const closers: (() => Promise<void>)[] = []
  const stop = makeOnce(async () => {
    await supervisor.stop(STOP_ORDER)
    for (const close of closers) await close()
    await claim.release()
  })
  options.interrupt.stop.addEventListener('abort', () => void stop())
  options.interrupt.force.addEventListener('abort', () => void supervisor.kill())
  try {
    options.interrupt.stop.throwIfAborted()
    const started = await startAll({ ...options, supervisor, logDir, closers }, addresses)
    return { ...started, logDir, pids: () => ({ ...pids }), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const makeOnce = (act: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined
  return async () => {
    done ??= act()
    await done
  }
}

const makeRecorder =
  (claim: Claim, addresses: Record<string, string>, pids: Record<string, number>) =>
  async (
    running: Parameters<Parameters<typeof makeSupervisor>[0]['changed']>[0],
  ): Promise<void> => {
    for (const name of Object.keys(pids)) delete pids[name]
    for (const { name, running: found } of running) pids[name] = found.id.pid
    await claim.record({
      addresses,
      processes: running.map(({ name, running: found }) => ({
        name,
        ...found.id,
        stopSignal: found.stopSignal,
      })),
    })
  }

const startAll = async (
  context: Context,
  addresses: Record<string, string>,
): Promise<Pick<Stack, 'url' | 'ui' | 'token'>> => {
  const { dataDir } = context
  await mkdir(context.logDir, { recursive: true })
  const [databaseUrl, temporal] = await Promise.all([
    startDatabase(context),
    startWorkflows(context),
  ])
  const key = await loadIssuerKey(context.issuerDir)
  const issuer = await startIssuer(key)
  context.closers.push(async () => await issuer.close())
  const port = await takePort(context, {
    what: 'api',
    wished: context.port,
    required: context.env['PORT'],
  })
  const local = `http://127.0.0.1:${port}`
  const url = context.env['PUBLIC_URL'] || local
  Object.assign(addresses, {
    api: url,
    ...(temporal.ui === undefined ? {} : { 'Temporal UI': temporal.ui }),
  })
  const env = {
    ...context.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    HOST: context.env['HOST'] || '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    AUTH_ISSUER: DEVELOPMENT_ISSUER,
    AUTH_AUDIENCE: DEVELOPMENT_AUDIENCE,
    AUTH_JWKS_URL: issuer.jwksUrl,
    STORAGE: 'local',
    STORAGE_PATH: join(dataDir, 'storage'),
    ...(await keySettings(context)),
    MEDIA_SLOTS: context.env['MEDIA_SLOTS'] || String(availableParallelism()),
    DRAIN_DELAY_SECONDS: '0',
    ...context.settings,
  }
  await startOwn(context, env, local)
  return { url, ui: temporal.ui, token: makeTokens(key) }
}

const makeTokens =
  (key: JWK) =>
  async (subject: string): Promise<string> =>
    await signToken(key, subject)

const keySettings = async ({ dataDir, env }: Context): Promise<NodeJS.ProcessEnv> => {
  const keys = await loadKeys(dataDir)
  return {
    SIGNING_KEYS: env['SIGNING_KEYS'] || keys.signing,
    SECRETS_KEYS: env['SECRETS_KEYS'] || keys.secrets,
  }
}

const startDatabase = async ({ env, dataDir, say, supervisor }: Context): Promise<string> => {
  const given = env['DATABASE_URL']
  if (given) return given
  const start = Date.now()
  const cluster = await preparePostgres({ dataDir: join(dataDir, 'postgres'), say })
  await supervisor.run({ name: 'postgres', launch: cluster.launch })
  say(`PostgreSQL ${cluster.version} on 127.0.0.1:${cluster.port}, ${secondsSince(start)}`)
  return cluster.url
}

const startWorkflows = async (
  context: Context,
): Promise<{ address: string; ui: string | undefined }> => {
  const { env, dataDir, say, supervisor } = context
  const given = env['TEMPORAL_ADDRESS']
  if (given) return { address: given, ui: undefined }
  const start = Date.now()
  const cli = await findTemporalCli({ env, say, signal: context.interrupt.stop })
  const uiPort = await takePort(context, { what: 'Temporal UI', wished: context.uiPort })
  const cluster = await prepareTemporal({ cli, dataDir: join(dataDir, 'temporal'), uiPort })
  await supervisor.run({ name: 'temporal', launch: cluster.launch })
  say(`Temporal ${cli.serverVersion} on ${cluster.address}, ${secondsSince(start)}`)
  return { address: cluster.address, ui: cluster.ui }
}

const startOwn = async (context: Context, env: NodeJS.ProcessEnv, local: string): Promise<void> => {
  const { logDir, say, supervisor } = context
  const start = Date.now()
  await runNode({ name: 'migrate', entry: 'src/migrate.ts', env, logDir, stopMs: API_STOP_MS, say })
  say(`schema is up to date, ${secondsSince(start)}`)
  const worker = (role: string): Service =>
    makeNodeService({
      name: `worker-${role}`,
      entry: 'src/worker.ts',
      env: { ...env, WORKER_ROLE: role },
      logDir,
      stopMs: WORKER_STOP_MS,
      say,
      readyMessage: 'worker ready',
    })
  const api = makeNodeService({
    name: 'api',
    entry: 'src/api.ts',
    env,
    logDir,
    stopMs: API_STOP_MS,
    say,
    readyMessage: 'api ready',
    readyUrl: `${local}/ready`,
  })
  await Promise.all(
    [api, worker('core'), worker('media')].map(async (service) => await supervisor.run(service)),
  )
  say(`api, worker-core and worker-media are ready, ${secondsSince(start)}`)
}

interface PortWish {
  what: string
  wished: number | undefined
  /** A port the caller insists on. */
  required?: string | undefined
}

const takePort = async (
  { say }: Context,
  { what, wished, required }: PortWish,
): Promise<number> => {
  if (required) return await requirePort(Number(required))
  if (wished === undefined) return await getPort({ host: '127.0.0.1' })
  const port = await getPort({ host: '127.0.0.1', port: wished })
  if (port !== wished) say(`port ${wished} is taken: the ${what} answers on ${port}`)
  return port
}

const requirePort = async (port: number): Promise<number> => {
  if ((await getPort({ host: '127.0.0.1', port })) === port) return port
  throw new Error(`PORT=${port} is taken: stop what listens there, or set PORT to another one`)
}
