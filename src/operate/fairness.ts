import { randomUUID } from 'node:crypto'

import type { Client } from '@temporalio/client'

const OWNERS = 12
const EACH = 12
const POLL_MS = 5000
/** The default. In more of them the orders look alike. */
const MOST_PARTITIONS = 4

/**
 * Looks whether owners take turns in this namespace, which no call of Temporal says: starts one owner's workflows after the
 * other's in a queue of its own that nobody else serves, asks for their first steps, and sees in which order they come.
 * Deletes the workflows; those of a killed probe end by themselves within a minute. Undefined where it cannot be seen.
 *
 * A queue has partitions, and each lets out in the order of arrival what has no turns. A merge of so many rising sequences
 * has no falling one that is longer than their number; turns of twelve owners make longer ones. Partitions that hand work on
 * to each other change the places of a few: with four, falls of 6 to 8 were seen without turns, of 13 to 18 with them.
 */
export const probeFairness = async (client: Client): Promise<boolean | undefined> => {
  const { namespace } = client.options
  const probe = `kiln-fairness-${randomUUID()}`
  const ids = Array.from({ length: OWNERS * EACH }, (_, index) => `${probe}-${index}`)
  try {
    for (const [index, workflowId] of ids.entries())
      await client.workflow.start('probe', {
        workflowId,
        taskQueue: probe,
        workflowExecutionTimeout: '1 minute',
        priority: { fairnessKey: `owner-${Math.floor(index / EACH)}` },
      })
    const { workflowTaskQueuePartitions: partitions } =
      await client.workflowService.listTaskQueuePartitions({
        namespace,
        taskQueue: { name: probe },
      })
    const order: number[] = []
    while (order.length < ids.length) {
      const { workflowExecution } = await client.withDeadline(Date.now() + POLL_MS, () =>
        client.workflowService.pollWorkflowTaskQueue({
          namespace,
          taskQueue: { name: probe },
          identity: 'kiln operate doctor',
        }),
      )
      order.push(ids.indexOf(workflowExecution?.workflowId ?? ''))
    }
    return partitions.length > MOST_PARTITIONS
      ? undefined
      : longestFall(order) > partitions.length * 2.5
  } finally {
    await Promise.all(
      ids.map(async (workflowId) => {
        const request = { namespace, workflowExecution: { workflowId } }
        await client.workflowService.deleteWorkflowExecution(request).catch(() => {})
      }),
    )
  }
}

/** Length of the longest falling subsequence. */
const longestFall = (order: readonly number[]): number => {
  const falls: number[] = []
  for (const [place, index] of order.entries())
    falls.push(
      1 +
        Math.max(
          0,
          ...falls.filter((_, earlier) => (order[earlier] ?? 0) > index && earlier < place),
        ),
    )
  return Math.max(...falls)
}
