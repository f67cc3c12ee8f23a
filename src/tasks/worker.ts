import { Worker } from '@temporalio/worker'

import { makeBulkActivities } from '../../activities/tasks/bulk.ts'
import { makeSecrets } from '../platform/adapters/secrets.ts'
import { readAliases } from '../platform/alias/table.ts'
import { makeBudget } from '../platform/json-body/budget.ts'
import { makeIdempotency } from '../platform/process/idempotency.ts'
import type { PlatformConfig } from '../platform/settings/settings.ts'
import { bulkQueue } from '../platform/temporal/start.ts'
import type { WorkerBase } from '../platform/worker.ts'
import { makeBulkWork } from './bulk-work.ts'
import { makeOwnerEngine, makeOwnerRules } from './owner-rules.ts'
import { makeEngineOf, readAdmission, readQuotas, type TaskConfig } from './settings.ts'

/** Batches and operations at once in one worker; each is one item at a time. */
const BULK_SLOTS = 2

type BulkWorkDeps = Parameters<typeof makeBulkWork>[0]

interface Given extends Pick<BulkWorkDeps, 'redeliver' | 'stopEvents'> {
  /** Folder of this process for unfinished files. */
  scratchDir: string
  customKinds: BulkWorkDeps['customKinds'] &
    Pick<Required<BulkWorkDeps>, 'upstreamMembers'> & { refresh(): Promise<unknown> }
}

/** Makes the worker of batches and operations. What it makes and does, it does as the api would. */
export const makeBulkWorker = async (
  { common, jobs, outbound, makeLinks, temporal }: WorkerBase,
  config: TaskConfig & PlatformConfig,
  { scratchDir, customKinds, ...given }: Given,
): Promise<Worker> => {
  const end = { ...readAdmission(config), jobs }
  const ownerRules = makeOwnerRules(common.sql)
  const work = makeBulkWork({
    ...common,
    ...end,
    ...given,
    offPeakSeconds: config.OFF_PEAK_DEADLINE_SECONDS,
    outbound,
    customKinds,
    upstreamMembers: customKinds.upstreamMembers,
    signer: makeLinks(),
    now: () => new Date(),
    publicUrl: config.PUBLIC_URL,
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
    scratchDir,
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
      // It changes while batches run.
      readRules: async () => {
        await Promise.all([customKinds.refresh(), ownerRules.refresh()])
      },
      pauseFactor: config.BULK_PAUSE_FACTOR,
    }),
    maxConcurrentActivityTaskExecutions: BULK_SLOTS,
    // The row says where the next attempt goes on.
    shutdownGraceTime: '1 second',
    shutdownForceTime: '20 seconds',
  })
}
