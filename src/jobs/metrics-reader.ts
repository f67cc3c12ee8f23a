import { withinDeadline } from '../db/client.ts'
import type { Sql } from '../db/client.ts'
import { measureBacklog } from '../db/event/first-attempt.ts'
import { listEndedTasks, readTableCounts } from '../db/shared/table-counts.ts'
import { listBreakers } from '../db/task/breaker.ts'
import { listPauses } from '../db/task/pause.ts'
import { countInstances, countWaiting } from '../db/task/fleet.ts'
import { InstanceState } from '../domain/task/fleet.ts'
import { inTime } from '../domain/shared/in-time.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Jobs } from './client.ts'
import { readQueues } from './queues.ts'

/** However many ask, the servers are asked once in so long. */
const CACHE_MS = 1000
/** A server that is silent for so long cannot be used. */
const SILENT_MS = 1000
const LIMIT_MS = 1500

export interface MetricsReaderOptions {
  sql: Sql
  jobs: Jobs
  taskQueue: string
  metrics: Metrics
  /** Each throws when its server cannot be used. */
  checks: Record<string, () => Promise<unknown>>
}

/**
 * Makes the function that reads the metrics of PostgreSQL and Temporal when somebody asks for them. A server that does
 * not respond has none, so that no old value hides it.
 */
export const makeMetricsReader = (options: MetricsReaderOptions): (() => Promise<void>) => {
  const readers = [
    makeDatabaseReader,
    makePauseReader,
    makeFleetReader,
    makeQueueReader,
    makeUp,
  ].map((make) => make(options))
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

const makeUp = ({ metrics, checks }: MetricsReaderOptions) => {
  const up = metrics.gauge('dependency_up', 'Whether a server can be used.', ['dependency'])
  return () =>
    Promise.all(
      Object.entries(checks).map(([dependency, check]) =>
        inTime(check(), SILENT_MS, dependency).then(
          () => up.set({ dependency }, 1),
          () => up.set({ dependency }, 0),
        ),
      ),
    )
}

const makeDatabaseReader = ({ sql, metrics }: MetricsReaderOptions) => {
  const waits = metrics.gauge('waiting', 'What waits; 10,000 are counted at most.', ['what'])
  const ages = metrics.gauge('waiting_oldest_seconds', 'Age of the oldest that waits.', ['what'])
  const open = metrics.gauge('tasks_open', 'Open tasks.', ['family', 'state'])
  const still = metrics.gauge('tasks_oldest_seconds', 'Longest time in a state.', [
    'family',
    'state',
  ])
  let since = new Date().toISOString()
  const read = async (): Promise<void> => {
    const [counts, backlog] = await withinDeadline(
      sql,
      Promise.all([readTableCounts(sql), measureBacklog(sql)]),
    )
    for (const gauge of [waits, ages, open, still]) gauge.reset()
    waits.set({ what: 'outbox' }, counts.outbox.rows)
    ages.set({ what: 'outbox' }, counts.outbox.age)
    waits.set({ what: 'first_try' }, backlog.waiting)
    ages.set({ what: 'first_try' }, backlog.oldestSeconds)
    for (const { family, state, count, age } of counts.tasks) {
      open.set({ family, state }, count)
      still.set({ family, state }, age)
    }
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
      for (const gauge of [waits, ages, open, still]) gauge.reset()
    })
}

const makePauseReader = ({ sql, metrics }: MetricsReaderOptions) => {
  const pauses = metrics.gauge('pauses', 'Pauses by admins, by what they are of.', ['of'])
  const breakers = metrics.gauge('breaker_open', 'Whether an engine is paused because it fails.', [
    'engine',
  ])
  return async (): Promise<void> => {
    const [active, engines] = await withinDeadline(
      sql,
      Promise.all([listPauses(sql), listBreakers(sql)]),
    ).catch(() => [[], []] as const)
    for (const gauge of [pauses, breakers]) gauge.reset()
    for (const { scope, breaker } of active)
      if (!breaker) pauses.inc({ of: scope.replace(/:.*/s, '') })
    for (const { scope, isOpen } of engines)
      breakers.set({ engine: scope.slice('engine:'.length) }, isOpen ? 1 : 0)
  }
}

const makeFleetReader = ({ sql, metrics }: MetricsReaderOptions) => {
  const labels: 'template'[] = ['template']
  const instances = metrics.gauge('comfyui_instances', 'Instances of ComfyUI.', ['state'])
  const waits = metrics.gauge('comfyui_tasks_waiting', 'Tasks that no instance has.', labels)
  const ages = metrics.gauge('comfyui_oldest_seconds', 'Age of the oldest of them.', labels)
  return async (): Promise<void> => {
    const none = [[], []] as const
    const [states, queues] = await withinDeadline(
      sql,
      Promise.all([countInstances(sql), countWaiting(sql)]),
    ).catch(() => none)
    for (const gauge of [instances, waits, ages]) gauge.reset()
    // An alert compares with the ones that are well, which must not be absent where there are none.
    if (states.length > 0) for (const state of InstanceState.enum) instances.set({ state }, 0)
    for (const { state, count } of states) instances.set({ state }, count)
    for (const { template, tasks, oldest_seconds: seconds } of queues) {
      waits.set({ template }, tasks)
      ages.set({ template }, seconds)
    }
  }
}

const makeQueueReader = ({ jobs, taskQueue, metrics }: MetricsReaderOptions) => {
  const labels: 'queue'[] = ['queue']
  const gauges = {
    backlog: metrics.gauge('queue_waiting', 'About how much waits for a worker.', labels),
    backlog_age_seconds: metrics.gauge('queue_oldest_seconds', 'About how long it waits.', labels),
  }
  const pollers = metrics.gauge('queue_pollers', 'Workers that lately asked for work.', labels)
  return async (): Promise<void> => {
    for (const gauge of [...Object.values(gauges), pollers]) gauge.reset()
    const { queues } = await readQueues(jobs, taskQueue).catch(() => ({ queues: [] }))
    for (const found of queues) {
      // `media` or `vendor`: what the name adds to that of the workflows' queue.
      const queue = found.name.slice(taskQueue.length + 1) || found.type
      gauges.backlog.set({ queue }, found.backlog)
      gauges.backlog_age_seconds.set({ queue }, found.backlog_age_seconds)
      pollers.set({ queue }, found.pollers.length)
    }
  }
}
