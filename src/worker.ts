import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { extname } from 'node:path'

import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  TransportError,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker'

import { makeBreaker } from '../activities/engines/breaker.ts'
import { makeBulkActivities } from '../activities/tasks/bulk.ts'
import { keepFleet } from '../activities/engines/comfyui-keeper.ts'
import { makeKeepTemplates } from '../activities/engines/comfyui-templates.ts'
import { startFirstAttempts } from '../activities/events/first-attempts.ts'
import { makeLicenseFinder } from '../activities/registry/read-license.ts'
import type { Fleet } from '../activities/engines/dependencies.ts'
import {
  createComfyActivities,
  createCoreActivities,
  createMediaActivities,
  createVendorActivities,
} from '../activities/index.ts'
import { makeInstance } from './engines/comfyui/instance.ts'
import { findChildUser } from './platform/adapters/child-user.ts'
import { INSPECTOR_ENTRY } from './registry/inspector/child-process.ts'
import type { Inspector } from './registry/inspector/inspector.ts'
import { makeLocalImageEngine } from './engines/image-engine/local.ts'
import { makeLocalInspector } from './registry/inspector/local.ts'
import { makeOutbound } from './platform/outbound/outbound.ts'
import { makeAttemptSlots } from './platform/outbound/attempt-slots.ts'
import { makeSecrets } from './platform/adapters/secrets.ts'
import { makeSigner } from './platform/adapters/signing.ts'
import { STARS_HOSTS, makeFetchStars } from './registry/stars/stars.ts'
import { makeUpstream } from './engines/upstream/upstream.ts'
import { findVideoBinaries, type VideoBinaries } from '../packages/engines/src/binaries.ts'
import { makeLocalFinishVideo, makeLocalVideoEngine } from './engines/video-engine/local.ts'
import { cleanUpOrphans } from './platform/adapters/orphan.ts'
import { makeNotifier } from './platform/domain/notifier.ts'
import { VERSION } from './platform/domain/release.ts'
import { loadConfig, readSearchPath, warnOfRemovedSettings } from './config.ts'
import {
  readHeartbeats,
  makeEngineOf,
  readAddresses,
  readDelivery,
  readInstances,
  readMediaLimits,
  readQuotas,
  readUpstreams,
} from './compose/settings/derived.ts'
import { makeDatabase } from './platform/db/client.ts'
import {
  listenForChanges,
  listenForFirstAttempts,
  makeNotifyChange,
} from './platform/db/change-notification.ts'
import { armFailpoint } from './platform/process/failpoint.ts'
import { makeOwnerEngine, makeOwnerRules } from './tasks/owner-rules.ts'
import { readAliases } from './platform/alias/table.ts'
import { makeBudget } from './platform/json-body/budget.ts'
import { makeIdempotency } from './platform/process/idempotency.ts'
import { makeBulkWork } from './tasks/bulk-work.ts'
import { makeCustomKinds } from './engines/custom-kinds.ts'
import { readAdmission } from './compose/admission.ts'
import { isOutage, makeJobs } from './platform/temporal/client.ts'
import { announceEvent, startDelivery } from './events/temporal/event.ts'
import { bulkQueue, comfyuiQueue, mediaQueue, vendorQueue } from './platform/temporal/start.ts'
import { startRenewal } from './platform/temporal/renewal.ts'
import { makeTaskEvents } from './events/temporal/task-events.ts'
import { planSdkMetrics } from './platform/temporal/sdk-metrics.ts'
import { adviseTemporal } from './platform/temporal/temporal-advice.ts'
import { readTemporal, type TemporalOptions } from './platform/settings/temporal.ts'
import { traceActivities } from './platform/temporal/trace.ts'
import { makeLog } from './platform/log.ts'
import { makeMetrics, showPool } from './platform/process/metrics.ts'
import { loadTracing } from './platform/process/load-tracing.ts'
import { startLoop } from './platform/process/loop.ts'
import { startMetricsServer } from './platform/process/metrics-server.ts'
import { startScratch, type Scratch } from './platform/process/scratch.ts'
import { startBeat } from './tasks/process/beat.ts'
import { closeOnSignal } from './platform/process/shutdown.ts'
import { requireStorage } from './platform/process/open-storage.ts'
import { requireSchema, untilResponds } from './platform/process/startup.ts'
import { makeWebhookSecrets } from './events/adapters/webhook-secrets.ts'

