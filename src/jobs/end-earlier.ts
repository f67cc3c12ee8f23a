import { Client, WorkflowNotFoundError, type Connection } from '@temporalio/client'

/**
 * Runs that releases before admissions have started: this release's workflows take other steps. A task's row waits, and its
 * next admission starts it again.
 */
const EARLIER = `ExecutionStatus = 'Running' and (WorkflowType = 'deliverFirst'
  or WorkflowType in ('imageTask', 'videoTask') and KilnStatus in ('CREATED', 'created'))`.replaceAll(
  /\s+/g,
  ' ',
)

const AT_ONCE = 20

/** Ends the runs of earlier releases that are open. Returns how many there were. */
export const endEarlierRuns = async (
  connection: Connection,
  namespace: string,
): Promise<number> => {
  const client = new Client({ connection, namespace })
  let ended = 0
  let batch: Promise<void>[] = []
  const end = async (workflowId: string): Promise<void> => {
    try {
      await client.workflow.getHandle(workflowId).terminate('upgraded: its task is started again')
      ended += 1
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
  }
  for await (const { workflowId } of client.workflow.list({ query: EARLIER })) {
    batch.push(end(workflowId))
    if (batch.length < AT_ONCE) continue
    await Promise.all(batch)
    batch = []
  }
  await Promise.all(batch)
  return ended
}
