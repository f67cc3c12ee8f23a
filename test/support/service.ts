import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before } from 'node:test'

import type { JWK } from 'jose'

import { makeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { findPort } from '../../src/local/port.ts'
import { OVERRIDE } from '../../src/compose/settings/constants.ts'
import { DEVELOPMENT_ISSUER } from '../../src/platform/process/development-issuer.ts'
import { KEY_SETTINGS } from '../../src/compose/settings/issues.ts'
import { DEVELOPMENT_AUDIENCE, signToken } from '../../src/platform/process/development-issuer.ts'
import { loadIssuerKey, startIssuer } from '../../src/local/issuer.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { makeClient } from './client.ts'
import type { Client } from './client.ts'
import { startEntry } from './entry.ts'
import type { Entry } from './entry.ts'
import { PATIENCE_MS } from './patience.ts'
import {
  createDatabase,
  makeTaskQueue,
  planDatabase,
  temporalSettings,
  workflowBundle,
} from './stack.ts'
import type { TestDatabase } from './stack.ts'

export type Role = 'api' | 'core' | 'media'

/** A service of its own for one test file: real processes against a database, a queue and a store of its own. */
export interface Service {
  baseUrl: string
  database: TestDatabase
  taskQueue: string
  storagePath: string
  /** Environment of its processes, as it starts them. */
  settings: NodeJS.ProcessEnv
  /** Signs the webhooks of anonymous callers. */
  webhookSecret: string
  token(subject: string): Promise<string>
  /** The private key of the tokens, for tokens that are to be rejected. */
  issuerKey: JWK
  /** Starts a process; with settings of its own, such as a failpoint, or of the built release in a folder. */
  start(role: Role, env?: NodeJS.ProcessEnv, release?: string): Promise<Entry>
  /** Starts one more api on a port of its own, beside the first. */
  startSecondApi(env?: NodeJS.ProcessEnv): Promise<{ baseUrl: string; entry: Entry }>
  entry(role: Role): Entry
  /** Every key in the store, unfinished files included. */
  listFiles(): Promise<string[]>
  /** Ends what runs and removes everything. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  roles?: Role[]
  env?: NodeJS.ProcessEnv
  /** A database on a server of the test's own; one on the shared server when absent. */
  database?: TestDatabase
  /** Program that runs in place of the media worker. */
  media?: string
  development?: boolean
  /** Bucket of its files; they are in a folder of its own when absent. */
  bucket?: Bucket | undefined
}

const ENTRIES = { api: 'src/api.ts', core: 'src/worker.ts', media: 'src/worker.ts' } as const
const READY = { api: 'api ready', core: 'worker ready', media: 'worker ready' } as const

/** With an upstream in the environment (`npm run test:system -- vendor http`) services of tests have it render. */
const readUpstream = (): NodeJS.ProcessEnv => {
  const { TEST_UPSTREAM_URL: url, TEST_UPSTREAM_KEY: key } = process.env
  return url === undefined ? {} : makeUpstreamSettings(url, key)
}

/** Settings by which another service renders all tasks. */
export const makeUpstreamSettings = (url: string, key: string | undefined): NodeJS.ProcessEnv => {
  const image = { IMAGE_ENGINE: 'vendor', VENDOR_IMAGE_URL: url, VENDOR_IMAGE_KEY: key }
  const video = { VIDEO_ENGINE: 'vendor', VENDOR_VIDEO_URL: url, VENDOR_VIDEO_KEY: key }
  return { ...image, ...video }
}

/** With a pooler in the environment (`npm run test:system -- machines pgbouncer`) services go by way of it, but for those that have a proxy. */
const readPooler = (url: string): NodeJS.ProcessEnv => {
  const { TEST_POOLER: host, TEST_DATABASE_URL: server = '' } = process.env
  if (host === undefined || new URL(url).host !== new URL(server).host) return {}
  return { DATABASE_URL: Object.assign(new URL(url), { host }).href, DATABASE_DIRECT_URL: url }
}

/** Folder of a bucket on this machine, and the settings that reach it. */
interface Bucket {
  folder: string
  settings: NodeJS.ProcessEnv
}

/** With a bucket in the environment (`npm run test:system -- s3`) services of tests keep their files there, each under its own prefix. */
const readBucket = (): Bucket | undefined => {
  const { TEST_S3_FOLDER: folder, TEST_S3: settings = '{}' } = process.env
  return folder === undefined
    ? undefined
    : { folder, settings: JSON.parse(settings) as NodeJS.ProcessEnv }
}

const planStore = (folder: string, bucket: Bucket | undefined) => {
  const storagePath = join(bucket?.folder ?? folder, bucket ? basename(folder) : 'storage')
  if (!bucket) return { storagePath, env: { STORAGE_PATH: storagePath } }
  const own = { S3_PREFIX: basename(folder), SCRATCH_PATH: join(folder, 'scratch') }
  return { storagePath, env: { ...bucket.settings, ...own } }
}

/**
 * A service of a test waits as long as it can for its database, because tests share the cores. Not so where it is away:
 * there it waits for 3 s, or as many times longer as this machine is slower.
 */
export const AWAITS_OUTAGE = {
  OVERRIDE_DATABASE_TIMEOUT_MS: String(Math.min(Math.round(PATIENCE_MS / 20), 60_000)),
  OVERRIDE_DOCTOR_CHECK_MS: String(PATIENCE_MS),
}

/** Names constants as an earlier release does, of which they are settings. */
const asSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(OVERRIDE) ? [[name.slice(OVERRIDE.length), value]] : [],
    ),
  )

