import { extname } from 'node:path'

import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  TransportError,
  Worker,
} from '@temporalio/worker'
import type { WorkerOptions } from '@temporalio/worker'

import { createCoreActivities, createMediaActivities } from '../activities/index.ts'
import { makeLocalImageEngine } from './adapters/image-engine/local.ts'
import { makeOutbound } from './adapters/outbound.ts'
import { makeLocalStorage } from './adapters/storage/local.ts'
import { loadConfig } from './config.ts'
import type { Config } from './config.ts'
import { makeDatabase } from './db/client.ts'
import { armFailpoint } from './failpoint.ts'
import { mediaQueue } from './jobs.ts'
import { makeLog } from './log.ts'
import { startScratch } from './scratch.ts'
import { closeOnSignal } from './shutdown.ts'
import { requireSchema, untilAnswers } from './startup.ts'

const config = loadConfig()
const log = makeLog(`worker-${config.WORKER_ROLE}`, config.LOG_LEVEL)
armFailpoint(config.FAILPOINT)

const sql = makeDatabase({
  url: config.DATABASE_URL,
  pool: config.DATABASE_POOL,
  name: `kiln worker ${config.WORKER_ROLE}`,
  statementTimeoutMs: 10_000,
})
await requireSchema(sql, log)

Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error, taskToken: _taskToken, ...sdk } = meta ?? {}
    // What a media worker is: it has activities only.
    if (message.startsWith('No workflows registered')) return
    log[level === 'ERROR' ? 'error' : 'warn']({ sdk, err: error }, message)
  }),
})
const connection = await untilAnswers(
  () => NativeConnection.connect({ address: config.TEMPORAL_ADDRESS }),
  { name: 'Temporal', isOutage: (error) => error instanceof TransportError, log },
)
const core = {
  sql,
  storage: makeLocalStorage({ root: config.STORAGE_PATH }),
  log,
  retentionDays: config.RESULT_RETENTION_DAYS,
}

const coreWorker = (): Promise<Worker> =>
  Worker.create({
    ...common(config),
    taskQueue: config.TASK_QUEUE,
    ...(config.WORKFLOW_BUNDLE === undefined
      ? {
          workflowsPath: new URL(`../workflows/index${extname(import.meta.url)}`, import.meta.url)
            .pathname,
        }
      : { workflowBundle: { codePath: config.WORKFLOW_BUNDLE } }),
    activities: createCoreActivities(core),
    shutdownGraceTime: '20 seconds',
    shutdownForceTime: '30 seconds',
  })

const mediaWorker = (scratchDir: string): Promise<Worker> =>
  Worker.create({
    ...common(config),
    taskQueue: mediaQueue(config.TASK_QUEUE),
    activities: createMediaActivities({
      ...core,
      engine: makeLocalImageEngine({ maxPixels: config.IMAGE_MAX_PIXELS }),
      outbound: makeOutbound({
        allowLoopback: config.OUTBOUND_ALLOW_LOOPBACK,
        ports: config.OUTBOUND_PORTS,
        deny: config.OUTBOUND_DENY,
      }),
      scratchDir,
      limits: {
        maxBytes: config.IMAGE_MAX_BYTES,
        maxPixels: config.IMAGE_MAX_PIXELS,
        downloadTimeoutMs: config.IMAGE_URL_TIMEOUT_SECONDS * 1000,
        redirects: config.IMAGE_URL_REDIRECTS,
      },
    }),
    maxConcurrentActivityTaskExecutions: config.MEDIA_SLOTS,
    // A cancelled render should stop soon, so its heartbeats are not held back for most of the heartbeat time-out.
    maxHeartbeatThrottleInterval: '1 second',
    defaultHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: '30 seconds',
    shutdownForceTime: '40 seconds',
  })

const common = ({
  TEMPORAL_NAMESPACE,
}: Config): Pick<WorkerOptions, 'connection' | 'namespace'> => ({
  connection,
  namespace: TEMPORAL_NAMESPACE,
})

const scratch = config.WORKER_ROLE === 'media' ? await startScratch('render', core) : undefined
const worker = await (scratch ? mediaWorker(scratch.dir) : coreWorker())
const running = worker.run()
closeOnSignal(
  async () => {
    worker.shutdown()
    await running
    await scratch?.stop()
    await connection.close()
    await sql.end({ timeout: 1 })
  },
  { limitMs: 45_000, log },
)
log.info({ pid: process.pid, role: config.WORKER_ROLE }, 'worker ready')
await running.catch((error: unknown) => {
  log.fatal({ err: error }, 'the worker cannot go on')
  process.exit(1)
})
