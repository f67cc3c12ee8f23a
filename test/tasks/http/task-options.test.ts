import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { VIDEO_API, type Client } from '../../support/client.ts'
import { useService } from '../../support/service.ts'

const service = useService({ roles: ['api'], env: { VIDEO_CONCURRENCY_PER_OWNER: '1' } })
const { sql } = service

const UPSCALE = '/proxy/imgvendor/v1/ai/image-upscaler'
const IMAGE = { image: 'https://images.example.com/a.png' }
const TEXT = `${VIDEO_API}/text2video`
const EXTEND = `${VIDEO_API}/extend`
const EXTENSION = {
  model: 'videoq2-pro',
  video_creation_id: 'theirs',
  video_url: 'https://videos.example.com/a.mp4',
}
const OPTIONS = {
  kiln_labels: { project: 'north', 'cost.center': 'a, b: c' },
  kiln_start_within: 600,
  kiln_end_within: 7200,
  kiln_retention_seconds: 3600,
}
const CREATIONS: readonly [path: string, body: object, priority: string][] = [
  [UPSCALE, IMAGE, 'kiln_priority'],
  [`${UPSCALE}-precision-v2`, IMAGE, 'kiln_priority'],
  ['/proxy/imgvendor/v1/ai/image-relight', IMAGE, 'kiln_priority'],
  [TEXT, { prompt: 'a sea' }, 'priority'],
  [`${VIDEO_API}/img2video`, { images: [IMAGE.image] }, 'priority'],
  [EXTEND, EXTENSION, 'kiln_priority'],
]

const create = async (client: Client, path: string, body: object, headers = {}) => {
  const response = await client.post(path, body, headers)
  const { task_id, data } = response.body as unknown as {
    task_id?: string
    data?: { task_id: string }
  }
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return data?.task_id ?? task_id ?? ''
}
const read = async (client: Client, id: string) =>
  (await client.get(`/tasks/${id}`)).body as unknown as {
    labels?: object
    priority?: number
    request: { path: string; body: Record<string, unknown> }
  }