const config = loadConfig('worker')
// What `ps` shows: the command line is the same for all roles.
process.title = `kiln worker-${config.WORKER_ROLE}`
const log = makeLog(`worker-${config.WORKER_ROLE}`, config.LOG_LEVEL)
warnOfRemovedSettings(config, log)
armFailpoint(config.FAILPOINT)

const metrics = config.METRICS_PORT === undefined ? undefined : makeMetrics()

const sql = makeDatabase({
  ...readAddresses(config).pooled,
  pool: config.DATABASE_POOL,
  load: metrics && showPool(metrics, config.DATABASE_POOL),
  name: `kiln worker ${config.WORKER_ROLE}`,
  byIndex: true,
  statementTimeoutMs: 10_000,
})
await requireSchema(sql, log)

const sdkMetrics = metrics && (await planSdkMetrics())

Runtime.install({
  shutdownSignals: [],
  ...(sdkMetrics && { telemetryOptions: sdkMetrics.options }),
  logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error, taskToken: _taskToken, ...sdk } = meta ?? {}
    // A media worker has activities only.
    if (message.startsWith('No workflows registered')) return
    log[level === 'ERROR' ? 'error' : 'warn']({ sdk, err: error }, message)
  }),
})
const target = readTemporal()
const openNative = ({ namespace: _namespace, ...options }: TemporalOptions) =>
  NativeConnection.connect(options)
const connection = await untilResponds(() => openNative(target), {
  name: 'Temporal',
  isOutage: (error) => error instanceof TransportError || isOutage(error),
  advise: (error) => adviseTemporal(target, error),
  log,
})
const tracing = await loadTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, {
  service: `kiln-worker-${config.WORKER_ROLE}`,
  log,
})
const common = {
  sql,
  storage: await requireStorage(config, { metrics, log }),
  log,
  metrics,
  tracing,
  notifyChange: makeNotifyChange(sql),
}
const jobs = makeJobs({ connection, namespace: config.TEMPORAL_NAMESPACE, sql, log, tracing })

const temporal = {
  connection,
  namespace: config.TEMPORAL_NAMESPACE,
  // What the Temporal UI shows of whoever has a step.
  identity: `${config.WORKER_ROLE}@${hostname()}:${process.pid}`,
  // Shown only: which worker takes which step does not depend on it.
  workerDeploymentOptions: {
    version: { deploymentName: 'kiln', buildId: VERSION },
    useWorkerVersioning: false as const,
  },
  ...(tracing && { interceptors: traceActivities(tracing) }),
}

const outboundRules = {
  allowLoopback: config.OUTBOUND_ALLOW_LOOPBACK,
  ports: config.OUTBOUND_PORTS,
  deny: config.OUTBOUND_DENY,
}
const outbound = makeOutbound(outboundRules)

const makeLinks = () =>
  makeSigner({
    keys: config.SIGNING_KEYS,
    publicUrl: config.PUBLIC_URL,
    linkSeconds: config.RESULT_LINK_SECONDS,
  })

/** Makes the dependencies of delivery. */
const makeDelivery = () => ({
  outbound,
  signer: makeLinks(),
  attemptSlots: makeAttemptSlots(),
  webhookSecrets: makeWebhookSecrets({
    sql,
    secrets: makeSecrets({ keys: config.SECRETS_KEYS }),
    shared: config.WEBHOOK_DEFAULT_SECRET,
  }),
  delivery: readDelivery(config),
  random: Math.random,
  now: () => new Date(),
})

