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
  const media = { taskQueue: `${taskQueue}-media`, maxConcurrentActivityTaskExecutions: 2 }
  const core = { taskQueue, workflowsPath: codePath('bench/support/bare-workflow.ts') }
  const own = role === 'media' ? media : core
  const worker = await Worker.create({ connection, activities, ...own })
  process.stdout.write('{"msg":"worker ready"}\n')
  await worker.run()
}
