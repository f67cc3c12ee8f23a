import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Pause } from '../../src/tasks/domain/pause.ts'
import { atOnce, expectStatus, type Client } from '../support/client.ts'
import { isLong } from '../support/long.ts'
import { readMetrics } from '../support/metrics.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64, makePicture } from '../support/pictures.ts'
import { makeUpstreamSettings, startService, type Service } from '../support/service.ts'
import { startFakeUpstream, type FakeUpstream, type Step } from '../support/upstream.ts'
import { waitFor } from '../support/wait.ts'
import { clientOf } from './calls.ts'

const TASKS = isLong ? 500 : 30
/** For so long it is down at least. */
const DOWN_MS = isLong ? 600_000 : 0
const SLOTS = '20'
/** Less than the upstream is down for; five times what all tasks take once it is back, so that a busy machine fails none. */
const DEADLINE = String(Math.ceil(PATIENCE_MS / 3000))

describe('an upstream that is down for longer than tasks may take', () => {
  /** Its responses to creations; empty: as usual. */
  const steps: { create: Step[] } = { create: ['drop'] }
  let upstream: FakeUpstream
  let without: Service
  let guarded: Service
  let image: string

  const start = (failures: string) =>
    startService({
      roles: ['api', 'core'],
      env: {
        ...makeUpstreamSettings(upstream.url, 'key'),
        OVERRIDE_BREAKER_FAILURES: failures,
        OVERRIDE_BREAKER_SECONDS: '2',
        IMAGE_DEADLINE_SECONDS: DEADLINE,
        OVERRIDE_VENDOR_SLOTS: SLOTS,
        OVERRIDE_VENDOR_RATE: '500',
        ADMIN_SUBJECTS: 'root',
        METRICS_PORT: '0',
      },
    })
  before(async () => {
    const picture = await makePicture()
    upstream = await startFakeUpstream({
      steps,
      forever: 'create',
      done: (id, base) => ({
        data: { task_id: id, status: 'COMPLETED', generated: [`${base}/files/a.png`] },
      }),
      files: { 'a.png': picture },
    })
    image = await base64()
    const services = await Promise.all([start('0'), start('5')])
    without = services[0]
    guarded = services[1]
  })
  after(async () => {
    await Promise.all([without.stop(), guarded.stop()])
    await upstream.close()
  })

  const createAll = async (client: Client): Promise<void> => {
    for (let made = 0; made < TASKS; made += 10)
      await atOnce(10, () => client.createImage({ image }))
  }
  const count = async ({ database: { sql } }: Service) => {
    const [row] = await sql<{ done: number; failed: number; counted: number; attempts: number }[]>`
      select (count(*) filter (where status = 'COMPLETED'))::integer as done,
        (count(*) filter (where status = 'FAILED'))::integer as failed,
        sum(failures)::integer as counted, sum(fence)::integer as attempts
      from task
    `
    return row ?? { done: 0, failed: 0, counted: 0, attempts: 0 }
  }
  /** Seconds by the clock of the database until the last attempt has begun, from now on. */
  const startBeginClock = async ({ database: { sql } }: Service) => {
    const [from] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
    return async (): Promise<string> => {
      const [row] = await sql<{ seconds: number }[]>`
        select extract(epoch from max((attempts->-1->>'at')::timestamptz) - ${from?.at ?? null})::float8
          as seconds from task
      `
      return (row?.seconds ?? NaN).toFixed(1)
    }
  }
  const readPauses = async () => {
    const root = await clientOf(guarded, 'root')
    return expectStatus(await root.get('/admin/pauses'), 200).body['pauses'] as unknown as Pause[]
  }
  const readBreaker = async () =>
    (await readMetrics(guarded.entry('api'))).get('kiln_breaker_open{engine="vendor:image"}')

  test('fails those of a service without a breaker, and none of one with it', async (context) => {
    const downAt = performance.now()
    await Promise.all(
      [clientOf(without), clientOf(guarded)].map(async (client) => createAll(await client)),
    )
    await waitFor('the breaker opens', async () => (await readPauses()).length > 0)
    assert.equal(await waitFor('the metric says so', readBreaker), 1)
    // Those that it has are lost with it, and wait like the others.
    await guarded.entry('core').kill()
    await guarded.start('core')
    const before = await waitFor(
      'tasks of the one without have failed',
      async () => {
        const counts = await count(without)
        return performance.now() - downAt > DOWN_MS && counts.failed >= Number(SLOTS) && counts
      },
      DOWN_MS + 2 * PATIENCE_MS,
    )
    const downSeconds = Math.round((performance.now() - downAt) / 1000)
    assert.equal((await readPauses())[0]?.scope, 'engine:vendor:image')
    const { attempts, ...during } = await count(guarded)
    assert.deepEqual(during, { done: 0, failed: 0, counted: 0 })
    const asked = upstream.asked.length
    await without.entry('core').kill()
    steps.create = []
    const healedAt = performance.now()
    const readBegun = await startBeginClock(guarded)
    const seconds = () => ((performance.now() - healedAt) / 1000).toFixed(1)
    await waitFor('the first is done', async () => (await count(guarded)).done > 0)
    const first = seconds()
    let last = await count(guarded)
    await waitFor(
      () => `all have ended: ${JSON.stringify(last)}`,
      async () => {
        last = await count(guarded)
        assert.equal(last.failed, 0)
        return last.done === TASKS
      },
      (isLong ? 4 : 1) * PATIENCE_MS,
    )
    const all = seconds()
    const { attempts: _, ...ended } = await count(guarded)
    assert.deepEqual(ended, { done: TASKS, failed: 0, counted: 0 })
    assert.equal(await waitFor('it is closed', async () => (await readBreaker()) === 0), true)
    assert.deepEqual(await readPauses(), [])
    context.diagnostic(
      `${TASKS} tasks, ${DEADLINE} s each, down for ${downSeconds} s: ` +
        `without ${before.failed} failed by then; with 0 failed, ` +
        `${attempts} attempts begun meanwhile, ${asked} creations taken before; ` +
        `first done ${first} s after it was back, all begun after ${await readBegun()} s, ` +
        `all done after ${all} s`,
    )
  })
})
