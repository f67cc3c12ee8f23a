import { withinDeadline } from '../db/client.ts'
import type { Sql } from '../db/client.ts'
import { listEndedTasks, readTableCounts } from '../db/table-counts.ts'
import { inTime } from '../domain/in-time.ts'
import { keepSeries, type Metrics } from '../process/metrics.ts'
import type { Jobs } from './client.ts'
import type { ReadDependencies } from '../process/dependencies.ts'
import { readQueues, type QueueFacts } from './queues.ts'

/** However many ask, the servers are asked once in so long. */
const CACHE_MS = 1000
const LIMIT_MS = 1500

interface MetricsReaderOptions {
  sql: Sql
  jobs: Jobs
  taskQueue: string
  metrics: Metrics
  readQueueFacts(sql: Sql): Promise<QueueFacts>
  dependencies: ReadDependencies
  /** False of the kind of a template that is gone. */
  isKind(kind: string): boolean
  /** First attempts at webhooks that wait. */
  measureBacklog: (sql: Sql) => Promise<{ waiting: number; oldestSeconds: number }>
  /** Each reads and shows the metrics of an area. None may reject. */
  reads: readonly (() => Promise<unknown>)[]
}

/**
 * Makes the function that reads the metrics of PostgreSQL and Temporal when somebody asks for them. A server that does
 * not respond has none, so that no old value hides it.
 */
export const makeMetricsReader = (options: MetricsReaderOptions): (() => Promise<void>) => {
  const own = [makeDatabaseReader, makeQueueReader, makeUp].map((make) => make(options))
  const readers = [...own, ...options.reads]
  let last: Reading | undefined
  const readAll = (): Reading => {
    const done = Promise.all(readers.map((read) => read()))
    const reading = { at: Infinity, done }
    void done.finally(() => {
      reading.at = performance.now()
    })
    return reading
  }
  return async () => {
    if (!last || performance.now() - last.at > CACHE_MS) last = readAll()
    // A response that comes late is shown the next time: whoever asks waits for seconds only.
    await inTime(last.done, LIMIT_MS, 'a server').catch(() => {})
  }
}

interface Reading {
  /** When it was done; never before that. */
  at: number
  done: Promise<unknown>
}

const makeUp = ({ metrics, dependencies }: MetricsReaderOptions) => {
  const up = metrics.gauge('dependency_up', 'Whether it can be used.', ['dependency'])
  return async () => {
    for (const [dependency, problem] of Object.entries(await dependencies()))
      up.set({ dependency }, Number(problem === undefined))
  }
}

const makeDatabaseReader = ({ sql, metrics, measureBacklog, isKind }: MetricsReaderOptions) => {
  const waits = metrics.gauge('waiting', 'What waits; 10,000 are counted at most.', ['what'])
  const ages = metrics.gauge('waiting_oldest_seconds', 'Age of the oldest that waits.', ['what'])
  const open = metrics.gauge('tasks_open', 'Open tasks.', ['family', 'state'])
  const oldest = metrics.gauge('tasks_oldest_seconds', 'Longest time in a state.', [
    'family',
    'state',
  ])
  let since = new Date().toISOString()
  const read = async (): Promise<void> => {
    const [counts, backlog] = await withinDeadline(
      sql,
      Promise.all([readTableCounts(sql), measureBacklog(sql)]),
    )
    for (const gauge of [waits, ages, open, oldest]) gauge.reset()
    waits.set({ what: 'outbox' }, counts.outbox.rows)
    ages.set({ what: 'outbox' }, counts.outbox.age)
    waits.set({ what: 'first_try' }, backlog.waiting)
    ages.set({ what: 'first_try' }, backlog.oldestSeconds)
    for (const { family, state, count, age } of counts.tasks) {
      open.set({ family, state }, count)
      oldest.set({ family, state }, age)
    }
    await keepSeries(metrics.tasks, 'kind', isKind)
    for (const { kind, end, seconds, at } of await withinDeadline(
      sql,
      listEndedTasks(sql, since),
    )) {
      metrics.tasks.observe({ kind, end }, seconds)
      since = at
    }
  }
  return () =>
    read().catch(() => {
      for (const gauge of [waits, ages, open, oldest]) gauge.reset()
    })
}

const makeQueueReader = ({
  sql,
  jobs,
  taskQueue,
  metrics,
  readQueueFacts,
}: MetricsReaderOptions) => {
  const labels: 'queue'[] = ['queue']
  const gauges = {
    backlog: metrics.gauge('queue_waiting', 'About how much waits for a worker.', labels),
    backlog_age_seconds: metrics.gauge('queue_oldest_seconds', 'About how long it waits.', labels),
  }
  const pollers = metrics.gauge('queue_pollers', 'Workers that lately asked for work.', labels)
  return async (): Promise<void> => {
    for (const gauge of [...Object.values(gauges), pollers]) gauge.reset()
    const { queues } = await readQueueFacts(sql)
      .then((facts) => readQueues(jobs, taskQueue, facts))
      .catch(() => ({ queues: [] }))
    for (const found of queues) {
      // `media` or `vendor`: what the name adds to the name of the workflows' queue.
      const queue = found.name.slice(taskQueue.length + 1) || found.type
      gauges.backlog.set({ queue }, found.backlog)
      gauges.backlog_age_seconds.set({ queue }, found.backlog_age_seconds)
      pollers.set({ queue }, found.pollers.length)
    }
  }
}