const makeStars = () =>
  config.STARS === 'on'
    ? {
        hosts: STARS_HOSTS.map(({ host }) => host),
        fetch: makeFetchStars({ outbound, githubToken: config.GITHUB_TOKEN || undefined }),
      }
    : undefined

/**
 * The SDK sends the newest heartbeat of a render so often. A cancelled one should stop soon, so they are not delayed for
 * most of the time-out; where they are few, a notification of the change stops it instead.
 */
const { beatSeconds } = readHeartbeats(config)
const renderHeartbeats = {
  maxHeartbeatThrottleInterval: beatSeconds * 1000,
  defaultHeartbeatThrottleInterval: beatSeconds * 1000,
}
const changes = beatSeconds > 1 ? new EventEmitter().setMaxListeners(0) : undefined

/** Wakes first attempts. */
const notifier = makeNotifier()
const listenTo = { url: readAddresses(config).direct, onConnect: notifier.notify }
const listeners = [
  ...(config.WORKER_ROLE === 'core'
    ? [
        listenForFirstAttempts({
          ...listenTo,
          name: 'kiln worker core first attempts',
          onChange: notifier.notify,
        }),
      ]
    : []),
  ...(changes
    ? [
        listenForChanges({
          ...listenTo,
          name: `kiln worker ${config.WORKER_ROLE} changes`,
          onChange: (id) => void changes.emit(id),
        }),
      ]
    : []),
]

const workflowFile = (name: string): string =>
  new URL(`../workflows/${name}${extname(import.meta.url)}`, import.meta.url).pathname

/** Prebuilt workflows; undefined where the worker bundles them at its start. */
const findWorkflowBundle = (): string | undefined => {
  const beside = new URL('../workflow-bundle.js', import.meta.url).pathname
  return config.WORKFLOW_BUNDLE ?? (existsSync(beside) ? beside : undefined)
}
const workflowBundle = findWorkflowBundle()

const makeCore = () => ({
  ...common,
  ...end,
  retentionDays: config.RESULT_RETENTION_DAYS,
  notifier,
  startDelivery: (task: Parameters<typeof startDelivery>[0]) =>
    startDelivery(task, { taskQueue: config.TASK_QUEUE }),
  announceEvent: (taskId: string) => void announceEvent(jobs, taskId),
  stars: makeStars(),
  ...makeDelivery(),
})

/**
 * Limit of one activation of a workflow, which the SDK has and its types do not show. It is wall time, in which a full
 * machine or a stop of this process counts: after the SDK's 5 s one of some milliseconds would fail its workflow task.
 */
const activationLimit: object = { isolateExecutionTimeout: '30 seconds' }

const coreWorker = (deps: ReturnType<typeof makeCore>): Promise<Worker> =>
  Worker.create({
    ...temporal,
    taskQueue: config.TASK_QUEUE,
    ...(workflowBundle === undefined
      ? {
          workflowsPath: workflowFile('index'),
          interceptors: {
            ...temporal.interceptors,
            workflowModules: [workflowFile('platform/trace')],
          },
        }
      : { workflowBundle: { codePath: workflowBundle } }),
    activities: createCoreActivities(deps),
    // Another worker takes the next steps of a killed one's workflows after this time. A busy one that loses a step to it
    // costs the other a replay of some ten events.
    stickyQueueScheduleToStartTimeout: '2 seconds',
    ...activationLimit,
    // All but a handful of them are further attempts at delivering.
    maxConcurrentActivityTaskExecutions: 100,
    shutdownGraceTime: '20 seconds',
    shutdownForceTime: '30 seconds',
  })

/** Batches and operations at once in one worker; each is one item at a time. */
const BULK_SLOTS = 2

