import { NativeConnection, Worker } from '@temporalio/worker'

import { codePath } from '../../src/local/root.ts'
import { readTemporal } from '../../src/platform/settings/temporal.ts'

const activities = {
  render: (id: string): Promise<string> => Promise.resolve(id),
  complete: (_id: string): Promise<void> => Promise.resolve(),
}
export type BareActivities = typeof activities

/** Runs when started as a process: `node … bare-worker.ts <task queue> core|media`. */
const [taskQueue, role] = process.argv.slice(2)
if (taskQueue) {
  const { namespace, ...target } = readTemporal()
  const connection = await NativeConnection.connect(target)
  const media = { taskQueue: `${taskQueue}-media`, maxConcurrentActivityTaskExecutions: 2 }
  const core = { taskQueue, workflowsPath: codePath('bench/support/bare-workflow.ts') }
  const own = role === 'media' ? media : core
  const worker = await Worker.create({ connection, namespace, activities, ...own })
  process.stdout.write('{"msg":"worker ready"}\n')
  await worker.run()
}
