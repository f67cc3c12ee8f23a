import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

import type { Connection } from '@temporalio/client'

import { readCertificateEnd } from '../platform/adapters/certificate.ts'
import { makeFetchKeys, readKeySet } from '../identity/adapters/key-set.ts'
import { makeSecrets } from '../platform/adapters/secrets.ts'
import { isCode } from '../platform/storage/files.ts'
import { isFull, type Storage } from '../platform/storage/storage.ts'
import { describeRoom, findShortage, readRoom } from '../platform/storage/room.ts'
import { findVideoBinaries } from '../../packages/engines/src/binaries.ts'
import type { Sql } from '../platform/db/client.ts'
import { listWaitingUrls } from '../events/db/delivery.ts'
import { describeFailingHost } from '../events/domain/failing-host.ts'
import { MigrationError, checkSchema } from '../platform/db/migrate.ts'
import { throwAdvised } from '../platform/process/postgres-advice.ts'
import { readDatabaseClock, readServer } from '../platform/db/server.ts'
import { readClock } from '../platform/temporal/clock.ts'
import { hasGrpcCode } from '../platform/temporal/grpc-error.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { probeTemporal } from '../platform/temporal/probe.ts'
import { readQueues } from '../platform/temporal/queues.ts'
import { bulkQueue, mediaQueue } from '../platform/temporal/start.ts'
import { describeSchedules } from '../platform/temporal/schedule.ts'
import { listMissingSearchAttributes } from '../platform/temporal/search-attributes.ts'
import { adviseTemporal } from '../platform/temporal/temporal-advice.ts'
import { adviseStorage, describeFull, openStorage } from '../platform/process/open-storage.ts'
import { openTrustedSocket } from '../platform/outbound/trusted.ts'
import { OperatorError, OperatorWarning } from '../platform/process/operator-error.ts'
import { readOutboundRules } from '../platform/settings/settings.ts'
import { readTemporal } from '../platform/settings/temporal.ts'
import { describeCauses } from '../platform/domain/causes.ts'
import { inTime, LateError } from '../platform/domain/in-time.ts'
import { hasBucket } from '../platform/storage/settings.ts'
import { probeWorkers, readQueueFacts } from '../compose/dependencies.ts'
import { adviseEngineWorker, START_CORE, START_MEDIA } from '../tasks/domain/worker-advice.ts'
import type { Config } from '../compose/settings/env.ts'
import type { Check } from './doctor.ts'
import { readEngineItem } from '../engines/domain/cog/engine-item.ts'
import { makeEngineChecks } from './engine-checks.ts'
import { NO_CALLER_VIDEO } from '../engines/domain/caller-video.ts'
import { probeFairness } from './fairness.ts'
import { countSecrets, FORGETTABLE } from './secrets.ts'
import { makeProxyChecks } from './proxy-check.ts'
import { makeFleetChecks } from './fleet-checks.ts'
import { makeTemporalStoreChecks } from './temporal-store-check.ts'
import { counted } from '../platform/domain/counted.ts'

export interface CheckDeps {
  config: Config
  /** Opened by the first check that asks: an address that cannot be read is an error of its checks alone. */
  sql(): Sql
  connection: Connection
  jobs(): Jobs
  /** PATH. */
  searchPath: string
}

const NODE = { major: 20, minor: 19 }
/** Beyond it leases, links and tokens end too early or too late. Clocks that NTP sets differ by milliseconds. */
const CLOCK_MS = 5000
/** A poll waits up to a minute for work; one that came and went since then leaves its time behind. */
const POLL_MS = 150_000
const CERTIFICATE_DAYS = 14
const DAY_MS = 86_400_000

/** The checks of `operate -- doctor`, in the order in which an operator mends what they find. */
export const makeChecks = (deps: CheckDeps): Check[] => [
  ['node', [], 'install another', checkNode],
  ...makePostgresChecks(deps),
  ...makeTemporalChecks(deps),
  ...makeTemporalStoreChecks(deps.config),
  ...makeStoreChecks(deps),
  ...makeProxyChecks(deps.config),
  ['webhooks', ['postgres'], 'start PostgreSQL', () => checkWebhooks(deps)],
  ...makeTrustChecks(deps),
  ...makeFleetChecks(deps),
  ...makeEngineChecks(deps),
]

const fail = (message: string): never => {
  throw new OperatorError(message)
}

