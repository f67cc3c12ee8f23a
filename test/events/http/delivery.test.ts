import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { VIDEO_API, columnsOf, pluck } from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import {
  respond,
  heldUntil,
  inTurn,
  startWebhookReceiver,
  useWebhookReceiver,
  write,
} from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { makeLatch, waitFor } from '../../support/wait.ts'
import {
  attemptsOf,
  endOf,
  eventsOf,
  headersOf,
  isSignedWith,
  secretOf,
  secretsOf,
  statesOf,
  receivedStatus,
  untilReceived,
  untilSettled,
  verify,
} from './delivery-support.ts'

// A picture is held for as long as a test needs.
const env = {
  OVERRIDE_VIDEO_TINY: 'true',
  MEDIA_SLOTS: '4',
  OVERRIDE_IMAGE_URL_TIMEOUT_SECONDS: '3600',
}
const service = useService({ env })
const { anonymous: anyone } = service
const alice = service.client('alice')

const receiver = useWebhookReceiver({ script: { '/missing.png': respond(404) } })

const createImage = async (client: Client, body: object): Promise<string> =>
  client.createImage({ image: await base64(), ...body })

const createVideo = (client: Client, body: object): Promise<string> =>
  client.createVideo({ prompt: 'a', ...body })

/** An image that the worker waits for until it is let go, so that its task stays in progress. */
const holdPicture = async (path: string) => {
  const picture = await makePicture()
  const { opened, open } = makeLatch()
  receiver.script(
    path,
    heldUntil(opened, ({ response }) => void response.end(picture)),
  )
  return { url: receiver.url(path), letGo: open }
}

describe('a receiver', { concurrency: true }, () => {
  test('a receiver gets the transitions of an image task in their order, signed, with working links', async () => {
    const id = await createImage(alice, { webhook_url: receiver.url('/image') })
    const [first, second] = await untilReceived(receiver, '/image', 2)
    assert.ok(first && second, 'two requests came')
    const secret = await secretOf(alice)
    assert.deepEqual(verify(first, secret), { task_id: id, status: 'IN_PROGRESS', generated: [] })
    const webhook = verify(second, secret)
    assert.deepEqual([webhook.task_id, webhook.status], [id, 'COMPLETED'])
    assert.equal((await fetch(webhook.generated?.[0] ?? '')).status, 200)
    assert.deepEqual(headersOf([first, second], 'webhook-sequence'), ['2', '3'])
    const events = await untilSettled(alice, id)
    assert.deepEqual(statesOf(events), [
      [1, 'CREATED', 'unsent'],
      [2, 'IN_PROGRESS', 'delivered'],
      [3, 'COMPLETED', 'delivered'],
    ])
    assert.deepEqual(headersOf([first, second], 'webhook-id'), pluck(events.slice(1)))
  })

  test('a receiver gets the transitions of a video task with the body of the status route', async () => {
    const id = await createVideo(anyone, { payload: 'mine', callback_url: receiver.url('/video') })
    const webhooks = (await untilReceived(receiver, '/video', 3)).map((request) =>
      verify(request, service.webhookSecret),
    )
    assert.deepEqual(
      webhooks.map((body) => [body.id, body.state, body['progress'], body['payload']]),
      [
        [id, 'queueing', 0, 'mine'],
        [id, 'processing', 0, 'mine'],
        [id, 'success', 100, 'mine'],
      ],
    )
    const { body: now } = await anyone.get(`${VIDEO_API}/tasks/${id}/creations`)
    assert.deepEqual(webhooks.at(-1), now)
    const links = webhooks.at(-1)?.['creations'] as unknown as { url: string }[]
    assert.equal((await fetch(links[0]?.url ?? '')).status, 200)
  })
})

describe('the signature', { concurrency: true }, () => {
  test('is made with both secrets while one replaces the other, also of a task that runs', async () => {
    const carol = service.client('carol')
    const { url, letGo } = await holdPicture('/rotated.png')
    const id = await createImage(carol, { image: url, webhook_url: receiver.url('/rotated') })
    const [first] = await untilReceived(receiver, '/rotated', 1)
    const old = await secretOf(carol)
    await carol.post('/webhook-secret/rotate', {})
    letGo()
    const [, last] = await untilReceived(receiver, '/rotated', 2)
    assert.ok(first && last, 'two requests came')
    const secrets = await secretsOf(carol)
    assert.deepEqual([secrets.length, secrets[1]], [2, old])
    assert.deepEqual(
      [first, last].map((request) => secrets.map((secret) => isSignedWith(request, secret))),
      [
        [false, true],
        [true, true],
      ],
    )
    assert.deepEqual(statesOf(await untilSettled(carol, id)).at(-1), [3, 'COMPLETED', 'delivered'])
  })
})

