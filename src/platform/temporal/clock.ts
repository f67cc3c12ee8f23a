import { randomUUID } from 'node:crypto'

import type { Connection } from '@temporalio/client'

/** The protocol's TaskQueueType of activities. */
const ACTIVITY = 2

/** A poll without a deadline is rejected, and one that has not been recorded by then never is. */
const POLL_MS = 4000

/**
 * Reads the clock of Temporal in unix milliseconds. No call returns it; but the server records when somebody asks a
 * queue for work, so this asks one of its own.
 */
export const readClock = async (connection: Connection, namespace: string): Promise<number> => {
  const { workflowService } = connection
  const request = { namespace, taskQueue: { name: `kiln-clock-${randomUUID()}` } }
  const polling = connection.withDeadline(Date.now() + POLL_MS, () =>
    // Without an identity nothing is noted.
    workflowService.pollActivityTaskQueue({ ...request, identity: 'kiln operate' }),
  )
  const ended: { issue?: unknown } = {}
  polling.catch((error: unknown) => (ended.issue = error))
  for (;;) {
    const { pollers } = await workflowService.describeTaskQueue({
      ...request,
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enumeration is of a package we do not depend on
      taskQueueType: ACTIVITY,
    })
    const at = pollers[0]?.lastAccessTime
    if (at) return Number(at.seconds) * 1000 + (at.nanos ?? 0) / 1e6
    if (ended.issue !== undefined) throw ended.issue
  }
}
