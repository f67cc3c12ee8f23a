import { readLines } from '../../src/platform/storage/lines.ts'
import { findItemTask, recordItem, type ItemPlace } from '../../src/tasks/db/bulk/bulk-item.ts'
import type { BatchRow } from '../../src/tasks/db/bulk/batch.ts'
import type { OperationRow } from '../../src/tasks/db/bulk/operation.ts'
import type { Transaction } from '../../src/platform/db/client.ts'
import { LINE_MAX_BYTES, requestsKey } from '../../src/tasks/domain/bulk/batch.ts'
import type { ItemOutcome } from '../../src/tasks/domain/bulk/bulk.ts'
import { apiError } from '../../src/platform/domain/errors.ts'
import type { BulkDependencies } from './dependencies.ts'

/** One thing to do: a request to make a task of, or a task to act on. */
export interface Item {
  index: number
  place: ItemPlace
  /** Does it, once. Throws an `ApiError` where that is rejected, and `OvertakenError`. */
  run(): Promise<void>
}

/** Another run has done the item, or somebody has asked to stop: nothing of this run has taken effect. */
export class OvertakenError extends Error {
  override name = 'OvertakenError'
}

const record = async (sql: Transaction, place: ItemPlace, outcome: ItemOutcome): Promise<void> => {
  if (!(await recordItem(sql, place, outcome))) throw new OvertakenError('the item is done')
}

/** The requests of a batch that come next. */
export async function* listRequests(
  { storage, readLine, submit }: BulkDependencies,
  { id: bulkId, owner, request: { labels }, nextIndex, nextOffset }: BatchRow,
): AsyncGenerator<Item> {
  const lines = readLines(storage, requestsKey(bulkId), {
    from: nextOffset,
    maxBytes: LINE_MAX_BYTES,
  })
  let index = nextIndex
  for await (const { bytes, next } of lines) {
    const place: ItemPlace = { bulkId, index, nextOffset: next }
    const run = async (): Promise<void> => {
      if (!bytes) throw apiError('body_too_large', `A line has at most ${LINE_MAX_BYTES} bytes.`)
      const line = await readLine(bytes)
      // Known from here on, also where the line is rejected.
      place.customId = line.customId
      await submit({
        ...line.requireRequest(),
        owner,
        labels,
        batchId: bulkId,
        record: (sql, { id: taskId, isReplayed, ignored = [] }) =>
          record(sql, place, {
            outcome: 'done',
            taskId,
            ...(isReplayed && { result: { replayed: true } }),
            ...(ignored.length > 0 && { result: { ignored_fields: ignored } }),
          }),
      })
    }
    yield { index, place, run }
    index += 1
  }
}

/** The tasks of an operation that come next. */
export async function* listTasks(
  { sql, act }: BulkDependencies,
  { id: bulkId, request: { action }, nextIndex, total }: OperationRow,
): AsyncGenerator<Item> {
  for (let index = nextIndex; index < total; index += 1) {
    const place = { bulkId, index }
    const run = async (): Promise<void> => {
      const task = await findItemTask(sql, place)
      if (!task) throw apiError('task_not_found')
      await act({
        ...task,
        action,
        record: (sql, result) =>
          record(sql, place, { outcome: 'done', taskId: task.taskId, ...(result && { result }) }),
      })
    }
    yield { index, place, run }
  }
}
