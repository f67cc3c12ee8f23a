import { randomUUID } from 'node:crypto'

import { Client } from '@temporalio/client'

import { openTemporal } from '../../src/platform/temporal/connection.ts'
import { readTemporal } from '../../src/platform/settings/temporal.ts'
import { startEntry } from '../../test/support/entry.ts'
import { temporalSettings } from '../../test/support/stack.ts'

/** Workers of the bare workflow, and a client. */
export const startBareTasks = async (address: string) => {
  const settings = temporalSettings(address)
  const taskQueue = `bare-${randomUUID()}`
  const workers = await Promise.all(
    ['core', 'media'].map((role) =>
      startEntry({
        path: 'bench/support/bare-worker.ts',
        args: [taskQueue, role],
        readyMessage: 'worker ready',
        env: { ...process.env, ...settings },
      }),
    ),
  )
  const target = readTemporal(settings)
  const connection = openTemporal(target)
  const client = new Client({ connection, namespace: target.namespace })
  return {
    pids: workers.map(({ pid }) => pid),
    runTask: async (): Promise<void> => {
      const workflowId = randomUUID()
      await client.workflow.execute('bareTask', { workflowId, taskQueue, args: [workflowId] })
    },
    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.kill()))
      await connection.close()
    },
  }
}
