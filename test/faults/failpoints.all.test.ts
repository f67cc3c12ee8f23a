import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import type { Order } from '../nemesis/callers.ts'
import { readFiles } from '../nemesis/rows.ts'
import { startService, type Role, type Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import type { TaskEnd } from '../../workflows/tasks/task.ts'
import { HEARTBEAT } from './calls.ts'
import { startOrders, type Orders } from './orders.ts'

/** Lines of the api, and the order that comes to it. */
const API_LINES: [failpoint: string, kind: Order['kind'] | 'awaited' | 'none'][] = [
  ['create.before-commit', 'image'],
  ['create.before-commit', 'version'],
  ['create.after-commit', 'video'],
  // It dispatches what the one before it has left.
  ['relay.after-start', 'none'],
  ['create.after-start', 'image'],
  // Of the signal: its start was dispatched before.
  ['create.after-start', 'awaited'],
  ['upload.mid-body', 'image'],
  ['upload.mid-body', 'version'],
  ['archive.after-store', 'version'],
  ['archive.before-commit', 'version'],
  ['archive.after-commit', 'version'],
]

/**
 * Lines of workers, each with a process of its own that waits there, and how many orders come, more than they can leave
 * untouched. Those of one check are in two waves: a version is left to an operator after five attempts.
 */
const WAVES: { lines: Partial<Record<Role, string[]>>; orders: number }[] = [
  {
    lines: {
      core: [
        'move.before-commit',
        'move.after-commit',
        // Of host nodes and decisions.
        'move.before-commit:2',
        'move.after-commit:3',
        'deliver.after-response:2',
        'deliver.after-record:2',
      ],
      media: ['before-store', 'after-store', 'before-commit', 'after-commit'].map(
        (at) => `check.${at}`,
      ),
    },
    orders: 30,
  },
  {
    lines: { media: ['inspect.before-results', 'inspect.after-results', 'render.after-output'] },
    orders: 24,
  },
]

describe('a process that is killed', () => {
  let service: Service
  let orders: Orders
  let connection: Connection
  let awaited: Order

  before(async () => {
    connection = await Connection.connect({ address: temporalAddress() })
    service = await startService({
      env: { OVERRIDE_VIDEO_TINY: 'true', VIDEO_CONCURRENCY_PER_OWNER: '4', ...HEARTBEAT },
    })
    orders = await startOrders({ service, temporal: { connection }, tasks: 44, versions: 26 })
    awaited = orders.next('version')
    await orders.callers.create(awaited)
    await untilDispatched()
    await service.entry('api').kill()
  })
  after(async () => {
    await service?.stop()
    await orders?.stop()
    await connection?.close()
  })

  const untilDispatched = () =>
    waitFor('Temporal has been notified', async () => {
      const rows = await service.database.sql`select from outbox where dispatched_at is null`
      return rows.length === 0
    })

  for (const [failpoint, kind] of API_LINES)
    test(`of the api, at ${failpoint} of ${kind}`, async () => {
      const { end } = await service.start('api', { OVERRIDE_FAILPOINT: failpoint })
      if (kind !== 'none')
        await orders.callers.fulfil(kind === 'awaited' ? awaited : orders.next(kind))
      assert.equal(await end(), 'SIGKILL')
    })

  for (const [index, { lines, orders: count }] of WAVES.entries())
    test(`of the workers, at ${Object.values(lines).flat().join(', ')}`, async () => {
      if (index === 0) await service.start('api')
      await Promise.all(
        (Object.entries(lines) as [Role, string[]][]).map(async ([role, failpoints]) => {
          await service.entry(role).kill()
          const armed = await Promise.all(
            failpoints.map((FAILPOINT) => service.start(role, { OVERRIDE_FAILPOINT: FAILPOINT })),
          )
          await orders.place(count / Object.keys(lines).length)
          const ends = await Promise.all(armed.map(({ end }) => end()))
          assert.deepEqual(new Set(ends), new Set(['SIGKILL']))
          await service.start(role)
        }),
      )
    })

  test('loses nothing and does nothing twice, whichever it was', async () => {
    await orders.place(Infinity)
    const tasks = await orders.assertWhole()
    assert.ok(Math.max(...tasks.map(({ fence }) => fence)) > 1, 'a render was repeated')
    const ids = orders.receiver.received.map(({ headers }) => headers['webhook-id'])
    assert.ok(ids.length > new Set(ids).size, 'an event that got a response came twice')
    const lost = await service.database.sql`select from attempt where error_class = 'unknown'`
    assert.ok(lost.length > 0, 'of its attempt nothing is known')
  })

  /** Each row but those of the outbox, each result and archive, and how often receivers were called. */
  const readAll = async () => {
    const { sql } = service.database
    const tables = await sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('outbox', 'worker')
    `
    const rows = new Map<string, unknown[]>()
    for (const { name } of tables)
      rows.set(name, [...(await sql`select to_jsonb(t) as row from ${sql(name)} t order by 1`)])
    const calls = orders.receiver.received.length
    return { rows, files: await readFiles({ service }), calls }
  }

  /** The newest run of each workflow of a task or version. */
  const listRuns = async () => {
    const { workflow } = new TemporalClient({ connection })
    const started = await service.database.sql<{ id: string }[]>`
      select workflow_id as id from outbox where kind <> 'signal' and workflow_type <> 'deliverEvents'
    `
    const runs = await Promise.all(
      started.map(async ({ id }) => {
        const handle = workflow.getHandle<() => Promise<TaskEnd>>(id)
        const end = await handle.result()
        return { id, end, runId: (await handle.describe()).runId }
      }),
    )
    return new Map(runs.map((run) => [run.id, run]))
  }

  /** Has the relay dispatch each row of the outbox once more. */
  const dispatchAgain = async (): Promise<void> => {
    await service.database.sql`
      update outbox set dispatched_at = null, next_attempt_at = clock_timestamp()
    `
    await untilDispatched()
  }

  test('starts nothing twice when the marks of dispatch are lost, too', async () => {
    const [all, runs] = [await readAll(), await listRuns()]
    await dispatchAgain()
    assert.deepEqual(await listRuns(), runs)
    assert.deepEqual(await readAll(), all)
  })

  test('a second run of each workflow renders, charges and delivers nothing twice', async () => {
    const [all, runs] = [await readAll(), await listRuns()]
    await service.database.sql`update outbox set kind = 'restart' where kind = 'start'`
    await dispatchAgain()
    for (const { id, runId, end } of (await listRuns()).values()) {
      assert.notEqual(runId, runs.get(id)?.runId, id)
      assert.equal(end.status, runs.get(id)?.end.status, id)
      if (id.includes('-task/')) assert.equal(end.reason, runs.get(id)?.end.reason, id)
    }
    assert.deepEqual(await readAll(), all)
  })
})
