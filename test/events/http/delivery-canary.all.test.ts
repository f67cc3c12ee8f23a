import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { OWNER_EVENTS } from '../../../src/events/domain/endpoint.ts'
import { IMAGE_API, VIDEO_API, makeClient, type Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { respond, inTurn, reset, startWebhookReceiver } from '../../support/receiver.ts'
import type { WebhookReceiver } from '../../support/receiver.ts'
import { startService, type Role, type Service } from '../../support/service.ts'
import { temporalAddress } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'
import { endOf, eventsOf, secretsOf, untilReceived, untilSettled } from './delivery-support.ts'

/** Stands in the query of addresses, and nowhere else. */
const QUERY = `query-${randomUUID()}`
const PAYLOAD = `payload-${randomUUID()}`
const PROMPT = `prompt-${randomUUID()}`
/** Response of a receiver: its owner may read it, by the route of attempts. */
const RESPONSE = `response-${randomUUID()}`

let service: Service
let receiver: WebhookReceiver
let connection: Connection
/** Values that must stand in no log and no history, by what they are. */
let canaries: Record<string, string>
let image: string
let video: string
let redelivery: string
/** Chain of the image task's events to the webhook subscription. */
let chain: string

before(async () => {
  receiver = await startWebhookReceiver()
  connection = await Connection.connect({ address: temporalAddress() })
  service = await startService({ env: { OVERRIDE_VIDEO_TINY: 'true', LOG_LEVEL: 'trace' } })
  const token = await service.token('alice')
  const alice = makeClient(service.baseUrl, token)
  canaries = { token, query: QUERY, payload: PAYLOAD, prompt: PROMPT, response: RESPONSE }
  const all = [service.webhookSecret, ...(await makeSecrets(alice)), ...(await addEndpoint(alice))]
  for (const secret of all)
    canaries[`secret ${Object.keys(canaries).length}`] = secret.slice('whsec_'.length)
  const { body } = await alice.post('/users/api-keys', { name: 'x' })
  canaries['API key'] = String(body['key'])
  await deliver(alice)
  for (const { headers } of receiver.received)
    canaries[`signature ${String(headers['webhook-id'])}`] = String(headers['webhook-signature'])
})
after(async () => {
  await service?.stop()
  await connection?.close()
  await receiver?.stop()
})

/** Both secrets of a rotation. */
const makeSecrets = async (client: Client): Promise<string[]> => {
  await secretsOf(client)
  await client.post('/webhook-secret/rotate', {}, { 'idempotency-key': randomUUID() })
  return await secretsOf(client)
}

/** Adds a webhook subscription for what the webhooks of tasks get; returns both its secrets. */
const addEndpoint = async (client: Client): Promise<string[]> => {
  const { body: made } = await client.post('/endpoints', {
    url: receiver.url(`/endpoint?key=${QUERY}`),
    // Those of videos carry the payload, as they are to.
    events: OWNER_EVENTS.filter((type) => type.startsWith('image_task')),
  })
  const { body: rotated } = await client.post(
    `/endpoints/${String(made['id'])}/webhook-secret/rotate`,
    {},
    { 'idempotency-key': randomUUID() },
  )
  receiver.script(`/endpoint?key=${QUERY}`, inTurn(respond(500, {}, RESPONSE), respond(204)))
  return [String(made['secret']), String(rotated['secret'])]
}

/** Deliveries that fail in several ways, succeed, and are made again. */
const deliver = async (client: Client): Promise<void> => {
  const path = `/kiln?key=${QUERY}`
  receiver.script(path, inTurn(respond(500, {}, RESPONSE), reset, respond(204)))
  const created = await client.post(`${IMAGE_API}/image-upscaler`, {
    image: await base64(),
    webhook_url: receiver.url(path),
  })
  image = created.body.data.task_id
  const { body } = await client.post(`${VIDEO_API}/text2video`, {
    prompt: PROMPT,
    payload: PAYLOAD,
    // The look-up fails, or the dial is rejected: either way there is a cause to log.
    callback_url: `https://no.such.host.invalid/kiln?key=${QUERY}`,
  })
  video = String(body['task_id'])
  await untilSettled(client, image)
  const end = endOf(await eventsOf(client, image))
  // Fewer where the end overtook a failed attempt of the state before it.
  const delivered = receiver.of(path).length
  const again = await client.post(`/tasks/${image}/events/${end.id}/redeliver`, {})
  redelivery = String(again.body['redelivery_id'])
  await untilReceived(receiver, path, delivered + 1)
  await untilReceived(receiver, `/endpoint?key=${QUERY}`, 3)
  const [event] = await service.database
    .sql`select task_id from event where endpoint_id is not null`
  chain = String(event?.['task_id'])
  await waitFor('a look-up failed', async () =>
    (await eventsOf(client, video)).some(({ attempts }) => attempts > 0),
  )
}

const findCanaries = (text: string): string[] =>
  Object.entries(canaries)
    .filter(([, canary]) => text.includes(canary))
    .map(([what]) => what)

describe('what is secret', () => {
  for (const role of ['api', 'core', 'media'] satisfies Role[])
    test(`stands in no line that ${role} logs`, () => {
      const { log } = service.entry(role)
      assert.ok(log.length > 0, 'it logs')
      for (const line of log) assert.deepEqual(findCanaries(line), [], line)
    })

  test('is nowhere although failed attempts are logged, with their cause', () => {
    const lines = service.entry('core').log.filter((line) => line.includes('did not deliver'))
    const causes = lines.filter((line) => line.includes('"err"'))
    assert.ok(causes.length > 0, lines.join('\n'))
  })

  test('stands in no history of a workflow', async () => {
    const ids = {
      [`image-task/${image}`]: 'imageTask',
      [`video-task/${video}`]: 'videoTask',
      [`deliver-events/${image}`]: 'deliverEvents',
      [`deliver-events/${video}`]: 'deliverEvents',
      [`deliver-events/${chain}`]: 'deliverEvents',
      [`redeliver-event/${redelivery}`]: 'redeliverEvent',
    }
    for (const [id, type] of Object.entries(ids)) {
      const text = await readHistory(id)
      assert.ok(text.includes(type), `${id} is a ${type}`)
      assert.deepEqual(findCanaries(text), [], id)
    }
  })

  test('stands in nothing that a receiver is sent, its signature aside', () => {
    for (const request of receiver.received) {
      const { host: _host, 'webhook-signature': _signature, ...headers } = request.headers
      const text = JSON.stringify(headers) + request.body.toString()
      assert.deepEqual(findCanaries(text), [])
    }
  })

  test('stands in no attempt and no row for the relay', async () => {
    const { sql } = service.database
    const [rows] = await sql<{ text: string }[]>`
      select (select string_agg(a::text, ' ') from attempt a)
        || (select string_agg(o::text, ' ') from outbox o) as text
    `
    const text = rows?.text ?? ''
    assert.ok(text.includes(image), 'both tables were read')
    assert.deepEqual(findCanaries(text), ['response'])
  })
})

/** All text of a history, that of its payloads as it was before it was encoded. */
const readHistory = async (workflowId: string): Promise<string> => {
  const client = new TemporalClient({ connection })
  return textOf(await client.workflow.getHandle(workflowId).fetchHistory())
}

const textOf = (part: unknown): string => {
  if (part instanceof Uint8Array) return Buffer.from(part).toString()
  if (typeof part !== 'object' || part === null) return String(part)
  return Object.entries(part)
    .map(([name, member]) => `${name} ${textOf(member)}`)
    .join('\n')
}
