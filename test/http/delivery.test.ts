import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Webhook } from 'standardwebhooks'

import { IMAGE_API, makeClient, VIDEO_API } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import type { Received, WebhookReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

/** What a receiver does with a request: the public verifier tells whether it is ours. */
const verify = ({ body, headers }: Received, secret: string): Record<string, never> =>
  new Webhook(secret).verify(body.toString(), headers as Record<string, string>) as Record<
    string,
    never
  >

describe('a receiver', () => {
  let service: Service
  let receiver: WebhookReceiver
  let alice: Client

  before(async () => {
    receiver = await startWebhookReceiver()
    service = await startService({ env: { VIDEO_TINY: 'true' } })
    alice = makeClient(service.baseUrl, await service.token('alice'))
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
  })

  const secretOf = async (client: Client): Promise<string> => {
    const { body } = await client.get('/webhook-secret')
    return (body['secrets'] as unknown as { secret: string }[])[0]?.secret ?? ''
  }
  const untilReceived = (path: string, count: number): Promise<Received[]> =>
    waitFor(`${count} requests at ${path}`, () => {
      const found = receiver.of(path)
      return Promise.resolve(found.length >= count && found)
    })

  test('is told of the moves of an image task in their order, signed, with working links', async () => {
    const { body } = await alice.post(`${IMAGE_API}/image-upscaler`, {
      image: await base64(),
      webhook_url: receiver.url('/image'),
    })
    const id = body.data.task_id
    const [first, second] = await untilReceived('/image', 2)
    assert.ok(first && second)
    const secret = await secretOf(alice)
    assert.deepEqual(verify(first, secret), { task_id: id, status: 'IN_PROGRESS', generated: [] })
    const told = verify(second, secret) as unknown as { status: string; generated: string[] }
    assert.equal(told.status, 'COMPLETED')
    assert.equal((await fetch(told.generated[0] ?? '')).status, 200)
    assert.deepEqual(
      [first, second].map(({ headers }) => headers['webhook-sequence']),
      ['2', '3'],
    )
  })

  test('is told of the moves of a video task with the body of the status route', async () => {
    const anyone = makeClient(service.baseUrl)
    const { body } = await anyone.post(`${VIDEO_API}/text2video`, {
      prompt: 'a',
      payload: 'mine',
      callback_url: receiver.url('/video'),
    })
    const id = String(body['task_id'])
    const told = (await untilReceived('/video', 3)).map((request) =>
      verify(request, service.webhookSecret),
    )
    assert.deepEqual(
      told.map((body) => [body['id'], body['state'], body['progress'], body['payload']]),
      [
        [id, 'queueing', 0, 'mine'],
        [id, 'processing', 0, 'mine'],
        [id, 'success', 100, 'mine'],
      ],
    )
    const { body: now } = await anyone.get(`${VIDEO_API}/tasks/${id}/creations`)
    assert.deepEqual(told.at(-1), now)
  })
})
