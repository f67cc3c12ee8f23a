import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'

import type { Pause } from '../../../src/tasks/domain/pause.ts'
import { PAUSED_EVENT } from '../../../src/tasks/domain/waits-for.ts'
import {
  assertMembers,
  expectStatus,
  listOf,
  pluck,
  IMAGE_API,
  TEXT,
  UPSCALE,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { readMetrics } from '../../support/metrics.ts'
import { base64 } from '../../support/pictures.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { postBatch, readBulk, untilBulkEnded } from './bulk-support.ts'
import {
  eventsOf,
  statesOf,
  untilReceived,
  untilSettled,
} from '../../events/http/delivery-support.ts'

const service = useService({
  env: {
    ADMIN_SUBJECTS: 'root',
    METRICS_PORT: '0',
    OVERRIDE_VIDEO_TINY: 'true',
    OVERRIDE_RULES_INTERVAL_MS: '100',
  },
})
const { sql } = service
const root = service.client('root')
const receiver = useWebhookReceiver()

const pathOf = (scope: string) => `/admin/pauses/${encodeURIComponent(scope)}`
const pause = async (scope: string, body: object = {}) =>
  expectStatus(await root.put(pathOf(scope), body), 200).body as unknown as Pause
const resume = async (scope: string) => expectStatus(await root.delete(pathOf(scope)), 204)
const list = async () =>
  expectStatus(await root.get('/admin/pauses'), 200).body['pauses'] as unknown as Pause[]
const readService = async () => expectStatus(await service.anonymous.get('/service'), 200).body
const PAUSED = 'It waits: the service has paused it, and goes on with it later.'
const waitsOf = async (client: Client) =>
  pluck(listOf(await client.get('/tasks'), 'tasks'), 'waits_for')
const fencesOf = async (...ids: string[]) =>
  pluck(await sql`select fence from task where id = any(${ids}) order by fence`, 'fence')

describe('a pause', () => {
  afterEach(async () => {
    for (const { scope } of await list()) await resume(scope)
  })

  test('of all takes tasks, begins none, and lets them go on when it ends', async () => {
    const client = service.client()
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await pause('all', { reason: 'new disks', until })
    const image = await client.createImage({ image: await base64() })
    const video = await client.createVideo()
    const [said] = await waitFor('callers may read it', async () => {
      const { paused } = (await readService()) as { paused?: { what: string; reason: string }[] }
      return paused
    })
    assert.deepEqual([said?.what, said?.reason], ['all', 'new disks'])
    assert.deepEqual(await fencesOf(image, video), [0, 0])
    const reasons = `${PAUSED} The pause ends at ${until.replace(/\.\d{3}Z$/, 'Z')}. Reason: new disks`
    assert.deepEqual(await waitsOf(client), [reasons, reasons])
    await resume('all')
    assert.deepEqual((await waitsOf(client)).includes(reasons), false)
    const warned = service.entry('media').log.filter((line) => /"level":40.*paused/.test(line))
    assert.deepEqual(warned, [])
    assert.equal((await client.untilEnded('image-upscaler', image)).status, 'COMPLETED')
    assert.equal((await client.untilVideoEnded(video)).state, 'success')
    await waitFor('callers read nothing of it', async () => !('paused' in (await readService())))
  })

  test('of one kind is said by a batch that has tasks of it, until these go on', async () => {
    const client = service.client()
    await pause('kind:text2video')
    const film = { prompt: 'a sea', duration: 1, model: 'videoq2-turbo' }
    const video = (body: object) => ({ path: TEXT, body })
    const invalid = video({ ...film, duration: 999 })
    const path = await postBatch(client, { requests: [video(film), invalid, video(film)] })
    const image = { path: UPSCALE, body: { image: await base64() } }
    const other = await postBatch(client, { requests: [image, invalid] })
    await waitFor('both requests are tasks', async () => {
      const { counts, ...batch } = await readBulk(client, path)
      return counts['pending'] === 0 && 'waits_for' in batch && batch
    })
    const held = await readBulk(client, path)
    assertMembers(held, { state: 'running', waits_for: PAUSED })
    const free = await untilBulkEnded(client, other)
    assert.equal('waits_for' in free, false)
    await resume('kind:text2video')
    assert.equal('waits_for' in (await readBulk(client, path)), false)
    assertMembers((await untilBulkEnded(client, path)).counts, { done: 2, rejected: 1 })
  })

  test('of a host holds events without an attempt, and sends them in order at its end', async () => {
    const client = service.client()
    const scope = `host:${new URL(receiver.url('/')).host}`
    await pause(scope)
    const webhook_url = receiver.url('/held')
    const id = await client.createImage({ image: await base64(), webhook_url })
    await client.untilEnded('image-upscaler', id)
    const other = receiver.url('/other').replace('127.0.0.1', 'localhost')
    const second = await client.createImage({ image: await base64(), webhook_url: other })
    await untilReceived(receiver, '/other', 2)
    await untilSettled(client, second)
    assert.deepEqual(receiver.of('/held'), [])
    const waiting = await eventsOf(client, id)
    assert.deepEqual(pluck(waiting, 'attempts'), [0, 0, 0])
    assert.deepEqual(pluck(waiting, 'waits_for'), [undefined, PAUSED_EVENT, PAUSED_EVENT])
    await waitFor('they are deferred', async () => {
      const rows = await sql`select from first_attempt where due_at > now() + interval '1 second'`
      return rows.length === 2
    })
    await resume(scope)
    assert.deepEqual(statesOf(await untilSettled(client, id)), [
      [1, 'CREATED', 'unsent'],
      [2, 'IN_PROGRESS', 'delivered'],
      [3, 'COMPLETED', 'delivered'],
    ])
    assert.equal(receiver.of('/held').length, 2)
    assert.equal('paused' in (await readService()), false)
  })

  test('says what it holds, and what it would hold before it is set', async () => {
    const effectOf = async (scope: string) => expectStatus(await root.get(pathOf(scope)), 200).body
    const host = 'host:hooks.example.com'
    const nothing = { tasks: 0, events: 0, owners: 0 }
    for (const scope of ['kind:relight', host]) assert.deepEqual(await effectOf(scope), nothing)
    await pause(host)
    await pause('all')
    const clients = [service.client('counted'), service.client()] as const
    const webhook_url = 'https://hooks.example.com/'
    const ids: string[] = []
    for (const client of [...clients, clients[0]]) {
      const body = { image: await base64(), webhook_url }
      ids.push((await client.create(`${IMAGE_API}/image-relight`, body)).body.data.task_id)
    }
    assert.deepEqual(await effectOf('kind:relight'), { tasks: 3, events: 0, owners: 2 })
    assert.deepEqual(await effectOf('owner:counted'), { tasks: 2, events: 0, owners: 1 })
    assert.deepEqual(await effectOf('engine:local:video'), nothing)
    await resume('all')
    for (const [index, client] of [...clients, clients[0]].entries())
      await client.untilEnded('image-relight', ids[index] ?? '')
    assert.deepEqual(await effectOf('kind:relight'), nothing)
    // The beginning and the end of each.
    assert.deepEqual(await effectOf(host), { tasks: 0, events: 6, owners: 2 })
  })

  test('of a kind is read by callers with its name, and of an engine without', async () => {
    await pause('kind:relight')
    await pause('engine:vendor', { reason: 'a contract ends' })
    await pause('owner:alice', { reason: 'asked for' })
    // At once, of the api that has paused them.
    const { paused } = (await readService()) as { paused?: { what: string }[] }
    assert.deepEqual(
      paused?.map(({ what, ...more }) => ({ what, kind: (more as { kind?: string }).kind })),
      [
        { what: 'kind', kind: 'relight' },
        { what: 'some', kind: undefined },
      ],
    )
    await resume('kind:relight')
    await resume('engine:vendor')
    assert.equal('paused' in (await readService()), false)
  })

  test('of an owner says nothing more of itself, and warns of an id that nobody has', async () => {
    const client = service.client('walter')
    assert.match(String((await pause('owner:walter')).warnings), /^Nobody with the id "walter" has/)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await client.createImage({ image: await base64() })
    assert.equal('warnings' in (await pause('owner:walter', { reason: 'debts', until })), false)
    assert.deepEqual(await waitsOf(client), [PAUSED])
  })

  test('of an engine warns where no worker serves it', async () => {
    assert.equal(
      String((await pause('engine:warp')).warnings),
      'No worker serves an engine "warp".',
    )
    assert.equal('warnings' in (await pause('engine:local')), false)
    for (const scope of ['engine:warp', 'engine:local']) await resume(scope)
  })

  test('is read at once by an api whose notification was lost with its connection', async () => {
    const { baseUrl } = await service.startSecondApi({
      OVERRIDE_RULES_INTERVAL_MS: '3600000',
    })
    const untilRead = (text: string) =>
      waitFor(`${text} is read`, async () =>
        (await (await fetch(`${baseUrl}/service`)).text()).includes(text),
      )
    const listening = sql`
      from pg_stat_activity
      where application_name = 'kiln api changes' and datname = current_database()
    `
    await waitFor('both listen', async () => (await sql`select ${listening}`).length === 2)
    for (const reason of ['one', 'other']) {
      await pause('kind:relight', { reason })
      await untilRead(reason)
    }
    await sql`insert into pause (scope, reason, paused_by) values ('all', 'nobody said so', 'root')`
    await sql`select pg_terminate_backend(pid) ${listening}`
    await untilRead('nobody said so')
  })

  test('is in the log of changes and in the metrics', async () => {
    await pause('engine:comfyui', { reason: 'first' })
    const { reason } = await pause('engine:comfyui', { reason: 'second' })
    assert.equal(reason, 'second')
    const metrics = await readMetrics(service.entry('api'))
    assert.equal(metrics.get('kiln_pauses{of="engine"}'), 1)
    await resume('engine:comfyui')
    const { body } = await root.get('/admin/audit-log?target=pause%2Fengine%3Acomfyui')
    const entries = body['entries'] as unknown as { action: string; actor: string }[]
    assert.deepEqual(
      entries.map(({ action, actor }) => [action, actor]),
      [
        ['pause.end', 'root'],
        ['pause.set', 'root'],
        ['pause.set', 'root'],
      ],
    )
  })

  for (const [scope, body, status, error] of [
    ['everything', {}, 400, 'validation_failed'],
    ['engine:Warp', {}, 400, 'validation_failed'],
    ['kind:upscal', {}, 400, 'validation_failed'],
    ['host:', {}, 400, 'validation_failed'],
    ['host:https://example.com', {}, 400, 'validation_failed'],
    ['all', { until: '2020-01-01T00:00:00Z' }, 400, 'validation_failed'],
    ['all', { until: 'tomorrow' }, 400, 'validation_failed'],
    ['all', { reasn: 'x' }, 400, 'validation_failed'],
    ['all', { forever: true }, 400, 'validation_failed'],
  ] as const)
    test(`rejects ${scope} with ${JSON.stringify(body)}`, async () => {
      const response = await root.put(pathOf(scope), body)
      assert.deepEqual([response.status, response.body['error']], [status, error])
      assert.deepEqual(await list(), [])
      if (scope !== 'all') assert.equal((await root.get(pathOf(scope))).status, status)
    })

  test('ends once, and is for platform admins', async () => {
    assert.equal((await root.delete(pathOf('all'))).body['error'], 'pause_not_found')
    const alice = service.client('alice')
    for (const response of [
      await alice.get('/admin/pauses'),
      await alice.get(pathOf('all')),
      await alice.put(pathOf('all'), {}),
      await alice.delete(pathOf('all')),
    ])
      assert.equal(response.status, 403)
  })
})
