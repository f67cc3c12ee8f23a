import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'
import type { JWK } from 'jose'

import { DEVELOPMENT_ISSUER } from '../../src/process/settings/issues.ts'
import type { Sql } from '../../src/db/client.ts'
import { credentialKind } from '../../src/domain/shared/credential.ts'
import { makeAuthenticator } from '../../src/http/access/auth.ts'
import { makeApiKeyRoutes } from '../../src/http/platform/api-key-routes.ts'
import { DEVELOPMENT_AUDIENCE, signToken } from '../../src/process/development-issuer.ts'
import { startIssuer } from '../../src/local/issuer.ts'
import type { Issuer } from '../../src/local/issuer.ts'
import { makeClient } from '../support/client.ts'
import { startRoutes } from '../support/routes.ts'
import { createDatabase } from '../support/stack.ts'

interface Body {
  id: string
  name: string
  key: string
  createdAt: string
  expires_at?: string
  last_used_at?: string
}

let database: Awaited<ReturnType<typeof createDatabase>>
let server: Awaited<ReturnType<typeof startRoutes>>
let issuer: Issuer
let signingKey: JWK
let sql: Sql

before(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  signingKey = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'test' }
  issuer = await startIssuer(signingKey)
  database = await createDatabase()
  sql = database.sql
  const authenticate = makeAuthenticator({
    issuer: DEVELOPMENT_ISSUER,
    audience: DEVELOPMENT_AUDIENCE,
    jwksUrl: issuer.jwksUrl,
    sql,
    log: { info() {}, warn() {} },
  })
  server = await startRoutes(makeApiKeyRoutes({ sql }), { sql, authenticate })
})

after(async () => {
  await server?.close()
  await database?.drop()
  await issuer?.close()
})

/** Every test has users of its own, so that none sees the keys of another. */
const newUser = async () => {
  const id = `user-${randomUUID()}`
  return { id, authorization: `Bearer ${await signToken(signingKey, id)}` }
}

interface Call {
  method: string
  path?: string
  headers?: Record<string, string>
  body?: unknown
}

const anyone = makeClient(() => server.url)

const call = async ({ method, path = '', headers, body: given }: Call) => {
  const { body, ...response } = await anyone.call(method, `/users/api-keys${path}`, given, headers)
  return { ...response, body: body as unknown as Body & typeof body }
}

const create = async (authorization: string, body: unknown = { name: 'renders' }) =>
  call({ method: 'POST', headers: { authorization }, body })

const list = async (authorization: string) =>
  (await call({ method: 'GET', headers: { authorization } })).body as unknown as Body[]

describe('POST /users/api-keys', () => {
  test('responds with 201 with a key that acts for its maker', async () => {
    const { id: user, authorization } = await newUser()
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const { status, body } = await create(authorization, { name: '  nightly 🜂', expires_at })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body).toSorted(), ['createdAt', 'expires_at', 'id', 'key', 'name'])
    assert.equal(credentialKind(body.key), 'api_key')
    assert.deepEqual([body.name, body.expires_at], ['  nightly 🜂', expires_at])
    const [row] = await sql`select owner from api_key where id = ${body.id}`
    assert.equal(row?.['owner'], user)
  })

  test('keeps the digest of the key and never the key', async () => {
    const { authorization } = await newUser()
    const { body } = await create(authorization)
    const [row] =
      await sql`select api_key::text as text, sha256, last4 from api_key where id = ${body.id}`
    assert.equal(row?.['sha256'], createHash('sha256').update(body.key).digest('hex'))
    assert.equal(row?.['last4'], body.key.slice(-4))
    assert.ok(!String(row?.['text']).includes(body.key.slice(9, 35)))
  })

  test('leaves out expires_at when there is none, also when it is null', async () => {
    const { authorization } = await newUser()
    for (const given of [{ name: 'x' }, { name: 'x', expires_at: null }]) {
      const { status, body } = await create(authorization, given)
      assert.deepEqual([status, Object.keys(body).includes('expires_at')], [201, false])
    }
  })

  test('rejects a body that breaks a rule, naming the field, and makes nothing', async () => {
    const { authorization } = await newUser()
    const cases: [unknown, string][] = [
      [{}, '/name'],
      [{ name: '' }, '/name'],
      [{ name: 5 }, '/name'],
      [{ name: 'x'.repeat(129) }, '/name'],
      [{ name: 'x', expires_at: 'tomorrow' }, '/expires_at'],
      [{ name: 'x', expires_at: 5 }, '/expires_at'],
      [{ name: 'x', expires_at: '2099-02-30T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', expires_at: '2099-12-31T23:59:60Z' }, '/expires_at'],
      [{ name: 'x', expires_at: '2099-01-01T00:00:00' }, '/expires_at'],
      [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', expires_at: '0000-01-01T00:00:00Z' }, '/expires_at'],
      [{ name: 'x', expires_at: '9999-12-31T23:59:59-23:59' }, '/expires_at'],
    ]
    for (const [given, field] of cases) {
      const { status, body } = await create(authorization, given)
      assert.deepEqual([status, body.error], [400, 'validation_failed'], JSON.stringify(given))
      assert.equal(body.details?.length, 1)
      assert.ok(body.details?.[0]?.startsWith(`${field} must be`), body.details?.[0])
    }
    assert.deepEqual(await list(authorization), [])
  })

  test('takes a name of 128 characters, counted as code points', async () => {
    const { authorization } = await newUser()
    assert.equal((await create(authorization, { name: '🜂'.repeat(128) })).status, 201)
  })

  test('repeats the response with a new key for the same Idempotency-Key, kept encrypted', async () => {
    const { id: user, authorization } = await newUser()
    const again = { authorization, 'idempotency-key': randomUUID() }
    const body = { name: 'once' }
    const first = await call({ method: 'POST', headers: again, body })
    const second = await call({ method: 'POST', headers: again, body })
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.equal((await list(authorization)).length, 1)
    const [row] =
      await sql`select body, encrypted from idempotency where principal = ${`user:${user}`}`
    assert.equal(row?.['encrypted'], true)
    assert.ok(!String(row?.['body']).includes('kiln_key_'))
  })
})

