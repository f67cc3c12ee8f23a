import { setTimeout as sleep } from 'node:timers/promises'

import { makeKeySet } from './identity/adapters/key-set.ts'
import { makeIssuerKeys } from './identity/adapters/issuer-keys.ts'
import { makeFetchPicture, makeReducePicture } from './registry/picture/fetch-picture.ts'
import { makeOutbound } from './platform/outbound/outbound.ts'
import { makeSecrets } from './platform/adapters/secrets.ts'
import { makeSigner } from './platform/adapters/signing.ts'
import { loadConfig, warnOfRemovedSettings } from './config.ts'
import {
  readAddresses,
  readAuthOrigins,
  makeWorkflowUrl,
  readDevelopment,
  readQuotas,
  readRateFactor,
  readService,
  readTimings,
  makeEngineOf,
} from './compose/settings/derived.ts'
import { cancelOnOthers } from './tasks/db/bulk/bulk.ts'
import { makeDatabase, withinDeadline } from './platform/db/client.ts'
import { measureBacklog } from './events/db/first-attempt.ts'
import { findTaskFamily } from './tasks/db/task.ts'
import {
  listenForChanges,
  makeNotifyChange,
  readRevisions,
  ADMISSION,
  OUTBOX,
  RULES,
} from './platform/db/change-notification.ts'
import { makeCountCache } from './registry/db/search/listed-count.ts'
import { checkSchema } from './platform/db/migrate.ts'
import { listen } from './platform/process/listen.ts'
import { startLoop } from './platform/process/loop.ts'
import { armFailpoint } from './platform/process/failpoint.ts'
import { makeApp } from './compose/app.ts'
import { readAliases } from './platform/alias/table.ts'
import { makeAuthenticator } from './identity/http/access/auth.ts'
import { makeNotifier } from './platform/domain/notifier.ts'
import { untilNextEnd } from './tasks/domain/pause.ts'
import { makeBudget } from './platform/json-body/budget.ts'
import { findClaimIssue, makeIsAdmin } from './identity/http/access/claims.ts'
import { makeIsAdminAccount, makeIsSessionLive } from './identity/http/access/recent-check.ts'
import { makeLinkedUser } from './identity/http/access/linked-user.ts'
import { makeIdempotency } from './platform/process/idempotency.ts'
import { makeWatches } from './platform/http/live/watches.ts'
import { makeConsole } from './platform/http/console/serve.ts'
import { loadPages } from './platform/http/docs/pages.ts'
import { CONNECTIONS } from './platform/http/serve/connection-limit.ts'
import { makeSemaphore } from './platform/domain/semaphore.ts'
import type { Lifecycle } from './platform/http/serve/lifecycle.ts'
import { makeRateLimits } from './platform/http/access/rate-limit.ts'
import { makeRoutes } from './compose/routes.ts'
import { makePublicPauses } from './tasks/http/pauses.ts'
import { readBuild } from './tasks/http/service-routes.ts'
import { makeCustomKinds } from './engines/custom-kinds.ts'
import { makeServer } from './platform/http/serve/server.ts'
import { VIDEO_ERRORS } from './tasks/http/video/error-form.ts'
import { makeOwnerEngine, makeOwnerRules } from './tasks/owner-rules.ts'
import { makeUserRecorder } from './identity/http/access/user-recorder.ts'
import { readAdmission } from './compose/admission.ts'
import { makeJobs } from './platform/temporal/client.ts'
import { connectTemporal } from './platform/temporal/connection.ts'
import { startRenewal } from './platform/temporal/renewal.ts'
import { adviseTemporal } from './platform/temporal/temporal-advice.ts'
import { readTemporal } from './platform/settings/temporal.ts'
import { makeFleetReader } from './engines/temporal/fleet-metrics.ts'
import { makeMetricsReader } from './platform/temporal/metrics-reader.ts'
import { makePauseReader } from './tasks/temporal/pause-metrics.ts'
import { makeLog } from './platform/log.ts'
import { noticeConditions } from './events/temporal/platform-notice.ts'
import { withLoopLock } from './platform/db/reconcile.ts'
import { IDLE_MS, makeAdmissionPass } from './tasks/admit.ts'
import { startReconcile } from './platform/temporal/reconcile.ts'
import { makeReconciledEvents } from './events/temporal/reconcile-event.ts'
import { makeReconciledTasks } from './tasks/temporal/reconcile-task.ts'
import { makeReconciledVersions } from './registry/temporal/reconcile-version.ts'
import { startRelay } from './platform/temporal/relay.ts'
import { makeTaskEvents } from './events/temporal/task-events.ts'
import { startScratch } from './platform/process/scratch.ts'
import { makeMetrics, showPool } from './platform/process/metrics.ts'
import { startMetricsServer } from './platform/process/metrics-server.ts'
import { loadTracing } from './platform/process/load-tracing.ts'
import { closeOnSignal } from './platform/process/shutdown.ts'
import { readOrigins, requireStorage } from './platform/process/open-storage.ts'
import { requireSchema } from './platform/process/startup.ts'
import { makeWebhookSecrets } from './events/adapters/webhook-secrets.ts'

