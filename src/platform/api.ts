import { makeSecrets } from './adapters/secrets.ts'
import { makeSigner } from './adapters/signing.ts'
import { readAliases } from './alias/table.ts'
import {
  ADMISSION,
  OUTBOX,
  RULES,
  listenForChanges,
  makeNotifyChange,
  readRevisions,
} from './db/change-notification.ts'
import { makeDatabase, withinDeadline } from './db/client.ts'
import { checkSchema } from './db/migrate.ts'
import { readDatabaseClock, readServer } from './db/server.ts'
import { makeNotifier } from './domain/notifier.ts'
import { makeSemaphore } from './domain/semaphore.ts'
import { loadPages } from './http/docs/pages.ts'
import { makeWatches } from './http/live/watches.ts'
import type { Lifecycle } from './http/serve/lifecycle.ts'
import { makeBudget } from './json-body/budget.ts'
import { makeJournal, type Log } from './log.ts'
import { makeOutbound } from './outbound/outbound.ts'
import { makeIdempotency } from './process/idempotency.ts'
import { loadTracing } from './process/load-tracing.ts'
import { startLoop } from './process/loop.ts'
import { makeMetrics, showClock, showPool } from './process/metrics.ts'
import { probeStorage, requireStorage } from './process/open-storage.ts'
import { startScratch } from './process/scratch.ts'
import { requireSchema } from './process/startup.ts'
import {
  makeWorkflowUrl,
  readAddresses,
  readLinks,
  readOutboundRules,
  type PlatformConfig,
} from './settings/settings.ts'
import { readTemporal } from './settings/temporal.ts'
import { makeJobs } from './temporal/client.ts'
import { connectTemporal } from './temporal/connection.ts'
import { probeTemporal } from './temporal/probe.ts'
import { startRelay } from './temporal/relay.ts'
import { startRenewal } from './temporal/renewal.ts'
import { adviseTemporal } from './temporal/temporal-advice.ts'

/** Interval at which a row is found whose notification was lost, because its process was killed after the commit. */
const WATCH_MS = 5000

export type ApiBase = Awaited<ReturnType<typeof startApiBase>>

/** Opens what every area of an api stands on: database, Temporal, store, streams, outbound client, metrics, traces. */
export const startApiBase = async (config: PlatformConfig, log: Log) => {
  const metrics = config.METRICS_PORT === undefined ? undefined : makeMetrics()
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
  if (metrics) showClock(metrics, () => readDatabaseClock(sql))
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
  const tracing = await loadTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, {
    service: 'kiln-api',
    log,
  })
  const jobs = makeJobs({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    sql,
    log,
    publicUrl: config.PUBLIC_URL,
    tracing,
  })
  const storage = await requireStorage(config, { metrics, log })
  const secrets = makeSecrets({ keys: config.SECRETS_KEYS })
  const lifecycle: Lifecycle = { state: 'serving' }
  const scratch = await startScratch('bodies', { storage, log })
  const watches = makeWatches({ max: config.STREAMS_MAX })
  const notifiers = {
    /** Pauses, rules of owners or templates have changed. */
    rules: makeNotifier(),
    /** With all that changes for many tasks, something may go on. */
    admission: makeNotifier(),
    relay: makeNotifier(),
  }
  const stopListening = listenForChanges({
    url: direct,
    name: 'kiln api changes',
    onChange(id) {
      if (id === RULES) notifiers.rules.notify()
      if (id === OUTBOX) notifiers.relay.notify()
      else if (id === RULES || id === ADMISSION) notifiers.admission.notify()
      else watches.notify(id)
    },
    onPreview: watches.preview,
    onConnect: () => {
      watches.notify()
      notifiers.rules.notify()
    },
  })
  const probes = {
    postgres: async () => {
      await readServer(sql)
      await checkSchema(sql)
    },
    temporal: () => probeTemporal(jobs.client, temporal),
    storage: () => probeStorage(storage, config),
  }
  /** A third of the pool; with the searches fewer than the pool has connections, so that others get one. */
  const makeThird = () => makeSemaphore(Math.ceil(config.DATABASE_POOL / 3))
  const pages = await loadPages('pages')
  if (pages.size === 0) log.warn('the pages at /docs are not built: `npm run build` makes them')
  const renewal = startRenewal({
    inUse: temporal,
    connection,
    open: (target) => Promise.resolve(connectTemporal(target)),
    use: jobs.useConnection,
    intervalMs: config.TEMPORAL_RENEWAL_MS,
    log,
  })
  // Only whoever reads the log learns why starts wait: an api serves without Temporal.
  void probes.temporal().catch(async (error: unknown) => {
    const advice = await adviseTemporal(temporal, error)
    log.warn({ err: error }, advice ?? 'Temporal does not respond')
  })
  return {
    log,
    metrics,
    tracing,
    sql,
    lockSql,
    storage,
    secrets,
    lifecycle,
    notifiers,
    probes,
    pages,
    now: () => new Date(),
    taskQueue: config.TASK_QUEUE,
    publicUrl: config.PUBLIC_URL,
    workflowUrl: makeWorkflowUrl(config),
    aliases: await readAliases(config.WIRE_ALIASES),
    idempotency: makeIdempotency({ sql, secrets, log }),
    signer: makeSigner(readLinks(config)),
    outbound: makeOutbound(readOutboundRules(config)),
    /** Dependencies of a route that commits a change. */
    commit: { sql, jobs, notifyChange: makeNotifyChange(sql), journal: makeJournal(log, config) },
    /** Dependencies of a route that waits for one. */
    live: { watches, watchReadSemaphore: makeThird() },
    /** Dependencies of a route that receives files. */
    received: { budget: makeBudget(), scratchDir: scratch.dir },
    lists: {
      heavyReadSemaphore: makeThird(),
      searches: makeSemaphore(Math.ceil(config.DATABASE_POOL / 2)),
    },
    /** Starts once the api listens. */
    startLoops: () => [
      startRelay({
        sql,
        jobs,
        log,
        notifier: notifiers.relay,
        intervalMs: config.RELAY_INTERVAL_MS,
      }),
      startLoop(
        'watches',
        () => watches.poll((ids) => withinDeadline(sql, readRevisions(sql, ids))),
        { intervalMs: WATCH_MS, log },
      ),
      scratch,
    ],
    async close(): Promise<void> {
      await Promise.all([jobs.drain(), stopListening()])
      await renewal.stop()
      await tracing?.stop()
      await Promise.all([sql.end({ timeout: 1 }), lockSql.end({ timeout: 1 })])
    },
  }
}
