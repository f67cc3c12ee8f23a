import {
  findOldestWaiting,
  findWorkflowsRead,
  recordCondition,
  recordFailedWorkflows,
} from '../db/platform-notice.ts'
import { unitOfWork, type UnitDeps } from '../../platform/db/unit-of-work.ts'
import { readRoom, usedPart } from '../../platform/storage/room.ts'
import type { Jobs } from '../../platform/temporal/client.ts'

export interface NoticeOptions extends UnitDeps {
  jobs: Jobs
  taskQueue: string
  /** NOTICE_QUEUE_SECONDS */
  queueSeconds: number
  /** NOTICE_STORE_PERCENT */
  storePercent: number
  /** Folder of the local store; undefined for a bucket. */
  storagePath: string | undefined
}

/** Notifies platform admins of conditions that began, and workflows that failed, since the last pass. */
export const noticeConditions = async (options: NoticeOptions): Promise<void> => {
  const { sql, queueSeconds, storePercent, storagePath } = options
  const seconds = await findOldestWaiting(sql)
  const isOld = seconds >= queueSeconds
  const used = storagePath === undefined ? 0 : 100 * usedPart(await readRoom(storagePath))
  const isFull = used >= storePercent
  await unitOfWork(options, async (sql) => {
    await recordCondition(sql, 'queue', isOld ? { oldest_seconds: Math.round(seconds) } : undefined)
    await recordCondition(sql, 'store', isFull ? { used_percent: Math.floor(used) } : undefined)
  })
  await noticeWorkflows(options)
}

/** Failed workflows of one pass; the next one reads more. */
const MAX = 100
/** Visibility of Temporal shows an end some time after it. */
const LATE_MS = 10_000

const noticeWorkflows = async (options: NoticeOptions): Promise<void> => {
  const { sql, jobs, taskQueue } = options
  const since = await findWorkflowsRead(sql)
  const until = new Date(Date.now() - LATE_MS)
  if (until <= since) return
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus in ('Failed', 'TimedOut') and CloseTime > '${since.toISOString()}' and CloseTime <= '${until.toISOString()}'`
  const failed = []
  for await (const { workflowId, runId, type, closeTime } of jobs.client.workflow.list({ query }))
    // Temporal knows the time more exactly, so the workflows that were read last come again.
    if (closeTime && closeTime.getTime() > since.getTime())
      failed.push({ workflowId, runId, type, closedAt: closeTime })
  const inOrder = failed.toSorted((a, b) => a.closedAt.getTime() - b.closedAt.getTime())
  await unitOfWork(options, (sql) => recordFailedWorkflows(sql, since, inOrder.slice(0, MAX)))
}
