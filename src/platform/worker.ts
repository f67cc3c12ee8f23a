import { existsSync } from 'node:fs'
import { hostname } from 'node:os'

import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  TransportError,
  type Worker,
} from '@temporalio/worker'

import { makeSigner } from './adapters/signing.ts'
import { makeNotifyChange } from './db/change-notification.ts'
import { makeDatabase } from './db/client.ts'
import { readDatabaseClock } from './db/server.ts'
import { VERSION } from './domain/release.ts'
import { makeJournal, type Log } from './log.ts'
import { makeOutbound } from './outbound/outbound.ts'
import { loadTracing } from './process/load-tracing.ts'
import { makeMetrics, showClock, showPool } from './process/metrics.ts'
import { startMetricsServer } from './process/metrics-server.ts'
import { requireStorage } from './process/open-storage.ts'
import { requireSchema, untilResponds } from './process/startup.ts'
import {
  readAddresses,
  readLinks,
  readOutboundRules,
  type PlatformConfig,
} from './settings/settings.ts'
import { readTemporal, type TemporalOptions } from './settings/temporal.ts'
import { isOutage, makeJobs } from './temporal/client.ts'
import { startRenewal } from './temporal/renewal.ts'
import { probeTemporal } from './temporal/probe.ts'
import { planSdkMetrics } from './temporal/sdk-metrics.ts'
import { adviseTemporal } from './temporal/temporal-advice.ts'
import { traceActivities } from './temporal/trace.ts'
import { describeWorkflow } from './temporal/workflow-facts.ts'

export type WorkerBase = Awaited<ReturnType<typeof startWorkerBase>>

/** Opens what every worker stands on: database, Temporal, store, outbound client, metrics, traces. */
export const startWorkerBase = async (config: PlatformConfig, log: Log) => {
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
  if (metrics) showClock(metrics, () => readDatabaseClock(sql))
  const sdkMetrics = metrics && (await planSdkMetrics())
  Runtime.install({
    shutdownSignals: [],
    // The native part would write coloured lines of its own.
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...sdkMetrics?.options,
    },
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const { error, taskToken: _taskToken, workflowId, ...sdk } = meta ?? {}
      // A media worker has activities only.
      if (message.startsWith('No workflows registered')) return
      const of = describeWorkflow(workflowId as string | undefined)
      log[level === 'ERROR' ? 'error' : 'warn']({ ...of, sdk, err: error }, message)
    }),
  })
  const target = readTemporal()
  const wait = {
    name: 'Temporal',
    isOutage: (error: unknown) => error instanceof TransportError || isOutage(error),
    advise: (error: unknown) => adviseTemporal(target, error),
    log,
  }
  const connection = await untilResponds(() => openNative(target), wait)
  await untilResponds(() => probeTemporal(connection, target), wait)
  const tracing = await loadTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, {
    service: `kiln-worker-${config.WORKER_ROLE}`,
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
  const outboundRules = readOutboundRules(config)
  const outbound = makeOutbound(outboundRules)
  return {
    /** Dependencies of every activity. */
    common: {
      sql,
      storage: await requireStorage(config, { metrics, log }),
      log,
      metrics,
      tracing,
      notifyChange: makeNotifyChange(sql),
      journal: makeJournal(log, config),
    },
    jobs,
    outbound,
    outboundRules,
    /** Makes what signs links; only who has the keys of them needs it. */
    makeLinks: () => makeSigner(readLinks(config)),
    /** Options of every worker of the SDK. */
    temporal: {
      connection,
      namespace: config.TEMPORAL_NAMESPACE,
      // What the Temporal UI shows of whoever has a step.
      identity: `${config.WORKER_ROLE}@${hostname()}:${process.pid}`,
      workerDeploymentOptions: {
        // What the Temporal UI shows of a worker.
        version: { deploymentName: 'kiln', buildId: VERSION },
        ...(config.WORKER_VERSIONING
          ? // A workflow that runs goes on with a later release, as it does without versions.
            {
              useWorkerVersioning: true as const,
              defaultVersioningBehavior: 'AUTO_UPGRADE' as const,
            }
          : { useWorkerVersioning: false as const }),
      },
      ...(tracing && { interceptors: traceActivities(tracing) }),
    },
    /** Renews the connection of running workers, and serves metrics of them. */
    async watch(workers: readonly Worker[]) {
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
      const server =
        metrics &&
        (await startMetricsServer({
          port: config.METRICS_PORT ?? 0,
          host: config.METRICS_HOST,
          metrics,
          log,
          isHealthy: () => workers.every((worker) => worker.getState() === 'RUNNING'),
          further: sdkMetrics?.read,
        }))
      return { metricsPort: server?.port, closeMetrics: () => server?.close(), renewal }
    },
    async close(): Promise<void> {
      await tracing?.stop()
      await sql.end({ timeout: 1 })
    },
  }
}

const openNative = ({ namespace: _namespace, ...options }: TemporalOptions) =>
  NativeConnection.connect(options)

/** Prebuilt workflows; undefined where the worker bundles them at its start. */
export const findWorkflowBundle = ({
  WORKFLOW_BUNDLE,
}: Pick<PlatformConfig, 'WORKFLOW_BUNDLE'>): string | undefined => {
  const beside = new URL('../../workflow-bundle.js', import.meta.url).pathname
  return WORKFLOW_BUNDLE ?? (existsSync(beside) ? beside : undefined)
}
