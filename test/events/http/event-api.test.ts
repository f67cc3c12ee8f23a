import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import type { TemporalState } from '../../../src/platform/domain/temporal-state.ts'
import type { TaskEvent } from '../../../src/tasks/domain/task-event.ts'
import type { TaskDetail, TaskItem } from '../../../src/tasks/domain/task-item.ts'
import { DOT } from '../../../src/tasks/http/image/examples.ts'
import {
  IMAGE_API,
  IMAGE_URL,
  TEXT,
  UPSCALE,
  VIDEO_API,
  atOnce,
  columnsOf,
  expectStatus,
  listOf,
  pluck,
  statusesOf,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { useService } from '../../support/service.ts'
import { insertTasks } from '../../support/task-rows.ts'
import { openTemporal } from '../../support/temporal-client.ts'

const RECEIVER = 'https://receiver.example.com/kiln?token=not-to-be-seen'
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

// No worker: tasks wait in their first status, and redeliveries stay open.
const service = useService({
  roles: ['api'],
  env: {
    OVERRIDE_ANONYMOUS_REDELIVERIES_PER_EVENT: '2',
    OVERRIDE_ANONYMOUS_REDELIVERIES_PER_HOST: '4',
    ADMIN_SUBJECTS: 'operator',
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233/',
    // Nobody needs the ten thousand starts that one test writes.
    OVERRIDE_RELAY_INTERVAL_MS: '3600000',
  },
})
const { sql, anonymous } = service

/** A small body of each creation; pictures are addresses. */
const EXAMPLES: Record<string, object> = {
  [`${IMAGE_API}/image-relight`]: { image: IMAGE_URL },
  [`${IMAGE_API}/image-upscaler`]: { image: IMAGE_URL },
  [`${IMAGE_API}/image-upscaler-precision-v2`]: { image: IMAGE_URL },
  [`${IMAGE_API}/skin-enhancer/flexible`]: { image: IMAGE_URL },
  [`${IMAGE_API}/skin-enhancer/creative`]: { image: IMAGE_URL },
  [`${IMAGE_API}/skin-enhancer/faithful`]: { image: IMAGE_URL },
  [TEXT]: { prompt: 'sea', duration: 2, model: 'videoq2-pro', seed: 3 },
  [`${VIDEO_API}/img2video`]: { images: [IMAGE_URL], duration: 3 },
  [`${VIDEO_API}/start-end2video`]: {
    images: [IMAGE_URL, IMAGE_URL],
    model: 'videoq2',
    duration: 3,
  },
  [`${VIDEO_API}/extend`]: {
    model: 'videoq2-turbo',
    video_creation_id: randomUUID(),
    video_url: 'https://videos.example.com/a.mp4',
    duration: 2,
  },
}

const createImage = (client: Client, more: object = {}): Promise<string> =>
  client.createImage({ webhook_url: RECEIVER, ...more })

const createVideo = (client: Client, url = RECEIVER): Promise<string> =>
  client.createVideo({ callback_url: url })

const listEvents = async (client: Client, id: string): Promise<TaskEvent[]> =>
  listOf(expectStatus(await client.get(`/tasks/${id}/events`), 200), 'events')

const pathsOf = (id: string, event: { id: string }) => ({
  attempts: `/tasks/${id}/events/${event.id}/attempts`,
  redeliver: `/tasks/${id}/events/${event.id}/redeliver`,
})

/** A task of two events: its creation, and the end that a cancel made. */
interface Ended extends ReturnType<typeof pathsOf> {
  client: Client
  id: string
  end: TaskEvent
}

const cancel = async (client: Client, path: string): Promise<Ended> => {
  await client.post(`${path}/cancel`, {})
  const id = path.split('/').at(-1) ?? ''
  const end = (await listEvents(client, id)).at(-1)
  assert.ok(end, 'the cancel wrote an event')
  return { client, id, end, ...pathsOf(id, end) }
}

const createEnded = async (client = service.client(), body?: object): Promise<Ended> =>
  await cancel(client, `${UPSCALE}/${await createImage(client, body)}`)

const createEndedVideo = async (client = service.client(), url?: string): Promise<Ended> =>
  await cancel(client, `${VIDEO_API}/tasks/${await createVideo(client, url)}`)

const createExhausted = async (client?: Client): Promise<Ended> => {
  const ended = await createEnded(client)
  await sql`update event set state = 'exhausted', failures = 10 where id = ${ended.end.id}`
  return ended
}

/** The starts of redeliveries of a task's events, in the outbox whether sent or not. */
const startsOf = async (id: string): Promise<{ args: unknown; options: object }[]> => [
  ...(await sql<{ args: unknown; options: object }[]>`
    select o.args, o.options from outbox o
    join redelivery d on o.workflow_id = 'redeliver-event/' || d.id
    join event e on e.id = d.event_id
    where e.task_id = ${id} and o.workflow_type = 'redeliverEvent' and o.task_queue = ${service.taskQueue}
  `),
]

describe('the events of a task', () => {
  test('are those of its moves, in order; those for its receiver are pending', async () => {
    const { client, id } = await createEnded()
    const events = await listEvents(client, id)
    assert.deepEqual(
      events.map(({ id: _id, created_at: _time, ...event }) => event),
      [
        { sequence: 1, status: 'CREATED', state: 'unsent', attempts: 0 },
        { sequence: 2, status: 'FAILED', state: 'pending', attempts: 0 },
      ],
    )
    for (const { id, created_at: time } of events) {
      assert.match(id, UUID)
      assert.equal(new Date(time).toISOString(), time)
    }
  })

  test('are all unsent where the task names no receiver', async () => {
    for (const webhook_url of [undefined, null]) {
      const { client, id } = await createEnded(service.client(), { webhook_url })
      assert.deepEqual(pluck(await listEvents(client, id), 'state'), ['unsent', 'unsent'])
      const { body } = await client.get(`/tasks/${id}/events`)
      assert.equal('webhook_url' in body, false)
    }
  })

  test('are listed with the URL that they are sent to, without its query', async () => {
    const { client, id } = await createEnded()
    const { body } = await client.get(`/tasks/${id}/events`)
    assert.match(RECEIVER, /\?token=/)
    assert.equal(body['webhook_url'], RECEIVER.replace(/\?.*/, ''))
  })

  test('events show how many attempts were made and when the next is due, of a redelivery too', async () => {
    const { client, id, end, redeliver } = await createEnded()
    const due = '2030-01-02T03:04:05.678Z'
    await sql`update event set next_attempt_at = ${due} where id = ${end.id}`
    await sql`
      insert into attempt (event_id, number, url, duration_ms, status, error_class)
      select ${end.id}, n, 'https://receiver.example.com/kiln', 1, 500, 'status_5xx'
      from generate_series(1, 3) n
    `
    const [, pending] = await listEvents(client, id)
    assert.deepEqual([pending?.attempts, pending?.next_attempt_at], [3, due])
    await sql`update event set state = 'exhausted', next_attempt_at = null where id = ${end.id}`
    await client.post(redeliver, {})
    const [, exhausted] = await listEvents(client, id)
    assert.deepEqual([exhausted?.state, exhausted?.next_attempt_at], ['exhausted', undefined])
    const again = '2031-01-02T03:04:05.678Z'
    await sql`update redelivery set next_attempt_at = ${again} where event_id = ${end.id}`
    assert.equal((await listEvents(client, id)).at(-1)?.next_attempt_at, again)
  })

  test('are found by an id in capitals', async () => {
    const { client, id, end } = await createEnded()
    assert.equal((await listEvents(client, id.toUpperCase())).length, 2)
    const { attempts } = pathsOf(id.toUpperCase(), { id: end.id.toUpperCase() })
    expectStatus(await client.get(attempts), 200)
  })
})

describe('events of an image task', () => {
  test('exist for its owner only', async () => {
    const { id, attempts, redeliver } = await createEnded()
    for (const client of [service.client(), anonymous])
      for (const response of [
        await client.get(`/tasks/${id}/events`),
        await client.get(attempts),
        await client.post(redeliver, {}),
      ])
        expectStatus(response, 404, 'task_not_found')
    assert.deepEqual(await startsOf(id), [])
  })
})

describe('events of an anonymous task', () => {
  test('belong to whoever knows its id', async () => {
    const id = await createVideo(anonymous)
    for (const client of [anonymous, service.client()]) {
      const [first] = await listEvents(client, id)
      assert.ok(first, 'it has its first event')
      const { body } = expectStatus(await client.get(pathsOf(id, first).attempts), 200)
      assert.deepEqual(body, { attempts: [] })
    }
  })

  test('of which one is named with another task are not found', async () => {
    const [mine, other] = [await createVideo(anonymous), await createVideo(anonymous)]
    const [event] = await listEvents(anonymous, other)
    assert.ok(event, 'it has its first event')
    const { attempts, redeliver } = pathsOf(mine, event)
    expectStatus(await anonymous.get(attempts), 404, 'event_not_found')
    expectStatus(await anonymous.post(redeliver, {}), 404, 'event_not_found')
  })
})

test('the attempts at an event show what is known of each, and not the address that was dialled', async () => {
  const { client, end, attempts } = await createEnded()
  const startedAt = '2026-01-01T00:00:02.000Z'
  const url = 'https://receiver.example.com/kiln'
  const common = { event_id: end.id, url, started_at: startedAt }
  const dueAt = '2026-01-01T00:00:07.000Z'
  const rows = [
    { number: 1, duration_ms: 12, status: 503, error_class: 'status_5xx', answer: 'busy' },
    { number: 2, duration_ms: 15_000, error_class: 'timeout' },
    { number: 3, duration_ms: 7, status: 204, answer: '' },
    { number: 4 },
  ]
  for (const row of rows.toReversed())
    await sql`
      insert into attempt ${sql({
        ...common,
        address: '203.0.113.7',
        next_due_at: row.number < 3 ? dueAt : null,
        ...row,
      })}
    `
  const { body } = await client.get(attempts)
  assert.deepEqual(body['attempts'], [
    {
      ...common,
      number: 1,
      duration_ms: 12,
      status: 503,
      error_class: 'status_5xx',
      excerpt: 'busy',
      next_attempt_at: dueAt,
    },
    { ...common, number: 2, duration_ms: 15_000, error_class: 'timeout', next_attempt_at: dueAt },
    { ...common, number: 3, duration_ms: 7, status: 204, excerpt: '' },
    { ...common, number: 4 },
  ])
})

describe('a redelivery', () => {
  test('is one for as long as it is under way, and another one then', async () => {
    const { client, id, redeliver: path } = await createExhausted()
    const redeliver = async (body?: object): Promise<string> => {
      const response = expectStatus(await client.call('POST', path, body), 202)
      assert.deepEqual(Object.keys(response.body), ['redelivery_id'])
      return String(response.body['redelivery_id'])
    }
    const first = await redeliver()
    assert.match(first, UUID)
    assert.deepEqual([await redeliver({}), await redeliver({})], [first, first])
    const starts = await startsOf(id)
    assert.deepEqual(pluck(starts, 'args'), [[{ redeliveryId: first }]])
    await sql`update redelivery set state = 'exhausted' where id = ${first}`
    assert.notEqual(await redeliver(), first)
    assert.equal((await startsOf(id)).length, 2)
  })

  test('is one, however many ask for it at once', async () => {
    const { client, id, redeliver } = await createExhausted()
    const responses = await atOnce(8, () => client.post(redeliver, {}))
    for (const response of responses) expectStatus(response, 202)
    assert.equal(new Set(responses.map(({ body }) => body['redelivery_id'])).size, 1)
    assert.equal((await startsOf(id)).length, 1)
  })

  test('is rejected for an event that is for the log only', async () => {
    const { client, id } = await createExhausted()
    const [first] = await listEvents(client, id)
    assert.ok(first?.state === 'unsent', 'the first event of a task')
    expectStatus(await client.post(pathsOf(id, first).redeliver, {}), 409, 'not_deliverable')
    assert.deepEqual(await startsOf(id), [])
  })

  test('of an anonymous task is begun by whoever knows its id', async () => {
    const { id, redeliver } = await createEndedVideo(anonymous)
    expectStatus(await anonymous.post(redeliver, {}), 202)
    assert.equal((await startsOf(id)).length, 1)
  })

  describe('has a limit for anonymous callers', () => {
    const createEnd = (url: string): Promise<Ended> => createEndedVideo(anonymous, url)
    /** Asks so often for a redelivery after the one before has ended. */
    const again = async (times: number, { end, redeliver }: Ended, client = anonymous) => {
      const responses = []
      for (let time = 0; time < times; time += 1) {
        responses.push(await client.post(redeliver, {}))
        await sql`update redelivery set state = 'exhausted' where event_id = ${end.id}`
      }
      return responses
    }

    test('on an event, whoever asks', async () => {
      const ended = await createEnd('https://event.example.com/kiln')
      const responses = await again(3, ended)
      assert.deepEqual(statusesOf(responses), [202, 202, 429])
      assert.equal(responses[2]?.body.error, 'redelivery_limit_reached')
      assert.match(responses[2]?.body.message ?? '', /at most 2 times/)
      assert.deepEqual(statusesOf(await again(1, ended, service.client())), [429])
      assert.equal((await startsOf(ended.id)).length, 2)
      const [open] = await sql`
        update redelivery set state = 'pending' where id = (
          select id from redelivery where event_id = ${ended.end.id} limit 1
        ) returning id
      `
      const [repeated] = await again(1, ended)
      assert.deepEqual([repeated?.status, repeated?.body['redelivery_id']], [202, open?.['id']])
    })

    test('on a host within an hour, however it is spelt', async () => {
      const spellings = ['host.example.com', 'HOST.example.com:8443', 'h%6fst.example.com.']
      const ended = await Promise.all(
        spellings.map((host) => createEnd(`https://${host}/kiln/${randomUUID()}`)),
      )
      const [first, second, third] = ended
      assert.ok(first && second && third, 'there are three')
      const asked = [...(await again(2, first)), ...(await again(2, second))]
      assert.deepEqual(statusesOf(asked), [202, 202, 202, 202])
      const [rejected] = await again(1, third)
      assert.deepEqual([rejected?.status, rejected?.body.error], [429, 'redelivery_limit_reached'])
      const seconds = Number(rejected?.headers.get('retry-after'))
      assert.ok(seconds > 3000 && seconds <= 3600, `${seconds} s`)
      await sql`
        update redelivery set created_at = created_at - interval '1 hour' where id = (
          select id from redelivery where event_id = ${first.end.id} order by created_at limit 1
        )
      `
      assert.deepEqual(statusesOf(await again(2, third)), [202, 429])
    })

    test('and none for an owner', async () => {
      const ended = await createEnded()
      assert.deepEqual(new Set(statusesOf(await again(6, ended, ended.client))), new Set([202]))
    })

    test('that several who ask at once cannot pass', async () => {
      const ended = await atOnce(8, () => createEnd('https://rush.example.com/kiln'))
      const responses = await Promise.all(ended.map((one) => again(1, one)))
      const statuses = statusesOf(responses.flat())
      assert.equal(statuses.filter((status) => status === 202).length, 4, statuses.join())
    })
  })

  test('a redelivery that is repeated with its key gets the same response, after its end too', async () => {
    const { client, id, end, redeliver: path } = await createExhausted()
    const redeliver = () => client.post(path, {}, { 'idempotency-key': 'again' })
    const first = await redeliver()
    await sql`update redelivery set state = 'delivered' where event_id = ${end.id}`
    const second = await redeliver()
    assert.deepEqual([second.status, second.body], [202, first.body])
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.equal((await startsOf(id)).length, 1)
  })
})

describe('a redelivery of all exhausted events since a time', () => {
  const redeliver = async (
    client: Client,
    since: string,
    headers?: Record<string, string>,
  ): Promise<number> => {
    const { body } = expectStatus(await client.post('/events/redeliver', { since }, headers), 202)
    return Number(body['redeliveries'])
  }
  const LONG_AGO = '2020-01-01T00:00:00Z'

  test('takes those of the caller, and only what is exhausted', async () => {
    const [alice, bob] = [service.client(), service.client()]
    const [exhausted, others] = [() => createExhausted(alice), () => createExhausted(bob)]
    const tasks = [await exhausted(), await exhausted(), await others(), await createEnded(alice)]
    assert.equal(await redeliver(alice, LONG_AGO), 2)
    const starts = await Promise.all(tasks.map(({ id }) => startsOf(id)))
    assert.deepEqual(
      starts.map(({ length }) => length),
      [1, 1, 0, 0],
    )
    const options = Object.keys(starts[0]?.[0]?.options ?? {}).toSorted()
    assert.equal(options.join(), 'fairnessKey,priorityKey,searchAttributes,summary')
  })

  test('takes those before a time and of a batch, and everything only where that is said', async () => {
    const { client, end, id } = await createExhausted()
    await sql`update event set created_at = '2026-05-01T12:00:00Z' where id = ${end.id}`
    const post = (body: object) => client.post('/events/redeliver', body)
    const count = async (body: object) =>
      expectStatus(await post(body), 202).body['redeliveries'] as unknown
    const at = '2026-05-01T12:00:00Z'
    for (const body of [
      { until: at },
      { to: at },
      { since: LONG_AGO, until: at },
      { batch_id: id },
    ])
      assert.equal(await count(body), 0, JSON.stringify(body))
    for (const body of [{}, { all: false }, { since: null }])
      assert.match(
        expectStatus(await post(body), 400, 'validation_failed').body.message ?? '',
        /^\/(all must be true|since must be absent)/,
      )
    expectStatus(await post({ since: at, all: true }), 400, 'incompatible_fields')
    assert.equal(await count({ all: true }), 1)
  })

  test('takes none twice while it is under way', async () => {
    const { client } = await createExhausted()
    assert.deepEqual([await redeliver(client, LONG_AGO), await redeliver(client, LONG_AGO)], [1, 0])
  })

  test('counts from the moment of the move on, whatever the zone', async () => {
    const { client, end } = await createExhausted()
    await sql`update event set created_at = '2026-05-01T12:00:00Z' where id = ${end.id}`
    assert.equal(await redeliver(client, '2026-05-01T12:00:00.001Z'), 0)
    assert.equal(await redeliver(client, '2026-05-01T12:30:00+00:00'), 0)
    assert.equal(await redeliver(client, '2026-05-01T14:00:00+02:00'), 1)
  })

  for (const [since, count] of [
    ['0000-01-01T00:00:00Z', 1],
    ['0001-01-01T00:00:00+23:59', 1],
    ['1969-12-31T23:59:59Z', 1],
    ['2016-12-31T23:59:60Z', 1],
    ['9999-12-31T23:59:59Z', 0],
    ['9999-12-31T23:59:59-23:59', 0],
  ] as const)
    test(`takes ${since} for a time`, async () => {
      const { client } = await createExhausted()
      assert.equal(await redeliver(client, since), count)
    })

  test('of a caller that has none is none', async () => {
    assert.equal(await redeliver(service.client(), LONG_AGO), 0)
  })

  test('takes at most 10,000, and a repetition the next ones while those are under way', async () => {
    const { client, id } = await createEnded()
    await sql`
      insert into event (task_id, sequence, status, deliver, created_at, state)
      select ${id}, n, 'FAILED', true, clock_timestamp(), 'exhausted' from generate_series(3, 10004) n
    `
    const taken = [await redeliver(client, LONG_AGO), await redeliver(client, LONG_AGO)]
    assert.deepEqual(taken, [10_000, 2])
    // Nobody else's start is to wait for the relay to have sent all of these.
    await sql`delete from outbox where workflow_type = 'redeliverEvent' and dispatched_at is null`
  })
})

describe('the tasks of a caller', () => {
  const list = async (client: Client, query = ''): Promise<[TaskItem[], string | undefined]> => {
    const { body } = expectStatus(await client.get(`/tasks?${query}`), 200)
    const { tasks, next } = body as unknown as { tasks: TaskItem[]; next?: string }
    return [tasks, next]
  }
  const idsOf = (tasks: object[]) => pluck(tasks, 'task_id')

  test('are in one list, newest first, with what a page shows of each', async () => {
    const client = service.client()
    const image = await createImage(client, { prompt: 'Harbour at night', engine: 'vendor_sharpy' })
    const video = await createVideo(client)
    const { id: ended } = await createEnded(client)
    const [tasks, next] = await list(client)
    assert.deepEqual([idsOf(tasks), next], [[ended, video, image], undefined])
    const [, , { created_at: at, ...first }] = tasks as [TaskItem, TaskItem, TaskItem]
    assert.equal(new Date(at).toISOString(), at)
    assert.deepEqual(first, {
      task_id: image,
      kind: 'upscale',
      family: 'image',
      state: 'queued',
      status: 'CREATED',
      rev: 1,
      progress: 0,
      prompt: 'Harbour at night',
      engine: 'vendor_sharpy',
      credits: 0,
      cancellable: true,
      path: `${UPSCALE}/${image}`,
    })
    assert.equal(tasks[1]?.path, `${VIDEO_API}/tasks/${video}`)
    assert.deepEqual(
      [tasks[0]?.state, tasks[0]?.error?.code, tasks[0]?.cancellable],
      ['cancelled', 'cancelled', false],
    )
    for (const [query, ids] of [
      ['kind=upscale,extend', [ended, image]],
      ['kind=text2video', [video]],
      ['state=cancelled', [ended]],
      ['state=queued,running&kind=upscale', [image]],
      ['q=HARBOUR', [image]],
      ['q=%25', []],
      [`from=${encodeURIComponent(tasks[1]?.created_at ?? '')}&q=`, [ended, video]],
      [`to=${at}`, []],
    ] as const)
      assert.deepEqual(idsOf((await list(client, query))[0]), ids, query)
    assert.deepEqual((await list(service.client()))[0], [])
  })

  test('come in pages without a gap, and are counted', async () => {
    const client = service.client()
    const ids: string[] = []
    for (let made = 0; made < 5; made += 1) ids.unshift(await createVideo(client))
    let after: string | undefined = ''
    for (const page of [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]) {
      const [tasks, next] = await list(client, `limit=2&after=${after}`)
      assert.deepEqual(idsOf(tasks), page)
      after = next
    }
    assert.equal(after, undefined)
    await createExhausted(client)
    assert.deepEqual((await client.get('/tasks/summary')).body, {
      open: { waiting: 0, queued: 5, running: 0 },
      day: { done: 0, failed: 0, cancelled: 1 },
      exhausted_deliveries: 1,
      capped: false,
    })
  })

  test('are all found past those that do not match, page by page', async () => {
    const owner = `many-${randomUUID()}`
    const columns = {
      settings: sql`jsonb_build_object('prompt', case when n = 1 then 'needle' end)`,
      created_at: sql`now() - interval '1 hour' + n * interval '1 ms'`,
    }
    const many = { owner, kind: 'relight', state: 'cancelled' } as const
    await insertTasks(sql, { ...many, count: 20_010, columns })
    const client = service.client(owner)
    const [tasks, next] = await list(client, 'q=needle')
    assert.deepEqual(tasks, [])
    assert.equal((await list(client, `q=needle&after=${next}`))[0].length, 1)
  })

  test('are listed of all owners for platform admins', async () => {
    const [client, operator] = [service.client(), service.client('operator')]
    const id = await createImage(client)
    const anonymousId = await createVideo(anonymous)
    const tasks = listOf<TaskItem>(await operator.get('/admin/tasks?limit=2'), 'tasks')
    assert.deepEqual(idsOf(tasks), [anonymousId, id])
    assert.equal(tasks[0]?.owner, 'anonymous')
    const mine = await operator.get(`/admin/tasks?owner=${tasks[1]?.owner}`)
    assert.deepEqual(idsOf(listOf(mine, 'tasks')), [id])
  })

  test('have their events in one list', async () => {
    const client = service.client()
    const [first, second] = [await createExhausted(client), await createEnded(client)]
    const read = async (query: string) => {
      const { body } = await client.get(`/events?${query}`)
      return body as unknown as { events: { task_id: string; id: string }[]; next?: string }
    }
    const all = await read('limit=3')
    assert.deepEqual(idsOf(all.events), [second.id, second.id, first.id])
    assert.deepEqual([all.events[0]?.id, all.events[2]?.id], [second.end.id, first.end.id])
    const rest = await read(`limit=3&after=${all.next}`)
    assert.deepEqual([rest.events.length, rest.next], [1, undefined])
    const exhausted = await read('state=exhausted,stopped')
    assert.deepEqual(pluck(exhausted.events), [first.end.id])
  })
})

describe('a task with all of its life', () => {
  const read = async (client: Client, id: string): Promise<TaskDetail> => {
    const { body } = expectStatus(await client.get(`/tasks/${id}`), 200)
    return body as unknown as TaskDetail
  }

  test('a task shows its owner what was sent, and admins that without secrets', async (t) => {
    const client = service.client()
    const image = 'https://images.example.com/a.png?key=not-to-be-seen'
    const { id } = await createEnded(client, { image, prompt: 'a' })
    const { request, inputs, moves: transitions, ...rest } = await read(client, id)
    assert.equal(request.path, UPSCALE)
    const body = request.body as Record<string, unknown>
    assert.deepEqual([body['image'], body['webhook_url']], [image, RECEIVER])
    assert.deepEqual(inputs, [{ field: 'image', url: image }])
    assert.deepEqual(columnsOf(transitions, 'sequence', 'status', 'state'), [
      [1, 'CREATED', 'waiting'],
      [2, 'FAILED', 'cancelled'],
    ])
    assert.deepEqual([rest.attempts, rest.results, rest.owner], [[], [], undefined])
    const seen = await read(service.client('operator'), id)
    const ui = 'http://127.0.0.1:8233/namespaces/default/workflows'
    assert.equal(seen.temporal_url, `${ui}/image-task%2F${id}`)
    const { body: operations } = await service.client('operator').get('/admin/operations')
    const { temporal: shown } = operations as unknown as { temporal: TemporalState }
    const { ui_url: list, views } = shown
    assert.equal(list, ui)
    assert.equal(views?.length, 6)
    const temporal = await openTemporal(t)
    for (const { name, url } of views) {
      const query = new URL(url).searchParams.get('query') ?? ''
      // Temporal rejects a filter that it cannot read.
      assert.ok((await temporal.workflow.count(query)).count >= 0, name)
    }
    assert.doesNotMatch(JSON.stringify(seen), /not-to-be-seen/)
    assert.equal((await service.client().get(`/tasks/${id}`)).status, 404)
  })

  test('a task can be made again from what it shows, whatever its kind', async () => {
    const client = service.client()
    for (const [path, example] of Object.entries(EXAMPLES)) {
      const { body } = await client.create(path, example)
      const { request } = await read(client, body.data?.task_id ?? body['task_id'])
      assert.equal(request.path, path)
      await client.create(request.path, request.body)
    }
  })

  test('exists for whoever knows the id of an anonymous video, and nobody else of others', async () => {
    const id = await createVideo(anonymous)
    assert.equal((await read(anonymous, id)).task_id, id)
    assert.equal((await read(service.client(), id)).state, 'queued')
    const own = await createVideo(service.client())
    assert.equal((await anonymous.get(`/tasks/${own}`)).status, 404)
  })

  test('names each attempt at rendering', async () => {
    const TIME = '2026-01-01T00:00:0'
    const id = await createImage(service.client('carol'))
    await sql`
      update task set status = 'IN_PROGRESS', attempts = ${sql.json([
        { n: 1, at: `${TIME}0Z`, failed_at: `${TIME}1Z`, error: 'engine_failed' },
        { n: 2, at: `${TIME}2Z` },
        { n: 3, at: `${TIME}3Z` },
      ])} where id = ${id}
    `
    const { attempts } = await read(service.client('carol'), id)
    assert.deepEqual(columnsOf(attempts, 'number', 'outcome', 'error', 'ended_at'), [
      [1, 'failed', 'engine_failed', `${TIME}1.000Z`],
      [2, 'lost', undefined, `${TIME}3.000Z`],
      [3, 'running', undefined, undefined],
    ])
  })
})

describe('a creation that is only tried', () => {
  const stateOf = async () => [
    await sql`
      select (select count(*) from task) as tasks, (select count(*) from outbox) as starts,
        (select count(*) from idempotency) as keys, (select count(*) from ledger) as charges,
        (select count(*) from owner) as accounts
    `,
    await service.listFiles(),
  ]

  for (const [path, example] of Object.entries(EXAMPLES))
    test(`a dry run at ${path} shows its price and makes nothing`, async () => {
      const client = service.client()
      const before = await stateOf()
      const headers = { 'idempotency-key': randomUUID() }
      const body = { ...example, ...(path.endsWith('relight') && { image: DOT }) }
      const attempted = expectStatus(await client.post(`${path}?dry_run=true`, body, headers), 200)
      assert.equal(attempted.headers.get('ratelimit-policy'), null)
      const { credits, ...rest } = attempted.body as unknown as Record<string, unknown>
      assert.deepEqual(Object.keys(rest), ['dry_run', 'estimated_seconds'])
      assert.deepEqual(await stateOf(), before)
      const made = expectStatus(await client.post(path, body, headers), 200)
      assert.equal(made.headers.get('idempotent-replayed'), null)
      assert.equal(made.headers.get('x-credits-used'), String(credits))
    })

  test('a dry run reports all issues that the creation reports', async () => {
    const client = service.client()
    const link = `${service.baseUrl}/files/${randomUUID()}/a.png?expires=1&signature=x`
    for (const [path, body] of [
      [`${IMAGE_API}/image-relight`, { image: 'AAAA', style: 'x', webhook_url: 'ftp://a' }],
      [`${IMAGE_API}/image-upscaler`, { image: link }],
      [`${VIDEO_API}/text2video`, { model: 'video9', duration: 99 }],
      [`${VIDEO_API}/extend`, { model: 'videoq2-pro', video_creation_id: randomUUID() }],
    ] as const) {
      const attempted = await client.post(`${path}?dry_run=1`, body)
      const made = await client.post(path, body)
      assert.ok(made.status >= 400)
      assert.equal(attempted.status, made.status)
      assert.deepEqual(attempted.body.details, made.body.details)
    }
    const perhaps = await client.post(`${UPSCALE}?dry_run=perhaps`, { image: DOT })
    const { body } = expectStatus(perhaps, 400, 'validation_failed')
    assert.match(body.details?.[0] ?? '', /^\?dry_run must be/)
    const key = { 'idempotency-key': 'a b' }
    const attempted = await client.post(`${UPSCALE}?dry_run=true`, { image: DOT }, key)
    expectStatus(attempted, 400, 'idempotency_key_invalid')
  })

  test('names the median of what its kind took lately', async () => {
    const columns = {
      claimed_at: sql`now()`,
      ended_at: sql`now() + (array[3, 5, 100])[n] * interval '1 second'`,
    }
    await insertTasks(sql, { kind: 'skin_faithful', state: 'done', count: 3, columns })
    const path = `${IMAGE_API}/skin-enhancer/faithful?dry_run=true`
    const { body } = await service.client().post(path, { image: DOT })
    assert.deepEqual(body, { dry_run: true, credits: 0, estimated_seconds: 5 })
  })
})
