import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { base64 } from '../../support/pictures.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { untilReceived, untilSettled } from './delivery-support.ts'

describe('a receiver that is back after an outage', () => {
  const service = useService({ env: { OVERRIDE_WEBHOOK_TIME_FACTOR: '1' } })
  const alice = service.client('alice')
  const receiver = useWebhookReceiver()
  const create = async (path: string) =>
    alice.createImage({ image: await base64(), webhook_url: receiver.url(path) })

  /** Makes tasks whose ends wait for the receiver: after 502 for a minute at least. */
  const makeWaiting = async (path: string, count: number): Promise<string[]> => {
    receiver.script(path, respond(502))
    const ids = await Promise.all(Array.from({ length: count }, () => create(path)))
    await waitFor(
      'all wait for another attempt',
      async () => (await listWaiting(ids)).length === count,
    )
    return ids
  }
  const listWaiting = (ids: readonly string[]) => service.database.sql`
    select failures from event
    where task_id = any(${[...ids]}) and status = 'COMPLETED' and state = 'pending' and failures > 0
  `
  /** Waits until all have arrived, those before their schedule without a step of it. */
  const untilArrived = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) await untilSettled(alice, id)
    const arrived = await service.database.sql<{ hastened: boolean; isEarly: boolean }[]>`
      select a.hastened, a.started_at < before.next_due_at as "isEarly"
      from event e
      join attempt a on a.event_id = e.id and a.duration_ms is not null and a.error_class is null
      cross join lateral (
        select next_due_at from attempt
        where event_id = e.id and number < a.number and error_class <> 'unknown'
        order by number desc limit 1
      ) before
      where e.task_id = any(${[...ids]}) and e.state = 'delivered'
    `
    assert.equal(arrived.length, ids.length)
    for (const { hastened, isEarly } of arrived) assert.equal(hastened, isEarly)
    assert.ok(arrived.some(({ hastened }) => hastened))
  }

  test('gets all that waits once one event has arrived, but for what Retry-After holds', async () => {
    receiver.script('/asked', respond(503, { 'retry-after': '3600' }))
    const asked = await create('/asked')
    const ids = await makeWaiting('/away', 20)
    receiver.script('/away', respond(204))
    await create('/back')
    await untilArrived(ids)
    await waitFor('its own waits', async () => (await listWaiting([asked])).length === 1)
    assert.deepEqual([...(await listWaiting([asked]))], [{ failures: 1 }])
  })

  test('gets all of it although the worker is killed when the first has arrived', async () => {
    const ids = await makeWaiting('/killed', 5)
    receiver.script('/killed', respond(204))
    await create('/first')
    await untilReceived(receiver, '/first', 1)
    await service.entry('core').kill()
    await service.start('core')
    await untilArrived(ids)
  })
})
