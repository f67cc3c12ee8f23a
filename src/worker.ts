import { extname } from 'node:path'

import { Worker } from '@temporalio/worker'

import { startFirstAttempts } from '../activities/events/first-attempts.ts'
import { createCoreActivities } from '../activities/index.ts'
import { loadConfig, readSearchPath, warnOfSettings } from './config.ts'
import { makeCustomKinds } from './engines/custom-kinds.ts'
import { makeMediaRendering, makeRemoteRendering } from './engines/worker.ts'
import { announceEvent, startDelivery } from './events/temporal/start-delivery.ts'
import { makeTaskEvents } from './events/temporal/task-events.ts'
import { makeDelivery } from './events/worker.ts'
import { listenForFirstAttempts } from './platform/db/change-notification.ts'
import { makeNotifier } from './platform/domain/notifier.ts'
import { captureOutput, makeLog } from './platform/log.ts'
import { armFailpoint } from './platform/process/failpoint.ts'
import { endWithLine } from './platform/process/operator-error.ts'
import { startScratch } from './platform/process/scratch.ts'
import { closeOnSignal } from './platform/process/shutdown.ts'
import { readAddresses } from './platform/settings/settings.ts'
import { describeActivity } from './platform/temporal/activity-facts.ts'
import { findWorkflowBundle, startWorkerBase } from './platform/worker.ts'
import { INSPECTOR_ENTRY } from './registry/inspector/child-process.ts'
import { makeInspection, makeStars } from './registry/worker.ts'
import { startBeat } from './tasks/process/beat.ts'
import { readAdmission } from './tasks/settings.ts'
import { makeBulkWorker } from './tasks/worker.ts'

const config = loadConfig('worker')
// What `ps` shows: the command line is the same for all roles.
process.title = `kiln worker-${config.WORKER_ROLE}`
const log = makeLog(`worker-${config.WORKER_ROLE}`, config.LOG_LEVEL, describeActivity)
warnOfSettings(config, log)
captureOutput(log)
armFailpoint(config.FAILPOINT)

const base = await startWorkerBase(config, log).catch(endWithLine(log))
const { common, jobs } = base
const taskQueue = config.TASK_QUEUE
const programs = { searchPath: readSearchPath(), files: [INSPECTOR_ENTRY] }

const workflowFile = (name: string): string =>
  new URL(`../workflows/${name}${extname(import.meta.url)}`, import.meta.url).pathname

/**
 * Limit of one activation of a workflow, which the SDK has and its types do not show. It is wall time, in which a full
 * machine or a stop of this process counts: after the SDK's 5 s one of some milliseconds would fail its workflow task.
 */
const activationLimit: object = { isolateExecutionTimeout: '30 seconds' }

/** Starts the worker of workflows and short steps, first attempts at webhooks, batches, and renders elsewhere. */
const startCore = async () => {
  const bundle = findWorkflowBundle(config)
  /** Wakes first attempts. */
  const notifier = makeNotifier()
  const stopListening = listenForFirstAttempts({
    url: readAddresses(config).direct,
    onConnect: notifier.notify,
    name: 'kiln worker core first attempts',
    onChange: notifier.notify,
  })
  const deps = {
    ...common,
    ...readAdmission(config),
    jobs,
    retentionDays: config.RESULT_RETENTION_DAYS,
    notifier,
    startDelivery: (task: Parameters<typeof startDelivery>[0]) =>
      startDelivery(task, { taskQueue }),
    announceEvent: (taskId: string) => void announceEvent(jobs, taskId),
    stars: makeStars(base, config),
    ...makeDelivery(base, config),
  }
  const rendering = await makeRemoteRendering(base, config, programs)
  const scratch = await startScratch('batch', common)
  const core = await Worker.create({
    ...base.temporal,
    taskQueue,
    ...(bundle === undefined
      ? {
          workflowsPath: workflowFile('index'),
          interceptors: {
            ...base.temporal.interceptors,
            workflowModules: [workflowFile('platform/trace')],
          },
        }
      : { workflowBundle: { codePath: bundle } }),
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
  const bulk = await makeBulkWorker(base, config, {
    scratchDir: scratch.dir,
    customKinds: makeCustomKinds(common.sql),
    ...makeTaskEvents({ taskQueue }),
  })
  const firstAttempts = startFirstAttempts(deps)
  return {
    workers: [core, bulk, ...rendering.workers],
    slots: rendering.slots,
    stopFirstAttempts: () => firstAttempts.stop(),
    async stop() {
      await Promise.all([rendering.stop(), scratch.stop(), stopListening()])
    },
  }
}

const startMedia = async () => {
  const further = (place: Parameters<typeof makeInspection>[1]) => makeInspection(base, place)
  return {
    stopFirstAttempts: () => Promise.resolve(),
    ...(await makeMediaRendering(base, config, { further, ...programs })),
  }
}

const start = config.WORKER_ROLE === 'media' ? startMedia : startCore
const { workers, slots, stop, stopFirstAttempts } = await start().catch(endWithLine(log))
// A port that is taken ends the process before it asks Temporal for work.
const { metricsPort, closeMetrics, renewal } = await base.watch(workers)
const running = Promise.all(workers.map((worker) => worker.run()))
const beat = startBeat({
  sql: common.sql,
  identity: base.temporal.identity,
  role: config.WORKER_ROLE,
  slots,
  log,
})
closeOnSignal(
  async () => {
    for (const worker of workers) worker.shutdown()
    await Promise.all([running, stopFirstAttempts()])
    closeMetrics()
    await jobs.drain()
    base.outbound.close()
    await Promise.all([stop(), beat.stop()])
    await renewal.stop()
    await base.close()
  },
  { limitMs: 45_000, log },
)
log.info({ role: config.WORKER_ROLE, metrics_port: metricsPort }, 'worker ready')
await running.catch((error: unknown) => {
  log.fatal({ err: error }, 'the worker cannot go on')
  process.exit(1)
})
