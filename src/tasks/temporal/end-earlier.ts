import { Client, WorkflowNotFoundError, type Connection } from '@temporalio/client'
import type { WorkflowExecutionInfo } from '@temporalio/client'
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'

import { FAMILIES } from '../domain/family.ts'
import { startBulk } from './bulk.ts'
import { start } from '../../platform/temporal/client.ts'
import { endOpen } from '../../platform/temporal/start.ts'

/**
 * Runs that releases before admissions have started: this release's workflows take other steps. A task's row waits, and its
 * next admission starts it again; a batch goes on in another run where its row says.
 */
const makeQuery = (knowsBatches: boolean): string =>
  // Only batches of this release have the attribute.
  `ExecutionStatus = 'Running' and (WorkflowType = 'deliverFirst'
    or WorkflowType in ('imageTask', 'videoTask') and KilnStatus in (${EARLIER})
    or WorkflowType = 'runBatch' ${knowsBatches ? 'and KilnBatch is null' : ''})`.replaceAll(
    /\s+/g,
    ' ',
  )

/** They showed the word of the row. */
const EARLIER = Object.values(FAMILIES)
  .map(({ words }) => `'${words.created}'`)
  .join(', ')

const AT_ONCE = 20
const OWNER = defineSearchAttributeKey('KilnOwner', SearchAttributeType.KEYWORD)

/**
 * Ends the runs of earlier releases that are open. Returns how many there were.
 * @param missing search attributes that the namespace does not know
 */
export const endEarlierRuns = async (
  connection: Connection,
  namespace: string,
  missing: readonly string[] = [],
): Promise<number> => {
  // It has no such runs.
  if (missing.includes('KilnStatus')) return 0
  // Where nothing can be started with the attribute yet, reconcile starts the batches later.
  const knowsBatches = !missing.includes('KilnBatch')
  const client = new Client({ connection, namespace })
  let ended = 0
  let batch: Promise<void>[] = []
  const end = async (run: WorkflowExecutionInfo): Promise<void> => {
    try {
      if (run.type === 'runBatch' && knowsBatches) await start(client, endOpen(nextOf(run)))
      else
        await client.workflow
          .getHandle(run.workflowId)
          .terminate('upgraded: its task is started again')
      ended += 1
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
  }
  for await (const run of client.workflow.list({ query: makeQuery(knowsBatches) })) {
    batch.push(end(run))
    if (batch.length < AT_ONCE) continue
    await Promise.all(batch)
    batch = []
  }
  await Promise.all(batch)
  return ended
}

const nextOf = ({ workflowId, taskQueue, typedSearchAttributes: facts }: WorkflowExecutionInfo) => {
  const id = workflowId.slice(workflowId.indexOf('/') + 1)
  return startBulk({ id, kind: 'batch', owner: facts.get(OWNER) ?? '' }, { taskQueue })
}
