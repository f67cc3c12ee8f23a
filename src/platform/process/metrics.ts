import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

import { inTime } from '../domain/in-time.ts'
import { readRoom, type Room } from '../storage/room.ts'
import { StorageError, type Storage } from '../storage/storage.ts'
import type { PoolLoad } from '../db/pool.ts'

/** Seconds: from a read that a cache serves to what a caller gives up on. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
/** Seconds of a task from its creation to its end. */
const TASK_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
const ENGINE_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Metrics = ReturnType<typeof makeMetrics>

/** Registers the metrics of a process. No label holds an owner, an id, a host or a URL, so their number is bounded. */
export const makeMetrics = () => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `kiln_${name}`, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `kiln_${name}`, help, labelNames, registers })
  const histogram = <Label extends string>(
    name: string,
    help: string,
    { labelNames, buckets }: { labelNames: Label[]; buckets: number[] },
  ) => new Histogram({ name: `kiln_${name}`, help, labelNames, buckets, registers })
  const reconciled = counter('reconciled_total', 'What stood still and was mended.', [
    'what',
    'workflow',
  ])
  // Alerts look for growth, and one that begins at 1 has not grown.
  for (const what of ['task', 'delivery', 'redelivery', 'version', 'extraction'])
    for (const workflow of ['missing', 'completed', 'closed']) reconciled.inc({ what, workflow }, 0)
  return {
    registry,
    gauge,
    requests: histogram('http_request_duration_seconds', 'Requests by route, without streams.', {
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_BUCKETS,
    }),
    tasks: histogram(
      'task_duration_seconds',
      'Ended tasks, from creation to end. Each api has all.',
      {
        labelNames: ['kind', 'end'],
        buckets: TASK_BUCKETS,
      },
    ),
    attempts: histogram('webhook_attempt_duration_seconds', 'Webhook delivery attempts.', {
      labelNames: ['class'],
      buckets: REQUEST_BUCKETS,
    }),
    store: histogram('store_operation_duration_seconds', 'Operations of the store.', {
      labelNames: ['operation', 'outcome'],
      buckets: REQUEST_BUCKETS,
    }),
    engine: histogram('engine_seconds_per_megapixel', 'Renders that succeeded.', {
      labelNames: ['kind'],
      buckets: ENGINE_BUCKETS,
    }),
    engineFailures: counter('engine_failures_total', 'Renders that failed or were stopped.', [
      'kind',
    ]),
    placements: histogram('comfyui_placement_duration_seconds', 'Placements on instances.', {
      // Prometheus calls the process that it reads `instance`.
      labelNames: ['comfyui_instance', 'end'],
      buckets: TASK_BUCKETS,
    }),
    fleetWaits: histogram(
      'comfyui_wait_seconds',
      'Tasks of a worker, until an instance takes them.',
      {
        labelNames: ['template'],
        buckets: TASK_BUCKETS,
      },
    ),
    fleetRuns: histogram('comfyui_run_seconds', 'Prompts, from the first node to the end.', {
      labelNames: ['template'],
      buckets: TASK_BUCKETS,
    }),
    modelSwitches: counter('comfyui_model_switches_total', 'Placements after another template.', [
      'comfyui_instance',
    ]),
    resubmissions: counter(
      'upstream_resubmissions_total',
      'Tasks sent again to an upstream that had forgotten them.',
      ['engine'],
    ),
    reconciled,
  }
}

/**
 * Shows how many connections of a pool work, and how much waits for one, as the pool reports them to the load that this
 * returns.
 */
export const showPool = ({ gauge }: Metrics, pool: number): PoolLoad => {
  const load = { busy: 0 }
  const shown = gauge('db_pool_connections', 'Connections that work, and work without one.', [
    'state',
  ])
  shown.set({ state: 'limit' }, pool)
  Object.assign(shown, {
    collect: () => {
      shown.set({ state: 'used' }, Math.min(load.busy, pool))
      shown.set({ state: 'waiting' }, Math.max(0, load.busy - pool))
    },
  })
  return load
}

/** Shows how far this machine's clock is from that of PostgreSQL, which `read` returns; nothing while that is not known. */
export const showClock = ({ gauge }: Metrics, read: () => Promise<number>): void => {
  const shown = gauge('clock_offset_seconds', 'Clock of this machine, ahead of PostgreSQL.')
  Object.assign(shown, {
    collect: async () => {
      const start = Date.now()
      const there = await inTime(read(), CLOCK_MS, 'PostgreSQL').catch(() => undefined)
      if (there === undefined) shown.remove()
      else shown.set(((start + Date.now()) / 2 - there) / 1000)
    },
  })
}

/** Longest reading of the clock: the other metrics wait for it. */
const CLOCK_MS = 1000

interface SeriesOf {
  get(): Promise<{ values: { labels: object }[] }>
  remove(labels: object): void
}

/** Removes the series of what is gone, so that their number stays bounded while names come and go. */
export const keepSeries = async (
  metric: SeriesOf,
  label: string,
  isKept: (name: string) => boolean,
): Promise<void> => {
  for (const { labels } of (await metric.get()).values) {
    const { le: _le, ...own } = labels as Record<string, string>
    if (!isKept(own[label] ?? '')) metric.remove(own)
  }
}

/** Names of the operations that are timed: each is one response of the store. */
const TIMED = new Set<string | symbol>([
  'putFile',
  'putFiles',
  'putStream',
  'open',
  'stat',
  'fetchToFile',
  'remove',
  'removePrefix',
  'list',
  'check',
])

/** The same store with its operations timed, and the free bytes of its folder shown. */
export const timeStorage = (
  metrics: Metrics | undefined,
  store: Storage,
  root: string,
): Storage => {
  if (!metrics) return store
  const free = metrics.gauge('store_free_bytes', 'Bytes that the store has left.')
  const size = metrics.gauge('store_size_bytes', 'Bytes of the file system of the store.')
  const show = (gauge: typeof free, bytesOf: (room: Room) => number) =>
    Object.assign(gauge, {
      collect: async () => {
        const room = await readRoom(root).catch(() => undefined)
        if (room) gauge.set(bytesOf(room))
      },
    })
  show(free, ({ freeBytes }) => freeBytes)
  show(size, ({ bytes }) => bytes)
  return new Proxy(store, {
    get: (target, name) => {
      const operation = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>
      if (!TIMED.has(name)) return operation
      return async (...values: unknown[]) => {
        const end = metrics.store.startTimer({ operation: String(name) })
        try {
          const result = await operation(...values)
          end({ outcome: 'ok' })
          return result
        } catch (error) {
          end({ outcome: error instanceof StorageError ? error.code : 'error' })
          throw error
        }
      }
    },
  })
}

/** Renders, and measures the seconds for a megapixel of what was made. */
export const timeRender = async <Made>(
  metrics: Metrics | undefined,
  kind: string,
  { render, pixelsOf }: { render: () => Promise<Made>; pixelsOf: (made: Made) => number },
): Promise<Made> => {
  const start = performance.now()
  try {
    const made = await render()
    metrics?.engine.observe({ kind }, (performance.now() - start) / 1000 / (pixelsOf(made) / 1e6))
    return made
  } catch (error) {
    metrics?.engineFailures.inc({ kind })
    throw error
  }
}
