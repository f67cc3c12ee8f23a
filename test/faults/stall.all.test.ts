import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { listFailedSteps } from '../support/failed-steps.ts'
import { startService, type Service } from '../support/service.ts'
import { createDatabase, temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { HEARTBEAT } from './calls.ts'
import { startOrders, type Orders } from './orders.ts'

/** A workflow task has 10 s: more than half of it is left to a step. */
const STALL_MS = 4500

describe('a core worker that stands still, and whose steps then wait for a lock', () => {
  let service: Service
  let orders: Orders
  let connection: Connection

  before(async () => {
    connection = await Connection.connect({ address: temporalAddress() })
    const database = await createDatabase()
    // Whatever a worker holds as it stops, PostgreSQL takes from it, as in production: in tests sessions may wait for ever.
    const url = new URL(database.url)
    url.searchParams.set('idle_in_transaction_session_timeout', '2000')
    service = await startService({
      database,
      env: {
        DATABASE_URL: url.href,
        OVERRIDE_VIDEO_TINY: 'true',
        VIDEO_CONCURRENCY_PER_OWNER: '16',
        ...HEARTBEAT,
      },
    })
    const counts = { tasks: 28, versions: 8, videos: 40, receivers: { moody: 50 } }
    orders = await startOrders({ service, temporal: { connection }, ...counts })
  })
  after(async () => {
    await service?.stop()
    await orders?.stop()
    await connection?.close()
  })

  test('ends every task and delivers every event, and no step of a workflow has failed', async () => {
    const { workflow } = new TemporalClient({ connection })
    const { sql } = service.database
    const { callers } = orders
    const [core, media] = [service.entry('core'), service.entry('media')]
    media.signal('SIGSTOP')
    await Promise.all(callers.orders.map(callers.create))
    // The others go on when it does.
    const tasks = callers.orders.filter(({ kind, end }) => kind !== 'version' && end !== 'failed')
    const runs = tasks.map(({ kind, ids }) => workflow.getHandle(`${kind}-task/${[...ids][0]}`))
    for (const run of runs)
      await waitFor('it waits for its render', async () => {
        const described = await run.describe().catch(() => undefined)
        return (described?.raw.pendingActivities?.length ?? 0) > 0
      })

    core.signal('SIGSTOP')
    const stalled = sleep(STALL_MS)
    // Temporal hands steps to a worker that stands still, and their time begins.
    for (const order of tasks) order.end = 'cancelled'
    await Promise.all(callers.orders.map(callers.fulfil))
    await waitFor('Temporal has been notified', async () => {
      const rows = await sql`select from outbox where kind = 'signal' and dispatched_at is null`
      return rows.length === 0
    })
    await stalled
    await sql.begin(async (sql) => {
      await sql`lock table task in access exclusive mode`
      core.signal('SIGCONT')
      for (const run of runs)
        await waitFor('its last step has failed, and waits in Temporal', async () => {
          const { events } = await run.fetchHistory()
          return events?.some((event) => event.timerStartedEventAttributes)
        })
    })
    media.signal('SIGCONT')
    await orders.assertWhole()
    assert.deepEqual(await listFailedSteps(workflow, `TaskQueue = '${service.taskQueue}'`), [])
  })
})
