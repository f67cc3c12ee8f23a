import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { makeNotifyChange } from '../../../src/platform/db/change-notification.ts'
import type { Transaction } from '../../../src/platform/db/client.ts'
import { failExtraction } from '../../../src/registry/db/extraction.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { beatWorker } from '../../../src/tasks/db/worker.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import type { ImageTaskStatus } from '../../../src/tasks/domain/image/image-task.ts'
import type { TaskItem } from '../../../src/tasks/domain/task-item.ts'
import { makeWatches } from '../../../src/platform/http/live/watches.ts'
import { IMAGE_API, expectStatus, listOf, makeClient } from '../../support/client.ts'
import { openStream } from '../../support/event-stream.ts'
import { ADMIN, makeRegistry } from '../../registry/http/registry-support.ts'
import { AWAITS_OUTAGE, useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

/** Nothing but the test moves tasks. */
const service = useService({ roles: ['api'], env: { ADMIN_SUBJECTS: ADMIN } })
const alice = service.client('alice')

const bearer = async (user = 'alice') => ({ authorization: `Bearer ${await service.token(user)}` })

const createTask = (client = alice): Promise<string> => client.createImage()

/** As a worker does. */
const enqueueFor = async (id: string, work: (sql: Transaction) => Promise<unknown>) =>
  await unitOfWork({ sql: service.sql, notifyChange: makeNotifyChange(service.sql) }, work, {
    of: id,
  })

const transition = async (id: string, to: ImageTaskStatus): Promise<void> => {
  const error = { code: 'engine_failed', message: 'The engine failed.' }
  await enqueueFor(id, async (sql) => {
    assert.ok(await transitionTask(sql, 'image', { id, to, ...(to === 'FAILED' && { error }) }))
  })
}

/** A version that is decided on, and whose host nodes are not read yet. */
const addVersion = async () => {
  const publisher = await makeRegistry(service).addPublisher()
  const { id, version: path } = await publisher.addFlagged()
  return { id, path }
}

type StreamEvent = { event: string; data: Record<string, unknown> } | undefined

/** The states of the steps of a version, in their order. */
const statesOf = (event: StreamEvent): unknown[] => {
  assert.equal(event?.event, 'steps')
  return (event.data['steps'] as { state: string }[]).map(({ state }) => state)
}

const streamOf = (id: string) => `${service.baseUrl}/tasks/${id}/stream`
const statusOf = (id: string) => `${IMAGE_API}/image-upscaler/${id}`

describe('the stream of a task', () => {
  test('ends when its process stops, and goes on at the next one', async () => {
    const id = await createTask()
    await using stream = await openStream(streamOf(id), await bearer())
    const created = await stream.next()
    const stopped = service.entry('api')
    stopped.signal('SIGTERM')
    assert.deepEqual(await stream.rest(), [])
    await stopped.end()
    await service.start('api')
    await transition(id, 'IN_PROGRESS')
    const known = { ...(await bearer()), 'last-event-id': String(created?.id) }
    await using again = await openStream(streamOf(id), known)
    assert.equal((await again.next())?.data['status'], 'IN_PROGRESS')
  })

  test('the stream of a task sends where it is, each transition, and the end as its status route does', async () => {
    const id = await createTask()
    await using stream = await openStream(streamOf(id), await bearer())
    const created = await stream.next()
    assert.equal(created?.event, 'state')
    const { created_at: at, ...data } = created.data
    assert.deepEqual(data, { status: 'CREATED', sequence: 1 })
    assert.equal(new Date(String(at)).toISOString(), at)
    await transition(id, 'IN_PROGRESS')
    assert.equal((await stream.next())?.data['status'], 'IN_PROGRESS')
    await transition(id, 'FAILED')
    const [failed, end, ...others] = await stream.rest()
    assert.equal(failed?.data['status'], 'FAILED')
    assert.equal(end?.event, 'end')
    assert.deepEqual(end.data, (await alice.get(statusOf(id))).body)
    assert.deepEqual(others, [])
    const events = listOf(await alice.get(`/tasks/${id}/events`), 'events')
    assert.deepEqual([created.id, failed.id], [events[0]?.['id'], events.at(-1)?.['id']])
  })

  test('the stream of a task says why it waits although nothing of its row changes', async () => {
    const id = await createTask()
    const worker = { id: randomUUID(), identity: 'w', role: 'core', slots: { local: 1 } }
    const letLive = async () => {
      await beatWorker(service.sql, worker)
      await service.sql`update worker set beat_at = now() + interval '1 hour' where id = ${worker.id}`
    }
    await letLive()
    await service.sql`update task set last_moved_at = now() - interval '1 minute' where id = ${id}`
    await service.sql`update outbox set dispatched_at = now() where workflow_id = ${`image-task/${id}`}`
    await using stream = await openStream(streamOf(id), await bearer())
    assert.equal((await stream.next())?.event, 'state')
    const busy = 'It waits for a free worker: all that serve its engine are busy.'
    assert.equal((await stream.next())?.data['waits_for'], busy)
    await service.sql`delete from worker where id = ${worker.id}`
    const unserved = 'It waits: no worker serves its engine now.'
    assert.equal((await stream.next())?.data['waits_for'], unserved)
    // The first poll of the database may have brought that one.
    await letLive()
    assert.equal((await stream.next())?.data['waits_for'], busy)
    await service.sql`delete from worker where id = ${worker.id}`
  })

  test('goes on after Last-Event-ID, and once that names the end there is nothing more', async () => {
    const id = await createTask()
    const headers = await bearer()
    await using first = await openStream(streamOf(id), headers)
    const known = { ...headers, 'last-event-id': String((await first.next())?.id) }
    await transition(id, 'IN_PROGRESS')
    await using second = await openStream(streamOf(id), known)
    assert.equal((await second.next())?.data['sequence'], 2)
    await transition(id, 'FAILED')
    const [failed] = await second.rest()
    const over = await fetch(streamOf(id), {
      headers: { ...headers, 'last-event-id': String(failed?.id) },
    })
    assert.equal(over.status, 204)
  })

  test('rejects a Last-Event-ID that names no event of the task', async () => {
    const [id, other] = [await createTask(), await createTask()]
    await using stream = await openStream(streamOf(other), await bearer())
    const foreign = String((await stream.next())?.id)
    for (const value of ['nonsense', randomUUID(), foreign]) {
      const known = { 'last-event-id': value }
      const rejected = await alice.get(`/tasks/${id}/stream`, known)
      const { body } = expectStatus(rejected, 400, 'validation_failed')
      const issue = `Last-Event-ID must be the id of an event of this task, but is "${value}".`
      assert.equal(body.message, issue)
      assert.deepEqual(body.details, [body.message])
    }
  })

  test('exists for the owner of the task only', async () => {
    const id = await createTask()
    for (const client of [service.client(), service.anonymous])
      assert.equal((await client.get(`/tasks/${id}/stream`)).status, 404)
    assert.equal((await alice.get(`/tasks/${randomUUID()}/stream`)).status, 404)
  })

  test('the stream of a task responds to HEAD with the head alone', async () => {
    const id = await createTask()
    const response = await fetch(streamOf(id), { method: 'HEAD', headers: await bearer() })
    assert.equal(response.status, 200)
    assert.equal(await response.text(), '')
  })

  test('the stream of a task sends the progress of a video, to whoever knows an anonymous one', async () => {
    const id = await service.anonymous.createVideo({ model: 'videoq1', prompt: 'a lake' })
    await service.sql`update task set progress = 30 where id = ${id}`
    await using stream = await openStream(streamOf(id))
    assert.equal((await stream.next())?.data['status'], 'created')
    assert.equal((await stream.next())?.data['status'], 'queueing')
    assert.deepEqual(await stream.next(), { event: 'progress', data: { progress: 30 } })
    await service.sql`update task set progress = 60, rev = rev + 1 where id = ${id}`
    // No notification: the poll of the api finds it.
    assert.deepEqual(await stream.next(), { event: 'progress', data: { progress: 60 } })
  })
})

describe('the stream of all tasks of a caller', () => {
  const open = async (user: string, more: object = {}) =>
    await openStream(`${service.baseUrl}/tasks/stream`, { ...(await bearer(user)), ...more })
  const add = (user: string): Promise<string> => createTask(service.client(user))
  const see = (event: StreamEvent) => [event?.event, event?.data['task_id'], event?.data['state']]

  test('the stream of all tasks sends those that are open, each change, and new ones', async () => {
    const [user, other] = [randomUUID(), randomUUID()]
    const [ended, running] = [await add(user), await add(user)]
    await transition(ended, 'FAILED')
    await using stream = await open(user)
    assert.deepEqual(see(await stream.next()), ['task', running, 'queued'])
    await add(other)
    await transition(running, 'IN_PROGRESS')
    const moved = await stream.next()
    assert.deepEqual(see(moved), ['task', running, 'running'])
    assert.match(String(moved?.id), /^\d{13}$/)
    assert.deepEqual(moved?.data, (await service.client(user).get('/tasks')).body['tasks']?.[0])
    const made = await add(user)
    assert.deepEqual(see(await stream.next()), ['task', made, 'queued'])
    await transition(made, 'FAILED')
    assert.deepEqual(see(await stream.next()), ['task', made, 'failed'])
  })

  test('the stream of all tasks sends progress twice a second at most', async () => {
    const user = randomUUID()
    const client = service.client(user)
    const id = await client.createVideo({ prompt: 'a lake' })
    const start = performance.now()
    await using stream = await open(user)
    await stream.next()
    for (let progress = 1; progress <= 20; progress += 1)
      await enqueueFor(
        id,
        (sql) => sql`update task set progress = ${progress}, rev = rev + 1 where id = ${id}`,
      )
    const received: unknown[] = []
    while (received.at(-1) !== 20) received.push((await stream.next())?.data['progress'])
    // A slow machine makes the time between two reads longer alone.
    assert.ok(received.length <= 1 + (performance.now() - start) / 500, received.join())
  })

  test('goes on after Last-Event-ID with what has changed since', async () => {
    const user = randomUUID()
    const [first, second] = [await add(user), await add(user)]
    const [newest] = listOf<TaskItem>(await service.client(user).get('/tasks'), 'tasks')
    await transition(first, 'FAILED')
    // As the id of an event is.
    const known = String(Date.parse(newest?.created_at ?? ''))
    await using stream = await open(user, { 'last-event-id': known })
    const received = [see(await stream.next()), see(await stream.next())]
    const states = new Map(received.map(([, id, state]) => [id, state]))
    assert.deepEqual([states.get(first), states.get(second)], ['failed', 'queued'])
    const wrong = await service.client(user).get('/tasks/stream', { 'last-event-id': 'x' })
    const { body } = expectStatus(wrong, 400, 'validation_failed')
    const issue = 'Last-Event-ID must be an id that this stream gave, a number, but is "x".'
    assert.deepEqual(body.details, [issue])
    await using empty = await open(user, { 'last-event-id': '' })
    assert.ok(await empty.next())
  })
})

describe('the stream of a version', () => {
  test('the stream of a version sends it after each change, and the end when it is final', async () => {
    const { path, id } = await addVersion()
    await using stream = await openStream(`${service.baseUrl}${path}/stream`)
    const steps = await stream.next()
    assert.deepEqual(statesOf(steps), ['done', 'running', 'running', 'running', 'held'])
    const state = await stream.next()
    assert.equal(state?.event, 'state')
    assert.deepEqual(state.data, (await service.anonymous.get(path)).body)
    const reading = alice.get(path, { prefer: 'wait=60', 'if-none-match': `"${state.id}"` })
    await enqueueFor(id, (sql) => failExtraction(sql, { versionId: id, reason: 'no_nodes' }))
    const { headers, body } = await reading
    assert.equal(headers.get('preference-applied'), 'wait=60')
    const [failed, end, ...others] = await stream.rest()
    assert.deepEqual(statesOf(failed), ['done', 'running', 'running', 'failed', 'held'])
    assert.deepEqual(others, [])
    assert.equal(end?.event, 'end')
    assert.deepEqual(end.data, body)
    const over = await fetch(`${service.baseUrl}${path}/stream`, {
      headers: { 'last-event-id': String(end.id) },
    })
    assert.equal(over.status, 204)
  })

  test('the stream of a version sends a large one to a client that reads', async () => {
    const publisher = await makeRegistry(service).addPublisher()
    const given = { changelog: 'x'.repeat(65_536) }
    const { id, version: path } = await publisher.addFlagged({ given })
    await using stream = await openStream(`${service.baseUrl}${path}/stream`)
    const next = async () => (await stream.next())?.event
    assert.deepEqual([await next(), await next()], ['steps', 'state'])
    await enqueueFor(id, (sql) => failExtraction(sql, { versionId: id, reason: 'no_nodes' }))
    assert.deepEqual([await next(), await next()], ['steps', 'end'])
  })

  test('of one that was banned before its archive came has ended', async () => {
    const registry = makeRegistry(service)
    const { nodeId, version: path } = await (await registry.addPublisher()).addVersion()
    const status = { status: 'NodeVersionStatusBanned', status_reason: 'spam' }
    const number = path.split('/').at(-1)
    const banned = await registry.admin.put(`/admin/nodes/${nodeId}/versions/${number}`, status)
    expectStatus(banned, 200)
    // The ETag of a final version is no end that was sent.
    const headers = { 'last-event-id': String(banned.headers.get('etag')).replaceAll('"', '') }
    await using stream = await openStream(`${service.baseUrl}${path}/stream`, headers)
    const states = ['waiting', 'waiting', 'waiting', 'waiting', 'failed']
    assert.deepEqual(statesOf(await stream.next()), states)
    assert.equal((await stream.next())?.event, 'end')
  })

  test('a version may be waited for past every cache, until it is final', async () => {
    const { id, path } = await addVersion()
    const cacheControl = async () =>
      (await service.anonymous.get(path)).headers.get('cache-control')
    assert.equal(await cacheControl(), 'private, no-cache')
    await enqueueFor(id, (sql) => failExtraction(sql, { versionId: id, reason: 'no_nodes' }))
    assert.match(String(await cacheControl()), /^public/)
  })

  test('of no version is a 404', async () => {
    const { path } = await addVersion()
    expectStatus(await service.anonymous.get(`${path}9/stream`), 404, 'version_not_found')
  })
})

describe('a read that prefers to wait', () => {
  test('a read that prefers to wait returns when the caller has something else', async () => {
    const id = await createTask()
    const etag = String((await alice.get(statusOf(id))).headers.get('etag'))
    const reading = alice.get(statusOf(id), {
      prefer: 'respond-async, WAIT=60',
      'if-none-match': etag,
    })
    await transition(id, 'IN_PROGRESS')
    const { status, headers, body } = await reading
    assert.deepEqual([status, body.data.status], [200, 'IN_PROGRESS'])
    assert.equal(headers.get('preference-applied'), 'wait=60')
  })

  test('a read that prefers to wait returns after so long without a change', async () => {
    const id = await createTask()
    const { headers, body } = await alice.get(statusOf(id), { prefer: 'wait=1' })
    assert.equal(body.data.status, 'CREATED')
    const etag = String(headers.get('etag'))
    const same = await alice.get(statusOf(id), { prefer: 'wait="1"', 'if-none-match': etag })
    assert.equal(same.status, 304)
  })

  test('a read of what has ended returns at once', async () => {
    const id = await createTask()
    await alice.create(`${statusOf(id)}/cancel`, {})
    assert.equal((await alice.get(statusOf(id), { prefer: 'wait=60' })).body.data.status, 'FAILED')
  })

  test('a read that prefers to wait for longer than a minute waits for a minute', async () => {
    const id = await createTask()
    const etag = String((await alice.get(statusOf(id))).headers.get('etag'))
    const reading = alice.get(statusOf(id), { prefer: 'wait=6100', 'if-none-match': etag })
    await transition(id, 'IN_PROGRESS')
    assert.equal((await reading).headers.get('preference-applied'), 'wait=60')
  })

  for (const [prefer, ignored] of [
    ['wait=0', 'Prefer:wait'],
    ['await=5', null],
    ['wait=-1', 'Prefer:wait'],
    ['wait=1.5', 'Prefer:wait'],
    ['wait=soon', 'Prefer:wait'],
  ] as const)
    test(`a read with \`${prefer}\` returns at once`, async () => {
      const id = await createTask()
      const { headers } = expectStatus(await alice.get(statusOf(id), { prefer }), 200)
      assert.doesNotMatch(headers.get('preference-applied') ?? '', /wait/)
      assert.equal(headers.get('ignored-fields'), ignored)
    })
})

describe('what lasts', () => {
  const makeKey = async () => {
    const made = expectStatus(await alice.post('/users/api-keys', { name: 'watch' }), 201)
    const revoke = () => alice.delete(`/users/api-keys/${String(made.body['id'])}`)
    return { headers: { 'x-api-key': String(made.body['key']) }, revoke }
  }

  const STREAMS: Record<string, () => Promise<string>> = {
    'the stream of a task': async () => `/tasks/${await createTask()}/stream`,
    'the stream of all tasks': async () => {
      await createTask()
      return '/tasks/stream'
    },
    'the stream of a version': async () => `${(await addVersion()).path}/stream`,
  }
  for (const [name, prepare] of Object.entries(STREAMS))
    test(`${name} ends soon after its API key has`, async () => {
      const { headers, revoke } = await makeKey()
      await using stream = await openStream(service.baseUrl + (await prepare()), headers)
      assert.ok(await stream.next())
      expectStatus(await revoke(), 204)
      assert.ok((await stream.rest()).every(({ event }) => event !== 'end'))
    })

  test('a read that waits is rejected when its API key has ended meanwhile', async () => {
    const id = await createTask()
    const { headers, revoke } = await makeKey()
    const keyed = makeClient(service.baseUrl)
    const etag = String((await alice.get(statusOf(id))).headers.get('etag'))
    const prefer = { ...headers, prefer: 'wait=60', 'if-none-match': etag }
    const reading = keyed.get(statusOf(id), prefer)
    await waitFor('it waits', async () => {
      const [{ used } = { used: null }] = await service.sql<{ used: Date | null }[]>`
        select max(last_used_at) as used from api_key where name = 'watch' and revoked_at is null
      `
      return used !== null
    })
    expectStatus(await revoke(), 204)
    await transition(id, 'IN_PROGRESS')
    expectStatus(await reading, 401, 'unauthorized')
  })
})

describe('a stream whose poll of the database breaks off in the middle', () => {
  let baseUrl: string
  before(async () => {
    ;({ baseUrl } = await service.startSecondApi({ ...AWAITS_OUTAGE, OVERRIDE_STREAMS_MAX: '30' }))
  })

  /** On a busy machine this api gives up on a query, and it counts a stream until it has seen its end. */
  const open = async (path: string, headers?: Record<string, string>) =>
    await waitFor('a stream', () => openStream(baseUrl + path, headers).catch(() => undefined))

  const isWaiting = async (): Promise<boolean> => {
    const [waiting] = await service.sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'kiln api' and wait_event_type = 'Lock'
    `
    return waiting !== undefined
  }

  /** Does work while nobody can read a table, and until a statement of an api has given up there. */
  const whileLocked = async (table: string, work: () => Promise<unknown>): Promise<void> => {
    await unitOfWork({ sql: service.sql }, async (sql) => {
      await sql`lock table ${sql(table)} in access exclusive mode`
      await work()
      await waitFor('a statement waits', isWaiting)
      await waitFor('it has given up', async () => !(await isWaiting()))
    })
  }

  test('the stream of a task sends each transition although a poll breaks off', async () => {
    const id = await createTask()
    await using stream = await open(`/tasks/${id}/stream`, await bearer())
    await stream.next()
    await whileLocked('task_input', () => transition(id, 'FAILED'))
    const [failed, end] = await stream.rest()
    assert.equal(failed?.data['status'], 'FAILED')
    assert.equal(end?.event, 'end')
  })

  test('the stream of a version sends each step although a poll breaks off', async () => {
    const { path, id } = await addVersion()
    await using stream = await open(`${path}/stream`)
    await stream.next()
    await stream.next()
    await whileLocked('scan', () =>
      enqueueFor(
        id,
        (sql) => sql`update version set changelog = 'new', rev = rev + 1 where id = ${id}`,
      ),
    )
    assert.equal((await stream.next())?.data['changelog'], 'new')
  })

  test('the stream of all tasks sends each change although a poll breaks off', async () => {
    const user = randomUUID()
    const id = await createTask(service.client(user))
    await using stream = await open('/tasks/stream', await bearer(user))
    await stream.next()
    // The rows name their states by it, and the revisions that are read before do not.
    const [found] = await service.sql<{ text: string }[]>`
      select pg_get_functiondef('task_state'::regproc) as text
    `
    await service.sql.unsafe(SLOW_STATES)
    await transition(id, 'IN_PROGRESS')
    await waitFor('a statement has begun', isSlow)
    await waitFor('it was broken off', async () => !(await isSlow()))
    await service.sql.unsafe(found?.text ?? '')
    assert.equal((await stream.next())?.data['state'], 'running')
  })

  test('is one of so many of a caller', async () => {
    const id = await createTask()
    const headersOf = await bearer()
    const path = `/tasks/${id}/stream`
    await using one = await open(path, headersOf)
    await using two = await open(path, headersOf)
    await using three = await open(path, headersOf)
    for (const stream of [one, two, three]) assert.ok(await stream.next())
    const client = makeClient(baseUrl, await service.token('alice'))
    const { headers } = expectStatus(await client.get(path), 429, 'streams_exceeded')
    assert.equal(headers.get('retry-after'), '5')
  })

  const SLOW_STATES = `
    create or replace function task_state(status text, error_code text) returns text
    language plpgsql as $$ begin
      if current_setting('application_name') = 'kiln api' then perform pg_sleep(600); end if;
      return null;
    end $$
  `
  const isSlow = async (): Promise<boolean> => {
    const [slow] = await service.sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'kiln api' and wait_event = 'PgSleep'
    `
    return slow !== undefined
  }
})

describe('watches', () => {
  const who = { address: '192.0.2.1', account: () => 'a' }
  const gone = new AbortController().signal

  test('watches are notified by the first poll, by a later one of what has changed, and before they wait', async () => {
    const watches = makeWatches({ max: 20 })
    const [one, two] = [watches.open('1', who, gone), watches.open('2', who, gone)]
    const poll = async (...revisions: [string, number][]) =>
      await watches.poll(async () => new Map(revisions))
    await poll(['1', 1], ['2', 1])
    for (const watch of [one, two]) assert.equal(await watch.next(60_000), 'changed')
    await poll(['1', 2], ['2', 1])
    assert.equal(await one.next(60_000), 'changed')
    assert.equal(await two.next(1), 'quiet')
    watches.notify()
    assert.equal(await two.next(60_000), 'changed')
    const other = { address: '192.0.2.2', account: () => 'b' }
    const many = watches.open('3', other, gone, new Set(['1', '4']))
    watches.notify('4')
    assert.equal(await many.next(60_000), 'changed')
    watches.notify('2')
    assert.equal(await many.next(1), 'quiet')
    watches.close()
    assert.equal(await two.next(60_000), 'over')
  })

  test('that are closed make room', () => {
    const watches = makeWatches({ max: 10 })
    const first = watches.open('1', who, gone)
    assert.throws(() => watches.open('1', { ...who, account: () => 'b' }, gone), /streams are open/)
    first.close()
    first.close()
    watches.open('1', who, gone).close()
  })
})
