import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import {
  TEXT,
  VIDEO_API,
  assertMembers,
  atOnce,
  expectStatus,
  makeClient,
} from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { EXTEND, TASKS, create, createId, idOf, idsOf, list, read } from './video-task-support.ts'

// No worker: every task waits in created.
const service = useService({ roles: ['api'] })
const { sql, anonymous } = service

/** Creates a task of a user of its own. */
const createTask = async (body?: object) => {
  const client = service.client()
  const id = await createId(client, body)
  return { client, id, path: `${TASKS}/${id}/creations` }
}

describe('a video task', () => {
  test('that was made with a credential exists for its owner only', async () => {
    const [alice, bob] = [service.client(), service.client()]
    const id = await createId(alice)
    for (const client of [bob, anonymous]) {
      const { status, body } = await client.get(`${TASKS}/${id}/creations`)
      assert.deepEqual([status, body.details?.[0]], [404, 'TaskNotFound'])
      assert.equal((await client.post(`${TASKS}/${id}/cancel`, {})).status, 404)
    }
    assert.equal((await read(alice, id.toUpperCase())).id, id)
  })

  test('that was made without one belongs to whoever knows its id', async () => {
    const id = await createId(anonymous)
    const bob = service.client()
    for (const client of [anonymous, bob]) assert.equal((await read(client, id)).id, id)
    assert.equal((await bob.post(`${TASKS}/${id}/cancel`, {})).status, 200)
    assert.equal((await read(anonymous, id)).err_code, 'UserCancelled')
  })

  test('is read less often while it waits off-peak', async () => {
    const client = service.client()
    const created = await create(client, { off_peak: true })
    assert.deepEqual([created.body['credits'], created.body['off_peak']], [50, true])
    const { headers, body } = await client.get(`${TASKS}/${idOf(created)}/creations`)
    assert.deepEqual([headers.get('retry-after'), body['off_peak']], ['30', true])
  })
})

describe('a cancel of a video task that waits', () => {
  for (const body of [undefined, {}, { other: 1 }, { id: null }, 'its id'] as const)
    test(`with ${JSON.stringify(body) ?? 'no body'} ends it and gives the credits back`, async () => {
      const { client, id, path } = await createTask({ payload: 'p' })
      const creditsOf = async () => (await client.get(path)).headers.get('x-credits-used')
      assert.equal(await creditsOf(), '100')
      const given = body === 'its id' ? { id: id.toUpperCase() } : body
      const { status, body: response } = await client.call('POST', `${TASKS}/${id}/cancel`, given)
      assert.deepEqual([status, response], [200, {}])
      assert.deepEqual(await read(client, id), {
        id,
        state: 'failed',
        err_code: 'UserCancelled',
        err_msg: 'The caller cancelled the task.',
        credits: 0,
        payload: 'p',
        bgm: false,
        off_peak: false,
        progress: 0,
        creations: [],
      })
      assert.equal(await creditsOf(), '0')
      assert.deepEqual(await ledgerOf(id), [
        ['charge', 100],
        ['refund', 100],
      ])
    })

  test('happens once, however many ask for it', async () => {
    const { client, id } = await createTask()
    const responses = await atOnce(8, () => client.post(`${TASKS}/${id}/cancel`, {}))
    const late = responses.filter(({ status }) => status === 400)
    assert.equal(late.length, 7)
    const message = 'task state is failed, can not cancel'
    for (const { body } of late)
      assertMembers(body, { error: 'cannot_cancel', message, details: ['BadRequest', message] })
    assert.equal((await ledgerOf(id)).length, 2)
    const signals = await sql`
      select from outbox where workflow_id = ${`video-task/${id}`} and signal_name = 'cancelRequested'
    `
    assert.equal(signals.length, 1)
  })
})

const ledgerOf = async (id: string): Promise<[string, number][]> => {
  const rows = await sql<{ kind: string; credits: number }[]>`
    select kind, credits from ledger where task_id = ${id} order by kind
  `
  return rows.map(({ kind, credits }) => [kind, credits])
}

