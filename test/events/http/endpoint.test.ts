import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import type { Endpoint, EndpointEvent } from '../../../src/events/domain/endpoint.ts'
import type { Attempt } from '../../../src/events/domain/event.ts'
import {
  UPSCALE,
  VIDEO_API,
  assertMembers,
  atOnce,
  columnsOf,
  expectStatus,
  pluck,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { respond, inTurn, useWebhookReceiver, type Received } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'
import { isSignedWith, untilReceived, verify } from './delivery-support.ts'
import { unique, usePublisher, useRegistry } from '../../registry/http/registry-support.ts'

const MAX = 30
const UNKNOWN = randomUUID()

// Nothing is rendered. The schedule takes 1.4 seconds, and the week 3.
const registry = useRegistry({
  roles: ['api', 'core'],
  env: { OVERRIDE_WEBHOOK_TIME_FACTOR: '0.000005', OVERRIDE_MAX_ENDPOINTS: String(MAX) },
})
const { anonymous, admin, sql, place, service } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned
const receiver = useWebhookReceiver()

interface Created extends Endpoint {
  secret: string
  /** Path of its own routes. */
  at: string
  /** Path of its receiver. */
  path: string
}

const make = async (
  client: Client,
  base: string,
  events: readonly string[],
  path = `/${unique('hook')}`,
): Promise<Created> => {
  const made = expectStatus(await client.post(base, { url: receiver.url(path), events }), 201)
  const endpoint = made.body as unknown as Created
  return { ...endpoint, at: `${base}/${endpoint.id}`, path }
}
const ofPublisher = (events: readonly string[], path?: string): Promise<Created> =>
  make(owner, `${own}/endpoints`, events, path)

const read = async (client: Client, { at }: Created): Promise<Endpoint> =>
  expectStatus(await client.get(at), 200).body as unknown as Endpoint
const eventsOf = async (client: Client, { at }: Created, query = ''): Promise<EndpointEvent[]> =>
  expectStatus(await client.get(`${at}/events${query}`), 200).body[
    'events'
  ] as unknown as EndpointEvent[]

interface Message {
  type: string
  timestamp: string
  data: Record<string, unknown>
}
const deliveredTo = async ({ path, secret }: Created, count: number): Promise<Message[]> =>
  (await untilReceived(receiver, path, count)).map(
    (request) => verify(request, secret) as unknown as Message,
  )
const typesOf = (messages: readonly Message[]): string[] => messages.map(({ type }) => type)
const typeOf = ({ body }: Received): string => (JSON.parse(body.toString()) as Message).type
const sendTest = (client: Client, { at }: Created) => client.post(`${at}/test`, {})
/** Kills the worker that delivers, works, and starts another. */
const whileNothingIsSent = async (work: () => Promise<void>): Promise<void> => {
  await service.entry('core').kill()
  await work()
  await service.start('core')
}

/** Has an event given up, of whose attempts most are skipped. */
const giveUpOne = async (endpoint: Created): Promise<void> => {
  const { sql } = service.database
  const id = String((await sendTest(owner, endpoint)).body['event_id'])
  await waitFor('the first attempt has failed', async () => {
    const { count } = await sql`
      update event set failures = 9 where id = ${id} and failures between 1 and 9
    `
    return count > 0
  })
  await waitFor('it is given up', async () => {
    const rows = await sql`select from event where id = ${id} and state <> 'pending'`
    return rows.length > 0
  })
}

describe('a publisher', () => {
  test('a publisher gets the transitions of a version, in order, with why, and its review', async () => {
    const all = ['version.received', 'version.flagged', 'version.active', 'version.deleted']
    const endpoint = await ofPublisher([...all, 'review.requested', 'review.decided'])
    const other = await ofPublisher(['version.banned'])
    const version = await owned.addFlagged()
    await sql`
      insert into scan (version_id, scanner, scanner_version, sha256, complete, high, medium, info)
      values (${version.id}, 'kiln', 1, '', true, 1, 1, 0)
    `
    expectStatus(await owner.post(`${version.ownVersion}/review`, { note: 'a@b.example' }), 201)
    await place.accept(version.id, version.id)
    assert.ok(await place.transition(version.id, 'admin_activate', 'looked at'))
    assert.ok(await place.transition(version.id, 'admin_ban', 'spam'))
    assert.ok(await place.transition(version.id, 'admin_delete'))
    const notified = await deliveredTo(endpoint, 6)
    assert.deepEqual(typesOf(notified), [
      'version.received',
      'version.flagged',
      'review.requested',
      'version.active',
      'review.decided',
      'version.deleted',
    ])
    const facts = {
      publisher_id: owned.id,
      node_id: version.nodeId,
      version_id: version.id,
      version: '1.0.0',
      channel: 'latest',
    }
    assert.deepEqual(notified[1]?.data, {
      ...facts,
      status: 'NodeVersionStatusFlagged',
      status_reason: '1 finding flags this version',
      findings: [],
    })
    const { review_id: review, ...decided } = notified[4]?.data ?? {}
    assert.equal(review, notified[2]?.data['review_id'])
    const status = 'NodeVersionStatusActive'
    assert.deepEqual(decided, { ...facts, status, status_reason: 'looked at' })
    assert.ok(!JSON.stringify(notified).includes('a@b.example'), 'the note is not sent')
    assert.deepEqual(
      receiver.of(endpoint.path).map(({ headers }) => headers['webhook-sequence']),
      ['1', '2', '3', '4', '5', '6'],
    )
    const [banned] = await deliveredTo(other, 1)
    assert.deepEqual([banned?.type, banned?.data['status_reason']], ['version.banned', 'spam'])
    const [newest] = await eventsOf(owner, endpoint, '?limit=1')
    assertMembers(newest, { type: 'version.deleted', sequence: 6, subject_id: version.id })
  })

  test('a publisher gets why a version stays flagged, or is banned, and by which finding', async () => {
    const endpoint = await ofPublisher(['review.decided', 'version.banned'])
    const { id, nodeId, version, ownVersion } = await owned.addFlagged({ version: '1.1.0-beta.1' })
    await sql`
      insert into finding (version_id, scanner, position, issue_type, severity, message)
      values (${id}, 'kiln', 0, 'exec', 'high', 'It runs a command.')
    `
    for (const status of ['NodeVersionStatusFlagged', 'NodeVersionStatusBanned']) {
      expectStatus(await owner.post(`${ownVersion}/review`, {}), 201)
      const fields = { status, status_reason: `no: ${status}` }
      expectStatus(await registry.admin.put(`/admin${version}`, fields), 200)
    }
    const notified = await deliveredTo(endpoint, 3)
    assert.deepEqual(typesOf(notified), ['review.decided', 'version.banned', 'review.decided'])
    for (const [index, { data }] of notified.entries()) {
      const { review_id: _review, ...facts } = data
      const status = index === 0 ? 'NodeVersionStatusFlagged' : 'NodeVersionStatusBanned'
      assert.deepEqual(facts, {
        publisher_id: owned.id,
        node_id: nodeId,
        version_id: id,
        version: '1.1.0-beta.1',
        channel: 'pre',
        status,
        status_reason: `no: ${status}`,
        findings: [{ issue_type: 'exec', severity: 'high', message: 'It runs a command.' }],
      })
    }
  })

  test('a publisher gets what flags a version, the worst first, without the lines themselves', async () => {
    const endpoint = await ofPublisher(['version.flagged'])
    const { id } = await owned.addVersion()
    await place.receive(id, id)
    await sql`
      insert into finding (version_id, scanner, position, issue_type, severity, file_path,
        line_number, code_snippet, message)
      select ${id}, 'kiln', n, 'rule-' || n, case n when 60 then 'high' else 'info' end, 'a.py', n,
        'secret', 'found'
      from generate_series(1, 60) n
    `
    await place.transition(id, 'flag')
    const [notified] = await deliveredTo(endpoint, 1)
    const findings = notified?.data['findings'] as Record<string, unknown>[]
    assert.equal(findings.length, 50)
    assert.deepEqual(findings[0], {
      issue_type: 'rule-60',
      severity: 'high',
      file_path: 'a.py',
      line_number: 60,
      message: 'found',
    })
  })

  test('a publisher gets events of tokens and members, without secrets and e-mail addresses', async () => {
    const endpoint = await ofPublisher([
      'token.created',
      'token.revoked',
      'member.added',
      'member.changed',
      'member.removed',
    ])
    const user = unique('auth|ann@example.com')
    const ann = registry.client(user)
    await ann.get('/users')
    const member = `${own}/members/${encodeURIComponent(user)}`
    for (const role of ['member', 'admin', 'admin'])
      expectStatus(await owner.put(member, { role }), 200)
    const made = await ann.post(`${own}/tokens`, { name: 'mine' })
    expectStatus(await owner.delete(member), 204)
    const notified = await deliveredTo(endpoint, 5)
    const of = (type: string) => notified.find((each) => each.type === type)?.data
    assert.deepEqual(typesOf(notified).toSorted(), [...endpoint.events].toSorted())
    const { member_id: id } = of('member.added') ?? {}
    const about = { publisher_id: owned.id, member_id: id }
    assert.deepEqual(of('member.added'), { ...about, role: 'member' })
    assert.deepEqual(of('member.changed'), { ...about, role: 'admin', previous_role: 'member' })
    assert.deepEqual(of('member.removed'), { ...about, role: 'admin' })
    const { token_id: token } = of('token.created') ?? {}
    assert.deepEqual(of('token.revoked'), {
      publisher_id: owned.id,
      token_id: token,
      name: 'mine',
      scope: 'publish',
    })
    const all = receiver.of(endpoint.path).map(({ body }) => body.toString())
    for (const secret of ['ann@', String(made.body['token']), endpoint.secret])
      assert.ok(!all.join().includes(secret), secret)
  })

  test('that is banned is sent nothing, and may ask for it when the ban is lifted', async () => {
    const { owner, path, id } = await registry.addPublisher()
    const endpoint = await make(owner, `${path}/endpoints`, ['token.created', 'token.revoked'])
    expectStatus(await admin.post(`/admin/publishers/${id}/ban`, { reason: 'spam' }), 200)
    for (const respond of [await owner.get(endpoint.at), await sendTest(owner, endpoint)])
      expectStatus(respond, 403, 'publisher_banned')
    await sql`update personal_access_token set revoked_at = now() where publisher_id = ${id}`
    await waitFor('it is given up', async () => {
      const rows =
        await sql`select from event where endpoint_id = ${endpoint.id} and state = 'stopped'`
      return rows.length === 1
    })
    assert.equal(receiver.of(endpoint.path).length, 0)
    expectStatus(await admin.post(`/admin/publishers/${id}/unban`, {}), 200)
    const again = await owner.post(`${endpoint.at}/redeliver`, { since: '2020-01-01T00:00:00Z' })
    assert.deepEqual([again.status, again.body['redeliveries']], [202, 1])
    assert.deepEqual(typesOf(await deliveredTo(endpoint, 1)), ['token.revoked'])
  })
})

describe('an owner of tasks', () => {
  test('an owner of tasks gets for all of them what their webhooks get', async () => {
    const alice = registry.client(unique('alice'))
    const endpoint = await make(alice, '/endpoints', ['image_task.failed', 'video_task.failed'])
    const bob = registry.client(unique('bob'))
    const others = await make(bob, '/endpoints', ['image_task.failed', 'video_task.failed'])
    const webhook = `/${unique('task')}`
    const image = await alice.createImage({
      image: await base64(),
      webhook_url: receiver.url(webhook),
    })
    await alice.post(`${UPSCALE}/${image}/cancel`, {})
    const [first] = await deliveredTo(endpoint, 1)
    assert.equal(first?.type, 'image_task.failed')
    const [own] = await untilReceived(receiver, webhook, 1)
    assert.deepEqual(first.data, JSON.parse(String(own?.body)))
    assert.ok(own && !isSignedWith(own, endpoint.secret), 'each has a secret of its own')
    const video = await alice.createVideo({ prompt: 'a', off_peak: true })
    await alice.post(`${VIDEO_API}/tasks/${video}/cancel`, {})
    const [, second] = await deliveredTo(endpoint, 2)
    const { body: now } = await alice.get(`${VIDEO_API}/tasks/${video}/creations`)
    assert.deepEqual([second?.type, second?.data], ['video_task.failed', now])
    assert.deepEqual(await eventsOf(bob, others), [])
    assert.deepEqual(columnsOf(await eventsOf(alice, endpoint), 'type', 'subject_id'), [
      ['video_task.failed', video],
      ['image_task.failed', image],
    ])
  })

  test('has the endpoints with an API key, too; others do not see them', async () => {
    const alice = registry.client(unique('alice'))
    const endpoint = await make(alice, '/endpoints', ['image_task.failed'])
    const { body } = await alice.post('/users/api-keys', { name: 'x' })
    const key = { 'x-api-key': String(body['key']) }
    expectStatus(await anonymous.get(endpoint.at, key), 200)
    expectStatus(await anonymous.get(endpoint.at), 401, 'unauthorized')
    const bob = registry.client(unique('bob'))
    for (const at of [endpoint.at, `${endpoint.at}/events`, `${own}${endpoint.at}`])
      expectStatus(await (at.startsWith('/pub') ? owner : bob).get(at), 404, 'endpoint_not_found')
  })
})

describe('an endpoint', () => {
  test('is made with a secret that is shown once, changed and deleted', async () => {
    const { secret, at, path, ...made } = await ofPublisher(['version.active'], '/mine?token=1')
    assert.match(secret, /^whsec_/)
    assert.deepEqual(await read(owner, { ...made, secret, at, path }), made)
    const changed = await owner.put(at, { events: ['version.banned', 'member.added'] })
    assert.deepEqual(changed.body, { ...made, events: ['version.banned', 'member.added'] })
    const { body } = await owner.get(`${own}/endpoints`)
    assert.ok(JSON.stringify(body).includes(made.id))
    assert.ok(!JSON.stringify(body).includes('whsec_'))
    expectStatus(await owner.delete(at), 204)
    for (const respond of [await owner.get(at), await owner.delete(at)])
      expectStatus(respond, 404, 'endpoint_not_found')
  })

  test('is compared with If-Match', async () => {
    const { at } = await ofPublisher(['version.active'])
    const etag = (await owner.get(at)).headers.get('etag') ?? ''
    const put = (ifMatch: string) =>
      owner.put(at, { events: ['version.banned'] }, { 'if-match': ifMatch })
    expectStatus(await put('"x"'), 412, 'precondition_failed')
    expectStatus(await put(`"x", ${etag}`), 200)
    expectStatus(await put(etag), 412, 'precondition_failed')
    expectStatus(await put('*'), 200)
    expectStatus(await owner.delete(at), 204)
    expectStatus(await put('*'), 404, 'endpoint_not_found')
  })

  test('is managed by owners and admins; members read the host alone of its address', async () => {
    const endpoint = await ofPublisher(['version.active'], '/roles?token=1')
    const { client: admin } = await owned.addMember('admin')
    const { client: member } = await owned.addMember('member')
    const { client: stranger } = await registry.addUser()
    assert.equal((await read(admin, endpoint)).url, receiver.url('/roles?token=1'))
    assert.equal((await read(member, endpoint)).url, new URL(receiver.url('/')).origin)
    const listed = await member.get(`${own}/endpoints`)
    assert.ok(!JSON.stringify(listed.body).includes('token=1'))
    assert.deepEqual(await eventsOf(member, endpoint), [])
    const another = { url: 'https://a.example', events: ['version.active'] }
    for (const client of [member, stranger])
      for (const respond of [
        await client.post(`${own}/endpoints`, another),
        await client.put(endpoint.at, {}),
        await client.delete(endpoint.at),
        await sendTest(client, endpoint),
        await client.post(`${endpoint.at}/webhook-secret/rotate`, {}),
        await client.post(`${endpoint.at}/redeliver`, { since: '2020-01-01T00:00:00Z' }),
      ])
        expectStatus(respond, 403, 'forbidden')
    expectStatus(await stranger.get(endpoint.at), 403, 'forbidden')
    const sent = expectStatus(await sendTest(admin, endpoint), 202)
    const attempts = `${endpoint.at}/events/${String(sent.body['event_id'])}/attempts`
    await untilReceived(receiver, endpoint.path, 1)
    await waitFor('its attempt is recorded', async () => {
      const { attempts: made } = (await member.get(attempts)).body as unknown as {
        attempts: Attempt[]
      }
      return made.length > 0
    })
    assert.ok(!JSON.stringify((await member.get(attempts)).body).includes('/roles'))
    assert.ok(JSON.stringify((await admin.get(attempts)).body).includes('/roles'))
    expectStatus(await admin.put(endpoint.at, { status: 'disabled' }), 200)
    const log = await registry.admin.get('/admin/audit-log?pageSize=20')
    const changes = JSON.stringify(expectStatus(log, 200).body)
    assert.ok(changes.includes(endpoint.id) && !changes.includes('/roles'))
  })

  test('is sent a test event, which says what it is, signed by both secrets of a rotation', async () => {
    const endpoint = await ofPublisher(['version.banned'])
    const { body } = expectStatus(
      await owner.post(`${endpoint.at}/webhook-secret/rotate`, { overlap_seconds: 86_400 }),
      200,
    )
    const sent = expectStatus(await sendTest(owner, endpoint), 202)
    const [request] = await untilReceived(receiver, endpoint.path, 1)
    assert.ok(request, 'a request came')
    assert.equal(request.headers['webhook-id'], sent.body['event_id'])
    const message = verify(request, endpoint.secret) as unknown as Message
    assert.deepEqual(
      [message.type, message.data],
      ['endpoint.test', { test: true, endpoint_id: endpoint.id }],
    )
    assert.ok(isSignedWith(request, String(body['secret'])), 'by the new secret, too')
    assert.ok(Date.parse(String(body['previous_expires_at'])) > Date.now())
    await waitFor('the log has it', async () => {
      const [event] = await eventsOf(owner, endpoint)
      return event?.state === 'delivered' && event.attempts === 1
    })
    const { body: log } = await owner.get(
      `${endpoint.at}/events/${String(sent.body['event_id'])}/attempts`,
    )
    const [attempt] = log['attempts'] as unknown as Attempt[]
    assert.deepEqual([attempt?.number, attempt?.status], [1, 204])
  })

  test('gets an event again on request, with the same id', async () => {
    const endpoint = await ofPublisher(['version.banned'])
    const { body } = await sendTest(owner, endpoint)
    await untilReceived(receiver, endpoint.path, 1)
    const again = `${endpoint.at}/events/${String(body['event_id'])}/redeliver`
    expectStatus(await owner.post(again, {}), 202)
    const both = await untilReceived(receiver, endpoint.path, 2)
    assert.equal(both[1]?.headers['webhook-id'], body['event_id'])
    const unknown = `${endpoint.at}/events/${UNKNOWN}/redeliver`
    expectStatus(await owner.post(unknown, {}), 404, 'event_not_found')
  })

  test('that responds with 410 is off at once, and on again when it is asked for', async () => {
    const endpoint = await ofPublisher(['version.banned'])
    receiver.script(endpoint.path, inTurn(respond(410), respond(204)))
    await sendTest(owner, endpoint)
    const off = await waitFor('it is off', async () => {
      const now = await read(owner, endpoint)
      return now.status === 'disabled' && now
    })
    assert.equal(off.disabled_reason, 'gone')
    assert.ok(off.disabled_at, 'since when')
    expectStatus(await sendTest(owner, endpoint), 409, 'endpoint_disabled')
    const on = expectStatus(await owner.put(endpoint.at, { status: 'enabled' }), 200)
    assert.deepEqual(
      [on.body['status'], on.body['disabled_reason'], on.body['disabled_at']],
      ['enabled', undefined, undefined],
    )
    await sendTest(owner, endpoint)
    await untilReceived(receiver, endpoint.path, 2)
  })

  test('at which nothing arrives for a week is off with the next event that is given up', async () => {
    const endpoint = await ofPublisher(['version.banned'])
    receiver.script(endpoint.path, respond(500))
    let off = await read(owner, endpoint)
    for (; off.status === 'enabled'; off = await read(owner, endpoint)) await giveUpOne(endpoint)
    assert.equal(off.disabled_reason, 'failing')
    const failed = Date.parse(off.disabled_at ?? '') - Date.parse(off.failing_since ?? '')
    assert.ok(failed >= 3000, `${failed} ms`)
    const states = (await eventsOf(owner, endpoint)).map(({ state }) => state)
    assert.deepEqual([...new Set(states)], ['exhausted'])
  })

  test('a webhook subscription gets what was committed before its worker was killed, where it is by then', async () => {
    const endpoint = await ofPublisher(['version.received', 'version.active'])
    const deleted = await ofPublisher(['version.received'])
    const off = await ofPublisher(['version.received'])
    const moved = `/${unique('moved')}`
    await whileNothingIsSent(async () => {
      await owned.addActive()
      expectStatus(await owner.put(endpoint.at, { url: receiver.url(moved) }), 200)
      expectStatus(await owner.delete(deleted.at), 204)
      expectStatus(await owner.put(off.at, { status: 'disabled' }), 200)
    })
    const notified = await untilReceived(receiver, moved, 2)
    assert.deepEqual(notified.map(typeOf), ['version.received', 'version.active'])
    for (const { path } of [endpoint, deleted, off]) assert.equal(receiver.of(path).length, 0)
    const [stopped] = await eventsOf(owner, off)
    assert.equal(stopped?.state, 'stopped')
  })

  test('a webhook subscription gets the events of one version in order, whatever fails', async () => {
    const endpoint = await ofPublisher(['version.received', 'version.active', 'version.banned'])
    receiver.script(endpoint.path, inTurn(respond(500), respond(500), respond(204)))
    const { id } = await owned.addActive()
    await place.transition(id, 'admin_ban')
    await untilReceived(receiver, endpoint.path, 5)
    const types = receiver.of(endpoint.path).map(typeOf)
    assert.deepEqual(
      [...new Set(types)],
      ['version.received', 'version.active', 'version.banned'],
      types.join(),
    )
  })
})

test('the log of a webhook subscription goes on before an event, and lists those in one state', async () => {
  const endpoint = await ofPublisher(['version.banned'])
  for (let sent = 0; sent < 3; sent += 1) await sendTest(owner, endpoint)
  const all = await waitFor('all are delivered', async () => {
    const events = await eventsOf(owner, endpoint, '?state=delivered')
    return events.length === 3 && events
  })
  const rest = await eventsOf(owner, endpoint, `?limit=2&before=${all[0]?.id}`)
  assert.deepEqual(
    pluck(rest),
    all.slice(1).map(({ id }) => id),
  )
  assert.deepEqual(await eventsOf(owner, endpoint, '?state=exhausted'), [])
  const unknown = await owner.get(`${endpoint.at}/events?before=${UNKNOWN}`)
  expectStatus(unknown, 400, 'validation_failed')
  const { body } = await owner.get(`${endpoint.at}/events?before=x`)
  assert.deepEqual(body['details'], [
    '?before must be the id of an event of this endpoint, a UUID, got "x"',
  ])
})

describe('bad input to an endpoint', () => {
  const url = 'https://receiver.example.com/kiln'
  const events = ['version.active']
  const CASES: [what: string, body: object, message: RegExp, error?: string][] = [
    ['no address', { events }, /\/url/],
    [
      'http',
      { url: 'http://a.example/', events },
      /^\/url must begin with https:, got "http/,
      'url_refused',
    ],
    ['a private host', { url: 'https://10.0.0.1/', events }, /\/url .*10\.0\.0\.1/, 'url_refused'],
    ['no events', { url }, /\/events/],
    [
      'an empty list',
      { url, events: [] },
      /^\/events must be a list of at least one of version\.received, version\.active/,
    ],
    ['a typing error', { url, events: ['version.actvie'] }, /did you mean version\.active\?$/],
    ['a text', { url, events: 'version.active' }, /\/events .*version\.active/],
    ['an unknown event', { url, events: ['task.x'] }, /\/events.*task\.x/],
    ['an event of tasks', { url, events: ['image_task.failed'] }, /image_task/],
    ['one twice', { url, events: [...events, ...events] }, /\/events/],
  ]
  for (const [what, body, message, error = 'validation_failed'] of CASES)
    test(`with ${what} is rejected`, async () => {
      const made = expectStatus(await owner.post(`${own}/endpoints`, body), 400, error)
      assert.match(String(made.body.details?.[0]), message)
    })

  test('is rejected in a change, too', async () => {
    const endpoint = await ofPublisher(events)
    for (const [body, error] of [
      [{ status: 'deleted' }, 'validation_failed'],
      [{ url: 'https://localhost.local/' }, 'url_refused'],
      [{ events: ['x'] }, 'validation_failed'],
    ] as const)
      expectStatus(await owner.put(endpoint.at, body), 400, error)
    for (const id of ['x', UNKNOWN])
      expectStatus(await owner.put(`/endpoints/${id}`, {}), 404, 'endpoint_not_found')
  })

  test('beyond what one may have is rejected', async () => {
    const alice = registry.client(unique('alice'))
    const body = { url, events: ['image_task.failed'] }
    const responses = await atOnce(MAX + 2, () => alice.post('/endpoints', body))
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [...Array<number>(MAX).fill(201), 403, 403])
    expectStatus(await alice.post('/endpoints', body), 403, 'endpoint_limit_reached')
  })
})
