import { makeTaskQueue, temporalAddress, workflowBundle } from '../support/stack.ts'
import { use } from '../support/use.ts'
import { startRunner, type Runner } from './run.ts'
import { connectPatiently, installQuietRuntime } from './runtime.ts'

/** Starts a runner on the server of this run of the tests, with a task queue of its own, before the first test of a suite. */
export const useTestRunner = (name: string, mediaSlots?: number): Runner =>
  use(
    async () => {
      installQuietRuntime()
      const connection = await connectPatiently()
      const where = { address: temporalAddress(), connection, codePath: workflowBundle() }
      const runner = await startRunner({
        ...where,
        taskQueue: makeTaskQueue(name),
        identity: 'test',
        mediaSlots,
      })
      const stop = () => runner.stop().then(() => connection.close())
      return { ...runner, stop }
    },
    ({ stop }) => stop(),
  )
