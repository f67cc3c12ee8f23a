import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Attempt } from '../../../src/events/domain/event.ts'
import { UPSCALE, VIDEO_API, expectStatus, listOf } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { attemptsOf, endOf, eventsOf, untilReceived } from './delivery-support.ts'

// Nothing is rendered: what is cancelled has failed.
const service = useService({ roles: ['api', 'core'] })
const receiver = useWebhookReceiver()
const EVENTS = ['image_task.failed', 'video_task.failed']
const SECRET = 'Bearer of-a-gateway'

describe('an endpoint with filters', () => {
  const alice = service.client('alice')

  const failImage = async (labels?: Record<string, string>): Promise<string> => {
    const id = await alice.createImage({
      image: await base64(),
      ...(labels && { kiln_labels: labels }),
    })
    await alice.post(`${UPSCALE}/${id}/cancel`, {})
    return id
  }
  const failVideo = async (labels?: Record<string, string>): Promise<string> => {
    const id = await alice.createVideo({
      prompt: 'a',
      off_peak: true,
      ...(labels && { kiln_labels: labels }),
    })
    await alice.post(`${VIDEO_API}/tasks/${id}/cancel`, {})
    return id
  }
  const make = async (path: string, more: object) =>
    String(
      expectStatus(
        await alice.post('/endpoints', { url: receiver.url(path), events: EVENTS, ...more }),
        201,
      ).body['id'],
    )
  const subjectsOf = async (id: string): Promise<unknown[]> => {
    const { body } = await alice.get(`/endpoints/${id}/events`)
    return (body['events'] as unknown as { subject_id: string }[]).map((event) => event.subject_id)
  }

  test('is notified of the tasks that have all its labels, and of its kinds', async () => {
    const labels = ['project:winter', 'shot:a:1']
    const of = { project: 'winter', shot: 'a:1', more: 'x' }
    const byLabel = await make('/label', { labels })
    const byKind = await make('/kind', { kinds: ['upscale'] })
    const byBoth = await make('/both', { labels, kinds: ['upscale'] })
    const all = await make('/all', {})
    const image = await failImage(of)
    const video = await failVideo(of)
    const other = await failImage({ project: 'winter', shot: 'a' })
    const bare = await failVideo()
    assert.deepEqual(await subjectsOf(all), [bare, other, video, image])
    assert.deepEqual(await subjectsOf(byLabel), [video, image])
    assert.deepEqual(await subjectsOf(byKind), [other, image])
    assert.deepEqual(await subjectsOf(byBoth), [image])
    const read = (await alice.get(`/endpoints/${byBoth}`)).body
    assert.deepEqual([read['labels'], read['kinds']], [labels, ['upscale']])
    const changed = await alice.put(`/endpoints/${byBoth}`, { labels: [], kinds: ['text2video'] })
    assert.deepEqual([changed.body['labels'], changed.body['kinds']], [undefined, ['text2video']])
    const last = await failVideo()
    assert.deepEqual(await subjectsOf(byBoth), [last, image])
  })

  test('shows the labels of a task as its caller gave them, in each attempt, too', async () => {
    const labels = { run: 'hook' }
    const id = await alice.createImage({
      image: await base64(),
      kiln_labels: labels,
      webhook_url: receiver.url('/attempts'),
    })
    await alice.post(`${UPSCALE}/${id}/cancel`, {})
    await untilReceived(receiver, '/attempts', 1)
    const event = endOf(await eventsOf(alice, id))
    const [attempt] = await waitFor('the attempt is recorded', async () => {
      const attempts = await attemptsOf(alice, id, event)
      return attempts.length > 0 && attempts
    })
    assert.deepEqual(attempt?.labels, labels)
    for (const label of [':alice', encodeURIComponent(':alice')])
      expectStatus(await alice.get(`/tasks?label=${label}`), 400, 'validation_failed')
  })

  test('is listed with each event of a task that it gets, and by the state of that delivery', async () => {
    const bob = service.client('bob')
    const made = await bob.post('/endpoints', { url: receiver.url('/bob'), events: EVENTS })
    const id = await bob.createVideo({ prompt: 'a subscribed sea', off_peak: true })
    await bob.post(`${VIDEO_API}/tasks/${id}/cancel`, {})
    const [sent] = listOf<{ id: string }>(
      await bob.get(`/endpoints/${String(made.body['id'])}/events`),
      'events',
    )
    await untilReceived(receiver, '/bob', 1)
    type Sent = { prompt: string; state: string; subscriptions?: object[] }
    const ofTask = listOf<Sent>(await bob.get(`/tasks/${id}/events`), 'events')
    assert.deepEqual(
      ofTask.map(({ subscriptions }) => subscriptions?.length),
      ofTask.map((_event, index) => (index === ofTask.length - 1 ? 1 : undefined)),
    )
    await waitFor('its delivery', async () => {
      const found = await bob.get('/events?state=delivered')
      const [event, ...more] = listOf<Sent>(found, 'events')
      if (!event) return undefined
      assert.deepEqual([event.prompt, event.state, more], ['a subscribed sea', 'unsent', []])
      const delivery = {
        endpoint_id: made.body['id'],
        id: sent?.id,
        state: 'delivered',
        attempts: 1,
      }
      assert.deepEqual(event.subscriptions, [delivery])
      return event
    })
  })

  test('is rejected with labels and kinds of another form', async () => {
    const of = { url: receiver.url('/x'), events: EVENTS }
    for (const more of [{ labels: ['winter'] }, { kinds: ['nothing'] }])
      expectStatus(await alice.post('/endpoints', { ...of, ...more }), 400, 'validation_failed')
  })
})

