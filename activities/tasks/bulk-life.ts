import { readLines } from '../../src/platform/storage/lines.ts'
import { StorageError } from '../../src/platform/storage/storage.ts'
import { readBatchCounts, showBatch, type BatchRow } from '../../src/tasks/db/bulk/batch.ts'
import { watchLastTask } from '../../src/tasks/db/bulk/bulk-item.ts'
import {
  beginBulk,
  endBulk,
  findBulk,
  insertEndEvents,
  type BulkRow,
} from '../../src/tasks/db/bulk/bulk.ts'
import { readOperationCounts, showOperation } from '../../src/tasks/db/bulk/operation.ts'
import type { OperationRow } from '../../src/tasks/db/bulk/operation.ts'
import { completeAudit } from '../../src/platform/db/audit-log.ts'
import type { Queryable, Transaction } from '../../src/platform/db/client.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import {
  describeOtherForm,
  LINE_MAX_BYTES,
  requestsFolder,
  requestsKey,
} from '../../src/tasks/domain/bulk/batch.ts'
import { FIRST_STATE, MAX_ITEMS, type ItemError } from '../../src/tasks/domain/bulk/bulk.ts'
import { auditTarget } from '../../src/platform/domain/audit-log.ts'
import { UPLOAD_MAX_BYTES } from '../../src/platform/domain/upload.ts'
import type { BulkDependencies, CoreDependencies } from './dependencies.ts'
import { withHeartbeat } from '../platform/heartbeat.ts'

const BEAT_MS = 1000

/**
 * Makes the activity that counts the items of a batch and lets it begin: an operation has its own from the start. Returns
 * why there is nothing that it could work on; null: it runs, or has ended.
 */
export const makePrepareBulk =
  (deps: BulkDependencies) =>
  (bulkId: string): Promise<ItemError | null> =>
    withHeartbeat({ beatMs: BEAT_MS }, async () => {
      const bulk = await findBulk(deps.sql, { id: bulkId })
      if (bulk?.state !== FIRST_STATE || bulk.isCancelRequested) return null
      const known = bulk.kind === 'batch' ? await countRequests(deps, bulk as BatchRow) : UNCHOSEN
      if (typeof known !== 'number') return known
      await unitOfWork(deps, (sql) => beginBulk(sql, { id: bulkId, total: known }))
      return null
    })

const UNCHOSEN = {
  code: 'outcome_unknown',
  message: 'A release before 0.3.0 made the operation and had not chosen its tasks: make it again.',
}
const TOO_MANY = {
  code: 'body_too_large',
  message: `A batch has at most ${MAX_ITEMS} requests: split it.`,
}
const NONE = { code: 'body_required', message: 'The file has no line: each is a request.' }
const GONE = { code: 'file_gone', message: 'The upload was removed or replaced: upload it again.' }

/** Counts the lines of a batch's file, which is a copy of the upload: that may be replaced meanwhile. */
const countRequests = async (
  { storage }: BulkDependencies,
  { id, request: { file } }: BatchRow,
): Promise<number | ItemError> => {
  const key = requestsKey(id)
  if (file !== undefined && !(await storage.stat(key))) {
    const source = await storage.open(file).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'not_found') return undefined
      throw error
    })
    if (!source) return GONE
    await storage.putStream(key, source.stream, { maxBytes: UPLOAD_MAX_BYTES })
  }
  const otherForm = file && describeOtherForm(await readHead(storage, key))
  if (otherForm !== undefined) return { code: 'json_invalid', message: otherForm }
  let lines = 0
  for await (const _ of readLines(storage, key, { maxBytes: LINE_MAX_BYTES })) {
    lines += 1
    if (lines > MAX_ITEMS) return TOO_MANY
  }
  return lines === 0 ? NONE : lines
}

const HEAD_BYTES = 1000

const readHead = async (storage: BulkDependencies['storage'], key: string): Promise<Uint8Array> => {
  const { size = 0 } = (await storage.stat(key)) ?? {}
  if (size === 0) return new Uint8Array()
  const { stream } = await storage.open(key, { start: 0, end: Math.min(size, HEAD_BYTES) - 1 })
  return Buffer.concat((await stream.toArray()) as Buffer[])
}

/** Standing of a batch whose tasks are all made. */
export interface BatchStanding {
  /** A task is open; its end is signalled to the workflow. */
  isWaiting: boolean
  isCancelRequested: boolean
  total: number
}

export type BulkTransitions = ReturnType<typeof makeBulkTransitions>

/** Makes the short steps of batches and operations. */
export const makeBulkTransitions = (deps: CoreDependencies) => ({
  async watchBatch(bulkId: string): Promise<BatchStanding> {
    const bulk = await findBulk(deps.sql, { id: bulkId })
    const isCancelRequested = bulk?.isCancelRequested ?? false
    const isWaiting = await unitOfWork(deps, (sql) =>
      watchLastTask(sql, { bulkId, isOwn: isCancelRequested }),
    )
    return { isWaiting, isCancelRequested, total: bulk?.total ?? 0 }
  },

  /** Ends one with its event; returns its final state. */
  async finishBulk(bulkId: string, error: ItemError | null): Promise<string> {
    const state = await unitOfWork(deps, (sql) => end(sql, bulkId, error), { of: bulkId })
    await deps.storage.removePrefix(requestsFolder(bulkId))
    return state
  },
})

const end = async (sql: Transaction, id: string, issue: ItemError | null): Promise<string> => {
  const bulk = await findBulk(sql, { id })
  if (!bulk || bulk.endedAt) return bulk?.state ?? 'deleted'
  // Nobody has asked it to stop: whoever left something undone has said why.
  const isLeft = !bulk.isCancelRequested && bulk.nextIndex < bulk.total
  const error = issue ?? (isLeft ? bulk.error : null)
  const unfailed = bulk.isCancelRequested ? 'cancelled' : 'done'
  const state = error ? 'failed' : unfailed
  const counts = await readCounts(sql, bulk)
  await endBulk(sql, { id, state, counts, error })
  if (bulk.kind === 'operation')
    await completeAudit(sql, {
      action: 'operation.create',
      target: auditTarget.bulk(bulk.kind, id),
      after: { state, total: bulk.total, counts },
    })
  const ended = await findBulk(sql, { id })
  if (ended) await insertEndEvents(sql, { id, ...describeEnd(ended, counts) })
  return state
}

/** Reads the counts. A request that got no task counts as cancelled, like its batch. */
const readCounts = async (sql: Queryable, bulk: BulkRow): Promise<object> => {
  if (bulk.kind === 'operation')
    return await readOperationCounts(sql, { ...(bulk as OperationRow), isCancelRequested: true })
  const read = await readBatchCounts(sql, bulk as BatchRow)
  const { pending, ...counts } = read.counts
  return { pending: 0, ...counts, cancelled: counts.cancelled + pending }
}

/** The webhook URL, whose query may be a secret, is for nobody else. */
const describeEnd = (row: BulkRow, counts: object): { type: string; data: object } => {
  if (row.kind === 'operation')
    return { type: 'operation.ended', data: { ...showOperation(row as OperationRow), counts } }
  const { webhook_url: _url, ...batch } = showBatch(row as BatchRow)
  return { type: 'batch.ended', data: { ...batch, counts } }
}