const config = loadConfig('api')
const metrics = config.METRICS_PORT === undefined ? undefined : makeMetrics()
const log = makeLog('api', config.LOG_LEVEL)
warnOfRemovedSettings(config, log)
armFailpoint(config.FAILPOINT)

const { pooled, direct } = readAddresses(config)
const database = {
  statementTimeoutMs: config.DATABASE_TIMEOUT_MS,
  waitMs: Math.round((config.DATABASE_TIMEOUT_MS * 2) / 3),
}
const sql = makeDatabase({
  ...database,
  ...pooled,
  pool: config.DATABASE_POOL,
  name: 'kiln api',
  load: metrics && showPool(metrics, config.DATABASE_POOL),
})
await requireSchema(sql, log)

const lockSql = makeDatabase({
  ...database,
  url: direct,
  pool: 1,
  name: 'kiln api reconcile',
  // The lock of a host that is cut off is free again after this time; TCP alone would notice after two hours.
  idleMs: 120_000,
})

const temporal = readTemporal()
const connection = connectTemporal(temporal)
const tracing = await loadTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, { service: 'kiln-api', log })
const jobs = makeJobs({ connection, namespace: config.TEMPORAL_NAMESPACE, sql, log, tracing })
const storage = await requireStorage(config, { metrics, log })
const secrets = makeSecrets({ keys: config.SECRETS_KEYS })
const lifecycle: Lifecycle = { state: 'serving' }
const scratch = await startScratch('bodies', { storage, log })
const budget = makeBudget()

const watches = makeWatches({ most: config.STREAMS_MAX })
const rulesNotifier = makeNotifier()
/** Wakes the admission of tasks: with all that changes for many, something may go on. */
const admissionNotifier = makeNotifier()
const relayNotifier = makeNotifier()
const stopListening = listenForChanges({
  url: direct,
  name: 'kiln api changes',
  onChange(id) {
    if (id === RULES) rulesNotifier.notify()
    if (id === OUTBOX) relayNotifier.notify()
    else if (id === RULES || id === ADMISSION) admissionNotifier.notify()
    else watches.notify(id)
  },
  onConnect: () => {
    watches.notify()
    rulesNotifier.notify()
  },
})

const publicUrl = config.PUBLIC_URL
const timings = readTimings(config)
const rateFactor = readRateFactor(config)
const rateLimits = rateFactor === undefined ? undefined : makeRateLimits(rateFactor)

const outbound = makeOutbound({
  allowLoopback: config.OUTBOUND_ALLOW_LOOPBACK,
  ports: config.OUTBOUND_PORTS,
  deny: config.OUTBOUND_DENY,
})