/** Production has every constant as it is. */
const adaptToProduction = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env['NODE_ENV'] === 'production'
    ? Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(OVERRIDE)))
    : env

/** A media worker does without them. */
const WITHOUT_KEYS = Object.fromEntries(KEY_SETTINGS.map((name) => [name, '']))

export const startService = async ({
  roles = ['api', 'core', 'media'],
  env = {},
  database: own,
  media = ENTRIES.media,
  development = false,
  bucket = readBucket(),
}: ServiceOptions = {}): Promise<Service> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-service-'))
  // Children of a media worker run as another user when this is root, and have to get through.
  await chmod(folder, 0o711)
  const database = own ?? (await createDatabase())
  const key = await loadIssuerKey(folder)
  const issuer = await startIssuer(key)
  const port = await findPort()
  const baseUrl = `http://127.0.0.1:${port}`
  const taskQueue = makeTaskQueue('test')
  const store = planStore(folder, bucket)
  const { storagePath } = store
  const webhookSecret = makeWebhookSecret()
  const settings: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    DATABASE_POOL: '10',
    OVERRIDE_DATABASE_TIMEOUT_MS: '60000',
    OVERRIDE_PICTURE_MS: String(Math.min(PATIENCE_MS, 600_000)),
    ...temporalSettings(env['TEMPORAL_ADDRESS']),
    OVERRIDE_PICTURE_WAIT_MS: String(Math.min(PATIENCE_MS, 600_000)),
    TASK_QUEUE: taskQueue,
    PUBLIC_URL: baseUrl,
    PORT: String(port),
    AUTH_ISSUER: DEVELOPMENT_ISSUER,
    AUTH_AUDIENCE: DEVELOPMENT_AUDIENCE,
    AUTH_JWKS_URL: issuer.jwksUrl,
    ...store.env,
    SIGNING_KEYS: randomBytes(32).toString('base64'),
    SECRETS_KEYS: randomBytes(32).toString('base64'),
    WEBHOOK_DEFAULT_SECRET: webhookSecret,
    OVERRIDE_WEBHOOK_TIME_FACTOR: '0.001',
    OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: 'true',
    // Nobody listens there: no test asks github.com.
    OVERRIDE_GITHUB_API: 'http://127.0.0.1:9',
    OVERRIDE_CODE_HOST_MS: String(Math.min(PATIENCE_MS, 600_000)),
    OVERRIDE_WORKFLOW_BUNDLE: workflowBundle(),
    OVERRIDE_RELAY_INTERVAL_MS: '200',
    OVERRIDE_RECONCILE_INTERVAL_SECONDS: '1',
    DRAIN_DELAY_SECONDS: '0',
    MEDIA_SLOTS: '2',
    RATE_LIMITS: 'off',
    ...readUpstream(),
    ...readPooler(database.url),
    ...env,
  }
  const entries = new Map<Role, Entry>()
  const tokens = new Map<string, Promise<string>>()
  const started: Entry[] = []

  const start: Service['start'] = async (role, own = {}, release) => {
    const path = { ...ENTRIES, media }[role]
    const entry = await startEntry({
      path: release ? join(release, 'dist', path.replace('.ts', '.js')) : path,
      readyMessage: READY[role],
      env: adaptToProduction({
        ...settings,
        ...(release && asSettings(settings)),
        ...(role === 'api' ? {} : { WORKER_ROLE: role }),
        ...(role === 'api' &&
          development && { OVERRIDE_DEVELOPMENT_ISSUER_KEY: JSON.stringify(key) }),
        ...(role === 'media' && !release && WITHOUT_KEYS),
        ...own,
        ...(release && { OVERRIDE_WORKFLOW_BUNDLE: join(release, 'dist/workflow-bundle.js') }),
      }),
    })
    entries.set(role, entry)
    started.push(entry)
    return entry
  }

  const startSecondApi: Service['startSecondApi'] = async (own = {}) => {
    const port = await findPort()
    const url = `http://127.0.0.1:${port}`
    const first = entries.get('api')
    const entry = await start('api', { PORT: String(port), PUBLIC_URL: url, ...own })
    if (first) entries.set('api', first)
    return { baseUrl: url, entry }
  }

  const stop = async (): Promise<void> => {
    await Promise.all(started.map((entry) => entry.kill()))
    await issuer.close()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }

  // Settled, not raced: one that still starts when another fails must be ended, too.
  const starts = await Promise.allSettled(roles.map((role) => start(role)))
  const failed = starts.find((result) => result.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  return {
    baseUrl,
    database,
    taskQueue,
    storagePath,
    settings,
    webhookSecret,
    token: (subject) => {
      const token = tokens.get(subject) ?? signToken(key, subject)
      tokens.set(subject, token)
      return token
    },
    issuerKey: key,
    start,
    startSecondApi,
    entry: (role) => {
      const entry = entries.get(role)
      if (!entry) throw new Error(`${role} was not started`)
      return entry
    },
    async listFiles() {
      const all = await listFolder(storagePath)
      return all.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
    },
    stop,
  }
}

