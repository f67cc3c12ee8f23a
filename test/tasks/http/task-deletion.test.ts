import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { assertMembers, expectStatus, IMAGE_API, UPSCALE, VIDEO_API } from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { heldUntil, respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { makeLatch, waitFor } from '../../support/wait.ts'
import { endOf, eventsOf, untilReceived } from '../../events/http/delivery-support.ts'
import { openTemporal } from '../../support/temporal-client.ts'

// The schedule of webhooks is not shortened: what waits, waits for an hour.
const env = { OVERRIDE_WEBHOOK_TIME_FACTOR: '1', OVERRIDE_VIDEO_TINY: 'true' }
const service = useService({ roles: ['api', 'core', 'media'], env })
const { sql } = service
const receiver = useWebhookReceiver()

const create = async (client: Client, path = UPSCALE): Promise<string> => {
  const image = await base64({ width: 32, height: 24 })
  const { body } = await client.post(path, { image, prompt: 'my secret sea' })
  return body.data.task_id
}
const status = async (url: string | undefined) => (await fetch(url ?? '')).status
const filesOf = async (id: string) =>
  (await service.listFiles()).filter((file) => file.includes(id))
const remove = (client: Client, id: string, query = '') =>
  client.call('DELETE', `/tasks/${id}${query}`)

describe('the deletion of a task', () => {
  test('removes its pictures, its prompt and its links, and keeps the row', async () => {
    const client = service.client()
    const id = await create(client)
    await client.untilEnded('image-upscaler', id)
    const detail = (await client.get(`/tasks/${id}`)).body as unknown as {
      results: { url: string }[]
      inputs: { url: string }[]
      thumbnail_url?: string
    }
    const links = [detail.results[0]?.url, detail.inputs[0]?.url, detail.thumbnail_url]
    for (const link of links) assert.equal(await status(link), 200)
    assert.equal((await remove(service.client(), id)).status, 404, 'not that of another owner')
    assert.equal((await remove(client, id)).status, 204)
    assert.equal((await remove(client, id)).status, 204)
    for (const link of links) assert.equal(await status(link), 410)
    const { body } = await client.get(`/tasks/${id}`)
    assert.ok(body['deleted_at'] && body['purged_at'], JSON.stringify(body))
    assert.doesNotMatch(JSON.stringify(body), /secret sea/)
    assert.deepEqual(await filesOf(id), [])
  })

  test('removes what its caller wrote although its files are gone by age, or are in use', async () => {
    const client = service.client()
    const [old, used] = [await create(client), await create(client)]
    for (const id of [old, used]) await client.untilEnded('image-upscaler', id)
    await sql`update task set purged_at = now() where id = ${old}`
    const { data } = (await client.get(`${UPSCALE}-precision-v2/${used}`)).body
    const picture = await makePicture()
    const { opened, open: letGo } = makeLatch()
    receiver.script(
      '/held.png',
      heldUntil(opened, ({ response }) => void response.end(picture)),
    )
    const url = receiver.url('/held.png')
    const open = await client.createImage(
      { image: data.generated[0], transfer_light_from_reference_image: url },
      `${IMAGE_API}/image-relight`,
    )
    for (const id of [old, used]) {
      assert.equal((await remove(client, id)).status, 204)
      const { body } = await client.get(`/tasks/${id}`)
      assert.doesNotMatch(JSON.stringify(body), /secret sea/)
    }
    letGo()
    assert.equal((await client.untilEnded('image-relight', open)).status, 'COMPLETED')
  })

  test('cancels one that has not ended', async () => {
    const client = service.client()
    const { body } = await client.post(UPSCALE, { image: 'https://images.example.com/a.png' })
    const id = body.data.task_id
    assert.equal((await remove(client, id)).status, 204)
    const { body: read } = await client.get(`/tasks/${id}`)
    const { state, inputs } = read as unknown as { state: string; inputs: { url: string }[] }
    assert.deepEqual([state, inputs[0]?.url], ['cancelled', ''])
  })

  test('of a video that is rendered waits for its end when asked to', async () => {
    const client = service.client()
    const { body } = await client.post(`${VIDEO_API}/text2video`, { prompt: 'my secret sea' })
    const id = (body as unknown as { task_id: string }).task_id
    await waitFor('it is rendered', async () => {
      const [row] = await sql<{ status: string }[]>`select status from task where id = ${id}`
      return row?.status === 'processing'
    })
    const late = await remove(client, id)
    assert.deepEqual([late.status, late.body.error], [400, 'cannot_cancel'])
    assert.match(late.body.message ?? '', /with \?when=ended it is deleted at its end$/)
    assert.equal((await remove(client, id, '?when=ended')).status, 202)
    await waitFor('its files are gone', async () => {
      const [row] = await sql<{ purged: boolean }[]>`
        select purged_at is not null as purged from task where id = ${id}
      `
      return row?.purged === true
    })
    assert.deepEqual(await filesOf(id), [])
  })
})

type Body = Record<string, never>
const first = (list: unknown): Body => (list as Body[])[0] ?? {}

describe('a deleted task', () => {
  test('says that it is deleted wherever it is read, without links', async () => {
    const client = service.client()
    const made = await client.post('/endpoints', {
      url: receiver.url('/subscribed'),
      events: ['image_task.completed'],
    })
    const id = await create(client)
    const path = `${UPSCALE}-precision-v2/${id}`
    await client.untilEnded('image-upscaler', id)
    const known = (await client.get(path)).headers.get('etag') ?? ''
    const [event] = await untilReceived(receiver, '/subscribed', 1)
    assert.equal((await remove(client, id)).status, 204)

    const detail = (await client.get(`/tasks/${id}`)).body
    const at: unknown = detail['deleted_at']
    const deleted = { task_id: id, status: 'COMPLETED', generated: [], deleted_at: at }
    const record = expectStatus(await client.get(path, { 'if-none-match': known }), 200)
    assert.deepEqual(record.body, { data: deleted })
    const listed = (await client.get(UPSCALE)).body
    assert.deepEqual(listed.data, [{ task_id: id, status: 'COMPLETED', deleted_at: at }])
    assertMembers(first((await client.get('/tasks')).body['tasks']), {
      task_id: id,
      deleted_at: at,
    })
    assert.deepEqual([detail['results'], first(detail['inputs'])['url']], [[], ''])
    assert.doesNotMatch(JSON.stringify(detail['request']), /"(image|prompt)"/)

    const sent = `/endpoints/${made.body['id']}/events/${String(event?.headers['webhook-id'])}`
    expectStatus(await client.post(`${sent}/redeliver`, {}), 202)
    const [, late] = await untilReceived(receiver, '/subscribed', 2)
    assert.deepEqual((JSON.parse(String(late?.body)) as Body)['data'], deleted)
  })

  test('of a video has neither its links nor its payload', async () => {
    const client = service.client()
    const id = await client.createVideo({ prompt: 'a', payload: 'my secret sea' })
    await client.untilVideoEnded(id)
    assert.equal((await remove(client, id)).status, 204)
    const { body } = await client.get(`${VIDEO_API}/tasks/${id}/creations`)
    assertMembers(body, { state: 'success', creations: [], payload: undefined })
    assert.match(String(body['deleted_at']), /^20.*Z$/)
    assertMembers(first((await client.get(`${VIDEO_API}/tasks`)).body['tasks']), body)
  })

  test('notifies nobody any more, and its webhook URL is gone', async (t) => {
    receiver.script('/hook?key=topsecret', respond(503, { 'retry-after': '3600' }))
    const client = service.client()
    const image = await base64({ width: 32, height: 24 })
    const id = await client.createImage({ image, webhook_url: receiver.url('/hook?key=topsecret') })
    const end = await waitFor('its end waits for another attempt', async () => {
      const event = endOf(await eventsOf(client, id))
      return event.status === 'COMPLETED' && event.attempts === 1 && event
    })
    const again = `/tasks/${id}/events/${end.id}/redeliver`
    const { body: begun } = expectStatus(await client.post(again, {}), 202)
    await waitFor('the redelivery waits, too', async () => {
      const { attempts, next_attempt_at: next } = endOf(await eventsOf(client, id))
      return attempts === 2 && next !== undefined
    })
    assert.equal((await remove(client, id)).status, 204)

    const { body } = await client.get(`/tasks/${id}/events`)
    assert.equal(body['webhook_url'], undefined)
    const stopped = endOf(await eventsOf(client, id))
    assertMembers(stopped, { state: 'stopped', attempts: 2, next_attempt_at: undefined })
    expectStatus(await client.post(again, {}), 409, 'not_deliverable')
    await sql`update event set state = 'exhausted' where id = ${end.id}`
    const since = { since: '2026-01-01T00:00:00Z' }
    assert.deepEqual((await client.post('/events/redeliver', since)).body, { redeliveries: 0 })
    const [row] = await sql<{ text: string }[]>`select t::text as text from task t where id = ${id}`
    assert.doesNotMatch(row?.text ?? '', /topsecret/)
    assert.doesNotMatch(JSON.stringify((await client.get(`/tasks/${id}`)).body), /webhook_url/)

    const { workflow } = await openTemporal(t)
    for (const of of [`deliver-events/${id}`, `redeliver-event/${begun['redelivery_id']}`])
      await waitFor(`${of} has ended`, async () => {
        return (await workflow.getHandle(of).describe()).status.name === 'COMPLETED'
      })
  })
})