const pages = await loadPages('pages')
if (pages.size === 0) log.warn('the pages at /docs are not built: `npm run build` makes them')
const isConsoleOn = config.CONSOLE === 'on'
const consolePages = isConsoleOn
  ? await makeConsole({
      authOrigins: readAuthOrigins(config),
      storeOrigins: await readOrigins(storage),
      reread: config.NODE_ENV !== 'production',
    })
  : undefined
if (isConsoleOn && !consolePages)
  log.warn('the console at /console/ is not built: `npm run build` makes it')

const checks = {
  postgres: async () => {
    await checkSchema(sql)
  },
  temporal: () => jobs.client.workflowService.getSystemInfo({}),
  storage: () => storage.check(),
}
/** A third of the pool; with the searches fewer than the pool has connections, so that others get one. */
const makeThird = () => makeSemaphore(Math.ceil(config.DATABASE_POOL / 3))
const signer = makeSigner({
  keys: config.SIGNING_KEYS,
  publicUrl,
  linkSeconds: config.RESULT_LINK_SECONDS,
})
const now = () => new Date()
const taskQueue = config.TASK_QUEUE
const { checkTiming } = timings
const quotas = readQuotas(config)
const workflowUrl = makeWorkflowUrl(config)

// What several areas take; each bag below names the rest of its area.
const commit = { sql, jobs, notifyChange: makeNotifyChange(sql) }
const live = { watches, watchReadSemaphore: makeThird() }
const taskRead = { sql, signer, now }
const admission = readAdmission(config)
const end = { ...commit, ...taskRead, ...live, ...admission, storage }
const task = { ...end, outbound, publicUrl, taskQueue, quotas }
const check = { ...commit, publicUrl, taskQueue, checkTiming }
const token = { ...commit, log, now, publishAuth: config.PUBLISH_AUTH }
const pictures = { dir: scratch.dir, maxMs: config.PICTURE_MS }
const reducePicture = makeReducePicture(pictures)
const received = { budget, scratchDir: scratch.dir }
const lists = {
  cache: makeCountCache(),
  heavyReadSemaphore: makeThird(),
  searches: makeSemaphore(Math.ceil(config.DATABASE_POOL / 2)),
  searchMaxDepth: config.SEARCH_MAX_DEPTH,
}

