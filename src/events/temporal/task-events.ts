import type { Transaction } from '../../platform/db/client.ts'
import { stopTaskEvents } from '../db/attempt.ts'
import { redeliverTask } from '../db/redelivery.ts'
import { redeliveryOptions, signalStopped } from './start-delivery.ts'

/** Makes what commands of tasks do with the events of a task. */
export const makeTaskEvents = ({ taskQueue }: { taskQueue: string }) => ({
  stopEvents: async (sql: Transaction, taskId: string) =>
    signalStopped(taskId, await stopTaskEvents(sql, taskId)),
  redeliver: (sql: Transaction, { id, owner }: { id: string; owner: string }) =>
    redeliverTask(sql, id, { taskQueue, options: redeliveryOptions(owner) }),
})
