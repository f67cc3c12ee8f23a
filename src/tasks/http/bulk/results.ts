import { listItems, type ItemRow } from '../../db/bulk/bulk-item.ts'
import type { BulkRow } from '../../db/bulk/bulk.ts'
import { withinDeadline } from '../../../platform/db/client.ts'
import type { BatchLine } from '../../domain/bulk/batch.ts'
import type { OperationLine } from '../../domain/bulk/operation.ts'
import { taskPath } from '../any/item.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'
import type { TaskReadDeps } from '../../deps.ts'

/** Lines that are read from the database at once. */
const PAGE = 500

/** Makes the line of an item from its row, or of one that has none yet. */
export type MakeLine = (deps: TaskReadDeps, row: ItemRow | undefined, index: number) => object

/** Responds with a line of JSON for each item, read as the client takes them. */
export const respondWithLines = (
  deps: TaskReadDeps,
  bulk: BulkRow,
  makeLine: MakeLine,
): JsonResponse => ({
  status: 200,
  headers: { 'content-type': LINES_TYPE },
  text: '',
  more: readLines(deps, bulk, makeLine),
})

export const LINES_TYPE = 'application/jsonl'

async function* readLines(
  deps: TaskReadDeps,
  { id: bulkId, total }: BulkRow,
  makeLine: MakeLine,
): AsyncGenerator<string> {
  for (let at = 0; at < total; at += PAGE) {
    const rows = await withinDeadline(deps.sql, listItems(deps.sql, { bulkId, index: at }, PAGE))
    const byIndex = new Map(rows.map((row) => [row.index, row]))
    const lines = Array.from({ length: Math.min(PAGE, total - at) }, (_, place) =>
      makeLine(deps, byIndex.get(at + place), at + place),
    )
    yield lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
}

/** Makes the line of a request. @param unmade state of a request that got no task */
export const makeBatchLine =
  (unmade: 'pending' | 'cancelled'): MakeLine =>
  ({ signer, now }, row, index): BatchLine => {
    const { taskId, customId, state, kind, segment, family } = row ?? {}
    const named = { ...(typeof customId === 'string' && { custom_id: customId }) }
    if (!row || !taskId || !state || !kind || segment === undefined || !family)
      return {
        index,
        ...named,
        state: row ? 'rejected' : unmade,
        ...(row?.error && { error: row.error }),
      }
    const links = row.results?.map((name) => signer.signFile(taskId, name, now()))
    return {
      index,
      ...named,
      state,
      task_id: taskId,
      ...(row.result?.replayed && { replayed: true }),
      ...(row.result?.ignored_fields && { ignored_fields: row.result.ignored_fields }),
      path: taskPath({ id: taskId, kind, segment, family }),
      ...(links && links.length > 0 && { links }),
      ...(row.taskError && { error: row.taskError }),
    }
  }

/** Makes the line of a task. @param left state of one that nothing was done with */
export const makeOperationLine =
  (left: 'pending' | 'not_done'): MakeLine =>
  (_deps, row, index): OperationLine => {
    const { task_id: made, redeliveries } = row?.result ?? {}
    return {
      index,
      task_id: row?.taskId ?? '',
      state: row?.outcome ?? left,
      ...(made !== undefined && { new_task_id: made }),
      ...(redeliveries !== undefined && { redeliveries }),
      ...(row?.error && { error: row.error }),
    }
  }