/** Makes the worker of batches and operations. What it makes and does, it does as the api would. */
const bulkWorker = async ({ dir }: Scratch): Promise<Worker> => {
  const work = makeBulkWork({
    ...common,
    ...end,
    offPeakSeconds: config.OFF_PEAK_DEADLINE_SECONDS,
    outbound,
    customKinds,
    signer: makeLinks(),
    now: () => new Date(),
    publicUrl: config.PUBLIC_URL,
    ...makeTaskEvents({ taskQueue: config.TASK_QUEUE }),
    quotas: readQuotas(config),
    engineOf: makeOwnerEngine(ownerRules, makeEngineOf(config)),
    videoAuth: config.VIDEO_AUTH,
    extendSource: config.VIDEO_EXTEND_SOURCE,
    creditLimit: config.OWNER_CREDIT_LIMIT,
    aliases: await readAliases(config.WIRE_ALIASES),
    idempotency: makeIdempotency({
      ...common,
      secrets: makeSecrets({ keys: config.SECRETS_KEYS }),
    }),
    budget: makeBudget(),
    scratchDir: dir,
    maxImageBytes: config.IMAGE_MAX_BYTES,
    maxImagePixels: config.IMAGE_MAX_PIXELS,
  })
  return await Worker.create({
    ...temporal,
    taskQueue: bulkQueue(config.TASK_QUEUE),
    activities: makeBulkActivities({
      ...common,
      ...work,
      ...end,
      retentionDays: config.RESULT_RETENTION_DAYS,
      drain: () => jobs.drain(),
      readRules,
      pauseFactor: config.BULK_PAUSE_FACTOR,
    }),
    maxConcurrentActivityTaskExecutions: BULK_SLOTS,
    // The row says where the next attempt goes on.
    shutdownGraceTime: '1 second',
    shutdownForceTime: '20 seconds',
  })
}

/** The upstreams of this worker by family: none in a media worker. */
const upstreams = Object.fromEntries(
  Object.entries(config.WORKER_ROLE === 'core' ? readUpstreams(config) : {}).map(
    ([family, upstream]) => [family, makeUpstream({ ...upstream, outbound: outboundRules })],
  ),
)

/** Makes a worker whose tasks are rendered elsewhere. */
const remoteWorker = (
  taskQueue: string,
  options: Pick<WorkerOptions, 'activities' | 'maxConcurrentActivityTaskExecutions'>,
): Promise<Worker> =>
  Worker.create({
    ...temporal,
    taskQueue,
    ...options,
    ...renderHeartbeats,
    // The next attempt goes on where this one stops, so nobody waits for an upstream. A submission under way has 10 s.
    shutdownGraceTime: '1 second',
    shutdownForceTime: '20 seconds',
  })

/** Dependencies of whatever may end a task. */
const end = { ...readAdmission(config), jobs }

/** Dependencies that all renders of this worker share. */
const guarded = {
  changes,
  breaker: makeBreaker(common, {
    most: config.BREAKER_FAILURES,
    openSeconds: config.BREAKER_SECONDS,
  }),
}

const makeRemote = (scratchDir: string) => ({
  ...common,
  ...guarded,
  ...end,
  outbound,
  scratchDir,
  limits: readMediaLimits(config),
  // Each release ends all attempts, and an off-peak task waits for two days.
  maxAttempts: 1000,
})

const vendorWorker = ({ dir }: Scratch): Promise<Worker> =>
  remoteWorker(vendorQueue(config.TASK_QUEUE), {
    activities: createVendorActivities({ ...makeRemote(dir), signer: makeLinks(), upstreams }),
    maxConcurrentActivityTaskExecutions: config.VENDOR_SLOTS,
  })

interface Media {
  scratchDir: string
  binaries: VideoBinaries
  inspector: Inspector
}

