import { setTimeout as sleep } from 'node:timers/promises'

import { makeApp } from './compose/app.ts'
import { probeWorkers, readQueueFacts } from './compose/dependencies.ts'
import { makeRoutes } from './compose/routes.ts'
import { readService } from './compose/settings/derived.ts'
import { loadConfig, warnOfSettings } from './config.ts'
import { makeCustomKinds } from './engines/custom-kinds.ts'
import { makeFleetReader } from './engines/temporal/fleet-metrics.ts'
import { makeEventApi } from './events/api.ts'
import { measureBacklog } from './events/db/first-attempt.ts'
import { makeReconciledEvents } from './events/temporal/reconcile-event.ts'
import { makeTaskEvents } from './events/temporal/task-events.ts'
import { makeIdentityApi } from './identity/api.ts'
import { readDevelopment } from './identity/settings.ts'
import { startApiBase } from './platform/api.ts'
import { withinDeadline } from './platform/db/client.ts'
import { CONNECTIONS } from './platform/http/serve/connection-limit.ts'
import { makeServer } from './platform/http/serve/server.ts'
import { captureOutput, makeLog } from './platform/log.ts'
import { armFailpoint } from './platform/process/failpoint.ts'
import { makeDependencies } from './platform/process/dependencies.ts'
import { listen } from './platform/process/listen.ts'
import { startMetricsServer } from './platform/process/metrics-server.ts'
import { endWithLine } from './platform/process/operator-error.ts'
import { closeOnSignal } from './platform/process/shutdown.ts'
import { makeStoreReader } from './platform/temporal/store-size.ts'
import { makeMetricsReader } from './platform/temporal/metrics-reader.ts'
import { startReconcile } from './platform/temporal/reconcile.ts'
import { makeRegistryApi } from './registry/api.ts'
import { makeDescribePage } from './registry/http/describe-page.ts'
import { readCheckTiming } from './registry/settings.ts'
import { makeReconciledVersions } from './registry/temporal/reconcile-version.ts'
import { makeTaskApi } from './tasks/api.ts'
import { cancelOnOthers } from './tasks/db/bulk/bulk.ts'
import { findTaskFamily } from './tasks/db/task.ts'
import { readBuild } from './tasks/http/service-routes.ts'
import { CUSTOM } from './tasks/domain/custom-kind.ts'
import { VIDEO_ERRORS } from './tasks/http/video/error-form.ts'
import { findStoreShortage } from './platform/process/open-storage.ts'
import { makePauseReader } from './tasks/temporal/pause-metrics.ts'
import { makeReconciledTasks } from './tasks/temporal/reconcile-task.ts'

const config = loadConfig('api')
const log = makeLog('api', config.LOG_LEVEL)
warnOfSettings(config, log)
captureOutput(log)
armFailpoint(config.FAILPOINT)

const base = await startApiBase(config, log).catch(endWithLine(log))
const { sql, commit, metrics, taskQueue, lifecycle, aliases, publicUrl } = base
const dependencies = makeDependencies({ ...base.probes, workers: () => probeWorkers(sql) })
const taskEvents = makeTaskEvents({ taskQueue })
const describePage = makeDescribePage({ sql, publicUrl, registryReads: config.REGISTRY_READS })
const identity = await makeIdentityApi(base, config, { cancelOnOthers, describePage })
const customKinds = makeCustomKinds(sql)
await customKinds.refresh()
const { upstreamMembers } = customKinds
const tasks = await makeTaskApi(base, config, { ...taskEvents, upstreamMembers })
const events = makeEventApi(base, config)
const registry = makeRegistryApi(base, config)

const { pauses, ownerRules, admission } = tasks
const checkTiming = readCheckTiming(config)
const app = makeApp({
  ...base,
  ...base.received,
  ...identity,
  routes: makeRoutes({
    publicUrl,
    aliases,
    ...tasks.routes,
    ...events.routes,
    ...registry.routes,
    template: { ...tasks.routes.imageTask, customKinds },
    platform: {
      ...commit,
      ...admission,
      checkTiming,
      taskQueue,
      workflowUrl: base.workflowUrl,
      dependencies,
      findStoreShortage: () => findStoreShortage(config),
      lifecycle,
      service: { ...readService(config), build: await readBuild() },
      pauses,
      development: readDevelopment(config),
      publicUrl,
      isBuiltin: identity.isBuiltin,
    },
    docs: { pages: base.pages, publicUrl, landing: identity.console ? '/console/' : '/docs' },
  }),
  findTaskFamily: (task) => withinDeadline(sql, findTaskFamily(sql, task)),
  corsOrigins: config.CORS_ORIGINS,
  trustProxy: config.TRUST_PROXY,
  ownerRules,
  journal: commit.journal,
  maxImageBytes: config.IMAGE_MAX_BYTES,
  maxImagePixels: config.IMAGE_MAX_PIXELS,
})
const server = makeServer(app, {
  errorForm: VIDEO_ERRORS,
  trustProxy: config.TRUST_PROXY,
  connections: { ...CONNECTIONS, total: CONNECTIONS.total + config.STREAMS_MAX },
})
const port = await listen(server, { port: config.PORT, host: config.HOST, setting: 'PORT', log })
const { TEMPORAL_DATABASE_URL: url } = config
const metricsServer =
  metrics &&
  (await startMetricsServer({
    port: config.METRICS_PORT ?? 0,
    host: config.METRICS_HOST,
    metrics,
    log,
    refresh: makeMetricsReader({
      ...commit,
      taskQueue,
      metrics,
      dependencies,
      measureBacklog,
      readQueueFacts,
      isKind: (name) =>
        !name.startsWith(CUSTOM) || customKinds.list().some(({ kind }) => kind === name),
      reads: [
        makePauseReader({ sql, metrics }),
        makeFleetReader({ sql, metrics }),
        ...(url === '' ? [] : [makeStoreReader({ url, metrics })]),
      ],
    }),
  }))

const reconciled = { ...commit, ...admission, log, metrics, taskQueue, checkTiming }
const loops = [
  ...base.startLoops(),
  ...tasks.startLoops(),
  ...events.startLoops(),
  ...identity.loops,
  startReconcile({
    ...commit,
    lockSql: base.lockSql,
    log,
    intervalMs: config.RECONCILE_INTERVAL_SECONDS * 1000,
    afterSeconds: config.RECONCILE_AFTER_SECONDS,
    kinds: [
      ...makeReconciledTasks(reconciled),
      ...makeReconciledEvents(reconciled),
      ...makeReconciledVersions(reconciled),
    ],
  }),
  tasks.startRules([customKinds]),
]

closeOnSignal(
  async () => {
    lifecycle.state = 'draining'
    await sleep(config.DRAIN_DELAY_SECONDS * 1000)
    lifecycle.state = 'closing'
    base.live.watches.close()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 6000).unref()
    await closed
    metricsServer?.close()
    await Promise.all(loops.map((loop) => loop.stop()))
    await base.close()
  },
  // A longer delay than the usual two seconds leaves the rest as much time.
  { limitMs: 10_000 + Math.max(0, config.DRAIN_DELAY_SECONDS - 2) * 1000, log },
)
log.info({ port, public_url: publicUrl, metrics_port: metricsServer?.port }, 'api ready')
