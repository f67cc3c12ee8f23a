import { after, before } from 'node:test'

import type { Connection } from '@temporalio/client'

import { makeTaskQueue, temporalAddress, workflowBundle } from '../support/stack.ts'
import { startRunner } from './run.ts'
import type { Runner } from './run.ts'
import { connectPatiently, installQuietRuntime } from './runtime.ts'

/** Starts a runner on the server of this run of the tests, with a task queue of its own, before the first test of a suite. */
export const useTestRunner = (name: string): Runner => {
  const runner = {} as Runner
  let connection: Connection
  before(async () => {
    installQuietRuntime()
    connection = await connectPatiently()
    const started = await startRunner({
      address: temporalAddress(),
      connection,
      codePath: workflowBundle(),
      taskQueue: makeTaskQueue(name),
      identity: 'test',
    })
    Object.assign(runner, started)
  })
  after(async () => {
    await runner.stop()
    await connection.close()
  })
  return runner
}
