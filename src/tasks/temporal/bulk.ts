import type { runBatch, runOperation } from '../../../workflows/tasks/run-bulk.ts'
import type { OutboxSignal, OutboxStart } from '../../platform/db/outbox.ts'
import { FIRST_STATE, type BulkKind } from '../domain/bulk/bulk.ts'
import { LOW_PRIORITY, startOptions } from '../../platform/temporal/start.ts'

export interface BulkFacts {
  id: string
  kind: BulkKind
  owner: string
}

const bulkWorkflowId = (kind: BulkKind, id: string): string => `run-${kind}/${id}`

/** Starts the workflow of a batch or an operation. */
export const startBulk = (
  { id, kind, owner }: BulkFacts,
  { taskQueue }: { taskQueue: string },
): OutboxStart => ({
  kind: 'start',
  workflowType: kind === 'batch' ? 'runBatch' : 'runOperation',
  workflowId: bulkWorkflowId(kind, id),
  taskQueue,
  args: [{ bulkId: id }] satisfies Parameters<typeof runBatch> & Parameters<typeof runOperation>,
  options: startOptions(
    {
      kind,
      owner,
      summary: `${kind} for ${owner}`,
      page: `/tasks/bulk?tab=${kind === 'batch' ? 'batches' : 'operations'}&id=${id}`,
    },
    { status: FIRST_STATE, priorityKey: LOW_PRIORITY, ...(kind === 'batch' && { batch: id }) },
  ),
})

/** The signal that ends its waits once somebody has asked it to stop. Its handler is in workflows/tasks/run-bulk.ts. */
export const signalCancelBulk = ({ kind, id }: Pick<BulkFacts, 'kind' | 'id'>): OutboxSignal => ({
  kind: 'signal',
  workflowId: bulkWorkflowId(kind, id),
  signalName: 'cancelRequested',
})
