import type {
  Operation,
  OperationAction,
  OperationCounts,
  OperationFilter,
} from '../../domain/bulk/operation.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { showProgress } from './batch.ts'
import { countOperation } from './bulk-item.ts'
import type { BulkRow } from './bulk.ts'

/** Action of an operation, and the tasks that it is for. */
export interface OperationRequest {
  action: OperationAction
  filter: OperationFilter
  /** Owner of the tasks; absent: any, for an admin. */
  of?: string
}

export type OperationRow = BulkRow<OperationRequest, OperationCounts>

export const showOperation = (row: OperationRow): Omit<Operation, 'counts'> => ({
  operation_id: row.id,
  action: row.request.action,
  filter: row.request.filter,
  ...showProgress(row),
})

/** Counts the tasks of an operation by what was done. What is not done when somebody has asked to stop never is. */
export const readOperationCounts = async (
  sql: Queryable,
  { id, total, isCancelRequested, counts }: OperationRow,
): Promise<OperationCounts> => {
  if (counts) return counts
  const { done = 0, rejected = 0 } = await countOperation(sql, id)
  const left = total - done - rejected
  const [pending, notDone] = isCancelRequested ? [0, left] : [left, 0]
  return { pending, done, rejected, not_done: notDone }
}
