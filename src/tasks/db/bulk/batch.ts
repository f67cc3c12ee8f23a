import type { Batch, BatchCounts } from '../../domain/bulk/batch.ts'
import { showState } from '../../domain/bulk/bulk.ts'
import type { Labels } from '../../domain/task-options.ts'
import { describeWait } from '../../domain/waits-for.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { countBatch, listWaitReasons } from './bulk-item.ts'
import type { BulkRow } from './bulk.ts'

export interface BatchSource {
  /** Key of the uploaded file in the store; absent when they came in the body. */
  file?: string
  /** Labels that each task gets beside its own. */
  labels?: Labels
}

export type BatchRow = BulkRow<BatchSource, BatchCounts>

/** Members that both kinds show. */
export const showProgress = (row: BulkRow) => ({
  state: showState(row),
  total: row.total,
  ...(row.error && { error: row.error }),
  created_at: row.createdAt.toISOString(),
  ...(row.endedAt && { ended_at: row.endedAt.toISOString() }),
})

export const showBatch = (row: BatchRow): Omit<Batch, 'counts'> => ({
  batch_id: row.id,
  ...showProgress(row),
  ...(row.request.labels && { labels: row.request.labels }),
  ...(row.webhookUrl !== null && { webhook_url: row.webhookUrl }),
})

/** Counts the requests of a batch by the state of their tasks, and says it where a pause holds some of these. */
export const readBatchCounts = async (
  sql: Queryable,
  { id, total, counts, isCancelRequested }: BatchRow,
): Promise<Pick<Batch, 'counts' | 'waits_for'>> => {
  if (counts) return { counts }
  const found = await countBatch(sql, id)
  const known = Object.values(found).reduce((sum, n) => sum + n, 0)
  const none = { waiting: 0, queued: 0, running: 0, done: 0, failed: 0, cancelled: 0, rejected: 0 }
  // Of one that is being cancelled nothing goes on later.
  const canWait = !isCancelRequested && (found['waiting'] ?? 0) + (found['queued'] ?? 0) > 0
  const reasons = canWait ? await listWaitReasons(sql, id) : undefined
  return {
    counts: { pending: Math.max(0, total - known), ...none, ...found },
    ...describeWait(reasons ?? null),
  }
}