const ownerRules = makeOwnerRules(sql)
const engineOf = makeOwnerEngine(ownerRules, makeEngineOf(config))
const customKinds = makeCustomKinds(sql)
const pauses = makePublicPauses(sql)
await Promise.all([customKinds.refresh(), pauses.refresh(), ownerRules.refresh()])
const imageTask = { ...task, engineOf }
const aliases = await readAliases(config.WIRE_ALIASES)
const routes = makeRoutes({
  publicUrl,
  aliases,
  imageTask,
  template: { ...imageTask, customKinds },
  videoTask: {
    ...task,
    offPeakSeconds: timings.videoTiming.offPeakSeconds,
    engineOf,
    videoAuth: config.VIDEO_AUTH,
    extendSource: config.VIDEO_EXTEND_SOURCE,
    creditLimit: config.OWNER_CREDIT_LIMIT,
  },
  anyTask: { ...end, ...makeTaskEvents({ taskQueue }), workflowUrl },
  bulk: { ...commit, ...taskRead, storage, outbound, taskQueue },
  registry: {
    ...check,
    ...token,
    ...lists,
    ...live,
    outbound,
    extractionToken: config.EXTRACTION_TOKEN,
    maxPublishersPerUser: config.MAX_PUBLISHERS_PER_USER,
    reviewMinAgeHours: config.REVIEW_MIN_AGE_HOURS,
  },
  publish: {
    ...check,
    ...token,
    signer,
    outbound,
    archiveMaxBytes: config.ARCHIVE_MAX_BYTES,
    uploadExpirySeconds: config.UPLOAD_EXPIRY_SECONDS,
  },
  trust: {
    ...commit,
    issuerKeys: makeIssuerKeys(outbound, log),
    oidcAudience: new URL(publicUrl).host,
    signer,
    outbound,
    now,
  },
  picture: {
    ...commit,
    ...received,
    publicUrl,
    storage,
    outbound,
    reducePicture,
    fetchPicture: makeFetchPicture({ ...pictures, outbound, reducePicture }),
    pictureWaitMs: config.PICTURE_WAIT_MS,
  },
  event: {
    ...commit,
    taskQueue,
    redeliveryLimits: {
      perEvent: config.ANONYMOUS_REDELIVERIES_PER_EVENT,
      perHost: config.ANONYMOUS_REDELIVERIES_PER_HOST,
    },
    signer,
    outbound,
    now,
    webhookSecrets: makeWebhookSecrets({ sql, secrets, shared: config.WEBHOOK_DEFAULT_SECRET }),
    maxEndpoints: config.MAX_ENDPOINTS,
  },
  upload: { ...commit, ...received, signer, now, storage, quotas },
  file: { sql, storage, signer, now, heavyReadSemaphore: lists.heavyReadSemaphore },
  platform: {
    ...commit,
    ...admission,
    checkTiming,
    taskQueue,
    workflowUrl,
    checks,
    lifecycle,
    service: { ...readService(config), build: await readBuild() },
    pauses,
    development: readDevelopment(config),
    publicUrl,
    isBuiltin: config.AUTH === 'builtin',
  },
  docs: { pages, landing: consolePages ? '/console/' : '/docs' },
})
const claimIssue = findClaimIssue(config.ADMIN_CLAIM, config.AUTH_ISSUER)
if (claimIssue !== undefined) log.warn(`ADMIN_CLAIM makes nobody an admin: ${claimIssue}`)
const isPlatformAdmin = makeIsAdmin({
  subjects: config.ADMIN_SUBJECTS,
  claim: config.ADMIN_CLAIM,
  isAdminAccount: config.AUTH === 'builtin' ? makeIsAdminAccount({ sql }) : undefined,
})
// The provider is loaded only where it serves.
const signIn =
  config.AUTH === 'builtin'
    ? await (
        await import('./identity/http/sign-in/start.ts')
      ).startSignIn(config, {
        sql,
        secrets,
        log,
        limits: rateLimits,
        isPlatformAdmin,
        cancelOnOthers,
      })
    : undefined
const app = makeApp({
  routes,
  log,
  metrics,
  tracing,
  lifecycle,
  aliases,
  authenticate: makeAuthenticator({
    issuer: config.AUTH_ISSUER,
    audience: config.AUTH_AUDIENCE,
    keys: signIn?.verify ?? makeKeySet({ url: config.AUTH_JWKS_URL, log }),
    sql,
    log,
    users: makeUserRecorder({ sql }),
    userOf: signIn ? undefined : makeLinkedUser({ sql }),
    isSessionLive: signIn && makeIsSessionLive({ sql }),
    isPlatformAdmin,
  }),
  findTaskFamily: (task) => withinDeadline(sql, findTaskFamily(sql, task)),
  console: consolePages,
  signIn: signIn?.handle,
  corsOrigins: config.CORS_ORIGINS,
  trustProxy: config.TRUST_PROXY,
  rateLimits,
  ownerRules,
  idempotency: makeIdempotency({ sql, secrets, log }),
  budget,
  scratchDir: scratch.dir,
  maxImageBytes: config.IMAGE_MAX_BYTES,
  maxImagePixels: config.IMAGE_MAX_PIXELS,
})

const server = makeServer(app, {
  errorForm: VIDEO_ERRORS,
  trustProxy: config.TRUST_PROXY,
  connections: { ...CONNECTIONS, total: CONNECTIONS.total + config.STREAMS_MAX },
})
const port = await listen(server, { port: config.PORT, host: config.HOST, setting: 'PORT', log })

