import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'

import { checkGiven, keepSettings } from '../config.ts'
import { isLoopbackHost } from '../platform/outbound/url.ts'
import { DEVELOPMENT_ISSUER } from '../platform/process/development-issuer.ts'
import { readTemporal, type TemporalOptions } from '../platform/settings/temporal.ts'
import { buildConsolePages } from './console-pages.ts'
import type { Running } from './child.ts'
import { claimDataFolder, type Claim, type StackState } from './claim.ts'
import { DEVELOPMENT_AUDIENCE, signToken } from '../platform/process/development-issuer.ts'
import { loadIssuerKey, startIssuer } from './issuer.ts'
import { loadKeys } from './keys.ts'
import { startDatabase, startOwn, startWorkflows, takeApiPort } from './stack-parts.ts'
import type { Context, StackOptions } from './stack-parts.ts'
import { makeSupervisor } from './supervisor.ts'
import { bundleWorkflows } from './workflow-bundle.ts'

export interface Stack {
  url: string
  /** Address of the Temporal UI; undefined when TEMPORAL_ADDRESS names a server of somebody else. */
  ui: string | undefined
  /** Connection of its processes to Temporal. */
  temporal: TemporalOptions
  logDir: string
  /** Name and pid of what runs now. */
  pids(): Record<string, number>
  /** Signs the webhooks of tasks made without a credential. */
  webhookSecret: string
  /** A bearer token of the development issuer. */
  token(subject: string): Promise<string>
  /** Stops everything in order: api, workers, Temporal, PostgreSQL. */
  stop(): Promise<void>
}

const STOP_ORDER = [['api'], ['worker-core', 'worker-media'], ['temporal'], ['postgres']]

/**
 * Starts PostgreSQL, Temporal, the token issuer, the api and both workers, and keeps them running. Throws a
 * StackRunningError when a living stack has the data folder, and a ConfigError when a given setting is not usable; any other
 * failure stops what was started already.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { dataDir, say } = options
  checkGiven(options.env)
  const claim = await claimDataFolder(dataDir, say)
  const logDir = join(dataDir, 'logs')
  say(`starting the database, Temporal, the api and two workers; logs in ${relative('', logDir)}`)
  const pids: Record<string, number> = {}
  const reported: Reported = { addresses: {} }
  const supervisor = makeSupervisor({ say, changed: makeRecorder(claim, reported, pids) })
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
    const started = await startAll({ ...options, supervisor, logDir, closers }, reported)
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

/** State of the stack that is known by now. */
type Reported = Pick<StackState, 'addresses' | 'settings'>

const makeRecorder =
  (claim: Claim, reported: Reported, pids: Record<string, number>) =>
  async (running: { name: string; running: Running }[]): Promise<void> => {
    for (const name of Object.keys(pids)) delete pids[name]
    for (const { name, running: found } of running) pids[name] = found.id.pid
    await claim.record({
      ...reported,
      processes: running.map(({ name, running: found }) => ({
        name,
        ...found.id,
        stopSignal: found.stopSignal,
      })),
    })
  }

const startAll = async (
  context: Context,
  reported: Reported,
): Promise<Pick<Stack, 'url' | 'ui' | 'temporal' | 'webhookSecret' | 'token'>> => {
  const { dataDir } = context
  await mkdir(context.logDir, { recursive: true })
  const [databaseUrl, temporal, workflowBundle] = await Promise.all([
    startDatabase(context),
    startWorkflows(context),
    bundleWorkflows(),
    buildConsolePages(),
  ])
  const key = await loadIssuerKey(context.issuerDir)
  const issuer = await startIssuer(key)
  context.closers.push(async () => await issuer.close())
  const port = await takeApiPort(context)
  const host = context.env['HOST'] || '127.0.0.1'
  const local = `http://${/^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host}:${port}`
  const url = context.env['PUBLIC_URL'] || local
  reported.addresses = {
    api: url,
    ...(temporal.ui === undefined ? {} : { 'Temporal UI': temporal.ui }),
  }
  const keys = await keySettings(context)
  const isHere = isLoopbackHost(host)
  const env = {
    ...context.env,
    DATABASE_URL: databaseUrl,
    ...temporal.settings,
    OVERRIDE_WORKFLOW_BUNDLE: workflowBundle,
    HOST: host,
    PORT: String(port),
    PUBLIC_URL: url,
    // Its users sign in with a click.
    AUTH: 'issuer',
    AUTH_ISSUER: DEVELOPMENT_ISSUER,
    AUTH_AUDIENCE: DEVELOPMENT_AUDIENCE,
    AUTH_JWKS_URL: issuer.jwksUrl,
    // Visitors of one's own machine may look.
    CONSOLE_SAMPLES: context.env['CONSOLE_SAMPLES'] || 'on',
    STORAGE_PATH: join(dataDir, 'storage'),
    SCRATCH_PATH: context.env['SCRATCH_PATH'] || join(dataDir, 'scratch'),
    ...keys,
    // Whoever reaches an api that listens beyond this machine is not given them.
    ...(isHere && { OVERRIDE_DEVELOPMENT_ISSUER_KEY: JSON.stringify(key) }),
    OVERRIDE_OUTBOUND_ALLOW_LOOPBACK:
      context.env['OVERRIDE_OUTBOUND_ALLOW_LOOPBACK'] || String(isHere),
    ADMIN_SUBJECTS: context.env['ADMIN_SUBJECTS'] || 'operator',
    TEMPORAL_UI_URL: context.env['TEMPORAL_UI_URL'] || temporal.ui,
    MEDIA_SLOTS: context.env['MEDIA_SLOTS'] || String(availableParallelism()),
    DRAIN_DELAY_SECONDS: '0',
    // One address holds everybody who tries it.
    RATE_LIMITS: context.env['RATE_LIMITS'] || '20',
    ...context.settings,
  }
  reported.settings = keepSettings(env)
  await startOwn(context, env, local)
  const webhookSecret = keys.WEBHOOK_DEFAULT_SECRET
  return {
    url,
    ui: temporal.ui,
    temporal: readTemporal(env),
    webhookSecret,
    token: (subject) => signToken(key, subject),
  }
}

const keySettings = async ({ dataDir, env }: Context) => {
  const keys = await loadKeys(dataDir)
  return {
    SIGNING_KEYS: env['SIGNING_KEYS'] || keys.signing,
    SECRETS_KEYS: env['SECRETS_KEYS'] || keys.secrets,
    WEBHOOK_DEFAULT_SECRET: env['WEBHOOK_DEFAULT_SECRET'] || keys.webhook,
  }
}