/** The service of a test file or a suite. Clients and `sql` may be taken out of it before it has started. */
export interface UsedService extends Service {
  sql: Sql
  /** A client without a credential. */
  anonymous: Client
  /** The client of a user: of one that no other test has, unless named. */
  client(user?: string): Client
}

/**
 * Starts a service before the first test and stops it after the last. The hooks of a file run side by side, so that one of
 * its own would not wait: `options` may start what the service needs, and `prepare` does what comes once it has started.
 */
export const useService = (
  options: ServiceOptions | (() => Promise<ServiceOptions>) = {},
  prepare?: (service: UsedService) => Promise<void>,
): UsedService => {
  const database = planDatabase()
  const baseUrl = (): string => service.baseUrl
  const service = {
    sql: database.sql,
    anonymous: makeClient(baseUrl),
    client: (user = `user-${randomUUID()}`) => makeClient(baseUrl, () => service.token(user)),
  } as UsedService
  before(async () => {
    await database.create()
    const given = typeof options === 'function' ? await options() : options
    Object.assign(service, await startService({ ...given, database }))
    await prepare?.(service)
  })
  // Absent when the start has failed.
  after(() => (service as Partial<Service>).stop?.())
  return service
}

/** Everything below a folder; when a worker removes some of it meanwhile, it is looked at again. */
export const listFolder = async (path: string): Promise<Dirent[]> => {
  for (;;)
    try {
      return await readdir(path, { recursive: true, withFileTypes: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // That of a bucket is there while it has files.
      if (!existsSync(path)) return []
    }
}
