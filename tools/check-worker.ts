/**
 * Health check of a worker's container, run beside the worker with the same settings: exits 0 when a worker of this host
 * has lately asked its task queue for work. A worker has no port of its own to be asked at.
 */
import { hostname } from 'node:os'

import { Connection } from '@temporalio/client'

/** The protocol's TaskQueueType: to the server, workflows and activities wait in two queues of one name. */
const WORKFLOWS = 1
const ACTIVITIES = 2

/** A poll waits up to a minute for work; one that came and went since then leaves its time behind. */
const RECENT_MS = 150_000

const check = async (env: NodeJS.ProcessEnv): Promise<void> => {
  const queue = env['TASK_QUEUE'] || 'kiln'
  const media = env['WORKER_ROLE'] === 'media'
  const name = media ? `${queue}-media` : queue
  const request = {
    namespace: env['TEMPORAL_NAMESPACE'] || 'default',
    taskQueue: { name },
    taskQueueType: media ? ACTIVITIES : WORKFLOWS,
  }
  const connection = await Connection.connect({
    address: env['TEMPORAL_ADDRESS'] ?? '',
    connectTimeout: '5 seconds',
  })
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enumeration is of a package we do not depend on
  const { pollers } = await connection.workflowService.describeTaskQueue(request)
  await connection.close()
  const own = pollers.filter(({ identity }) => identity?.endsWith(`@${hostname()}`))
  const last = Math.max(0, ...own.map((poller) => Number(poller.lastAccessTime?.seconds ?? 0)))
  if (Date.now() - last * 1000 > RECENT_MS)
    throw new Error(`no worker of ${hostname()} polls ${name}`)
}

try {
  await check(process.env)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
