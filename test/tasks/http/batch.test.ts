import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  assertMembers,
  atOnce,
  columnsOf,
  expectStatus,
  listOf,
  makeClient,
  pluck,
  TEXT,
  UPSCALE,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { inTurn, respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { linesOf, makeRequest, postBatch, readBulk, untilBulkEnded } from './bulk-support.ts'
import { secretOf, untilReceived, verify } from '../../events/http/delivery-support.ts'
import { openTemporal } from '../../support/temporal-client.ts'

const OPEN_TASKS = 40
const service = useService({
  env: {
    OVERRIDE_VIDEO_TINY: 'true',
    OWNER_TASK_LIMIT: String(OPEN_TASKS),
    OWNER_CREDIT_LIMIT: '1000',
    ADMIN_SUBJECTS: 'root',
  },
})
const receiver = useWebhookReceiver({
  script: { '/hook': inTurn(respond(500), respond(204)) },
})

const good = async () => ({
  path: UPSCALE,
  body: { image: await base64({ width: 32, height: 24 }), scale_factor: '2x' },
})

describe('a batch', () => {
  test('makes the tasks of its good requests in order, and reports the others', async () => {
    const client = service.client()
    const video = { path: TEXT, body: { prompt: 'a red sea', duration: 4, model: 'video2.0' } }
    const requests = [
      await good(),
      { path: UPSCALE, body: { image: 'not an image!', scale_factor: '3x' } },
      { path: '/tasks', body: {} },
      { body: {} },
      { path: UPSCALE, body: { image: await base64({ width: 8, height: 8 }), scaleFactor: '2x' } },
      { ...(await good()), dry_run: true },
      video,
    ]
    const hook = receiver.url('/hook')
    const labels = { project: 'north' }
    const path = await postBatch(client, { requests, labels, webhook_url: hook })
    const ended = await untilBulkEnded(client, path)
    assertMembers(ended, { state: 'done', total: 7 })
    assertMembers(ended.counts, { done: 2, rejected: 5, pending: 0 })
    const lines = await linesOf(client, path)
    assert.deepEqual(columnsOf(lines, 'index', 'state'), [
      [0, 'done'],
      [1, 'rejected'],
      [2, 'rejected'],
      [3, 'rejected'],
      [4, 'rejected'],
      [5, 'rejected'],
      [6, 'done'],
    ])
    const [first, invalid, stray, pathless, misspelt, dry, last] = lines
    assert.match(String(invalid?.error?.message), /scale_factor|image/)
    assert.match(String(stray?.error?.message), /\/path must be a path on which tasks are made/)
    assert.match(String(pathless?.error?.message), /\/path must be a string/)
    assert.match(String(misspelt?.error?.message), /did you mean/)
    assert.match(String(dry?.error?.message), /^\/dry_run must be absent/)
    const tried = { requests, dry_run: true }
    expectStatus(await client.post('/batches', tried), 400, 'validation_failed')
    const found = await client.get('/tasks?label=project:north')
    assert.deepEqual(pluck(listOf(found, 'tasks'), 'task_id'), [last?.task_id, first?.task_id])
    for (const line of [first, last]) {
      assert.equal((await fetch(line?.links?.[0] ?? '')).status, 200)
      expectStatus(await client.get(`/tasks/${line?.task_id}`), 200)
    }
    const [, received] = await untilReceived(receiver, '/hook', 2)
    assert.ok(received)
    const body = verify(received, await secretOf(client)) as unknown as {
      type: string
      data: Record<string, unknown>
    }
    assertMembers(body, { type: 'batch.ended', subject_id: path.split('/')[2] })
    assertMembers(body.data, { state: 'done', counts: ended.counts })
    assert.deepEqual(
      await service.listFiles().then((all) => all.filter((file) => file.includes('/batches/'))),
      [],
    )
  })

  test('is found in Temporal with its tasks', async (t) => {
    const client = service.client()
    const video = { path: TEXT, body: { prompt: 'a red sea', duration: 4, model: 'video2.0' } }
    const path = await postBatch(client, { requests: [await good(), video] })
    await untilBulkEnded(client, path)
    const [, , batchId = ''] = path.split('/')
    const [image, film] = await linesOf(client, path)
    const { workflow } = await openTemporal(t)
    const tasks = [`image-task/${image?.task_id}`, `video-task/${film?.task_id}`]
    for (const id of [`run-batch/${batchId}`, ...tasks]) {
      const { typedSearchAttributes } = await workflow.getHandle(id).describe()
      const batch = typedSearchAttributes.getAll().find(({ key }) => key.name === 'KilnBatch')
      assert.equal(batch?.value, batchId, id)
    }
  })

  test('reads a file, whose lines it takes as they are', async () => {
    const client = service.client()
    const links = expectStatus(
      await client.post('/customers/storage', { file_name: 'b.jsonl' }),
      200,
    ).body as unknown as { upload_url: string; download_url: string }
    const long = JSON.stringify(makeRequest('x'.repeat(1_048_576)))
    const image = receiver.url('/image.png')
    const picture = await makePicture()
    receiver.script('/image.png', ({ response }) => void response.end(picture))
    const line = JSON.stringify(makeRequest('a', image))
    const bytes = Buffer.from(`${line}\r\n\n{"path": \n${long}\n[]\n  \n${line}`)
    const put = await fetch(links.upload_url, { method: 'PUT', body: bytes })
    assert.equal(put.status, 200)
    const key = { 'idempotency-key': 'of-a-file' }
    const post = async (file: string) =>
      expectStatus(await client.post('/batches', { file }, key), 202).body['batch_id']
    const id = await post(links.download_url)
    // Whoever uploads the same again gets another link to it.
    assert.equal(await post(`${links.download_url.replace(/\?.*/, '')}?expires=1&signature=x`), id)
    const path = `/batches/${id}`
    const { counts, total } = await untilBulkEnded(client, path)
    assertMembers({ total, ...counts }, { total: 5, done: 2, rejected: 3 })
    const codes = (await linesOf(client, path)).map(({ error }) => error?.code)
    assert.deepEqual(codes, [
      undefined,
      'json_invalid',
      'body_too_large',
      'json_invalid',
      undefined,
    ])
  })

  const LINE = JSON.stringify(makeRequest('a'))
  const REJECTED: Record<string, [bytes: Buffer | string, code: string, message: RegExp]> = {
    'has no line': [' \n', 'body_required', /no line/],
    'begins with a byte order mark': [`\uFEFF${LINE}`, 'json_invalid', /byte order mark/],
    'is UTF-16': [Buffer.from(`\uFEFF${LINE}`, 'utf16le'), 'json_invalid', /UTF-16/],
    'is UTF-16 without a mark': [Buffer.from(LINE, 'utf16le'), 'json_invalid', /UTF-16/],
    'is a JSON array': [`\n [${LINE},\n${LINE}]`, 'json_invalid', /a line of its own/],
    'is one of more than a line': [`[${LINE},${' '.repeat(2 ** 20)}]`, 'json_invalid', /array/],
  }
  for (const [what, [bytes, code, message]] of Object.entries(REJECTED))
    test(`fails whose upload ${what}`, async () => {
      const client = service.client()
      const { body } = await client.post('/customers/storage', { file_name: 'b.jsonl' })
      const links = body as unknown as { upload_url: string; download_url: string }
      assert.equal((await fetch(links.upload_url, { method: 'PUT', body: bytes })).status, 200)
      const path = await postBatch(client, { file: links.download_url })
      const ended = await untilBulkEnded(client, path)
      assertMembers(ended, { state: 'failed', total: 0 })
      assert.equal(ended.error?.code, code)
      assert.match(ended.error?.message ?? '', message)
      assert.deepEqual(listOf(await client.get('/tasks'), 'tasks'), [])
    })

  test('gives each line its custom_id, and says what is wrong with one', async () => {
    const client = service.client()
    const requests = [
      { ...(await good()), custom_id: 'first' },
      { ...(await good()), customId: 'misspelt' },
      { custom_id: 'other form', url: '/v1/images', method: 'POST', body: {} },
      { ...(await good()), custom_id: 'x'.repeat(257) },
      { ...(await good()), custom_id: 'bad key', idempotency_key: 'ä' },
    ]
    const path = await postBatch(client, { requests })
    await untilBulkEnded(client, path)
    const lines = await linesOf(client, path)
    const [, misspelt, form, long, key] = lines.map(({ error }) => error?.message ?? '')
    assert.deepEqual(columnsOf(lines, 'custom_id', 'state'), [
      ['first', 'done'],
      [undefined, 'rejected'],
      ['other form', 'rejected'],
      [undefined, 'rejected'],
      ['bad key', 'rejected'],
    ])
    assert.match(misspelt ?? '', /^\/customId must be absent.*did you mean \/custom_id\?/)
    assert.match(form ?? '', /^\/(url|method) must be absent, because.*use path and body/)
    assert.match(long ?? '', /^\/custom_id must/)
    assert.match(key ?? '', /^\/idempotency_key must be 1 to 255 visible ASCII characters/)
  })

  test('takes bodies as their routes do, and names what nothing reads', async () => {
    const client = service.client()
    const image = await good()
    const film = { prompt: 'a red sea', duration: 4, model: 'video2.0', foo: 1 }
    const requests = [
      image,
      { ...image, body: { ...image.body, foo: 1 } },
      { path: TEXT, body: film },
      { ...image, body: { ...image.body, webhook_urls: 'https://example.com' } },
    ]
    const path = await postBatch(client, { requests })
    await untilBulkEnded(client, path)
    assert.deepEqual(columnsOf(await linesOf(client, path), 'state', 'ignored_fields'), [
      ['done', undefined],
      ['done', ['/foo']],
      ['done', ['/foo']],
      ['rejected', undefined],
    ])
    const { status, headers } = await client.post(image.path, requests[1]?.body ?? {})
    assert.deepEqual([status, headers.get('ignored-fields')], [200, '/foo'])
  })

  for (const [family, request] of [
    ['an image', good],
    [
      'a video',
      () =>
        Promise.resolve({
          path: TEXT,
          body: { prompt: 'a red sea', duration: 4, model: 'video2.0', payload: 'mine' },
        }),
    ],
  ] as const)
    test(`makes ${family} once of one key, whichever batch or request sends it`, async () => {
      const client = service.client()
      const line = { ...(await request()), idempotency_key: 'once' }
      const headers = { 'idempotency-key': 'once' }
      const twice = await postBatch(client, { requests: [line, line], labels: { run: 'one' } })
      await untilBulkEnded(client, twice)
      const other = await postBatch(client, { requests: [line] })
      await untilBulkEnded(client, other)
      const lines = [...(await linesOf(client, twice)), ...(await linesOf(client, other))]
      const made = lines[0]?.task_id
      assert.deepEqual(columnsOf(lines, 'task_id', 'replayed', 'state'), [
        [made, undefined, 'done'],
        [made, true, 'done'],
        [made, true, 'done'],
      ])
      const direct = expectStatus(await client.post(line.path, line.body, headers), 200)
      assert.equal(direct.headers.get('idempotent-replayed'), 'true')
      assert.ok(JSON.stringify(direct.body).includes(String(made)))
      assert.equal(listOf(await client.get('/tasks'), 'tasks').length, 1)
      const changed = { ...line, body: { ...line.body, kiln_priority: 1 } }
      const rejected = await postBatch(client, { requests: [changed] })
      await untilBulkEnded(client, rejected)
      const [mismatch] = await linesOf(client, rejected)
      assert.equal(mismatch?.error?.code, 'idempotency_mismatch')
    })

  test('takes the task that a request with the key has made, and does not end it', async () => {
    await service.entry('media').kill()
    const client = service.client()
    const line = { ...(await good()), idempotency_key: 'of-a-request' }
    const headers = { 'idempotency-key': line.idempotency_key }
    const { body } = expectStatus(await client.post(line.path, line.body, headers), 200)
    const { task_id: id } = body['data'] as { task_id: string }
    const path = await postBatch(client, { requests: [line, ...requestsOf(1)] })
    await waitFor(
      'both are known',
      async () => (await readBulk(client, path)).counts['queued'] === 2,
    )
    expectStatus(await client.post(`${path}/cancel`, {}), 200)
    await untilBulkEnded(client, path)
    const lines = await linesOf(client, path)
    assert.deepEqual(columnsOf(lines, 'state', 'replayed'), [
      ['queued', true],
      ['cancelled', undefined],
    ])
    assert.equal(lines[0]?.task_id, id)
    expectStatus(await client.create(`${line.path}/${id}/cancel`, {}), 200)
    await service.start('media')
  })

  test('rejects a body that names no requests, two of them, or a file that is not there', async () => {
    const client = service.client()
    const stranger = 'https://example.com/b.jsonl'
    const cases: [object, string][] = [
      [{}, 'validation_failed'],
      [{ requests: [] }, 'validation_failed'],
      [{ requests: [makeRequest('a')], file: stranger }, 'incompatible_fields'],
      [{ file: stranger }, 'url_refused'],
      [{ requests: [makeRequest('a')], webhook_url: 'ftp://example.com' }, 'url_refused'],
    ]
    for (const [body, code] of cases) expectStatus(await client.post('/batches', body), 400, code)
  })

  test('is made once of one key, listed, and read by nobody else', async () => {
    const [client, other] = [service.client(), service.client()]
    const body = { requests: [{ path: '/', body: {} }] }
    const key = { 'idempotency-key': 'one' }
    const made = expectStatus(await client.post('/batches', body, key), 202)
    const again = expectStatus(await client.post('/batches', body, key), 202)
    assert.deepEqual(again.body, made.body)
    const second = await postBatch(client, body)
    const page = expectStatus(await client.get('/batches?limit=1'), 200)
    assert.deepEqual(pluck(listOf(page, 'batches'), 'batch_id'), [second.split('/')[2]])
    const next = expectStatus(await client.get(`/batches?limit=1&after=${page.body['next']}`), 200)
    assert.deepEqual(pluck(listOf(next, 'batches'), 'batch_id'), [made.body['batch_id']])
    assert.equal(next.body['next'], undefined)
    for (const path of [second, `${second}/results`])
      expectStatus(await other.get(path), 404, 'bulk_not_found')
    expectStatus(await other.post(`${second}/cancel`, {}), 404, 'bulk_not_found')
    const operation = second.replace('batches', 'operations')
    expectStatus(await client.get(operation), 404, 'bulk_not_found')
  })

  test('that is stopped before it has begun has a line for each request', async () => {
    await service.entry('core').kill()
    const client = service.client()
    const path = await postBatch(client, { requests: requestsOf(3) })
    assertMembers(await readBulk(client, path), { state: 'preparing', total: 3 })
    expectStatus(await client.post(`${path}/cancel`, {}), 200)
    await service.start('core')
    const ended = await untilBulkEnded(client, path)
    assertMembers({ state: ended.state, ...ended.counts }, { state: 'cancelled', cancelled: 3 })
    assert.deepEqual(pluck(await linesOf(client, path), 'state'), Array(3).fill('cancelled'))
  })

  test('waits for the quota of its owner, of which it leaves a tenth, and ends what is open when it is cancelled', async () => {
    await service.entry('media').kill()
    const client = service.client()
    const path = await postBatch(client, { requests: requestsOf(OPEN_TASKS) })
    assertMembers(await untilFull(client, path), { queued: 36, pending: 4 })
    await client.createImage()
    const asked = expectStatus(await client.post(`${path}/cancel`, {}), 200).body
    assertMembers(asked, { state: 'cancelling' })
    const target = encodeURIComponent(`batch/${path.split('/')[2]}`)
    const log = await service.client('root').get(`/admin/audit-log?target=${target}`)
    const [entry] = listOf<{ before: object; after: object }>(log, 'entries')
    assert.deepEqual([entry?.before, entry?.after], [{ state: 'running' }, { state: 'cancelling' }])
    const ended = await untilBulkEnded(client, path)
    assertMembers(ended, { state: 'cancelled', total: OPEN_TASKS })
    assertMembers(ended.counts, { cancelled: OPEN_TASKS, pending: 0, queued: 0 })
    const lines = await linesOf(client, path)
    assert.equal(lines.filter(({ task_id: id }) => id !== undefined).length, 36)
    assert.deepEqual(new Set(lines.map(({ state }) => state)), new Set(['cancelled']))
    expectStatus(await client.post(`${path}/cancel`, {}), 409, 'cannot_cancel')
  })

  test('makes no further task once the API key that it was made with has ended, and says so', async () => {
    const owner = service.client()
    const made = expectStatus(await owner.post('/users/api-keys', { name: 'nightly' }), 201).body
    const client = makeClient(service.baseUrl, String(made['key']))
    const path = await postBatch(client, { requests: requestsOf(OPEN_TASKS) })
    assertMembers(await untilFull(owner, path), { queued: 36, pending: 4 })
    expectStatus(await owner.delete(`/users/api-keys/${String(made['id'])}`), 204)
    const reason = await waitFor('it says why it waits', async () => {
      const { error } = await readBulk(owner, path)
      return error?.code === 'unauthorized' && error
    })
    assert.match(reason.message, /The API key that it was made with/)
    const tasks = listOf(await owner.get('/tasks?limit=100'), 'tasks')
    for (const id of pluck(tasks, 'task_id')) await owner.create(`${UPSCALE}/${id}/cancel`, {})
    const ended = await untilBulkEnded(owner, path)
    assertMembers(ended, { state: 'failed', total: OPEN_TASKS })
    assertMembers(ended.error, { code: 'unauthorized' })
    assertMembers(ended.counts, { cancelled: OPEN_TASKS, pending: 0 })
    const lines = await linesOf(owner, path)
    assert.equal(lines.filter(({ task_id: id }) => id !== undefined).length, 36)
  })

  test('keeps within the limit that its owner has of its own, of which it leaves a tenth, too', async () => {
    const client = service.client('limited')
    const limit = (tasks: number) =>
      service.client('root').put('/admin/owners/limited', { task_limit: tasks })
    expectStatus(await limit(20), 200)
    const path = await postBatch(client, { requests: requestsOf(30) })
    assertMembers(await untilFull(client, path), { queued: 18, pending: 12 })
    await atOnce(2, () => client.createImage())
    expectStatus(
      await client.post(UPSCALE, await good().then(({ body }) => body)),
      429,
      'quota_exceeded',
    )
    // More than the setting.
    expectStatus(await limit(60), 200)
    const whole = await waitFor('all of them are made', async () => {
      const bulk = await readBulk(client, path)
      return bulk.counts['queued'] === 30 && bulk
    })
    assert.equal(whole.error, undefined)
    await service.start('media')
  })
})

const requestsOf = (count: number) => Array.from({ length: count }, (_, at) => makeRequest(`${at}`))

/** Waits until a batch waits for a quota; returns its counts. */
const untilFull = (client: Client, path: string): Promise<Record<string, number>> =>
  waitFor('the quota is used up', async () => {
    const { state, error, counts } = await readBulk(client, path)
    return state === 'running' && error?.code === 'quota_exceeded' && counts
  })