describe('the options of a task', () => {
  for (const [path, body, priority] of CREATIONS)
    test(`POST ${path} takes them, and none is a setting`, async () => {
      const client = service.client()
      const given = { ...body, ...OPTIONS, [priority]: 9 }
      const id = await create(client, path, given)
      const task = await read(client, id)
      assert.deepEqual(task.labels, OPTIONS.kiln_labels)
      assert.equal(task.priority, 3, 'what is beyond counts as 3')
      const [row] = await sql<{ settings: object }[]>`select settings from task where id = ${id}`
      assert.deepEqual(
        Object.keys(row?.settings ?? {}).filter((name) => /kiln_|priority/.test(name)),
        [],
      )
      const again = await read(client, await create(client, task.request.path, task.request.body))
      assert.deepEqual(again.request.body[priority], 3)
      for (const [name, value] of Object.entries(OPTIONS))
        assert.deepEqual(again.request.body[name], value, name)
    })

  const WRONG: readonly [body: object, message: RegExp][] = [
    [{ kiln_labels: {} }, /^\/kiln_labels must be an object of 1 to 10 labels/],
    [{ kiln_labels: 'a' }, /^\/kiln_labels must be an object/],
    [{ kiln_labels: { A: 'b' } }, /^\/kiln_labels must have names of small .*, got "A"/],
    [{ kiln_labels: { a: 5 } }, /^\/kiln_labels\/a must be a string .*, got 5/],
    [{ kiln_labels: { a: 'x'.repeat(257) } }, /^\/kiln_labels\/a must be a string of at most 256/],
    [
      { kiln_labels: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`k${at}`, ''])) },
      /^\/kiln_labels must be an object of 1 to 10/,
    ],
    [
      { kiln_start_within: 0 },
      /^\/kiln_start_within must be a whole number of seconds from 1 to 604800, got 0/,
    ],
    [{ kiln_end_within: -60 }, /must be a whole number of seconds from 1 to 604800, got -60$/],
    [{ kiln_end_within: '5' }, /^\/kiln_end_within must be a whole number .*, got "5"/],
    ...[59, 2_147_483_648, 'x'].map((seconds): [object, RegExp] => [
      { kiln_retention_seconds: seconds },
      /^\/kiln_retention_seconds must be a whole number of seconds from 60 to 2592000, got /,
    ]),
    [
      { kiln_retention_seconds: 30 * 86_400 + 1 },
      /^\/kiln_retention_seconds must be a whole number of seconds from 60 to 2592000, got 2592001/,
    ],
    [{ kiln_label: { a: 'b' } }, /^\/kiln_label must be absent.*did you mean \/kiln_labels/],
  ]
  for (const [path, body] of CREATIONS)
    test(`POST ${path} names the one that is wrong`, async () => {
      const client = service.client()
      for (const [wrong, message] of WRONG) {
        const response = await client.post(path, { ...body, ...wrong })
        assert.equal(response.status, 400, JSON.stringify(wrong))
        assert.match(response.body.message ?? '', message)
      }
      const half = await client.post(path, { ...body, priority: 1.5, kiln_priority: 1.5 })
      assert.match(half.body.message ?? '', /priority must be a whole number .*, got 1.5/)
    })

  test('Cancel-After is kiln_end_within, for the Idempotency-Key, too', async () => {
    const client = service.client()
    const key = { 'idempotency-key': 'deadline' }
    const id = await create(client, UPSCALE, IMAGE, { ...key, 'cancel-after': '1h30m5s' })
    assert.equal((await read(client, id)).request.body['kiln_end_within'], 5405)
    const same = { ...IMAGE, kiln_end_within: 5405 }
    assert.equal(await create(client, UPSCALE, same, key), id)
    const other = await client.post(UPSCALE, IMAGE, { ...key, 'cancel-after': '9' })
    assert.deepEqual([other.status, other.body.error], [422, 'idempotency_mismatch'])
    const wrong = await client.post(UPSCALE, IMAGE, { 'cancel-after': 'soon' })
    assert.match(wrong.body.message ?? '', /^Cancel-After must be seconds .*, got "soon"/)
    const both = await client.post(
      EXTEND,
      { ...EXTENSION, kiln_end_within: 9 },
      { 'cancel-after': '9' },
    )
    assert.match(both.body.message ?? '', /^\/kiln_end_within must be absent beside the header/)
  })

  test('lists find tasks by all of the given labels', async () => {
    const client = service.client()
    const stranger = service.client()
    const label = (project: string, team: string) => ({ kiln_labels: { project, team } })
    const image = await create(client, UPSCALE, { ...IMAGE, ...label('n,1', 'red') })
    const video = await create(client, TEXT, { prompt: 'x', ...label('n,1', 'blue') })
    await create(client, UPSCALE, { ...IMAGE, ...label('other', 'red') })
    await create(stranger, UPSCALE, { ...IMAGE, ...label('n,1', 'red') })
    const list = async (path: string, ...labels: string[]): Promise<string[]> => {
      const query = labels.map((text) => `label=${encodeURIComponent(text)}`).join('&')
      const { body } = await client.get(`${path}?${query}`)
      const { tasks, data } = body as unknown as Record<string, { task_id?: string; id?: string }[]>
      return (tasks ?? data ?? []).map(({ task_id, id }) => task_id ?? id ?? '')
    }
    assert.deepEqual(await list('/tasks', 'project:n,1'), [video, image])
    assert.deepEqual(await list('/tasks', 'project:n,1', 'team:red'), [image])
    assert.deepEqual(await list('/tasks', 'project:n', 'team:red'), [])
    assert.deepEqual(await list(UPSCALE, 'project:n,1'), [image])
    assert.deepEqual(await list(`${VIDEO_API}/tasks`, 'project:n,1'), [video])
    const events = await client.get('/events?label=team:blue')
    const { events: found } = events.body as unknown as { events: { task_id: string }[] }
    assert.deepEqual([...new Set(found.map(({ task_id }) => task_id))], [video])
    const wrong = await client.get('/tasks?label=project')
    assert.match(wrong.body.message ?? '', /^\?label\/0 must be key:value/)
  })

  test('a task that is deleted loses its labels', async () => {
    const client = service.client()
    const id = await create(client, UPSCALE, { ...IMAGE, ...OPTIONS })
    assert.equal((await client.call('DELETE', `/tasks/${id}`)).status, 204)
    assert.equal((await read(client, id)).labels, undefined)
  })
})
