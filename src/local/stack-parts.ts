import { join } from 'node:path'

import { KEY_SETTINGS } from '../compose/settings/issues.ts'
import { readProfile, withoutSecurity } from '../platform/settings/temporal.ts'
import { secondsSince, type Say } from './console.ts'
import type { Interrupt } from './interrupt.ts'
import { makeNodeService, runNode } from './node-service.ts'
import { findPort } from './port.ts'
import { preparePostgres } from './postgres.ts'
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
  /** Port of the api that the caller insists on; the start fails when it is taken. */
  fixedPort?: number | undefined
  /** Settings of the processes that the environment does not change. */
  settings?: NodeJS.ProcessEnv
  say: Say
  /** Stops it, also in the middle of the start. */
  interrupt: Pick<Interrupt, 'stop' | 'force'>
}

/** Options and dependencies of a part of the start. */
export interface Context extends StackOptions {
  supervisor: Supervisor
  logDir: string
  /** Closers of what else is open, for the end. */
  closers: (() => Promise<void>)[]
}

/** Longer than the processes give themselves: api 10 s, workers 45 s. */
const API_STOP_MS = 12_000
const WORKER_STOP_MS = 47_000

/** A media worker reads hostile files, and does without the keys. */
const WITHOUT_KEYS = Object.fromEntries(KEY_SETTINGS.map((name) => [name, '']))

/** Address of DATABASE_URL, or of the packaged server that it starts. */
export const startDatabase = async ({
  env,
  dataDir,
  say,
  supervisor,
}: Context): Promise<string> => {
  const given = env['DATABASE_URL']
  if (given) return given
  const start = Date.now()
  const cluster = await preparePostgres({ dataDir: join(dataDir, 'postgres'), say })
  await supervisor.run({ name: 'postgres', launch: cluster.launch })
  say(`PostgreSQL ${cluster.version} on 127.0.0.1:${cluster.port}, ${secondsSince(start)}`)
  return cluster.url
}

export interface Workflows {
  /** Temporal frontend, host:port. */
  address: string
  /** Address of the web interface; undefined for a server of somebody else. */
  ui: string | undefined
  /** Settings by which the processes reach it. */
  settings: NodeJS.ProcessEnv
}

/** Finds the server of TEMPORAL_ADDRESS or of the profile that is named, or starts the development server. */
export const startWorkflows = async (context: Context): Promise<Workflows> => {
  const { env, dataDir, say, supervisor } = context
  const given = env['TEMPORAL_ADDRESS'] || readProfile(env).values['TEMPORAL_ADDRESS']
  if (given) return { address: given, ui: undefined, settings: { TEMPORAL_ADDRESS: given } }
  const start = Date.now()
  const cli = await findTemporalCli({ env, say, signal: context.interrupt.stop })
  const uiPort = await takePort(context, 'Temporal UI', context.uiPort)
  const cluster = await prepareTemporal({ cli, dataDir: join(dataDir, 'temporal'), uiPort })
  await supervisor.run({ name: 'temporal', launch: cluster.launch })
  say(`Temporal ${cli.serverVersion} on ${cluster.address}, ${secondsSince(start)}`)
  const { address, ui } = cluster
  return { address, ui, settings: { ...withoutSecurity(env), TEMPORAL_ADDRESS: address } }
}

/** Migrates the schema and starts api and workers; `local` is where this machine reaches the api. */
export const startOwn = async (
  context: Context,
  env: NodeJS.ProcessEnv,
  local: string,
): Promise<void> => {
  const { logDir, say, supervisor } = context
  const start = Date.now()
  await runNode({ name: 'migrate', entry: 'src/migrate.ts', env, logDir, stopMs: API_STOP_MS })
  say(`schema is up to date, ${secondsSince(start)}`)
  // Each process needs a port of its own on this machine.
  const metricsPort = (place: number): NodeJS.ProcessEnv => {
    const first = Number(env['METRICS_PORT'] || 0)
    return first === 0 ? {} : { METRICS_PORT: String(first + place) }
  }
  const worker = (role: string): Service =>
    makeNodeService({
      name: `worker-${role}`,
      entry: 'src/worker.ts',
      env: {
        ...env,
        OVERRIDE_DEVELOPMENT_ISSUER_KEY: '',
        WORKER_ROLE: role,
        ...metricsPort(role === 'core' ? 1 : 2),
        ...(role === 'media' && WITHOUT_KEYS),
      },
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

export const takeApiPort = async (context: Context): Promise<number> => {
  const { fixedPort } = context
  if (fixedPort === undefined) return await takePort(context, 'api', context.port)
  if ((await findPort(fixedPort)) === fixedPort) return fixedPort
  throw new Error(`PORT=${fixedPort} is taken: stop what listens there, or set PORT to another one`)
}

const takePort = async (
  { say }: Context,
  what: string,
  wished: number | undefined,
): Promise<number> => {
  if (wished === undefined) return await findPort()
  const port = await findPort(wished)
  if (port !== wished) say(`port ${wished} is taken: the ${what} is on ${port}`)
  return port
}
