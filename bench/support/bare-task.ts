import { randomUUID } from 'node:crypto'

import { Client, Connection } from '@temporalio/client'

import { startEntry } from '../../test/support/entry.ts'

/** Workers of the bare workflow, and a client. */
export const startBareTasks = async (address: string) => {
  const taskQueue = `bare-${randomUUID()}`
  const workers = await Promise.all(
    ['core', 'media'].map((role) =>
      startEntry({
        path: 'bench/support/bare-worker.ts',
        args: [address, taskQueue, role],
        readyMessage: 'worker ready',
        env: process.env,
      }),
    ),
  )
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
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
