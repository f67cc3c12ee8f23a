import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeMetrics, showClock } from '../../../src/platform/process/metrics.ts'
import { makeMetricsReader } from '../../../src/platform/temporal/metrics-reader.ts'
import { useDatabase } from '../../support/stack.ts'
import { insertTasks } from '../../support/task-rows.ts'
import { waitFor } from '../../support/wait.ts'

describe('metrics', () => {
  const database = useDatabase()

  test('of an api have no series of a kind whose template is gone', async () => {
    const { sql } = database
    const metrics = makeMetrics()
    const kinds = new Set(['custom/poster', 'upscale'])
    const refresh = makeMetricsReader({
      sql,
      metrics,
      jobs: { client: { connection: {} } } as never,
      taskQueue: 'none',
      readQueueFacts: () => Promise.reject(new Error('no queues here')),
      dependencies: () => Promise.resolve({}) as never,
      measureBacklog: () => Promise.resolve({ waiting: 0, oldestSeconds: 0 }),
      isKind: (kind) => kinds.has(kind),
      reads: [],
    })
    const shown = async () => {
      await refresh()
      const text = await metrics.registry.metrics()
      return [...text.matchAll(/^kiln_task_duration_seconds_count\{kind="(.*?)"/gm)].map(
        ([, kind]) => kind,
      )
    }
    await shown()
    const soon = { ended_at: sql`now()`, last_moved_at: sql`now()` }
    for (const kind of kinds)
      await insertTasks(sql, { state: 'done', columns: { kind: sql`${kind}::text`, ...soon } })
    await waitFor('both are shown', async () => (await shown()).length === 2)
    kinds.delete('custom/poster')
    await waitFor('one is left', async () => (await shown()).join() === 'upscale')
  })

  test('show how far a clock is ahead, and nothing while the other is not known', async () => {
    const metrics = makeMetrics()
    let isAway = false
    showClock(metrics, () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(Date.now() - 3_600_000),
    )
    const read = async () =>
      /^kiln_clock_offset_seconds (.*)$/m.exec(await metrics.registry.metrics())?.[1]
    assert.equal(Math.round(Number(await read()) / 60), 60)
    isAway = true
    assert.equal(await read(), undefined)
  })
})