const checkNode = async (): Promise<string> => {
  const { version } = process
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < NODE.major || (major === NODE.major && minor < NODE.minor))
    fail(`${version} is too old: install Node ${NODE.major}.${NODE.minor} or later`)
  return version
}

const makePostgresChecks = ({ sql, config }: CheckDeps): Check[] => {
  const advice = '`npm run migrate` and the log of PostgreSQL say more'
  const checkServer = async (): Promise<string> => {
    await sql()`select`
    return 'responds'
  }
  const checkWrites = async (): Promise<string> =>
    `${(await readServer(sql())).version}, takes writes`
  const checkClock = async (): Promise<string> => {
    const start = Date.now()
    return compareClock(start, await readDatabaseClock(sql()))
  }
  const checkMigrations = async (): Promise<string> => {
    await checkSchema(sql()).catch((error: unknown) => {
      throw error instanceof MigrationError ? new OperatorError(error.message) : error
    })
    return 'has every migration of this code'
  }
  const checkSecrets = async (): Promise<string> => {
    const secrets = makeSecrets({ keys: config.SECRETS_KEYS })
    const counts = await countSecrets(sql(), secrets)
    const lost = counts.filter((found) => found.lost > 0)
    if (lost.length > 0)
      fail(
        `SECRETS_KEYS do not open ${lost.map(({ what, count, lost }) => `${lost} of ${count} of ${what}`).join(', ')}: put the key that was in use back into it; where it is lost, \`kiln operate secrets forget --what <${FORGETTABLE.join('|')}>\``,
      )
    const kept = counts.filter(({ count }) => count > 0)
    return kept.length === 0
      ? 'none are stored yet'
      : `SECRETS_KEYS open all: ${kept.map(({ what, count }) => `${count} of ${what}`).join(', ')}`
  }
  const checks: Check[] = [
    ['postgres', ['DATABASE_URL'], 'look at PostgreSQL and DATABASE_URL', checkServer],
    ['database', ['postgres'], advice, checkWrites],
    ['database clock', ['postgres'], advice, checkClock],
    ['schema', ['postgres'], advice, checkMigrations],
    [
      'secrets',
      ['postgres', 'SECRETS_KEYS'],
      'put the key that was in use back into it',
      checkSecrets,
    ],
  ]
  return checks.map(([name, needs, advice, check]) => [
    name,
    needs,
    advice,
    () => check().catch(throwAdvised('DATABASE_URL')),
  ])
}

/** Compares a clock with this machine's clock. Half of the time until the response belongs to the way there. */
const compareClock = (start: number, there: number): string => {
  const ms = Math.round(there - (start + Date.now()) / 2)
  const found = `its clock is ${ms} ms from that of this machine`
  if (Math.abs(ms) > CLOCK_MS) fail(`${found}: let NTP set both`)
  return found
}

