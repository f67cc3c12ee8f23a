import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { AuditLogEntry } from '../../../src/platform/domain/audit-log.ts'
import { changes } from '../../../src/platform/http/route.ts'
import { expectStatus, listOf, makeClient } from '../../support/client.ts'
import { listRoutes } from '../../support/contract.ts'
import { makeAuditedCalls, type Actor } from './audit-calls.ts'
import { ADMIN, unique, usePublisher, useRegistry } from '../../registry/http/registry-support.ts'

/** Routes that write without an entry in the audit log, and why the log loses nothing. */
const EXCEPTIONS: readonly [routes: RegExp, reason: string][] = [
  [
    /^POST \/proxy\/(imgvendor|vidvendor)\/[\w/-]+$/,
    'a new task is its own entry: its row has owner, time and settings',
  ],
  [/^POST \/templates\/:name\/tasks$/, 'likewise'],
  [/^POST \/templates\/:name\/tasks\/:task_id\/cancel$/, 'one handler with image-upscaler'],
  [/^POST \/batches$/, 'a new batch is its own entry, and so is each of its tasks'],
  [/^POST \/customers\/storage$/, 'a new upload is its own entry'],
  [/^PUT \/uploads\/:id$/, 'the link is the credential, and the upload or version has the digest'],
  [
    /^POST \/engines\/predictions\//,
    'its secret is the credential, and the placement has what it said of its task',
  ],
  [/\/(redeliver|test)$/, 'what is sent is an event with its attempts'],
  [
    /^POST .*\/token-exchange$/,
    'the token has the provenance of its CI job, and ends in 15 minutes',
  ],
  [/^POST \/nodes\/:nodeId\/reports$/, 'a report is its own entry, with its author'],
  [/\/reviews\/:reviewId\/report$/, 'a report is a row of its own'],
]

const HOW = (route: string) =>
  `${route} changes something and left no entry in the audit log. In the transaction of the change call
  insertAudit(sql, auditOf(request), { action, target, before, after }) (src/identity/http/access/audit.ts),
add the action to AuditAction (src/platform/domain/audit-log.ts) and its words to
packages/console/src/moderation/audit-log.tsx, and a call of the route to test/platform/http/audit-calls.ts.
Where the row itself says who did what and when, add it to EXCEPTIONS with that reason.`

const registry = useRegistry({ roles: ['api'], env: { OVERRIDE_MAX_PUBLISHERS_PER_USER: '50' } })
const { admin, sql } = registry
const owned = usePublisher(registry)
const other = usePublisher(registry)
const reader = { user: unique('reader'), client: registry.client(unique('unused')) }
reader.client = registry.client(reader.user)

const USERS: Record<Actor, { user: string; client: typeof admin }> = {
  owner: { user: owned.user, client: owned.owner },
  admin: { user: ADMIN, client: admin },
  reader,
}
const CALLS = makeAuditedCalls(registry, { owned, other, reader: reader.client })
const ROUTES = listRoutes()
  .filter(changes)
  .map(({ method, path }) => `${method.toUpperCase()} ${path}`)

type Entry = AuditLogEntry & { before: object; after: object }

const listEntries = async (requestId: string | null): Promise<Entry[]> => {
  const log = listOf<Entry>(await admin.get('/admin/audit-log?pageSize=100'), 'entries')
  return log.filter((entry) => entry.request_id === requestId)
}

/** Texts of secrets: tokens, keys, webhook secrets, and the query of a webhook URL. */
const SECRETS = /kiln_(pat|key|task)_|whsec_|hidden-key|password/

describe('the audit log', () => {
  test('has each route that changes something, but for those that are their own entry', () => {
    const isExcept = (route: string) => EXCEPTIONS.some(([routes]) => routes.test(route))
    const unknown = ROUTES.filter((route) => !(route in CALLS) && !isExcept(route))
    assert.deepEqual(unknown, [], unknown.map(HOW).join('\n\n'))
    assert.deepEqual(
      Object.keys(CALLS).filter((route) => !ROUTES.includes(route)),
      [],
    )
    for (const [routes] of EXCEPTIONS)
      assert.ok(
        ROUTES.some((route) => routes.test(route) && !(route in CALLS)),
        `${routes} is no exception`,
      )
  })

  for (const [route, [by, call]] of Object.entries(CALLS))
    test(`has ${route}: who, from where, what was and what is`, async () => {
      const { user, client } = USERS[by]
      const response = await call(client)
      assert.ok(response.status < 300, `${response.status} ${JSON.stringify(response.body)}`)
      const entries = await listEntries(response.headers.get('x-request-id'))
      assert.ok(entries.length > 0, HOW(route))
      for (const { actor, address, credential, before, after } of entries) {
        assert.deepEqual([actor, address, credential], [user, '127.0.0.1', 'jwt'])
        assert.ok(Object.keys({ ...before, ...after }).length > 0)
      }
      assert.doesNotMatch(JSON.stringify(entries), SECRETS)
    })

  test('names the API key that a change was made with', async () => {
    const made = expectStatus(await owned.owner.post('/users/api-keys', { name: 'ci' }), 201)
    const keyed = makeClient(registry.service.baseUrl, String(made.body['key']))
    const { headers } = expectStatus(
      await keyed.put(owned.path, { website: 'https://a.example' }),
      200,
    )
    const [entry] = await listEntries(headers.get('x-request-id'))
    assert.equal(entry?.credential, `api_key/${String(made.body['id'])}`)
    assert.deepEqual(entry?.after, { website: 'https://a.example' })
  })

  test('has no entry of a change that changes nothing', async () => {
    const nodeId = await owned.addNode({ description: 'Light.' })
    const path = `${owned.path}/nodes/${nodeId}`
    const { headers } = expectStatus(await owned.owner.put(path, { description: 'Light.' }), 200)
    assert.deepEqual(await listEntries(headers.get('x-request-id')), [])
  })

  test('is searched by address and time', async () => {
    const find = async (query: string) =>
      (await admin.get(`/admin/audit-log?${query}`)).body['total'] as unknown as number
    await sql`
      insert into audit_log (actor, action, target, before, after, request_id, address, at)
      select 'old', 'node.update', 'node/a', '{}', '{}', 'old', '2001:db8::7', day
      from unnest(array['2020-01-01Z', '2020-01-02Z']::timestamptz[]) day
    `
    assert.equal(await find('address=2001:DB8:0:0::7'), 2)
    assert.equal(await find('actor=old&since=2020-01-02T00:00:00Z'), 1)
    assert.equal(await find('actor=old&until=2020-01-02T00:00:00Z'), 1)
    assert.equal(await find('actor=old&address=127.0.0.1'), 0)
    const { body } = await admin.get('/admin/audit-log?address=here')
    assert.deepEqual(body.details, ['?address must be an IP address, got "here"'])
    expectStatus(await admin.get('/admin/audit-log?since=monday'), 400, 'validation_failed')
    expectStatus(await owned.owner.get('/admin/audit-log'), 403, 'forbidden')
  })
})
