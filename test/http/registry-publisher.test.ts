import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { SignJWT, importJWK } from 'jose'

import { makeClient } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import {
  expectStatus,
  listOf,
  makePublisher,
  makeToken,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Registry } from './registry-support.ts'

let registry: Registry

before(async () => {
  registry = await startRegistry({
    MAX_PUBLISHERS_PER_USER: '3',
    ADMIN_CLAIM: 'roles=moderator',
  })
})

after(() => registry?.stop())

/** A client whose token says more of its user. */
const signedIn = async (subject: string, claims: object): Promise<Client> => {
  const { issuerKey, baseUrl } = registry.service
  const { alg = '', kid = '' } = issuerKey
  const token = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg, kid })
    .setIssuer('urn:kiln:development')
    .setAudience('kiln')
    .setSubject(subject)
    .setExpirationTime('1h')
    .sign(await importJWK(issuerKey, alg))
  return makeClient(baseUrl, token)
}

describe('a user', () => {
  test('is what the last token said', async () => {
    const user = unique('ann')
    const ann = await signedIn(user, { name: 'Ann', email: 'ann@x.org' })
    const { body } = expectStatus(await ann.get('/users'), 200)
    assert.deepEqual(body, { id: user, name: 'Ann', email: 'ann@x.org', isAdmin: false })
    const { body: key } = await ann.post('/users/api-keys', { name: 'x' })
    const byKey = await makeClient(registry.service.baseUrl).get('/users', {
      'x-api-key': String(key['key']),
    })
    assert.deepEqual(byKey.body, body)
    const again = await signedIn(user, { name: 'Anna' })
    assert.deepEqual((await again.get('/users')).body, { id: user, name: 'Anna', isAdmin: false })
    const [row] = await registry.service.database.sql`
      select name, email from app_user where id = ${user}
    `
    assert.deepEqual({ ...row }, { name: 'Anna', email: null })
  })

  test('is a platform admin by subject or by claim', async () => {
    assert.equal((await registry.admin.get('/users')).body['isAdmin'], true)
    const CASES: [object, boolean][] = [
      [{ roles: 'moderator' }, true],
      [{ roles: ['a', 'moderator'] }, true],
      [{ roles: 'moderators' }, false],
      [{}, false],
    ]
    for (const [claims, isAdmin] of CASES) {
      const client = await signedIn(unique('mod'), claims)
      assert.equal((await client.get('/users')).body['isAdmin'], isAdmin, JSON.stringify(claims))
    }
  })

  test('without a credential is told 401', async () => {
    expectStatus(await registry.anonymous.get('/users'), 401, 'unauthorized')
  })
})

