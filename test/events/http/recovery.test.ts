import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { base64 } from '../../support/pictures.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { untilSettled } from './delivery-support.ts'

describe('a receiver that is back after an outage', () => {
  const service = useService({ env: { OVERRIDE_WEBHOOK_TIME_FACTOR: '1' } })
  const alice = service.client('alice')
  const receiver = useWebhookReceiver()
  const create = async (path: string) =>
    alice.createImage({ image: await base64(), webhook_url: receiver.url(path) })

  test('gets all that waits once one event has arrived, but for what Retry-After holds', async () => {
    const { sql } = service.database
    // After 502 an event waits for a minute at least.
    receiver.script('/away', respond(502))
    receiver.script('/asked', respond(503, { 'retry-after': '3600' }))
    const tasks = await Promise.all(Array.from({ length: 20 }, () => create('/away')))
    const asked = await create('/asked')
    await waitFor('all wait for another attempt', async () => {
      const waiting = await sql`
        select from event where status = 'COMPLETED' and state = 'pending' and failures > 0
      `
      return waiting.length === 21
    })
    receiver.script('/away', respond(204))
    await create('/back')
    for (const id of tasks) await untilSettled(alice, id)
    const arrived = await sql<{ hastened: boolean; isEarly: boolean; count: number }[]>`
      select a.hastened, a.started_at < before.next_due_at as "isEarly", count(*)::integer
      from event e
      join attempt a on a.event_id = e.id and a.error_class is null
      join attempt before on before.event_id = e.id and before.number = a.number - 1
      where e.task_id = any(${tasks}) and e.state = 'delivered'
      group by 1, 2
    `
    assert.equal(
      arrived.reduce((sum, { count }) => sum + count, 0),
      20,
    )
    for (const { hastened, isEarly } of arrived) assert.equal(hastened, isEarly)
    assert.ok(arrived.some(({ hastened }) => hastened))
    const states = await sql`
      select state, failures from event where task_id = ${asked} and status = 'COMPLETED'
    `
    assert.deepEqual([...states], [{ state: 'pending', failures: 1 }])
  })
})