describe('the list of video tasks', () => {
  test('has the caller’s tasks, newest first, with what was asked for', async () => {
    const client = service.client()
    await createId(service.client())
    const older = await create(client, { payload: 'p' })
    const newer = await create(client, { model: 'videoq1' })
    const { tasks, next_page_token: token } = await list(client)
    assert.deepEqual([tasks.map(({ id }) => id), token], [[idOf(newer), idOf(older)], ''])
    assert.deepEqual(tasks[1], {
      ...(await read(client, idOf(older))),
      created_at: older.body['created_at'],
      model: 'videoq3-pro',
      duration: 5,
      resolution: '720p',
    })
  })

  test('is cut by every filter, repeated or with commas', async () => {
    const client = service.client()
    const plain = await createId(client)
    const large = await createId(client, { resolution: '1080p' })
    const other = await createId(client, { model: 'videoq2-pro' })
    await client.post(`${TASKS}/${other}/cancel`, {})
    const cases: [string, string[]][] = [
      ['states=failed', [other]],
      ['states=queueing&states=failed', [other, large, plain]],
      ['states=queueing,failed', [other, large, plain]],
      ['states=created,processing&states=success', []],
      ['model_versions=videoq2-pro', [other]],
      ['resolutions=1080p,540p', [large]],
      ['resolutions=720p&model_versions=videoq3-pro&states=queueing', [plain]],
      [`task_ids=${plain},${large.toUpperCase()}`, [large, plain]],
      [`task_ids=${plain}&task_ids=no-uuid`, [plain]],
      ['task_ids=no-uuid', []],
      [`created_at.to=2000-01-01T00:00:00Z`, []],
      [`created_at.from=0000-01-01T00:00:00Z`, [other, large, plain]],
      [
        `created_at.from=2016-12-31T23:59:60Z&created_at.to=9999-12-31T23:59:59-14:00`,
        [other, large, plain],
      ],
      ['pager.page_token=&other=x', [other, large, plain]],
    ]
    for (const [query, expected] of cases)
      assert.deepEqual(idsOf(await list(client, query)), expected, query)
  })

  test('begins seven days ago unless the query names another time', async () => {
    const client = service.client()
    const old = await createId(client)
    await sql`update task set created_at = created_at - interval '8 days' where id = ${old}`
    const recent = await createId(client)
    assert.deepEqual(idsOf(await list(client)), [recent])
    const from = new Date(Date.now() - 9 * 86_400_000).toISOString()
    assert.deepEqual(idsOf(await list(client, `created_at.from=${from}`)), [recent, old])
  })

  test('comes in pages, by token and by number', async () => {
    const client = service.client()
    const ids: string[] = []
    for (let made = 0; made < 12; made += 1) ids.unshift(await createId(client))
    // Of one moment, so that only their ids tell them apart; of microseconds, which no Date of JavaScript keeps.
    await sql`
      update task set created_at = date_trunc('second', now()) + interval '123456 microseconds'
      where id in ${sql(ids.slice(3, 8))}
    `
    const all = idsOf(await list(client, 'pager.pagesz=100'))
    assert.deepEqual(all.toSorted(), ids.toSorted())
    assert.deepEqual(idsOf(await list(client)), all.slice(0, 10))
    assert.deepEqual(idsOf(await list(client, 'pager.page=1')), all.slice(10))
    assert.deepEqual(idsOf(await list(client, 'pager.page=1000')), [])
    for (const size of [1, 5]) {
      const walked: string[] = []
      for (let token = '', first = true; first || token !== ''; first = false) {
        const page = await list(client, `pager.pagesz=${size}&pager.page_token=${token}`)
        walked.push(...idsOf(page))
        token = page.next_page_token
        assert.match(token, /^[\w-]*$/)
        // A newer task moves nothing of the pages that follow.
        if (first) await createId(client)
      }
      assert.deepEqual(
        walked,
        size === 1 ? all : idsOf(await list(client, 'pager.pagesz=100')).slice(1),
      )
    }
  })

  test('finds without a credential only what is named, and only anonymous tasks', async () => {
    const mine = await createId(anonymous)
    const theirs = await createId(service.client())
    assert.deepEqual(idsOf(await list(anonymous, `task_ids=${mine},${theirs}`)), [mine])
  })
})

describe('credits', () => {
  const remainsOf = async (client: Client): Promise<Record<string, unknown>> => {
    const { body } = await client.get(`${VIDEO_API}/credits`)
    return { ...(body['remains'] as never as object[])[0] }
  }

  test('are counted with the tasks that wait, and have no limit unless one is set', async () => {
    const client = service.client()
    const none = {
      credit_remain: null,
      credit_used: 0,
      concurrency_limit: 5,
      current_concurrency: 0,
      queue_count: 0,
    }
    assert.deepEqual(await remainsOf(client), none)
    const id = await createId(client)
    await createId(client, { model: 'videoq1' })
    assert.deepEqual(await remainsOf(client), { ...none, credit_used: 180, current_concurrency: 2 })
    await client.post(`${TASKS}/${id}/cancel`, {})
    assert.deepEqual(await remainsOf(client), { ...none, credit_used: 80, current_concurrency: 1 })
  })

  test('are never passed, however many tasks are made at once', async () => {
    const { baseUrl, entry } = await service.startSecondApi({ OWNER_CREDIT_LIMIT: '250' })
    const token = await service.token(`user-${randomUUID()}`)
    const client = makeClient(baseUrl, token)
    const images = [await base64()]
    const before = (await service.listFiles()).length
    const responses = await atOnce(6, () => client.post(TEXT, { images }))
    const rejected = responses.filter(({ status }) => status === 402)
    assert.deepEqual([responses.length - rejected.length, rejected.length], [2, 4])
    for (const { body } of rejected)
      assert.deepEqual(
        [body.error, body.details?.[0]],
        ['insufficient_credits', 'CreditInsufficient'],
      )
    assert.deepEqual(
      [(await remainsOf(client))['credit_remain'], (await list(client)).tasks.length],
      [50, 2],
    )
    assert.equal((await service.listFiles()).length, before + 2)
    const tried = await client.post(`${TEXT}?dry_run=true`, {})
    for (const { body } of [tried, ...rejected])
      assert.match(body.message ?? '', /and the caller has 50 left/)
    expectStatus(tried, 402, 'insufficient_credits')
    await entry.kill()
  })
})