describe('a publisher', () => {
  test('is created once, with its creator as owner', async () => {
    const id = unique('pub')
    const user = unique('owner')
    const owner = await registry.client(user)
    const fields = { id, name: 'Acme', website: 'https://x.org', logo: '', support: null, other: 1 }
    const { body } = expectStatus(await owner.post('/publishers', fields), 201)
    assert.equal(body['name'], 'Acme')
    assert.equal('logo' in body || 'support' in body, false)
    assert.equal(body['status'], 'PublisherStatusActive')
    assert.match(String(body['createdAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const members = body['members'] as unknown as { role: string; user: { id: string } }[]
    assert.deepEqual(
      members.map(({ role, user }) => [role, user.id]),
      [['owner', user]],
    )
    expectStatus(await owner.post('/publishers', { id }), 409, 'publisher_exists')
    expectStatus(await registry.anonymous.post('/publishers', { id }), 401, 'unauthorized')
  })

  test('is one of a limited number', async () => {
    const owner = await registry.client(unique('owner'))
    for (let made = 0; made < 3; made += 1)
      expectStatus(await owner.post('/publishers', { id: unique('pub') }), 201)
    const refused = await owner.post('/publishers', { id: unique('pub') })
    expectStatus(refused, 403, 'publisher_limit_reached')
  })

  test('is answered once for one Idempotency-Key', async () => {
    const owner = await registry.client(unique('owner'))
    const body = { id: unique('pub') }
    const key = { 'idempotency-key': unique('key') }
    const first = expectStatus(await owner.post('/publishers', body, key), 201)
    const second = expectStatus(await owner.post('/publishers', body, key), 201)
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
  })

  test('is edited in part', async () => {
    const { id, owner } = await makePublisher(registry)
    const path = `/publishers/${id.toUpperCase()}`
    await owner.call('PUT', path, { description: 'about', support: 'ask' })
    const { body } = expectStatus(await owner.call('PUT', path, { description: '' }), 200)
    assert.deepEqual([body['description'], body['support'], body['id']], [undefined, 'ask', id])
    const bad = await owner.call('PUT', path, { logo: 'javascript:1', description: 5 })
    expectStatus(bad, 400, 'validation_failed')
    assert.equal(bad.body.details?.length, 2)
  })

  test('cannot be deleted', async () => {
    const { id, owner } = await makePublisher(registry)
    const refused = expectStatus(
      await owner.call('DELETE', `/publishers/${id}`),
      405,
      'method_not_allowed',
    )
    assert.equal(refused.headers.get('allow'), 'GET, HEAD, PUT')
    expectStatus(await owner.get(`/publishers/${id}`), 200)
  })

  test('shows e-mail addresses to its members only', async () => {
    const user = `${unique('auth')}|ann@x.org`
    const owner = await signedIn(user, { name: 'Ann', email: 'ann@x.org' })
    const id = unique('pub')
    await owner.post('/publishers', { id })
    const path = `/publishers/${id}`
    assert.match(JSON.stringify((await owner.get(path)).body), /ann@x\.org/)
    const stranger = await registry.client(unique('stranger'))
    for (const client of [registry.anonymous, stranger, registry.admin])
      assert.doesNotMatch(JSON.stringify((await client.get(path)).body), /@/)
    const all = await registry.anonymous.get('/users/publishers?limit=1000')
    assert.ok(
      listOf(all).some((publisher) => publisher['id'] === id),
      'it is listed',
    )
    assert.doesNotMatch(JSON.stringify(all.body), /@/)
    assert.match(JSON.stringify((await owner.get('/users/publishers/')).body), /ann@x\.org/)
  })

  test('is listed for its members, and for everybody while it is active', async () => {
    const { id, owner } = await makePublisher(registry)
    const second = unique('pub')
    await owner.post('/publishers', { id: second })
    const page = await owner.get('/users/publishers/?limit=1&page=2')
    const [first, last] = [id, second].toSorted()
    assert.deepEqual(
      listOf(page).map((publisher) => publisher['id']),
      [last],
    )
    assert.equal(page.headers.get('x-total-count'), '2')
    await registry.admin.post(`/admin/publishers/${first}/ban`, { reason: 'spam' })
    const idsOf = async (client: Client): Promise<unknown[]> =>
      listOf(await client.get('/users/publishers?limit=1000')).map((publisher) => publisher['id'])
    assert.deepEqual(await idsOf(owner), [first, last])
    const all = await idsOf(registry.anonymous)
    assert.deepEqual([all.includes(first), all.includes(last)], [false, true])
  })

  const IDS: [string, number, string?][] = [
    ['free-one', 200],
    ['Acme', 400, 'publisher_id_unavailable'],
    ['admin', 400, 'publisher_id_unavailable'],
    ['', 400, 'publisher_id_unavailable'],
  ]
  for (const [username, status, error] of IDS)
    test(`with the id "${username}" is ${status === 200 ? 'possible' : 'not'}`, async () => {
      const answer = await registry.anonymous.get(`/publishers/validate?username=${username}`)
      expectStatus(answer, status, error)
      if (status === 200) assert.deepEqual(answer.body, { isAvailable: true })
    })

  test('whose id is taken is said to be', async () => {
    const { id } = await makePublisher(registry)
    const answer = await registry.anonymous.get(`/publishers/validate?username=${id}`)
    expectStatus(answer, 400, 'publisher_id_unavailable')
    assert.match(answer.body.message ?? '', /taken/)
    expectStatus(await registry.anonymous.get('/publishers/validate'), 400, 'validation_failed')
  })

  test('is 304 until it changes', async () => {
    const { id, owner } = await makePublisher(registry)
    const path = `/publishers/${id}`
    const first = await registry.anonymous.get(path)
    const etag = first.headers.get('etag') ?? ''
    assert.equal(first.headers.get('cache-control'), 'public, max-age=0, s-maxage=60')
    assert.match(first.headers.get('vary') ?? '', /Authorization/)
    assert.equal((await registry.anonymous.get(path, { 'if-none-match': etag })).status, 304)
    await owner.call('PUT', path, { name: 'other' })
    assert.equal((await registry.anonymous.get(path, { 'if-none-match': etag })).status, 200)
    assert.equal((await owner.get(path)).headers.get('cache-control'), 'private, no-cache')
    const missing = await registry.anonymous.get('/publishers/none-of-this-name')
    expectStatus(missing, 404, 'publisher_not_found')
    assert.equal(missing.headers.get('cache-control'), 'no-store')
  })
})

describe('a member', () => {
  test('is added, changed and removed, and takes the tokens along', async () => {
    const { id, owner, user } = await makePublisher(registry)
    const bob = unique('bob')
    const path = `/publishers/${id}/members/${bob}`
    expectStatus(await owner.call('PUT', path, { role: 'admin' }), 404, 'user_not_found')
    const client = await registry.client(bob)
    await client.get('/users')
    const { body } = expectStatus(await owner.call('PUT', path, { role: 'admin' }), 200)
    assert.equal(body['role'], 'admin')
    await makeToken(client, id)
    assert.equal(listOf(await owner.get(`/publishers/${id}/tokens`)).length, 2)
    const members = await client.get(`/publishers/${id}/members`)
    assert.deepEqual(
      listOf<{ user: { id: string } }>(members).map((member) => member.user.id),
      [user, bob],
    )
    expectStatus(await owner.call('DELETE', path), 204)
    expectStatus(await owner.call('DELETE', path), 404, 'member_not_found')
    assert.equal(listOf(await owner.get(`/publishers/${id}/tokens`)).length, 1)
  })

  test('that is the last owner stays', async () => {
    const { id, owner, user } = await makePublisher(registry)
    const path = `/publishers/${id}/members/${user}`
    expectStatus(await owner.call('DELETE', path), 409, 'last_owner')
    expectStatus(await owner.call('PUT', path, { role: 'member' }), 409, 'last_owner')
    expectStatus(await owner.call('PUT', path, { role: 'king' }), 400, 'validation_failed')
    expectStatus(await owner.call('PUT', path, { role: 'owner' }), 200)
  })
})

describe('a personal access token', () => {
  test('is shown once and stored as its hash alone', async () => {
    const { id, owner, token } = await makePublisher(registry)
    assert.match(token, /^kiln_pat_[0-9A-Za-z]{36}$/)
    const [listed] = listOf(await owner.get(`/publishers/${id}/tokens`))
    assert.equal(listed?.['token'], `kiln_pat_…${token.slice(-4)}`)
    const rows = await registry.service.database.sql`
      select t::text as row, sha256 from personal_access_token t where publisher_id = ${id}
    `
    assert.ok(!String(rows[0]?.['row']).includes(token), 'not in the row')
    assert.equal(rows[0]?.['sha256'], createHash('sha256').update(token).digest('hex'))
    expectStatus(
      await owner.call('DELETE', `/publishers/${id}/tokens/${String(listed?.['id'])}`),
      204,
    )
    for (const other of [String(listed?.['id']), 'x'])
      expectStatus(
        await owner.call('DELETE', `/publishers/${id}/tokens/${other}`),
        404,
        'token_not_found',
      )
    assert.deepEqual(listOf(await owner.get(`/publishers/${id}/tokens`)), [])
  })

  test('is answered again for its key, and lies encrypted until then', async () => {
    const { id, owner } = await makePublisher(registry)
    const key = unique('key')
    const make = () =>
      owner.post(`/publishers/${id}/tokens`, { name: 'x' }, { 'idempotency-key': key })
    const first = expectStatus(await make(), 201)
    assert.deepEqual((await make()).body, first.body)
    const [row] = await registry.service.database.sql`
      select t::text as row from idempotency t where key = ${key}
    `
    assert.ok(!String(row?.['row']).includes(String(first.body['token'])), 'not in clear')
  })

  const BAD: [string, object][] = [
    ['without a name', {}],
    ['with a name of 129 characters', { name: 'x'.repeat(129) }],
    ['that has ended', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }],
    ['that ends at no time', { name: 'x', expires_at: 'soon' }],
  ]
  for (const [what, body] of BAD)
    test(`${what} is refused`, async () => {
      const { id, owner } = await makePublisher(registry)
      expectStatus(await owner.post(`/publishers/${id}/tokens`, body), 400, 'validation_failed')
    })
})
