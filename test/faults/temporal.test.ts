import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient } from '@temporalio/client'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf, createTask } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { startOwnTemporal } from './servers.ts'
import type { OwnTemporal } from './servers.ts'

describe('while Temporal', () => {
  let temporal: OwnTemporal
  let service: Service
  let alice: Client
  const ids: string[] = []

  const createMany = async (count: number): Promise<string[]> => {
    const made = await Promise.all(Array.from({ length: count }, () => createTask(alice)))
    ids.push(...made)
    return made
  }
  const readiness = async (): Promise<string> =>
    String((await alice.get('/ready')).body['status' as never])

  before(async () => {
    temporal = await startOwnTemporal()
    service = await startService({
      env: {
        TEMPORAL_ADDRESS: temporal.server.address,
        RECONCILE_INTERVAL_SECONDS: '1',
        RECONCILE_AFTER_SECONDS: '3',
      },
    })
    alice = await clientOf(service)
  })
  after(async () => {
    await service.stop()
    await temporal.stop()
  })

  test('is down, tasks are created, read and cancelled, and all end once it is back', async () => {
    await createMany(5)
    await temporal.server.kill()
    const [kept, cancelled] = await createMany(5)
    assert.equal((await alice.get(`${CREATE}/${kept}`)).status, 200)
    assert.equal((await alice.post(`${CREATE}/${cancelled}/cancel`, {})).status, 200)
    await waitFor('the service says so', async () => (await readiness()) === 'degraded')
    await temporal.server.restart()
    const tasks = await assertLedger(service, ids)
    for (const { id, status } of tasks)
      assert.equal(status, id === cancelled ? 'FAILED' : 'COMPLETED')
    await assertWorkflows(service, temporal.server.address, ids)
    await waitFor('the service says so', async () => (await readiness()) === 'ready')
  })

  test('knows the end of a task that a restored database does not, the task is done again', async () => {
    const { sql } = service.database
    const [id = ''] = await createMany(1)
    await alice.untilEnded('image-upscaler', id)
    await waitFor('nothing is left to do', async () => {
      const { workflow } = new TemporalClient({ connection: temporal.connection })
      const { status } = await workflow.getHandle(`image-task/${id}`).describe()
      return status.name === 'COMPLETED'
    })
    await sql.begin(async (sql) => {
      await sql`delete from task_result where task_id = ${id}`
      await sql`delete from event where task_id = ${id} and sequence > 2`
      await sql`
        update task set status = 'IN_PROGRESS', ended_at = null, thumbnail = null, last_sequence = 2,
          last_moved_at = now() - interval '1 hour'
        where id = ${id}
      `
    })
    const ended = await alice.untilEnded('image-upscaler', id)
    assert.equal(ended.status, 'COMPLETED')
  })

  test('has one workflow ended by hand, its task fails', async () => {
    await service.entry('media').kill()
    const [id = ''] = await createMany(1)
    const { workflow } = new TemporalClient({ connection: temporal.connection })
    await waitFor('it has begun', async () =>
      workflow
        .getHandle(`image-task/${id}`)
        .terminate('by hand')
        .catch(() => false),
    )
    const ended = await alice.untilEnded('image-upscaler', id)
    assert.equal(ended.error?.code, 'workflow_lost')
  })

  test('has lost its store, open tasks are started again', async () => {
    const open = await createMany(3)
    await waitFor('Temporal has been told', async () => {
      const { sql } = service.database
      // Dispatched rows go by age, long before some outages end.
      await sql`delete from outbox where dispatched_at is not null`
      return (await sql`select from outbox`).length === 0
    })
    await temporal.lose()
    // Workers of a server that knows nothing any more are restarted by whoever runs them.
    await service.entry('core').kill()
    await Promise.all([service.start('core'), service.start('media')])
    const tasks = await assertLedger(service, ids)
    for (const { id, status } of tasks)
      if (open.includes(id)) assert.equal(status, 'COMPLETED', `task ${id}`)
  })
})
