import type { Connection } from '@temporalio/client'

import { makeTaskQueue, temporalAddress, workflowBundle } from '../support/stack.ts'
import { startRunner } from './run.ts'
import type { Runner } from './run.ts'
import { connectPatiently, installQuietRuntime } from './runtime.ts'

export interface TestRunner {
  connection: Connection
  runner: Runner
  stop(): Promise<void>
}

/** A runner on the server of this run of the tests, with a task queue of its own for one test file. */
export const startTestRunner = async (name: string): Promise<TestRunner> => {
  installQuietRuntime()
  const connection = await connectPatiently()
  const runner = await startRunner({
    address: temporalAddress(),
    connection,
    codePath: workflowBundle(),
    taskQueue: makeTaskQueue(name),
    identity: 'test',
  })
  return {
    connection,
    runner,
    async stop() {
      await runner.stop()
      await connection.close()
    },
  }
}
