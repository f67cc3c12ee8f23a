import { isGrpcServiceError } from '@temporalio/client'

import type { TemporalState } from '../domain/temporal-state.ts'
import type { Jobs } from './client.ts'
import { bulkQueue, comfyuiQueue, engineQueue, mediaQueue, upstreamQueue } from './start.ts'

/** The protocol's TaskQueueType: to the server, workflows and activities wait in two queues of one name. */
const TYPES = { workflow: 1, activity: 2 } as const

const CALL_DEADLINE_MS = 2000

/** Facts of queues that Temporal does not know. */
export interface QueueFacts {
  /** Names of ENGINES_HTTP, whose queues are read, too. */
  engines: readonly string[]
  /** Identities of workers that have ended: Temporal names a poller for minutes after its last poll. */
  gone: readonly string[]
}

/** Reads what waits in the queues of Temporal and who asks for it; or why that is not known after `patienceMs`. */
export const readQueues = async (
  jobs: Jobs,
  taskQueue: string,
  { engines, gone }: QueueFacts,
  patienceMs = CALL_DEADLINE_MS,
): Promise<TemporalState> => {
  const { connection } = jobs.client
  try {
    const others = [
      upstreamQueue(taskQueue),
      comfyuiQueue(taskQueue),
      ...engines.map((engine) => engineQueue(taskQueue, engine)),
    ]
    const [elsewhere, ...queues] = await connection.withDeadline(Date.now() + patienceMs, () =>
      Promise.all([
        Promise.all(others.map((name) => readQueue(jobs, name, 'activity'))),
        readQueue(jobs, taskQueue, 'workflow'),
        readQueue(jobs, taskQueue, 'activity'),
        readQueue(jobs, mediaQueue(taskQueue), 'activity'),
        readQueue(jobs, bulkQueue(taskQueue), 'activity'),
      ]),
    )
    const all = [...queues, ...elsewhere]
    for (const queue of all)
      queue.pollers = queue.pollers.filter(({ identity }) => !gone.includes(identity))
    const used = elsewhere.filter(({ backlog, pollers }) => backlog > 0 || pollers.length > 0)
    return { reachable: true, queues: [...queues, ...used] }
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error
    return { reachable: false, error: error.message, queues: [] }
  }
}

const readQueue = async (
  { client }: Jobs,
  name: string,
  type: keyof typeof TYPES,
): Promise<TemporalState['queues'][number]> => {
  const { pollers, stats } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enumeration is of a package we do not depend on
    taskQueueType: TYPES[type],
    reportStats: true,
  })
  return {
    name,
    type,
    backlog: Number(stats?.approximateBacklogCount ?? 0),
    backlog_age_seconds: Number(stats?.approximateBacklogAge?.seconds ?? 0),
    pollers: pollers.map(({ identity, lastAccessTime, deploymentOptions }) => ({
      identity: identity ?? '',
      ...(deploymentOptions?.buildId && { release: deploymentOptions.buildId }),
      ...(lastAccessTime && {
        seen_at: new Date(Number(lastAccessTime.seconds) * 1000).toISOString(),
      }),
    })),
  }
}