const { METRICS_PORT: metricsPort = 0, METRICS_HOST: host } = config
const readMetrics =
  metrics &&
  makeMetricsReader({
    sql,
    jobs,
    taskQueue,
    metrics,
    checks,
    measureBacklog,
    reads: [makePauseReader({ sql, metrics }), makeFleetReader({ sql, metrics })],
  })
const metricsServer =
  metrics &&
  (await startMetricsServer({ port: metricsPort, host, metrics, log, refresh: readMetrics }))

const admit = makeAdmissionPass({ ...commit, ...admission })

/** Interval at which a row is found whose notification was lost, because its process was killed after the commit. */
const WATCH_MS = 5000

const reconciled = { ...commit, ...admission, log, metrics, taskQueue, checkTiming }
const loops = [
  startRelay({ sql, jobs, log, notifier: relayNotifier, intervalMs: config.RELAY_INTERVAL_MS }),
  startReconcile({
    sql,
    lockSql,
    jobs,
    log,
    intervalMs: config.RECONCILE_INTERVAL_SECONDS * 1000,
    afterSeconds: config.RECONCILE_AFTER_SECONDS,
    kinds: [
      ...makeReconciledTasks(reconciled),
      ...makeReconciledEvents(reconciled),
      ...makeReconciledVersions(reconciled),
    ],
  }),
  startLoop(
    'notices',
    () =>
      noticeConditions({
        ...commit,
        taskQueue,
        queueSeconds: config.NOTICE_QUEUE_SECONDS,
        storePercent: config.NOTICE_STORE_PERCENT,
        storagePath: config.STORAGE === 'local' ? config.STORAGE_PATH : undefined,
      }),
    { intervalMs: config.NOTICE_INTERVAL_MS, log },
  ),
  startLoop(
    'rules',
    async () => {
      const [paused] = await Promise.all([
        pauses.refresh(),
        ownerRules.refresh(),
        customKinds.refresh(),
      ])
      return untilNextEnd(paused, config.RULES_INTERVAL_MS)
    },
    { intervalMs: config.RULES_INTERVAL_MS, notifier: rulesNotifier, log },
  ),
  startLoop('admission', (signal) => withLoopLock(lockSql, 'admission', () => admit(signal)), {
    intervalMs: IDLE_MS,
    notifier: admissionNotifier,
    log,
  }),
  startLoop('watches', () => watches.poll((ids) => withinDeadline(sql, readRevisions(sql, ids))), {
    intervalMs: WATCH_MS,
    log,
  }),
  scratch,
  ...(signIn ? [signIn] : []),
]

const renewal = startRenewal({
  inUse: temporal,
  connection,
  open: (target) => Promise.resolve(connectTemporal(target)),
  use: jobs.useConnection,
  intervalMs: config.TEMPORAL_RENEWAL_MS,
  log,
})
// Only whoever reads the log learns why starts wait: an api serves without Temporal.
void checks.temporal().catch(async (error: unknown) => {
  const advice = await adviseTemporal(temporal, error)
  log.warn({ err: error }, advice ?? 'Temporal does not respond')
})

closeOnSignal(
  async () => {
    lifecycle.state = 'draining'
    await sleep(config.DRAIN_DELAY_SECONDS * 1000)
    lifecycle.state = 'closing'
    watches.close()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 6000).unref()
    await closed
    metricsServer?.close()
    await Promise.all([jobs.drain(), stopListening(), ...loops.map((loop) => loop.stop())])
    await renewal.stop()
    await tracing?.stop()
    await Promise.all([sql.end({ timeout: 1 }), lockSql.end({ timeout: 1 })])
  },
  // A longer delay than the usual two seconds leaves the rest as much time.
  { limitMs: 10_000 + Math.max(0, config.DRAIN_DELAY_SECONDS - 2) * 1000, log },
)
log.info({ port, public_url: publicUrl, metrics_port: metricsServer?.port }, 'api ready')