describe('quotas of what is kept', () => {
  test('reject one more open task or byte, and say what frees some', async () => {
    const { baseUrl, entry } = await service.startSecondApi({
      OWNER_TASK_LIMIT: '2',
      OWNER_BYTE_LIMIT: '1000',
      TRUST_PROXY: '127.0.0.1',
    })
    const rejected = ({ status, headers, body }: HttpResponse) => {
      assert.deepEqual([status, body.error, body.details?.[0]], REJECTED)
      return [headers.get('retry-after'), body.message]
    }
    const REJECTED = [429, 'quota_exceeded', 'TooManyRequests']
    const client = makeClient(baseUrl, await service.token(`user-${randomUUID()}`))
    const large = await client.post(TEXT, { prompt: 'sea', payload: 'x'.repeat(1001) })
    assert.match(rejected(large).join(), /^150,.*1000 bytes.*30 days after the end of their task/)
    const [first] = [await createId(client), await createId(client)]
    const third = await client.post(TEXT, { prompt: 'sea' })
    assert.match(rejected(third).join(), /^30,.*2 open tasks.*have ended or are cancelled/)
    await client.post(`${TASKS}/${first}/cancel`, {})
    await createId(client)
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const anyone = makeClient(baseUrl)
    const post = (address: string) => anyone.post(TEXT, { prompt: 'sea' }, from(address))
    assert.equal((await post('192.0.2.1')).status, 200)
    rejected(await post('192.0.2.1'))
    assert.equal((await post('192.0.2.2')).status, 200)
    await entry.kill()
  })

  test('count a payload once: a repeated creation brings its own', async () => {
    const client = service.client()
    const body = { prompt: 'sea', payload: randomUUID().repeat(100) }
    const key = { 'idempotency-key': randomUUID() }
    const first = await client.post(TEXT, body, key)
    const again = await client.post(TEXT, body, key)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    assert.equal(again.body['payload'], body.payload)
    const [stored] = await sql<{ bytes: number }[]>`
      select octet_length(body) as bytes from idempotency where key = ${key['idempotency-key']}
    `
    assert.ok((stored?.bytes ?? 0) < 1000, 'the stored response is without it')
  })
})

test('callers without a credential have the credits, slots and queue of their address', async () => {
  const { baseUrl, entry } = await service.startSecondApi({
    OWNER_CREDIT_LIMIT: '150',
    VIDEO_CONCURRENCY_PER_OWNER: '3',
    TRUST_PROXY: '127.0.0.1',
  })
  const anyone = makeClient(baseUrl)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const remains = async (address: string) => {
    const { body } = await anyone.get(`${VIDEO_API}/credits`, from(address))
    return (body['remains'] as never as object[])[0]
  }
  const post = async (address: string, model?: string) =>
    (await anyone.post(TEXT, { prompt: 'sea', ...(model && { model }) }, from(address))).status
  const full = { credit_remain: 150, credit_used: 0, concurrency_limit: 3 }
  const idle = { current_concurrency: 0, queue_count: 0 }
  assert.deepEqual(
    [await post('2001:db8:7::1'), await post('2001:db8:7::2'), await post('2001:db8:7::2')],
    [200, 402, 402],
  )
  const used = { ...full, ...idle, credit_remain: 50, credit_used: 100, current_concurrency: 1 }
  assert.deepEqual(await remains('2001:db8:7::3'), used)
  assert.deepEqual(await remains('2001:db8:8::1'), { ...full, ...idle })
  assert.equal(await post('2001:db8:8::1'), 200)
  await entry.kill()
})

test('with VIDEO_AUTH=required every video route needs a credential, and the document says so', async () => {
  const { baseUrl, entry } = await service.startSecondApi({ VIDEO_AUTH: 'required' })
  const nobody = makeClient(baseUrl)
  const calls: [string, string][] = [
    ['POST', TEXT],
    ['POST', EXTEND],
    ['GET', TASKS],
    ['GET', `${VIDEO_API}/credits`],
    ['GET', `${TASKS}/${randomUUID()}/creations`],
    ['POST', `${TASKS}/${randomUUID()}/cancel`],
  ]
  for (const [method, path] of calls) {
    const { status, headers, body } = await nobody.call(method, path)
    assert.deepEqual([status, body.details?.[0]], [401, 'Unauthorized'], path)
    assert.equal(headers.get('www-authenticate'), 'Bearer')
  }
  const known = makeClient(baseUrl, await service.token('known'))
  await create(known)
  const document = (await known.get('/openapi.json')).body as never as {
    paths: Record<string, { post: { security: object[] } }>
  }
  assert.deepEqual(document.paths[TEXT]?.post.security, [{ bearer: [] }, { apiKey: [] }])
  await entry.kill()
})
