import type { Transaction } from '../db/client.ts'
import { stopTaskEvents } from '../db/event/attempt.ts'
import { redeliverTask } from '../db/event/redelivery.ts'
import { redeliveryOptions, signalStopped } from './event.ts'

/** Makes what commands of tasks do with the events of a task. */
export const makeTaskEvents = ({ taskQueue }: { taskQueue: string }) => ({
  stopEvents: async (sql: Transaction, taskId: string) =>
    signalStopped(taskId, await stopTaskEvents(sql, taskId)),
  redeliver: (sql: Transaction, { id, owner }: { id: string; owner: string }) =>
    redeliverTask(sql, id, { taskQueue, options: redeliveryOptions(owner) }),
})