const makeTemporalChecks = (deps: CheckDeps): Check[] => {
  const { config, connection, jobs } = deps
  const namespace = config.TEMPORAL_NAMESPACE
  const needs = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TASK_QUEUE'] as const
  const advice = 'start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE'
  const migrate = 'run `npm run migrate`'
  const checkServer = async (): Promise<string> => {
    const target = readTemporal()
    const away = await adviseTemporal(target)
    if (away !== undefined) fail(away)
    const { serverVersion } = await connection.workflowService
      .getSystemInfo({})
      .catch(async (error: unknown) => {
        const advice = await adviseTemporal(target, error)
        throw advice === undefined ? error : new OperatorError(advice)
      })
    return serverVersion
  }
  const checkNamespace = async (): Promise<string> => {
    await probeTemporal(connection, readTemporal())
    const { config: kept } = await connection.workflowService.describeNamespace({ namespace })
    const hours = Number(kept?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3600
    return `${namespace} takes work, and keeps ended workflows for ${hours} h`
  }
  const checkClock = async (): Promise<string> => {
    const start = Date.now()
    return compareClock(start, await readClock(connection, namespace))
  }
  const checkAttributes = async (): Promise<string> => {
    const missing = await listMissingSearchAttributes(connection, namespace).catch(
      (error: unknown) => {
        if (hasGrpcCode(error, 'PERMISSION_DENIED', 'UNIMPLEMENTED')) return undefined
        throw error
      },
    )
    if (!missing) return 'this account may not list them'
    if (missing.length > 0) fail(`${missing.join(', ')} are missing: ${migrate}`)
    return 'all are registered'
  }
  const checkSchedules = async (): Promise<string> => {
    const schedules = await describeSchedules(jobs().client)
    for (const { id, isPaused, taskQueue } of schedules) {
      if (isPaused) fail(`${id} is paused: \`temporal schedule toggle --unpause -s ${id}\``)
      if (taskQueue !== config.TASK_QUEUE)
        fail(`${id} starts in the queue ${taskQueue}: ${migrate}`)
    }
    return `${schedules.map(({ id }) => id).join(' and ')} are in place`
  }
  const checkFairness = async (): Promise<string> => {
    const { DOCTOR_CHECK_MS } = config
    const probe = inTime(probeFairness(jobs().client), (DOCTOR_CHECK_MS * 2) / 3, 'the probe')
    const takesTurns = await probe.catch((error: unknown) => {
      if (error instanceof LateError) return undefined
      throw error
    })
    if (takesTurns === undefined)
      return 'cannot be seen in a queue of so many partitions, or of so slow a server'
    if (takesTurns) return 'owners take turns'
    throw new OperatorWarning(
      'work begins in the order in which it was made, so that one owner with many tasks keeps all others waiting: set matching.enableFairness in the dynamic configuration of Temporal, in Temporal Cloud switch Fairness on for the namespace',
    )
  }
  return [
    ['temporal', needs, advice, checkServer],
    ['namespace', ['temporal'], advice, checkNamespace],
    ['temporal clock', ['namespace'], advice, checkClock],
    ['search attributes', ['namespace'], advice, checkAttributes],
    ['schedules', ['namespace'], migrate, checkSchedules],
    ['fairness', ['namespace'], advice, checkFairness],
    ['workers', ['namespace'], advice, () => checkWorkers(deps)],
    ['open work', ['postgres'], advice, () => checkOpenWork(deps)],
  ]
}

/** Looks who asks for work. A queue that no worker has asked for yet is loaded first; that takes Temporal seconds on a busy machine. */
const checkWorkers = async ({ jobs, config, sql }: CheckDeps): Promise<string> => {
  const { TASK_QUEUE, ENGINES_HTTP, DOCTOR_CHECK_MS } = config
  const engines = ENGINES_HTTP.flatMap((text) => readEngineItem(text).item?.name ?? [])
  // Temporal alone is asked where the rows cannot be.
  const { gone } = await readQueueFacts(sql()).catch(() => ({ gone: [] }))
  const state = await readQueues(jobs(), TASK_QUEUE, { engines, gone }, (DOCTOR_CHECK_MS * 2) / 3)
  if (!state.reachable) throw new Error(state.error)
  const since = Date.now() - POLL_MS
  const idle = state.queues.filter(
    ({ pollers }) => !pollers.some(({ seen_at }) => Date.parse(seen_at ?? '') > since),
  )
  if (idle.length > 0)
    fail(
      `nobody asks for work of ${idle.map(({ name, type }) => `${name} (${type})`).join(', ')}: ${adviseQueues(idle, TASK_QUEUE)}`,
    )
  return `each of ${counted(state.queues.length, 'queue')} has one`
}

/** Says which workers to start for queues. */
const adviseQueues = (queues: readonly { name: string }[], taskQueue: string): string => {
  const own: Readonly<Record<string, string>> = {
    [taskQueue]: START_CORE,
    [bulkQueue(taskQueue)]: START_CORE,
    [mediaQueue(taskQueue)]: START_MEDIA,
  }
  const engineOf = (name: string) => name.slice(taskQueue.length + 1).replace(/^http-/, '')
  const advice = queues.map(({ name }) => own[name] ?? adviseEngineWorker(engineOf(name)))
  return [...new Set(advice)].join('; ')
}

const checkOpenWork = async ({ sql }: CheckDeps): Promise<string> => {
  await probeWorkers(sql())
  return 'workers live for all of it'
}

const checkWebhooks = async ({ sql }: CheckDeps): Promise<string> => {
  const deliveries = await listWaitingUrls(sql())
  const failing = deliveries.receivers
    .filter((host) => host.failing > 0 && host.paused !== true)
    .map(describeFailingHost)
  if (failing.length > 0) throw new OperatorWarning(failing.join('; '))
  const waiting = counted(deliveries.waiting, 'event waits', 'events wait')
  return `${waiting}, and none has failed but at paused hosts`
}

const makeStoreChecks = ({ config, searchPath }: CheckDeps): Check[] => {
  const checkStore = async (): Promise<string> => {
    const storage = await openStorage(config)
    await writeProbe(storage).catch(async (error: unknown) => {
      const advice = await adviseStore(config, error)
      throw advice === undefined ? error : new OperatorError(`${String(error)}: ${advice}`)
    })
    if (config.STORAGE === 's3') return `the bucket ${config.S3_BUCKET} can be written and read`
    const room = await readRoom(config.STORAGE_PATH)
    const problem = findShortage(room)
    if (problem?.isUrgent) fail(problem.message)
    if (problem) throw new OperatorWarning(problem.message)
    return describeRoom(room)
  }
  const checkPrograms = async (): Promise<string> => {
    const { ffmpeg, ffprobe, readsCallerVideo } = await findVideoBinaries({
      ffmpegPath: config.FFMPEG_PATH,
      searchPath,
      production: config.NODE_ENV === 'production',
      // It names the setting itself.
    }).catch((error: unknown) => fail(describeCauses(error)))
    const found = `${ffmpeg.path}, ${ffprobe.path}`
    if (!readsCallerVideo) throw new OperatorWarning(`${found}: ${NO_CALLER_VIDEO}`)
    return found
  }
  const advice = hasBucket(config)
    ? 'start the server, or correct S3_ENDPOINT'
    : 'let this user write in STORAGE_PATH'
  return [
    ['store', STORE_SETTINGS, advice, checkStore],
    ['ffmpeg', [], 'set FFMPEG_PATH', checkPrograms],
  ]
}

const adviseStore = async (config: Config, error: unknown): Promise<string | undefined> => {
  if (isFull(error)) fail(describeFull(config))
  // The message of the SDK is for a programmer: how to see the response.
  if (/XML parse error/.test(String(error)))
    fail('the server at S3_ENDPOINT is no S3 server: correct S3_ENDPOINT')
  return await adviseStorage(config, error)
}

const STORE_SETTINGS = [
  'STORAGE_PATH',
  'S3_ENDPOINT',
  'S3_BUCKET',
  'S3_PREFIX',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
] as const

const writeProbe = async (storage: Storage): Promise<void> => {
  const key = `doctor-${randomUUID()}`
  await storage.check()
  await storage.putStream(key, Readable.from([Buffer.from(key)]), { maxBytes: 100 })
  const { stream } = await storage.open(key)
  const read = await text(stream).finally(() => storage.remove(key))
  if (read !== key) throw new Error('what was written was read otherwise')
}

/** Codes of a response that is no TLS, of OpenSSL 3 and before. */
const WITHOUT_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']

const makeTrustChecks = ({ config }: CheckDeps): Check[] => {
  const rules = readOutboundRules(config)
  const checkIssuer = async (): Promise<string> => {
    const { AUTH_JWKS_URL: url } = config
    const keys = await readKeySet(url, makeFetchKeys(url, rules))
    if (keys === 0) fail('its key set is empty: look at AUTH_JWKS_URL')
    return `its key set has ${counted(keys, 'key')}`
  }
  const makeCertificateCheck = (name: 'PUBLIC_URL' | 'AUTH_JWKS_URL'): Check => [
    'certificate',
    [name],
    `renew the certificate of ${name}, or correct that`,
    async () => {
      const url = new URL(config[name])
      if (url.protocol === 'http:') return `${name} is without TLS`
      const socket = await openTrustedSocket(url, rules.proxy)
      const end = await readCertificateEnd(url, socket).catch((error: unknown) => {
        throw isCode(error, ...WITHOUT_TLS)
          ? new OperatorError(`no TLS there: correct ${name}`)
          : error
      })
      const days = Math.floor((end.getTime() - Date.now()) / DAY_MS)
      if (days < CERTIFICATE_DAYS) fail(`that of ${name} ends in ${counted(days, 'day')}: renew it`)
      return `that of ${name} is good for ${counted(days, 'day')}`
    },
  ]
  return [
    ['issuer', ['AUTH_JWKS_URL'], 'correct AUTH_JWKS_URL, or start its server', checkIssuer],
    makeCertificateCheck('PUBLIC_URL'),
    makeCertificateCheck('AUTH_JWKS_URL'),
  ]
}
