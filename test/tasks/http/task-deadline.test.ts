import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf, type Client } from '../../support/client.ts'
import { openStream } from '../../support/event-stream.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { untilReceived, verify } from '../../events/http/delivery-support.ts'

// Nothing is rendered: a task with a deadline passes it.
const service = useService({ roles: ['api', 'core'], env: { OWNER_CREDIT_LIMIT: '1000' } })
const receiver = useWebhookReceiver()

const usedBy = async (client: Client): Promise<number | undefined> => {
  const credits = expectStatus(await client.get('/proxy/vidvendor/credits'), 200)
  return listOf<{ credit_used: number }>(credits, 'remains')[0]?.credit_used
}

describe('a deadline that a caller sets', () => {
  for (const [member, code] of [
    ['kiln_start_within', 'start_timeout'],
    ['kiln_end_within', 'deadline_exceeded'],
  ] as const)
    test(`${member} ends a task that passes it, and a video gives its credits back`, async () => {
      const client = service.client()
      const video = await client.createVideo({ prompt: 'a sea', [member]: 1 })
      const image = await client.createImage({ [member]: 1 })
      const task = await client.untilVideoEnded(video)
      assert.deepEqual([task.state, task.err_code], ['failed', 'InternalServiceFailure'])
      assert.match(task.err_msg, new RegExp(`^${code}: `))
      assert.equal(await usedBy(client), 0)
      const { error } = await client.untilEnded('image-upscaler', image)
      assert.equal(error?.code, code)
      assert.match(error.message, /^The task had not/)
    })
})

describe('the labels of a task', () => {
  test('come with the events of subscriptions, also with the last', async () => {
    const client = service.client()
    const labels = { project: 'north', team: 'red' }
    const events = ['image_task.failed', 'video_task.failed']
    const url = receiver.url('/labelled')
    const made = expectStatus(await client.post('/endpoints', { url, events }), 201)
    await client.createImage({ kiln_labels: labels, kiln_end_within: 1 })
    await client.createVideo({ prompt: 'a sea', kiln_labels: labels, kiln_end_within: 1 })
    await client.createImage({ kiln_end_within: 1 })
    const requests = await untilReceived(receiver, '/labelled', 3)
    const bodies = requests.map((request) => verify(request, String(made.body['secret'])))
    const seen = bodies.map(({ type, labels: shown }) => [type, shown] as unknown[])
    assert.deepEqual(
      seen.toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other))),
      [
        ['image_task.failed', labels],
        ['image_task.failed', undefined],
        ['video_task.failed', labels],
      ],
    )
  })

  test('choose what the stream of all tasks sends', async () => {
    const client = service.client('streamer')
    const make = (project: string) => client.createImage({ kiln_labels: { project } })
    const [first] = [await make('north'), await make('south'), await client.createImage()]
    const authorization = `Bearer ${await service.token('streamer')}`
    const url = `${service.baseUrl}/tasks/stream?label=project:north`
    await using stream = await openStream(url, { authorization })
    const next = async () => {
      const { data } = (await stream.next()) ?? {}
      return [data?.['task_id'], data?.['state']]
    }
    assert.deepEqual(await next(), [first, 'queued'])
    await make('south')
    const second = await make('north')
    assert.deepEqual(await next(), [second, 'queued'])
    for (const { task_id: id } of listOf<{ task_id: string }>(await client.get('/tasks'), 'tasks'))
      expectStatus(await client.post(`/proxy/imgvendor/v1/ai/image-upscaler/${id}/cancel`, {}), 200)
    const ends = new Map([await next(), await next()].map(([id, state]) => [id, state]))
    assert.deepEqual([ends.get(first), ends.get(second)], ['cancelled', 'cancelled'])
  })
})
