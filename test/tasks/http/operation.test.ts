import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import {
  assertMembers,
  atOnce,
  columnsOf,
  expectStatus,
  listOf,
  pluck,
  TEXT,
  UPSCALE,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { makeButtons } from '../../support/temporal-ui.ts'
import { insertTasks } from '../../support/task-rows.ts'
import { waitFor } from '../../support/wait.ts'
import {
  linesOf,
  operationOf,
  postBatch,
  postOperation,
  readBulk,
  untilBulkEnded,
} from './bulk-support.ts'
import { openStream } from '../../support/event-stream.ts'
import { eventsOf, untilReceived } from '../../events/http/delivery-support.ts'
import { openTemporal } from '../../support/temporal-client.ts'

const ADMIN = 'operator'
const service = useService({
  env: {
    OVERRIDE_VIDEO_TINY: 'true',
    ADMIN_SUBJECTS: ADMIN,
    OVERRIDE_WEBHOOK_TIME_FACTOR: '0.000005',
  },
})
const { sql } = service
const receiver = useWebhookReceiver()

const makeTask = async (client: Client, more: object = {}): Promise<string> => {
  const image = await base64({ width: 32, height: 24 })
  return (await client.create(UPSCALE, { image, ...more })).body.data.task_id
}
const makeEnded = async (client: Client, more: object = {}): Promise<string> => {
  const id = await makeTask(client, more)
  assert.equal((await client.untilEnded('image-upscaler', id)).status, 'COMPLETED')
  return id
}
const statesOf = async (client: Client): Promise<unknown[]> =>
  listOf(await client.get('/tasks'), 'tasks').map(({ state }) => state)

describe('an operation', () => {
  test('runs tasks again, but those whose inputs are gone', async () => {
    const client = service.client()
    const [kept, purged, deleted] = [
      await makeEnded(client),
      await makeEnded(client),
      await makeEnded(client),
    ]
    const video = await client.createVideo(
      { prompt: 'a sea', duration: 4, model: 'video2.0' },
      TEXT,
    )
    await client.untilVideoEnded(video)
    await sql`update task set purged_at = now() where id = ${purged}`
    expectStatus(await client.call('DELETE', `/tasks/${deleted}`), 204)
    const path = await postOperation(client, 'run_again')
    const { counts, total } = await untilBulkEnded(client, path)
    assertMembers({ total, ...counts }, { total: 4, done: 2, rejected: 2, pending: 0, not_done: 0 })
    const lines = await linesOf(client, path)
    assert.deepEqual(columnsOf(lines, 'task_id', 'state'), [
      [video, 'done'],
      [deleted, 'rejected'],
      [purged, 'rejected'],
      [kept, 'done'],
    ])
    assert.deepEqual(
      pluck(
        lines.flatMap(({ error }) => error ?? []),
        'code',
      ),
      ['file_gone', 'url_refused'],
    )
    const made = lines.flatMap(({ new_task_id: id }) => id ?? [])
    assert.equal((await client.untilVideoEnded(made[0] ?? '')).state, 'success')
    assert.equal((await client.untilEnded('image-upscaler', made[1] ?? '')).status, 'COMPLETED')
    assert.equal((await statesOf(client)).length, 6)
    const origins = await Promise.all(made.map(async (task) => await client.get(`/tasks/${task}`)))
    assert.deepEqual(
      origins.map(({ body }) => body['run_again_of']),
      [video, kept],
    )
  })

  test('sends the exhausted events of tasks again', async () => {
    const client = service.client()
    receiver.script('/broken', respond(500))
    const webhook_url = receiver.url('/broken')
    const id = await makeEnded(client, { webhook_url })
    const silent = await makeEnded(client)
    await waitFor('the events are exhausted', async () => {
      const events = await eventsOf(client, id)
      return events.every(({ state }) => !['pending'].includes(state))
    })
    const before = receiver.of('/broken').length
    receiver.script('/broken', respond(204))
    const path = await postOperation(client, 'redeliver', { state: ['done'] })
    await untilBulkEnded(client, path)
    const lines = await linesOf(client, path)
    assert.deepEqual(columnsOf(lines, 'task_id', 'state'), [
      [silent, 'rejected'],
      [id, 'done'],
    ])
    assert.equal(lines[0]?.error?.code, 'not_deliverable')
    await untilReceived(receiver, '/broken', before + (lines[1]?.redeliveries ?? 1))
  })

  test('deletes the tasks that a filter finds, with their files', async () => {
    const client = service.client()
    const [old, young] = [await makeEnded(client, { prompt: 'a red sea' }), await makeEnded(client)]
    const path = await postOperation(client, 'delete', { q: 'RED', kind: ['upscale'] })
    assertMembers((await untilBulkEnded(client, path)).counts, { done: 1, rejected: 0 })
    assert.ok((await client.get(`/tasks/${old}`)).body['deleted_at'])
    assert.ok(!(await client.get(`/tasks/${young}`)).body['deleted_at'])
    const files = await service.listFiles()
    assert.deepEqual(
      [old, young].map((id) => files.some((file) => file.includes(id))),
      [false, true],
    )
  })

  test('only counts in a dry run, and takes chosen tasks of the caller alone', async () => {
    const [client, other] = [service.client(), service.client()]
    const [mine, theirs] = [await makeEnded(client), await makeEnded(other)]
    const dry = async (filter: object) => {
      const body = { ...operationOf('delete', filter), dry_run: true }
      return expectStatus(await client.post('/operations', body), 200).body['matched'] as unknown
    }
    const chosen = { task_ids: [mine] }
    assert.deepEqual(
      [await dry({}), await dry({ state: ['failed'] }), await dry(chosen)],
      [1, 0, 1],
    )
    for (const id of [theirs, randomUUID()])
      for (const more of [{}, { dry_run: true }]) {
        const body = { ...operationOf('delete', { task_ids: [mine, id] }), ...more }
        const rejected = await client.post('/operations', body)
        expectStatus(rejected, 400, 'validation_failed')
        assert.match(
          String(rejected.body['message']),
          new RegExp(`/filter/task_ids/1 must be the id of a task .* got "${id}"`),
        )
      }
    const two = operationOf('delete', { task_ids: [theirs, mine, randomUUID()] })
    const all = expectStatus(await client.post('/operations', two), 400, 'validation_failed')
    assert.equal((all.body['details'] as string[]).length, 2)
    assert.ok(!(await client.get(`/tasks/${mine}`)).body['deleted_at'])
    const path = await postOperation(client, 'delete', chosen)
    assertMembers(await untilBulkEnded(client, path), { total: 1, state: 'done' })
    assert.ok(!(await other.get(`/tasks/${theirs}`)).body['deleted_at'])
    expectStatus(await other.get(path), 404, 'bulk_not_found')
  })

  test('on everything must say so, and one with a filter must not', async () => {
    const client = service.client()
    const id = await makeEnded(client)
    const cases: [object, RegExp, string?][] = [
      [{ filter: {} }, /\/all must be true/],
      [{ filter: {}, all: false }, /\/all must be true/],
      [{ filter: { label: null } }, /\/filter\/label must be absent or have a value, got null/],
      [{ filter: { state: ['done'], q: '' } }, /\/filter\/q must be absent or have .* got ""/],
      [{ filter: { state: ['done'], batch_id: null } }, /\/filter\/batch_id must be absent or/],
      [{ filter: { state: ['done'] }, dry_run: null }, /\/dry_run must be absent or have a value/],
      [{ filter: { ids: [id] } }, /did you mean \/filter\/task_ids\?/],
      [{ filter: { state: ['done'] }, all: true }, /\/all must be absent/, 'incompatible_fields'],
      [{ filter: { batchid: randomUUID() } }, /did you mean \/filter\/batch_id\?/],
      [{ filter: { project: null }, all: true }, /\/filter\/project must be absent/],
      [{ filter: { state: ['done'] }, task_ids: [id] }, /\/task_ids must be absent/],
    ]
    for (const [body, message, code = 'validation_failed'] of cases) {
      const given = { action: 'delete', ...body }
      const { body: error } = expectStatus(await client.post('/operations', given), 400, code)
      assert.match(error.message ?? '', message)
    }
    assert.ok(!(await client.get(`/tasks/${id}`)).body['deleted_at'])
  })

  test('counts in a dry run the tasks that it would act on, not all that the filter finds', async () => {
    const client = service.client()
    receiver.script('/lost', respond(410))
    await makeEnded(client)
    const deleted = await makeEnded(client)
    expectStatus(await client.delete(`/tasks/${deleted}`), 204)
    const dry = async (action: string) => {
      const body = { ...operationOf(action), dry_run: true }
      return expectStatus(await client.post('/operations', body), 200).body['matched'] as unknown
    }
    const counts = { cancel: 0, delete: 1, run_again: 1, redeliver: 0 }
    for (const [action, matched] of Object.entries(counts))
      assert.equal(await dry(action), matched, action)
  })

  test('and lists, events and redelivery take the tasks of a batch, or those of a time', async () => {
    const [client, other] = [service.client(), service.client()]
    const image = await base64({ width: 32, height: 24 })
    const first = await makeEnded(client)
    const batch = await postBatch(client, { requests: [{ path: UPSCALE, body: { image } }] })
    await untilBulkEnded(client, batch)
    const last = await makeEnded(client)
    const id = batch.split('/').at(-1) ?? ''
    const idsOf = async (path: string, whose = client) =>
      listOf<{ task_id: string }>(await whose.get(path), /\w+/.exec(path)?.[0]).map(
        (one) => one.task_id,
      )
    const [, made = ''] = await idsOf('/tasks')
    assert.deepEqual(await idsOf(`/tasks?batch_id=${id}`), [made])
    assert.deepEqual(await idsOf(`/tasks?batch_id=${id}&label=a:b`), [])
    assert.deepEqual(await idsOf(`/tasks?batch_id=${id}`, other), [])
    assert.deepEqual(new Set(await idsOf(`/events?batch_id=${id}`)), new Set([made]))
    const operation = await postOperation(client, 'run_again', { batch_id: id })
    await untilBulkEnded(client, operation)
    assert.deepEqual(columnsOf(await linesOf(client, operation), 'task_id'), [[made]])
    assert.deepEqual(await idsOf(`/tasks?batch_id=${operation.split('/').at(-1)}`), [])

    const times = await sql<{ at: string }[]>`
      select to_json(date_trunc('milliseconds', created_at))#>>'{}' as at from task
      where id in (${first}, ${made}, ${last}) order by created_at
    `
    const [, from = '', to = ''] = pluck(times, 'at').map(encodeURIComponent)
    for (const query of [
      `from=${from}&to=${to}`,
      `since=${from}&until=${to}`,
      `since=${from}&to=${to}`,
    ])
      assert.deepEqual(await idsOf(`/tasks?${query}`), [made], query)
    for (const [word, other] of [
      ['from', 'to'],
      ['since', 'until'],
    ] as const) {
      const filter = { [word]: decodeURIComponent(from), [other]: decodeURIComponent(to) }
      const body = { action: 'delete', filter, dry_run: true }
      assert.equal(expectStatus(await client.post('/operations', body), 200).body['matched'], 1)
      const both = {
        action: 'delete',
        filter: { ...filter, from: '2026-01-01T00:00:00Z', since: '2026-01-01T00:00:00Z' },
      }
      expectStatus(await client.post('/operations', both), 400, 'incompatible_fields')
    }
  })

  test('takes 100,000 tasks, all of them, and none of more', async () => {
    const owner = `many-${randomUUID()}`
    const client = service.client(owner)
    const many = { owner, state: 'cancelled' } as const
    await insertTasks(sql, { ...many, kind: 'relight' })
    await insertTasks(sql, { ...many, count: 100_000 })
    const made = () => client.post('/operations', operationOf('redeliver'))
    const { body } = expectStatus(await made(), 400, 'too_many_tasks')
    assert.match(body.message ?? '', /finds 100001 tasks/)
    const dry = { ...operationOf('redeliver'), dry_run: true }
    expectStatus(await client.post('/operations', dry), 400, 'too_many_tasks')
    assert.deepEqual(listOf(await client.get('/operations'), 'operations'), [])
    const kept = { action: 'redeliver', filter: { kind: ['upscale'] } }
    const path = `/operations/${expectStatus(await client.post('/operations', kept), 202).body['operation_id']}`
    assertMembers(await readBulk(client, path), { total: 100_000 })
    expectStatus(await client.post(`${path}/cancel`, {}), 200)
    await untilBulkEnded(client, path)
  })

  test('rejects a filter that the list rejects, and chosen tasks beside another member', async () => {
    const client = service.client()
    const cases: [object, string][] = [
      [{ action: 'explode', filter: {} }, 'validation_failed'],
      [{ action: 'cancel' }, 'validation_failed'],
      [{ action: 'cancel', filter: { state: ['gone'] } }, 'validation_failed'],
      [{ action: 'cancel', filter: { from: 'yesterday' } }, 'validation_failed'],
      [{ action: 'cancel', filter: { task_ids: [randomUUID()], q: 'a' } }, 'incompatible_fields'],
    ]
    for (const [body, code] of cases)
      expectStatus(await client.post('/operations', body), 400, code)
    const body = { action: 'cancel', filter: {}, all: true, owner: '*' }
    expectStatus(await client.post('/operations', body), 400, 'validation_failed')
  })

  test('of an admin acts on the tasks of an owner', async () => {
    const [owner, admin] = [service.client('oscar'), service.client(ADMIN)]
    const id = await makeEnded(owner)
    const body = { ...operationOf('run_again'), owner: 'oscar' }
    const made = expectStatus(await admin.post('/operations', body), 202)
    const path = `/operations/${made.body['operation_id']}`
    assertMembers((await untilBulkEnded(admin, path)).counts, { done: 1 })
    const [line] = await linesOf(admin, path)
    assert.equal(line?.task_id, id)
    const target = encodeURIComponent(`operation/${made.body['operation_id']}`)
    const log = await admin.get(`/admin/audit-log?target=${target}`)
    const [entry] = listOf<{ action: string; after: object }>(log, 'entries')
    assert.equal(entry?.action, 'operation.create')
    const counts = { pending: 0, done: 1, rejected: 0, not_done: 0 }
    assertMembers(entry?.after ?? {}, { action: 'run_again', state: 'done', total: 1, counts })
    expectStatus(await owner.get(`/tasks/${line?.new_task_id}`), 200)
    expectStatus(await owner.get(path), 404, 'bulk_not_found')
  })

  test('has the tasks of the moment in which it was made, also while nothing works on it', async () => {
    await service.entry('media').kill()
    await service.entry('core').kill()
    const client = service.client('stella')
    const ids = await atOnce(20, () => makeTask(client))
    const path = await postOperation(client, 'cancel', { state: ['waiting', 'queued'] })
    assertMembers(await readBulk(client, path), { state: 'running', total: 20 })
    const late = await makeTask(client)
    // What has begun meanwhile is no reason to leave it out.
    await sql`update task set status = 'IN_PROGRESS' where id = any(${ids.slice(0, 5)}::uuid[])`
    await service.start('core')
    const { counts } = await untilBulkEnded(client, path)
    assert.equal(counts['done'], 20)
    const taken = pluck(await linesOf(client, path), 'task_id')
    assert.deepEqual(taken.toSorted(), ids.toSorted())
    assert.equal((await client.get(`/tasks/${late}`)).body['ended_at'], undefined)

    const requests = await atOnce(2, async () => ({
      path: UPSCALE,
      body: { image: await base64({ width: 8, height: 8 }) },
    }))
    const batch = await postBatch(client, { requests })
    await waitFor(
      'its tasks are made',
      async () => (await readBulk(client, batch)).counts['pending'] === 0,
    )
    const made = pluck(await linesOf(client, batch), 'task_id')
    await using stream = await openStream(
      `${service.baseUrl}/tasks/stream?batch_id=${batch.split('/').at(-1)}&since=2026-01-01T00:00:00Z`,
      { authorization: `Bearer ${await service.token('stella')}` },
    )
    const next = async () => String((await stream.next())?.data['task_id'])
    assert.deepEqual([await next(), await next()].toSorted(), made.toSorted())
    for (const id of [late, made[0]])
      expectStatus(await client.post(`${UPSCALE}/${id}/cancel`, {}), 200)
    assert.equal(await next(), made[0])
  })

  test('cancels what can be, and reports what it did and did not when it is stopped half-way', async () => {
    // A pause of a second after each task leaves time to stop it.
    await service.entry('core').kill()
    await service.start('core', { OVERRIDE_BULK_PAUSE_FACTOR: '100' })
    const client = service.client()
    await atOnce(12, () => makeTask(client))
    const path = await postOperation(client, 'cancel')
    await waitFor('some are cancelled', async () => {
      const { counts } = await readBulk(client, path)
      return (counts['done'] ?? 0) >= 2
    })
    const late = await makeTask(client)
    const response = expectStatus(await client.post(`${path}/cancel`, {}), 200)
    const stopped = response.body as unknown as Awaited<ReturnType<typeof readBulk>>
    assertMembers(stopped, { state: 'cancelling', total: 12 })
    const ended = await untilBulkEnded(client, path)
    assertMembers(ended, { state: 'cancelled', counts: stopped.counts })
    const lines = await linesOf(client, path)
    const tasks = listOf<{ task_id: string; state: string }>(await client.get('/tasks'), 'tasks')
    const cancelled = tasks.flatMap(({ task_id: id, state }) => (state === 'cancelled' ? id : []))
    const done = lines.flatMap(({ task_id: id, state }) => (state === 'done' ? [String(id)] : []))
    assert.deepEqual(done.toSorted(), cancelled.toSorted())
    assert.equal(done.length, stopped.counts['done'])
    assert.equal(lines.length - done.length, stopped.counts['not_done'])
    assert.ok(!lines.some(({ task_id: id }) => id === late))
    expectStatus(await client.post(`${path}/cancel`, {}), 409, 'cannot_cancel')
  })

  test('acts on no task while its activity is paused in the Temporal UI, and then on the others', async (t) => {
    const client = service.client()
    await atOnce(14, () => makeTask(client))
    const { workflow } = await openTemporal(t)
    const ui = makeButtons(workflow)
    const path = await postOperation(client, 'cancel')
    const handle = workflow.getHandle(path.replace('/operations/', 'run-operation/'))
    await waitFor('one is cancelled', async () => (await readBulk(client, path)).counts['done'])
    await ui.pause(handle)
    const { state, counts } = await readBulk(client, path)
    assert.equal(state, 'running')
    assert.ok((counts['pending'] ?? 0) > 0, JSON.stringify(counts))
    await ui.unpause(handle)
    assertMembers((await untilBulkEnded(client, path)).counts, { done: 14 })
  })
})
