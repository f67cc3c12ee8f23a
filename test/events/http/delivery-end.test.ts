import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TaskEvent } from '../../../src/tasks/domain/task-event.ts'
import { UPSCALE, VIDEO_API, columnsOf, expectStatus, type Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import {
  attemptsOf,
  endOf,
  eventsOf,
  headersOf,
  secretOf,
  statesOf,
  untilReceived,
  untilSettled,
  verify,
} from './delivery-support.ts'

// Without a media worker nothing is rendered; the whole schedule of 75.6 hours takes 0.3 seconds and the attempts.
const service = useService({
  roles: ['api', 'core'],
  env: { OVERRIDE_WEBHOOK_TIME_FACTOR: '0.000001' },
})
const alice = service.client('alice')
const receiver = useWebhookReceiver()

/** Creates an image task that no worker took before it was cancelled: all its receiver gets is that end. */
const createCancelled = async (client: Client, path: string): Promise<string> => {
  const id = await client.createImage({ image: await base64(), webhook_url: receiver.url(path) })
  expectStatus(await client.post(`${UPSCALE}/${id}/cancel`, {}), 200)
  return id
}

/** The same once its schedule is used up, of which the first attempts are skipped. */
const createExhausted = async (client: Client, path: string): Promise<[string, TaskEvent]> => {
  receiver.script(path, respond(500))
  const id = await createCancelled(client, path)
  await waitFor('the first attempt has failed', async () => {
    const rows = await service.sql`select from event where task_id = ${id} and failures > 0`
    return rows.length > 0
  })
  await service.sql`
    update event set failures = 8 where task_id = ${id} and state = 'pending' and failures < 8
  `
  const end = endOf(await untilSettled(client, id))
  assert.equal(end.state, 'exhausted')
  return [id, end]
}

const untilDelivered = async (client: Client, id: string) =>
  await waitFor(`the end of ${id} is delivered`, async () => {
    const end = endOf(await eventsOf(client, id))
    return end.state === 'delivered' && end
  })

describe('a cancel before a worker has taken the task', { concurrency: true }, () => {
  test('a cancel before a worker has taken an image task is all that its receiver gets', async () => {
    const id = await createCancelled(alice, '/image')
    const [request] = await untilReceived(receiver, '/image', 1)
    assert.ok(request, 'a request came')
    const webhook = verify(request, await secretOf(alice))
    assert.deepEqual(
      [webhook.task_id, webhook.status, webhook.error?.code, webhook.generated],
      [id, 'FAILED', 'cancelled', []],
    )
    assert.equal(request.headers['webhook-sequence'], '2')
    assert.deepEqual(statesOf(await untilSettled(alice, id)), [
      [1, 'CREATED', 'unsent'],
      [2, 'FAILED', 'delivered'],
    ])
  })

  test('a cancel before a worker has taken a video task is sent with its credits given back', async () => {
    const id = await alice.createVideo({
      prompt: 'a',
      payload: 'p',
      callback_url: receiver.url('/video'),
    })
    await untilReceived(receiver, '/video', 1)
    expectStatus(await alice.post(`${VIDEO_API}/tasks/${id}/cancel`, {}), 200)
    const secret = await secretOf(alice)
    const webhooks = (await untilReceived(receiver, '/video', 2)).map((each) =>
      verify(each, secret),
    )
    assert.deepEqual(
      webhooks.map((each) => [each.state, each['err_code'], each['credits'], each['payload']]),
      [
        ['queueing', '', 100, 'p'],
        ['failed', 'UserCancelled', 0, 'p'],
      ],
    )
    const { body: now } = await alice.get(`${VIDEO_API}/tasks/${id}/creations`)
    assert.deepEqual(webhooks.at(-1), now)
    assert.deepEqual(statesOf(await untilSettled(alice, id)), [
      [1, 'created', 'unsent'],
      [2, 'queueing', 'delivered'],
      [3, 'failed', 'delivered'],
    ])
  })
})

describe('an event whose schedule is used up', { concurrency: true }, () => {
  test('was tried ten times and is tried no more', async () => {
    receiver.script('/exhausted', respond(500))
    const id = await createCancelled(alice, '/exhausted')
    const end = endOf(await untilSettled(alice, id))
    assert.deepEqual([end.state, end.attempts, end.next_attempt_at], ['exhausted', 12, undefined])
    const attemptsMade = receiver.of('/exhausted')
    assert.equal(attemptsMade.length, 12)
    assert.equal(new Set(headersOf(attemptsMade, 'webhook-id')).size, 1)
    const attempts = await attemptsOf(alice, id, end)
    assert.deepEqual(
      columnsOf(attempts, 'number', 'status'),
      Array.from({ length: 12 }, (_, index) => [index + 1, 500]),
    )
    assert.equal(attempts.at(-1)?.next_attempt_at, undefined)
  })

  test('is sent again, with the same id, when its owner asks for it', async () => {
    const [id, exhausted] = await createExhausted(alice, '/again')
    receiver.script('/again', respond(200, {}, 'at last'))
    expectStatus(await alice.post(`/tasks/${id}/events/${exhausted.id}/redeliver`, {}), 202)
    const end = await untilDelivered(alice, id)
    assert.deepEqual([end.id, end.attempts], [exhausted.id, exhausted.attempts + 1])
    const requests = receiver.of('/again')
    assert.deepEqual([...new Set(headersOf(requests, 'webhook-id'))], [end.id])
    const last = requests.at(-1)
    assert.equal(last && verify(last, await secretOf(alice)).status, 'FAILED')
    const attempt = (await attemptsOf(alice, id, end)).at(-1)
    assert.deepEqual([attempt?.number, attempt?.excerpt], [end.attempts, 'at last'])
  })
})
