import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { send, type SentResponse } from '../../support/request.ts'
import { useService } from '../../support/service.ts'
import { expectStatus, statusesOf } from '../../support/client.ts'

const service = useService({
  roles: ['api'],
  env: { ADMIN_SUBJECTS: 'operator', OVERRIDE_DEVELOPMENT_USERS: 'alice,operator' },
  development: true,
})

/** Not by fetch, which sets Host and Sec-Fetch-Site itself. */
const ask = (
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): Promise<SentResponse> =>
  send(
    service.baseUrl + path,
    { method, headers: { 'content-type': 'application/json', ...headers } },
    body && Buffer.from(JSON.stringify(body)),
  )

const askToken = (user: unknown, headers?: Record<string, string>): Promise<SentResponse> =>
  ask('POST', '/development/tokens', { body: { user }, headers: headers ?? {} })

describe('the routes of the embedded stack', () => {
  test('name the users, and give each a token that the service takes', async () => {
    const users = await ask('GET', '/development/users')
    assert.deepEqual(users.body, [
      { user: 'alice', platform_admin: false },
      { user: 'operator', platform_admin: true },
    ])
    const { status, body } = await askToken('alice', { 'sec-fetch-site': 'same-origin' })
    assert.equal(status, 201)
    const me = await ask('GET', '/users', {
      headers: { authorization: `Bearer ${String(body['token'])}` },
    })
    assert.deepEqual([me.status, me.body['id']], [200, 'alice'])
    const hours = (Date.parse(String(body['expires_at'])) - Date.now()) / 3_600_000
    assert.ok(hours > 11.9 && hours <= 12)
  })

  test('give the same token to a request that is repeated with its key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [await askToken('alice', headers), await askToken('alice', headers)]
    assert.deepEqual([second.status, second.body], [first.status, first.body])
  })

  const WRONG: [what: string, user: unknown, expected: RegExp][] = [
    [
      'a user whom the setting does not name',
      'mallory',
      /^\/user must be one of alice, operator, got "mallory"$/,
    ],
    ['no user', undefined, /^\/user /],
    ['a number', 5, /^\/user .*5$/],
    ['an empty name', '', /^\/user .*""$/],
  ]
  for (const [what, user, expected] of WRONG)
    test(`reject ${what}`, async () => {
      const { body } = expectStatus(await askToken(user), 400, 'validation_failed')
      assert.match(body.details?.[0] ?? '', expected)
    })

  const STRANGERS: [what: string, headers: Record<string, string>, passes: boolean][] = [
    ['a name of this machine', { host: 'localhost:8080' }, true],
    ['an address of this machine', { host: '[::1]:8080' }, true],
    ['a name that leads here', { host: 'rebound.example.com:8080' }, false],
    ['a name that begins like this machine', { host: 'localhost.example.com' }, false],
    ['a user before the name', { host: 'localhost@example.com' }, false],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }, false],
    ['an address typed by hand', { 'sec-fetch-site': 'none' }, false],
  ]
  for (const [what, headers, passes] of STRANGERS)
    test(`routes of the embedded stack ${passes ? 'take' : 'reject'} ${what}`, async () => {
      const responses = [
        await ask('GET', '/development/users', { headers }),
        await askToken('alice', headers),
      ]
      assert.deepEqual(statusesOf(responses), passes ? [200, 201] : [403, 403])
      if (!passes) assert.ok(responses.every(({ body }) => /must be/.test(String(body['message']))))
    })

  test('are not there without the key', async () => {
    const { baseUrl } = await service.startSecondApi({ OVERRIDE_DEVELOPMENT_ISSUER_KEY: '' })
    assert.equal((await fetch(`${baseUrl}/development/users`)).status, 404)
    const tokens = await fetch(`${baseUrl}/development/tokens`, { method: 'POST' })
    assert.equal(tokens.status, 404)
    const { paths } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { paths: object }
    assert.ok(!Object.keys(paths).some((path) => path.startsWith('/development')))
  })
})