describe('an endpoint with headers of its own', () => {
  const bob = service.client('bob')
  const make = (path: string, headers: object) =>
    bob.post('/endpoints', { url: receiver.url(path), events: EVENTS, headers })
  const sendTest = async (id: string) =>
    String(expectStatus(await bob.post(`/endpoints/${id}/test`, {}), 202).body['event_id'])

  test('has them sent with each request, and shows names only', async () => {
    const made = expectStatus(await make('/own', { Authorization: SECRET, 'X-Of': 'kiln' }), 201)
    const id = String(made.body['id'])
    const names = ['authorization', 'x-of']
    assert.deepEqual(made.body['header_names'], names)
    const eventId = await sendTest(id)
    const [request] = await untilReceived(receiver, '/own', 1)
    assert.deepEqual([request?.headers.authorization, request?.headers['x-of']], [SECRET, 'kiln'])
    assert.ok(request?.headers['webhook-signature'])
    // The second attempt is that of a workflow.
    receiver.script('/own', ({ response, earlier }) =>
      response.writeHead(earlier < 2 ? 500 : 204).end(),
    )
    const again = await bob.post(`/endpoints/${id}/events/${eventId}/redeliver`, {})
    expectStatus(again, 202)
    const requests = await untilReceived(receiver, '/own', 3)
    assert.ok(requests.every(({ headers }) => headers.authorization === SECRET))
    const attempts = await waitFor('the attempts are recorded', async () => {
      const { body } = await bob.get(`/endpoints/${id}/events/${eventId}/attempts`)
      const found = body['attempts'] as unknown as Attempt[]
      return found.length === 3 && found
    })
    for (const attempt of attempts) assert.deepEqual(attempt.header_names, names)
    const shown = [
      made.body,
      attempts,
      (await bob.get('/endpoints')).body,
      (await bob.get(`/endpoints/${id}`)).body,
      await service.database.sql`select to_jsonb(a) from audit_log a`,
      await service.database.sql`select to_jsonb(e) from endpoint e`,
      await service.database.sql`select to_jsonb(i) from idempotency i`,
    ]
    assert.ok(!JSON.stringify(shown).includes('of-a-gateway'))
  })

  test('keeps them through other changes, and loses them with a new host', async () => {
    const id = String(expectStatus(await make('/kept', { 'x-of': 'kiln' }), 201).body['id'])
    const put = async (body: object) =>
      expectStatus(await bob.put(`/endpoints/${id}`, body), 200).body['header_names']
    assert.deepEqual(await put({ url: receiver.url('/kept/2') }), ['x-of'])
    assert.deepEqual(await put({ headers: { 'x-other': 'a' } }), ['x-other'])
    await sendTest(id)
    const [request] = await untilReceived(receiver, '/kept/2', 1)
    assert.deepEqual([request?.headers['x-of'], request?.headers['x-other']], [undefined, 'a'])
    assert.equal(await put({ headers: {} }), undefined)
    assert.deepEqual(await put({ headers: { 'x-of': 'kiln' } }), ['x-of'])
    assert.equal(await put({ url: receiver.url('/kept', 'localhost') }), undefined)
    const rows = await service.database.sql`select headers from endpoint where id = ${id}`
    assert.deepEqual([...rows], [{ headers: null }])
  })

  for (const [name, value] of [
    ['Webhook-Id', 'a'],
    ['HOST', 'a'],
    ['content-type', 'text/plain'],
    ['user-agent', 'a'],
    ['Connection', 'close'],
    ['traceparent', 'a'],
    ['a b', 'a'],
    ['x-of', 'two\r\nlines'],
    ['x-of', ''],
  ] as const)
    test(`is rejected with the header ${JSON.stringify(`${name}: ${value}`)}`, async () => {
      const { body } = expectStatus(await make('/x', { [name]: value }), 400, 'validation_failed')
      assert.ok(JSON.stringify(body).includes('/headers'))
    })

  test('is rejected with eleven, without a word of their values', async () => {
    const given = Object.fromEntries(
      Array.from({ length: 11 }, (_, i) => [`x-${i}`, 'of-ä-gateway']),
    )
    const { body } = expectStatus(await make('/x', given), 400, 'validation_failed')
    assert.ok(!JSON.stringify(body).includes('gateway'))
  })
})