const mediaWorker = ({ scratchDir, binaries, inspector }: Media): Promise<Worker> =>
  Worker.create({
    ...temporal,
    taskQueue: mediaQueue(config.TASK_QUEUE),
    activities: createMediaActivities({
      ...common,
      ...guarded,
      ...end,
      engine: makeLocalImageEngine({ maxPixels: config.IMAGE_MAX_PIXELS }),
      videoEngine: makeLocalVideoEngine({ binaries, maxPixels: config.IMAGE_MAX_PIXELS }),
      inspector,
      findLicenseId: makeLicenseFinder(),
      outbound,
      scratchDir,
      limits: readMediaLimits(config),
      tinyVideos: config.VIDEO_TINY,
    }),
    maxConcurrentActivityTaskExecutions: config.MEDIA_SLOTS,
    ...renderHeartbeats,
    shutdownGraceTime: '30 seconds',
    shutdownForceTime: '40 seconds',
  })

/** Logs which programs render, and whom as. Where one cannot be used, ends the worker and says what to set. */
const findBinaries = async (scratchDir: string): Promise<VideoBinaries> => {
  try {
    const binaries = await findVideoBinaries({
      ffmpegPath: config.FFMPEG_PATH,
      searchPath: readSearchPath(),
      production: config.NODE_ENV === 'production',
    })
    const { ffmpeg, ffprobe, readsCallerVideo, setpriv } = binaries
    const user = await findChildUser(scratchDir, {
      programs: [process.execPath, ffmpeg.path, ffprobe.path],
      files: [INSPECTOR_ENTRY],
    })
    const facts = { reads_caller_video: readsCallerVideo, setpriv: setpriv !== undefined }
    log.info({ ffmpeg, ffprobe, ...facts, child_user: user?.uid }, 'video programs found')
    return { ...binaries, user }
  } catch (error) {
    log.fatal(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

/**
 * Ends the process groups that a killed worker left, before the folders that name them are cleaned up. The next worker that
 * starts does so, or one that runs: a child that hangs does not notice that its parent is gone.
 */
const startRenderScratch = async (purpose: 'render' | 'upstream'): Promise<Scratch> => {
  const dir = await common.storage.scratchDir(purpose)
  const beforeCleanUp = async (): Promise<void> => {
    const killed = await cleanUpOrphans(dir)
    if (killed > 0) log.warn({ killed }, 'ended what a killed worker had left running')
  }
  await beforeCleanUp()
  return await startScratch(purpose, { ...common, beforeCleanUp })
}

const makeFleet = (): Fleet => ({
  instances: readInstances(config).map((instance) =>
    makeInstance({
      ...instance,
      outbound: outboundRules,
      lostMs: config.COMFYUI_LOST_SECONDS * 1000,
    }),
  ),
  templates: [],
  custom: [],
  unusable: {},
  depth: config.COMFYUI_DEPTH,
  lostMs: config.COMFYUI_LOST_SECONDS * 1000,
  stallMs: config.COMFYUI_STALL_SECONDS * 1000,
  clientId: randomUUID(),
  notifier: makeNotifier(),
})

const comfyWorker = async (fleet: Fleet, { dir }: Scratch): Promise<Worker> => {
  const binaries = await findBinaries(dir)
  return await remoteWorker(comfyuiQueue(config.TASK_QUEUE), {
    activities: createComfyActivities({
      ...makeRemote(dir),
      fleet,
      videoEngine: makeLocalVideoEngine({ binaries, maxPixels: config.IMAGE_MAX_PIXELS }),
      finishVideo: makeLocalFinishVideo({ binaries, maxPixels: config.IMAGE_MAX_PIXELS }),
    }),
    // A task that waits in Temporal has not begun; some beside those on instances fetch their files.
    maxConcurrentActivityTaskExecutions: fleet.instances.length * fleet.depth + FURTHER_TASKS,
  })
}
const FURTHER_TASKS = 4

const fleet = readInstances(config).length > 0 ? makeFleet() : undefined
const keepTemplates = fleet && makeKeepTemplates({ ...common, fleet }, config.COMFYUI_TEMPLATES)
await keepTemplates?.()
/** Often enough that files of callers do not stay, and a restart is seen. */
const KEEP_MS = 2000
/** An operator who has saved a template waits for it. */
const TEMPLATES_MS = 5000

const isVendor = Object.keys(upstreams).length > 0
const startOwnScratch = async (): Promise<Scratch | undefined> => {
  if (config.WORKER_ROLE === 'media') return await startRenderScratch('render')
  if (fleet) return await startRenderScratch('upstream')
  return isVendor ? await startScratch('upstream', common) : undefined
}
const scratch = await startOwnScratch()
const startMedia = async ({ dir }: Scratch): Promise<Media> => {
  const binaries = await findBinaries(dir)
  return { scratchDir: dir, binaries, inspector: makeLocalInspector({ dir, user: binaries.user }) }
}
const media = scratch && config.WORKER_ROLE === 'media' ? await startMedia(scratch) : undefined
const customKinds = makeCustomKinds(sql)
const ownerRules = makeOwnerRules(sql)
/** Reads what batches go by, and an api: it changes while they run. */
const readRules = async (): Promise<void> => {
  await Promise.all([customKinds.refresh(), ownerRules.refresh()])
}
const bulkScratch = media ? undefined : await startScratch('batch', common)
const core = media ? undefined : makeCore()
const workers = await Promise.all([
  ...(media ? [mediaWorker(media)] : []),
  ...(core ? [coreWorker(core)] : []),
  ...(bulkScratch ? [bulkWorker(bulkScratch)] : []),
  ...(scratch && isVendor ? [vendorWorker(scratch)] : []),
  ...(scratch && fleet ? [comfyWorker(fleet, scratch)] : []),
])
const keeper =
  fleet && startLoop('comfyui', () => keepFleet({ ...common, fleet }), { intervalMs: KEEP_MS, log })
const templateKeeper =
  keepTemplates && startLoop('templates', keepTemplates, { intervalMs: TEMPLATES_MS, log })
const running = Promise.all(workers.map((worker) => worker.run()))
const slots = {
  ...(media && { local: config.MEDIA_SLOTS }),
  ...(isVendor && { vendor: config.VENDOR_SLOTS }),
  ...(fleet && { comfyui: fleet.instances.length * fleet.depth }),
}
const beat = startBeat({ sql, role: config.WORKER_ROLE, slots, log })
const firstAttempts = core && startFirstAttempts(core)
const { METRICS_PORT: metricsPort = 0, METRICS_HOST: host } = config
const renewal = startRenewal({
  inUse: target,
  connection,
  open: openNative,
  use: (fresh) => {
    for (const worker of workers) worker.connection = fresh
    jobs.useConnection(fresh)
  },
  intervalMs: config.TEMPORAL_RENEWAL_MS,
  log,
})
const metricsServer =
  metrics &&
  (await startMetricsServer({
    port: metricsPort,
    host,
    metrics,
    log,
    isHealthy: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    further: sdkMetrics?.read,
  }))
closeOnSignal(
  async () => {
    for (const worker of workers) worker.shutdown()
    await Promise.all([running, firstAttempts?.stop()])
    metricsServer?.close()
    await jobs.drain()
    outbound.close()
    for (const upstream of Object.values(upstreams)) upstream.close()
    await Promise.all([keeper?.stop(), templateKeeper?.stop(), beat.stop()])
    for (const { client, events } of fleet?.instances ?? []) {
      client.close()
      events.close()
    }
    await media?.inspector.close()
    await Promise.all([scratch?.stop(), bulkScratch?.stop()])
    await Promise.all(listeners.map((stop) => stop()))
    await renewal.stop()
    await tracing?.stop()
    await sql.end({ timeout: 1 })
  },
  { limitMs: 45_000, log },
)
log.info({ role: config.WORKER_ROLE, metrics_port: metricsServer?.port }, 'worker ready')
await running.catch((error: unknown) => {
  log.fatal({ err: error }, 'the worker cannot go on')
  process.exit(1)
})