describe('GET /users/api-keys', () => {
  test("lists the caller's live keys, newest first and masked", async () => {
    const { authorization } = await newUser()
    await create((await newUser()).authorization)
    const made: Body[] = []
    for (const name of ['a', 'b', 'c', 'd']) made.push((await create(authorization, { name })).body)
    const [first, revoked, expired, last] = made as [Body, Body, Body, Body]
    await call({ method: 'DELETE', path: `/${revoked.id}`, headers: { authorization } })
    await sql`update api_key set expires_at = clock_timestamp() where id = ${expired.id}`

    const masked = (key: Body) => ({ ...key, key: `kiln_key_…${key.key.slice(-4)}` })
    assert.deepEqual(await list(authorization), [masked(last), masked(first)])
  })

  test('the list of API keys shows when a key was last used', async () => {
    const { authorization } = await newUser()
    const { body } = await create(authorization)
    await call({ method: 'GET', headers: { 'x-api-key': body.key } })
    const [listed] = await list(authorization)
    assert.match(String(listed?.last_used_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })
})

describe('DELETE /users/api-keys/{id}', () => {
  test('ends the key at once', async () => {
    const { authorization } = await newUser()
    const { body } = await create(authorization)
    const use = { method: 'GET', headers: { 'x-api-key': body.key } }
    assert.equal((await call(use)).status, 403)
    const end = { method: 'DELETE', path: `/${body.id}`, headers: { authorization } }
    assert.equal((await call(end)).status, 204)
    assert.equal((await call(use)).status, 401)
  })

  test('is 404 for a key that is unknown, another user’s, ended, or no id', async () => {
    const { authorization } = await newUser()
    const other = (await create((await newUser()).authorization)).body
    const ended = (await create(authorization)).body
    const remove = (id: string) =>
      call({ method: 'DELETE', path: `/${id}`, headers: { authorization } })
    assert.equal((await remove(ended.id.toUpperCase())).status, 204)
    for (const id of [randomUUID(), other.id, ended.id, 'x', '%25', "'"]) {
      const { status, body } = await remove(id)
      assert.deepEqual([status, body.error], [404, 'api_key_not_found'], id)
    }
  })
})

test('every route needs a bearer token: none is 401, an API key 403', async () => {
  const { authorization } = await newUser()
  const { body } = await create(authorization)
  const routes: Call[] = [
    { method: 'POST', body: { name: 'x' } },
    { method: 'GET' },
    { method: 'DELETE', path: `/${body.id}` },
  ]
  for (const route of routes) {
    const nobody = await call(route)
    assert.deepEqual([nobody.status, nobody.body.error], [401, 'unauthorized'])
    assert.equal(nobody.headers.get('www-authenticate'), 'Bearer')
    for (const headers of [{ 'x-api-key': body.key }, { authorization: `Bearer ${body.key}` }]) {
      const keyed = await call({ ...route, headers })
      assert.deepEqual([keyed.status, keyed.body.error], [403, 'forbidden'])
    }
  }
  assert.equal((await list(authorization)).length, 1)
})
