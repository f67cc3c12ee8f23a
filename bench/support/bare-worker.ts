import { NativeConnection, Worker } from '@temporalio/worker'
import { codePath } from '../../src/local/root.ts'

const activities = {
  render: (id: string): Promise<string> => Promise.resolve(id),
  complete: (_id: string): Promise<void> => Promise.resolve(),
}
export type BareActivities = typeof activities

/** Runs when started as a process: `node … bare-worker.ts <address> <task queue> core|media`. */
const [address, taskQueue, role] = process.argv.slice(2)
if (address && taskQueue) {
  const connection = await NativeConnection.connect({ address })
  const worker = await Worker.create(
    role === 'media'
      ? {
          connection,
          taskQueue: `${taskQueue}-media`,
          activities,
          maxConcurrentActivityTaskExecutions: 2,
        }
      : {
          connection,
          taskQueue,
          activities,
          workflowsPath: codePath('bench/support/bare-workflow.ts'),
        },
  )
  process.stdout.write('{"msg":"worker ready"}\n')
  await worker.run()
}
