import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { credentialKind } from '../../../src/platform/domain/credential.ts'
import { expectStatus, listOf, makeClient, type Client } from '../../support/client.ts'
import { unique, useRegistry } from '../../registry/http/registry-support.ts'

interface Body {
  id: string
  name: string
  key: string
  createdAt: string
  expires_at?: string
  last_used_at?: string
}

const KEYS = '/users/api-keys'

const registry = useRegistry()
const { anonymous, sql, service } = registry

/** Every test has users of its own, so that none sees the keys of another. */
const newClient = (): Client => registry.client(unique('user'))

const create = async (client: Client, given: unknown = { name: 'renders' }): Promise<Body> =>
  expectStatus(await client.post(KEYS, given), 201).body as unknown as Body

const list = async (client: Client): Promise<Body[]> => listOf<Body>(await client.get(KEYS))

describe('POST /users/api-keys', () => {
  test('responds with 201 with a key that acts for its maker', async () => {
    const user = unique('user')
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const body = await create(registry.client(user), { name: '  nightly 🜂', expires_at })
    assert.deepEqual(Object.keys(body).toSorted(), ['createdAt', 'expires_at', 'id', 'key', 'name'])
    assert.equal(credentialKind(body.key), 'api_key')
    assert.deepEqual([body.name, body.expires_at], ['  nightly 🜂', expires_at])
    const [row] = await sql`select owner from api_key where id = ${body.id}`
    assert.equal(row?.['owner'], user)
  })

  test('keeps the digest of the key and never the key', async () => {
    const { id, key } = await create(newClient())
    const [row] = await sql`select k::text as text, sha256, last4 from api_key k where id = ${id}`
    assert.equal(row?.['sha256'], createHash('sha256').update(key).digest('hex'))
    assert.equal(row?.['last4'], key.slice(-4))
    assert.ok(!String(row?.['text']).includes(key.slice(9, 35)))
  })

  test('leaves out expires_at when there is none, also when it is null', async () => {
    for (const given of [{ name: 'x' }, { name: 'x', expires_at: null }])
      assert.equal('expires_at' in (await create(newClient(), given)), false)
  })

  test('rejects a body that breaks a rule, naming the field, and makes nothing', async () => {
    const client = newClient()
    const TIMES = [
      'tomorrow',
      5,
      '2099-02-30T00:00:00Z',
      '2099-12-31T23:59:60Z',
      '2099-01-01T00:00:00',
      '2020-01-01T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-23:59',
    ]
    const cases: [unknown, string][] = [
      [{}, '/name'],
      [{ name: '' }, '/name'],
      [{ name: 5 }, '/name'],
      [{ name: 'x'.repeat(129) }, '/name'],
      ...TIMES.map((expires_at): [object, string] => [{ name: 'x', expires_at }, '/expires_at']),
    ]
    for (const [given, field] of cases) {
      const { body } = expectStatus(await client.post(KEYS, given), 400, 'validation_failed')
      assert.equal(body.details?.length, 1)
      assert.ok(body.details?.[0]?.startsWith(`${field} must be`), body.details?.[0])
    }
    assert.deepEqual(await list(client), [])
  })

  test('takes a name of 128 characters, counted as code points', async () => {
    await create(newClient(), { name: '🜂'.repeat(128) })
  })

  test('repeats the response with a new key for the same Idempotency-Key, kept encrypted', async () => {
    const user = unique('user')
    const client = registry.client(user)
    const post = () => client.post(KEYS, { name: 'once' }, { 'idempotency-key': user })
    const [first, second] = [expectStatus(await post(), 201), expectStatus(await post(), 201)]
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.equal((await list(client)).length, 1)
    const [row] =
      await sql`select body, encrypted from idempotency where principal = ${`user:${user}`}`
    assert.equal(row?.['encrypted'], true)
    assert.ok(!String(row?.['body']).includes('kiln_key_'))
  })
})

describe('GET /users/api-keys', () => {
  test("lists the caller's live keys, newest first and masked", async () => {
    const client = newClient()
    await create(newClient())
    const made: Body[] = []
    for (const name of ['a', 'b', 'c', 'd']) made.push(await create(client, { name }))
    const [first, revoked, expired, last] = made as [Body, Body, Body, Body]
    await client.delete(`${KEYS}/${revoked.id}`)
    await sql`update api_key set expires_at = clock_timestamp() where id = ${expired.id}`

    const masked = (key: Body) => ({ ...key, key: `kiln_key_…${key.key.slice(-4)}` })
    assert.deepEqual(await list(client), [masked(last), masked(first)])
  })

  test('the list of API keys shows when a key was last used', async () => {
    const client = newClient()
    const { key } = await create(client)
    await anonymous.get(KEYS, { 'x-api-key': key })
    const [listed] = await list(client)
    assert.match(String(listed?.last_used_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })
})

describe('DELETE /users/api-keys/{id}', () => {
  test('ends the key at once', async () => {
    const client = newClient()
    const { id, key } = await create(client)
    const use = () => anonymous.get(KEYS, { 'x-api-key': key })
    expectStatus(await use(), 403, 'forbidden')
    expectStatus(await client.delete(`${KEYS}/${id}`), 204)
    expectStatus(await use(), 401, 'unauthorized')
  })

  test('ends the links to upload that were made with the key, and no others', async () => {
    const client = newClient()
    const { id, key } = await create(client)
    const ask = async (by: Client): Promise<string> => {
      const { body } = await by.post('/customers/storage', { file_name: 'a.png' })
      return String(body['upload_url'])
    }
    const [own, other] = [await ask(makeClient(service.baseUrl, key)), await ask(client)]
    const put = async (link: string) => (await fetch(link, { method: 'PUT', body: 'x' })).status
    assert.deepEqual([await put(own), await put(other)], [200, 200])
    expectStatus(await client.delete(`${KEYS}/${id}`), 204)
    assert.deepEqual([await put(own), await put(other)], [410, 200])
  })

  test('is 404 for a key that is unknown, another user’s, ended, or no id', async () => {
    const client = newClient()
    const [other, ended] = [await create(newClient()), await create(client)]
    const remove = (id: string) => client.delete(`${KEYS}/${id}`)
    expectStatus(await remove(ended.id.toUpperCase()), 204)
    for (const id of [randomUUID(), other.id, ended.id, 'x', '%25', "'"])
      expectStatus(await remove(id), 404, 'api_key_not_found')
  })
})

test('every route needs a bearer token: none is 401, an API key 403', async () => {
  const client = newClient()
  const { id, key } = await create(client)
  const bearer = makeClient(() => service.baseUrl, key)
  for (const [method, path, body] of [
    ['POST', KEYS, { name: 'x' }],
    ['GET', KEYS],
    ['DELETE', `${KEYS}/${id}`],
  ] as const) {
    const nobody = expectStatus(await anonymous.call(method, path, body), 401, 'unauthorized')
    assert.equal(nobody.headers.get('www-authenticate'), 'Bearer')
    const keyed = await anonymous.call(method, path, body, { 'x-api-key': key })
    expectStatus(keyed, 403, 'forbidden')
    expectStatus(await bearer.call(method, path, body), 403, 'forbidden')
  }
  assert.equal((await list(client)).length, 1)
})
