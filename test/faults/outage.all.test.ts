import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient } from '@temporalio/client'

import { RELIGHT } from '../nemesis/callers.ts'
import { countWorkflows } from '../nemesis/rows.ts'
import { waitUntilSettled } from '../nemesis/scenario.ts'
import type { Client } from '../support/client.ts'
import { openStream } from '../support/event-stream.ts'
import { AWAITS_OUTAGE, startService, type Service } from '../support/service.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'
import { HEARTBEAT, clientOf } from './calls.ts'
import { startOrders, type Orders } from './orders.ts'
import { startOwnPostgres, startOwnTemporal } from './servers.ts'
import type { OwnPostgres, OwnTemporal } from './servers.ts'

const ROLES = ['api', 'core', 'media'] as const

describe('tasks and versions outlive', () => {
  let postgres: OwnPostgres
  let temporal: OwnTemporal
  let service: Service
  let orders: Orders
  let alice: Client
  /** Workflows that Temporal knew before it lost its store. */
  let lost: ReadonlyMap<string, number>

  before(async () => {
    ;[postgres, temporal] = await Promise.all([startOwnPostgres(), startOwnTemporal()])
    service = await startService({
      database: postgres.database,
      env: {
        ...AWAITS_OUTAGE,
        OVERRIDE_VIDEO_TINY: 'true',
        TEMPORAL_ADDRESS: temporal.server.address,
        OVERRIDE_RECONCILE_AFTER_SECONDS: '3',
        ...HEARTBEAT,
      },
    })
    alice = await clientOf(service)
    orders = await startOrders({ service, temporal, tasks: 48, versions: 15 })
  })
  after(async () => {
    await service?.stop()
    await orders?.stop()
    await temporal?.stop()
  })

  test('tasks and versions outlive a kill of PostgreSQL under creations, which get documented responses', async () => {
    await orders.place(8)
    let under: Promise<void> | undefined
    await killInTransactions(() => void (under = orders.place(14)))
    await assertOutage()
    await under
    await postgres.server.restart()
    for (const role of ROLES) assert.equal(service.entry(role).how(), undefined, role)
    await waitFor('it is ready', async () => (await alice.get('/ready')).status === 200)
  })

  /** Kills the server while transactions of the api are open: without the lock most would be between two queries. */
  const killInTransactions = async (begin: () => void): Promise<void> => {
    const { sql } = postgres.database
    const locked = sql.begin(async (sql) => {
      await sql`lock table event, version in exclusive mode`
      begin()
      await waitFor('transactions wait for the lock', async () => {
        const waiting = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'kiln api'
        `
        return waiting.length >= 3
      })
      await postgres.server.kill()
    })
    await assert.rejects(locked)
  }

  const assertOutage = async (): Promise<void> => {
    const read = await alice.get(`${RELIGHT}/00000000-0000-4000-8000-000000000000`)
    assert.deepEqual([read.status, read.body.error], [503, 'unavailable'])
    assert.ok(read.headers.get('retry-after'))
    assert.equal((await alice.get('/health')).status, 200)
    await waitFor('it says so', async () => (await alice.get('/ready')).status === 503)
  }

  test('tasks and a stream, which sends the end, outlive a kill of PostgreSQL', async () => {
    service.entry('media').signal('SIGSTOP')
    const id = await orders.make('done')
    const headers = { authorization: `Bearer ${await service.token('alice')}` }
    await using stream = await openStream(`${service.baseUrl}/tasks/${id}/stream`, headers)
    assert.equal((await stream.next())?.data['status'], 'CREATED')
    await postgres.server.kill()
    await postgres.server.restart()
    service.entry('media').signal('SIGCONT')
    const events = await stream.rest()
    assert.deepEqual(events.at(-1)?.data, (await alice.get(`${RELIGHT}/${id}`)).body)
  })

  test('that Temporal is away, while they are created, read and cancelled', async () => {
    const readiness = async (): Promise<string> =>
      String((await alice.get('/ready')).body['status' as never])
    const awaited = orders.next('version')
    await orders.callers.create(awaited)
    await temporal.server.kill()
    await orders.place(12)
    await orders.callers.fulfil(awaited)
    const id = await orders.make('cancelled')
    assert.equal((await alice.get(`${RELIGHT}/${id}`)).status, 200)
    assert.equal((await alice.post(`${RELIGHT}/${id}/cancel`, {})).status, 200)
    await waitFor('the service says so', async () => (await readiness()) === 'degraded')
    await temporal.server.restart()
    await waitFor('the service says so', async () => (await readiness()) === 'ready')
  })

  test('a workflow that is ended by hand, after which its task fails', async () => {
    await service.entry('media').kill()
    const id = await orders.make('failed')
    const { workflow } = new TemporalClient({ connection: temporal.connection })
    const handle = workflow.getHandle(`image-task/${id}`)
    await waitFor('it has begun', () => handle.terminate('by hand').catch(() => false))
    const ended = await alice.untilEnded('image-relight', id)
    assert.equal(ended.error?.code, 'workflow_lost')
    await service.start('media')
  })

  test('that Temporal has lost its store', async () => {
    await service.entry('media').kill()
    const [awaited, uploaded] = [orders.next('version'), orders.next('version')]
    await orders.callers.create(awaited)
    await orders.callers.fulfil(uploaded)
    await orders.place(6)
    await waitFor('Temporal has been notified', async () => {
      const { sql } = postgres.database
      // Dispatched rows go by age, long before some outages end.
      await sql`delete from outbox where dispatched_at is not null`
      return (await sql`select from outbox`).length === 0
    })
    lost = await countWorkflows({ service, temporal })
    await temporal.lose()
    // Workers of a server that knows nothing any more are restarted by whoever runs them.
    await service.entry('core').kill()
    await Promise.all([service.start('core'), service.start('media')])
    await orders.callers.fulfil(awaited)
    assert.deepEqual(await waitUntilSettled(service, 3 * PATIENCE_MS), [])
  })

  test('that everything is killed, and comes back in any order', async () => {
    // What it has not written is lost with the server: marks of dispatch do not wait for that.
    const [writer] = await postgres.database.sql<{ pid: number }[]>`
      select pid from pg_stat_activity where backend_type = 'walwriter'
    `
    assert.ok(writer)
    process.kill(writer.pid, 'SIGSTOP')
    await orders.place(20)
    await Promise.all([
      ...ROLES.map((role) => service.entry(role).kill()),
      temporal.server.kill(),
      postgres.server.kill(),
    ])
    // Reconcile would start what it finds standing still once more: that is what it is for.
    const PATIENT = { OVERRIDE_RECONCILE_AFTER_SECONDS: '600' }
    const starting = ROLES.toReversed().map((role) => service.start(role, PATIENT))
    await postgres.server.restart()
    await temporal.server.restart()
    await Promise.all(starting)
    await orders.assertWhole(lost)
  })

  test('that Temporal knows an end which a restored database does not: it is made again', async () => {
    const { sql } = service.database
    const id = await orders.make('done')
    await alice.untilEnded('image-relight', id)
    await waitFor('nothing is left to do', async () => {
      const { workflow } = new TemporalClient({ connection: temporal.connection })
      const { status } = await workflow.getHandle(`image-task/${id}`).describe()
      return status.name === 'COMPLETED'
    })
    await sql.begin(async (sql) => {
      await sql`delete from task_result where task_id = ${id}`
      await sql`delete from event where task_id = ${id} and sequence > 2`
      await sql`
        update task set status = 'IN_PROGRESS', progress = 0, ended_at = null, thumbnail = null,
          last_sequence = 2,
          last_moved_at = now() - interval '1 hour'
        where id = ${id}
      `
    })
    const ended = await alice.untilEnded('image-relight', id)
    assert.equal(ended.status, 'COMPLETED')
  })
})