describe('a receiver that fails', { concurrency: true }, () => {
  test('is sent the same event again, signed for that moment, until it takes it', async () => {
    const path = '/fails'
    // The first is for the event before.
    receiver.script(
      path,
      inTurn(
        respond(204),
        respond(500, {}, 'no\u0007t now'),
        respond(503, { 'retry-after': '2' }),
        // Its connection was kept: without a byte of a response the event would come once more at once.
        write('HTTP/1.1 2', (socket) => socket.destroy()),
        respond(200, {}, 'thanks'),
      ),
    )
    const id = await createImage(alice, {
      image: receiver.url('/missing.png'),
      webhook_url: receiver.url(path),
    })
    const attemptsMade = (await untilReceived(receiver, path, 5)).slice(1)
    const secret = await secretOf(alice)
    for (const request of attemptsMade) assert.equal(verify(request, secret).status, 'FAILED')
    const end = endOf(await untilSettled(alice, id))
    assert.deepEqual([...new Set(headersOf(attemptsMade, 'webhook-id'))], [end.id])
    assert.deepEqual([...new Set(headersOf(attemptsMade, 'webhook-sequence'))], ['3'])
    const seconds = headersOf(attemptsMade, 'webhook-timestamp').map(Number)
    assert.ok((seconds[2] ?? 0) - (seconds[1] ?? 0) >= 1, `the two seconds show: ${seconds.join()}`)
    const attempts = await attemptsOf(alice, id, end)
    assert.deepEqual(columnsOf(attempts, 'number', 'status', 'error_class', 'excerpt'), [
      [1, 500, 'status_5xx', 'not now'],
      [2, 503, 'status_5xx', ''],
      [3, undefined, 'reset', undefined],
      [4, 200, undefined, 'thanks'],
    ])
    const due = attempts.map(({ next_attempt_at: at }) => at !== undefined)
    assert.deepEqual(due, [true, true, true, false])
    assert.deepEqual([end.state, end.attempts, end.next_attempt_at], ['delivered', 4, undefined])
  })

  test('of one task keeps no other task waiting', async () => {
    const { opened, open } = makeLatch()
    receiver.script('/hangs', heldUntil(opened, respond(200)))
    const hanging = await createImage(alice, { webhook_url: receiver.url('/hangs') })
    await untilReceived(receiver, '/hangs', 1)
    const other = await createImage(alice, { webhook_url: receiver.url('/beside') })
    const states = statesOf(await untilSettled(alice, other)).map(([, , state]) => state)
    assert.deepEqual(states, ['unsent', 'delivered', 'delivered'])
    // Its own next event waits for the one that hangs.
    await alice.untilEnded('image-upscaler', hanging)
    // An attempt without a response ends after 15 s, and is made again.
    const listStatuses = () => [...new Set(receiver.of('/hangs').map(receivedStatus))]
    assert.deepEqual(listStatuses(), ['IN_PROGRESS'])
    open()
    await untilSettled(alice, hanging)
    assert.deepEqual(listStatuses(), ['IN_PROGRESS', 'COMPLETED'])
  })

  test('a receiver that was down gets the end when it is up, with links that work', async () => {
    const late = await startWebhookReceiver()
    await late.stop()
    const id = await createImage(alice, { webhook_url: late.url('/late') })
    await waitFor('an attempt at the end failed', async () => {
      const events = await eventsOf(alice, id)
      return events.length === 3 && endOf(events).attempts > 0
    })
    await late.start()
    const request = (await untilReceived(late, '/late', 1)).at(-1)
    const events = await untilSettled(alice, id)
    await late.stop()
    assert.ok(request, 'a request came')
    const webhook = verify(request, await secretOf(alice))
    assert.deepEqual([webhook.status, endOf(events).state], ['COMPLETED', 'delivered'])
    const picture = await fetch(webhook.generated?.[0] ?? '')
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'])
    const [, overtaken] = events
    assert.ok(overtaken, 'there is the event before')
    assert.equal(overtaken.state, 'superseded')
    assert.ok(overtaken.attempts >= 1, 'it was tried')
    const attemptsMade = await attemptsOf(alice, id, overtaken)
    assert.deepEqual([...new Set(attemptsMade.map(({ error_class: issue }) => issue))], ['connect'])
  })
})
