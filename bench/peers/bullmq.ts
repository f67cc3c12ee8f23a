import { Queue, Worker } from 'bullmq'

import { ATTEMPTS, CONCURRENCY, JOB_NAMES, LOCK_SECONDS } from './queue.ts'
import type { JobName, PeerOptions, PeerQueue } from './queue.ts'

const LOCK_MS = LOCK_SECONDS * 1000

/**
 * Jobs are in Redis, so no transaction holds both a row and its job: the job is added after the commit, under the id of
 * the row, which makes a second addition no second job. A worker renews its locks. Those of a killed one end after 30 s,
 * are seen by a look every 30 s, and may end so only once; tuned, after 5 s, every second, and often.
 */
export const makeBullQueue = ({ redisPort, tuned }: PeerOptions): PeerQueue => {
  const connection = { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null }
  const queues = new Map<JobName, Queue>()
  const queueOf = (name: JobName): Queue => {
    const queue = queues.get(name) ?? new Queue(name, { connection })
    queues.set(name, queue)
    return queue
  }
  return {
    prepare: async () => {
      for (const name of JOB_NAMES) await queueOf(name).waitUntilReady()
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
    commit: async (sql, write, { name, id }) => {
      await sql.begin(write)
      const backoff = { type: 'exponential', delay: 1000 }
      await queueOf(name).add(name, { id }, { jobId: id, attempts: ATTEMPTS, backoff })
    },
    work: async (jobs) => {
      for (const name of JOB_NAMES)
        await new Worker<{ id: string }>(name, ({ data }) => jobs[name](data.id), {
          connection,
          concurrency: CONCURRENCY[name],
          ...(tuned && { lockDuration: LOCK_MS, stalledInterval: 1000, maxStalledCount: ATTEMPTS }),
        }).waitUntilReady()
    },
  }
}
