import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'

import { SignJWT, importJWK } from 'jose'

import { findClaimIssue } from '../../../src/identity/http/access/claims.ts'
import {
  atOnce,
  expectStatus,
  listOf,
  makeClient,
  pluck,
  type Client,
} from '../../support/client.ts'
import { makeToken, unique, useRegistry, type Owned } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin, sql, service } = registry

/** A client whose token says more of its user. */
const signedIn = async (
  subject: string,
  claims: object,
  baseUrl = service.baseUrl,
): Promise<Client> => {
  const { issuerKey } = service
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
    const readRow = async () => {
      const [row] = await sql`select xmin::text, name, email from app_user where id = ${user}`
      return { ...row }
    }
    const written = await readRow()
    await ann.get('/users')
    assert.deepEqual(await readRow(), written, 'what says the same writes nothing')
    const { body: key } = await ann.post('/users/api-keys', { name: 'x' })
    const byKey = await anonymous.get('/users', { 'x-api-key': String(key['key']) })
    assert.deepEqual(byKey.body, body)
    const again = await signedIn(user, { name: 'Anna' })
    assert.deepEqual((await again.get('/users')).body, { id: user, name: 'Anna', isAdmin: false })
    const { name, email } = await readRow()
    assert.deepEqual([name, email], ['Anna', null])
    expectStatus(await anonymous.get('/users'), 401, 'unauthorized')
  })

  test('is a platform admin by subject or by claim', async () => {
    assert.equal((await admin.get('/users')).body['isAdmin'], true)
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
})

describe('ADMIN_CLAIM', () => {
  const NESTED: [claim: string, is: object[], isNot: object[]][] = [
    [
      'realm_access.roles=admin',
      [{ realm_access: { roles: ['user', 'admin'] } }, { 'realm_access.roles': 'admin' }],
      [{ realm_access: { roles: ['user'] } }, { realm_access: 'admin' }, { roles: 'admin' }],
    ],
    [
      'https://kiln.example.com/access.roles=admin',
      [
        { 'https://kiln.example.com/access.roles': 'admin' },
        { 'https://kiln.example.com/access': { roles: 'admin' } },
      ],
      [{ 'https://kiln.example.com/access': ['admin'] }, { 'https://kiln': { example: 'admin' } }],
    ],
  ]
  for (const [claim, is, isNot] of NESTED)
    test(`${claim} is the claim of this name, or that to which its dots lead`, async () => {
      const { baseUrl, entry } = await service.startSecondApi({ ADMIN_CLAIM: claim })
      const read = async (claims: object) => {
        const client = await signedIn(unique('mod'), claims, baseUrl)
        return (await client.get('/users')).body['isAdmin']
      }
      assert.deepEqual(await Promise.all(is.map(read)), [true, true])
      assert.ok((await Promise.all(isNot.map(read))).every((isAdmin) => isAdmin === false))
      assert.doesNotMatch(entry.log.join('\n'), /ADMIN_CLAIM/)
    })

  test('that no token can have is a warning at the start', async () => {
    const { entry } = await service.startSecondApi({ ADMIN_CLAIM: 'email.domain=example.com' })
    const line = entry.log.find((one) => one.includes('ADMIN_CLAIM')) ?? ''
    assert.match(line, /"level":40,.*ADMIN_CLAIM makes nobody an admin: email is a text or number/)
  })

  const ISSUES: [claim: string, issue: string | undefined][] = [
    ['role = admin', 'the spaces belong to its name or value'],
    ['sub.role=admin', 'sub is a text or number'],
    ['exp=1', 'exp is another one in each token'],
    ['iss=https://other.example.com', 'iss is https://issuer.example.com in each token'],
    ['iss=https://issuer.example.com', undefined],
    ['aud=kiln', undefined],
    ['groups=Site admins', undefined],
    ['realm_access.roles=admin', undefined],
    ['', undefined],
  ]
  test('is known to be of no use where it is', () => {
    const found = ISSUES.map(([claim]) => findClaimIssue(claim, 'https://issuer.example.com'))
    assert.deepEqual(
      found,
      ISSUES.map(([, issue]) => issue),
    )
  })
})

describe('a publisher', () => {
  test('is created once, with its creator as owner', async () => {
    const id = unique('pub')
    const user = unique('owner')
    const owner = registry.client(user)
    const fields = { id, name: 'Acme', website: 'https://x.org', logo: '', support: null, other: 1 }
    const responses = await Promise.all([1, 2, 3].map(() => owner.post('/publishers', fields)))
    const [response, ...others] = responses.toSorted((one, other) => one.status - other.status)
    assert.ok(response)
    expectStatus(response, 201)
    for (const rejected of others) expectStatus(rejected, 409, 'publisher_exists')
    const { createdAt, members: _members, ...rest } = response.body as Record<string, unknown>
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { name, website } = fields
    assert.deepEqual(rest, { id, name, website, status: 'PublisherStatusActive' })
    const [member, ...none] = listOf<{ role: string; user: { id: string } }>(response, 'members')
    assert.deepEqual([member?.role, member?.user.id, none], ['owner', user, []])
  })

  test('is one of a limited number, however many are asked for at once', async () => {
    const owner = registry.client(unique('owner'))
    const responses = await atOnce(8, () => owner.post('/publishers', { id: unique('pub') }))
    const rejected = responses.filter(({ status }) => status !== 201)
    assert.equal(rejected.length, 5)
    for (const response of rejected) expectStatus(response, 403, 'publisher_limit_reached')
  })

  test('a publisher is created once for one Idempotency-Key', async () => {
    const owner = registry.client(unique('owner'))
    const body = { id: unique('pub') }
    const key = { 'idempotency-key': unique('key') }
    const first = expectStatus(await owner.post('/publishers', body, key), 201)
    const second = expectStatus(await owner.post('/publishers', body, key), 201)
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
  })

  test('is edited in part', async () => {
    const { id, owner } = await registry.addPublisher()
    const path = `/publishers/${id.toUpperCase()}`
    await owner.put(path, { name: 'Shown', description: 'about', support: 'ask' })
    const { body } = expectStatus(await owner.put(path, { name: '', description: '' }), 200)
    assert.deepEqual([body['name'], body['description'], body['support']], [id, undefined, 'ask'])
    const bad = await owner.put(path, { logo: 'javascript:1', description: 5 })
    expectStatus(bad, 400, 'validation_failed')
    assert.equal(bad.body.details?.length, 2)
  })

  test('is deleted by nobody, whoever asks', async () => {
    const { path, owner } = await registry.addPublisher()
    const stranger = registry.client(unique('stranger'))
    for (const client of [anonymous, stranger, owner, admin]) {
      const rejected = expectStatus(await client.delete(path), 405, 'method_not_allowed')
      assert.equal(rejected.headers.get('allow'), 'GET, HEAD, PUT')
    }
    expectStatus(await owner.get(path), 200)
    assert.equal(listOf(await owner.get(`${path}/tokens`)).length, 1)
  })

  test('is listed for its members, and for everybody while it is active', async () => {
    const { id, owner } = await registry.addPublisher()
    const second = unique('pub')
    await owner.post('/publishers', { id: second })
    const page = await owner.get('/users/publishers/?limit=1&page=2')
    const [first = '', last = ''] = [id, second].toSorted()
    assert.deepEqual(pluck(listOf(page)), [last])
    assert.equal(page.headers.get('x-total-count'), '2')
    await admin.post(`/admin/publishers/${first}/ban`, { reason: 'spam' })
    const idsOf = async (client: Client) =>
      pluck(listOf(await client.get('/users/publishers?limit=1000')))
    assert.deepEqual(await idsOf(owner), [first, last])
    const everybody = await owner.get('/publishers?limit=1000')
    assert.equal(everybody.headers.get('x-total-count'), String(listOf(everybody).length))
    for (const all of [await idsOf(anonymous), pluck(listOf(everybody))])
      assert.deepEqual([all.includes(first), all.includes(last)], [false, true])
  })

  test('whose id is taken, or cannot be one, is said to be', async () => {
    const { id } = await registry.addPublisher()
    const ask = (query: string) => anonymous.get(`/publishers/validate${query}`)
    const taken = expectStatus(await ask(`?username=${id}`), 400, 'publisher_id_unavailable')
    assert.match(taken.body.message ?? '', /taken/)
    for (const [bad, why] of [
      ['Acme', /^\?username must be 1 to 64 lower-case letters, digits and hyphens/],
      ['admin', /reserved/],
      ['', /^\?username must be/],
    ] as const) {
      const { body } = expectStatus(await ask(`?username=${bad}`), 400, 'publisher_id_unavailable')
      assert.match(body.message ?? '', why)
    }
    expectStatus(await ask(''), 400, 'validation_failed')
    assert.deepEqual((await ask('?username=free-one')).body, { isAvailable: true })
  })

  test('is neither created nor changed on trial', async () => {
    const { owner, path } = await registry.addPublisher()
    const id = unique('pub')
    for (const rejected of [
      await owner.post('/publishers?dry_run=true', { id }),
      await owner.put(`${path}?dry_run=1`, { name: 'x' }),
      await owner.delete(`${path}/tokens/x?dry_run=true`),
    ]) {
      expectStatus(rejected, 400, 'validation_failed')
      assert.match(rejected.body.message ?? '', /^\?dry_run must be absent/)
    }
    expectStatus(await anonymous.get(`/publishers/${id}`), 404, 'publisher_not_found')
    expectStatus(await owner.post('/publishers?dry_run=false', { id }), 201)
  })

  test('is compared with If-Match', async () => {
    const { owner, path } = await registry.addPublisher()
    const etag = (await anonymous.get(path)).headers.get('etag') ?? ''
    const put = (ifMatch: string) => owner.put(path, { name: 'x' }, { 'if-match': ifMatch })
    expectStatus(await put('"x"'), 412, 'precondition_failed')
    expectStatus(await put(etag), 200)
    expectStatus(await put(etag), 412, 'precondition_failed')
    expectStatus(await put('*'), 200)
  })

  test('is 304 until it changes', async () => {
    const { path, owner } = await registry.addPublisher()
    const first = await anonymous.get(path)
    const etag = first.headers.get('etag') ?? ''
    assert.match(first.headers.get('vary') ?? '', /Authorization/)
    const again = () => anonymous.get(path, { 'if-none-match': etag })
    assert.equal((await again()).status, 304)
    await owner.put(path, { name: 'other' })
    assert.equal((await again()).status, 200)
    const missing = await anonymous.get('/publishers/none-of-this-name')
    expectStatus(missing, 404, 'publisher_not_found')
    assert.equal(missing.headers.get('cache-control'), 'no-store')
  })
})

describe('a member', () => {
  test('is added, changed and removed, and takes the tokens along', async () => {
    const { id, path: own, owner, user } = await registry.addPublisher()
    const bob = unique('bob')
    const path = `${own}/members/${bob}`
    expectStatus(await owner.put(path, { role: 'admin' }), 404, 'user_not_found')
    const client = registry.client(bob)
    await client.get('/users')
    for (const role of ['member', 'admin'])
      assert.equal(expectStatus(await owner.put(path, { role }), 200).body['role'], role)
    await makeToken(client, id)
    const hook = { url: 'https://hooks.example/bob', events: ['member.added'] }
    const made = expectStatus(await client.post(`${own}/endpoints`, hook), 201).body
    assert.equal(made['created_by'], bob)
    const makersOf = async () => pluck(listOf(await owner.get(`${own}/tokens`)), 'created_by')
    assert.deepEqual(await makersOf(), [bob, user])
    const members = await client.get(`${own}/members`)
    assert.deepEqual(pluck(pluck<object>(listOf(members), 'user')), [user, bob])
    expectStatus(await owner.delete(path), 204)
    expectStatus(await owner.delete(path), 404, 'member_not_found')
    assert.deepEqual(await makersOf(), [user])
    const left = expectStatus(await owner.get(`${own}/endpoints/${String(made['id'])}`), 200).body
    assert.deepEqual([left['status'], left['disabled_reason']], ['disabled', 'member_removed'])
  })

  test('that is the last owner stays', async () => {
    const { path: own, owner, user } = await registry.addPublisher()
    const path = `${own}/members/${user}`
    expectStatus(await owner.delete(path), 409, 'last_owner')
    expectStatus(await owner.put(path, { role: 'member' }), 409, 'last_owner')
    expectStatus(await owner.put(path, { role: 'king' }), 400, 'validation_failed')
    expectStatus(await owner.put(path, { role: 'owner' }), 200)
  })

  test('that owns it always is one at least, however many go at once', async () => {
    const { id, path, owner, user, addMember } = await registry.addPublisher()
    const others = await Promise.all(['owner', 'owner', 'owner', 'owner'].map(addMember))
    const responses = await Promise.all(
      [{ user, client: owner }, ...others].map(({ user, client }, index) => {
        const member = `${path}/members/${user}`
        return index % 2 === 0 ? client.delete(member) : client.put(member, { role: 'member' })
      }),
    )
    const rejected = responses.filter(({ status }) => status >= 400)
    assert.ok(rejected.length > 0, 'one stays')
    const left = await sql`
      select from publisher_member where publisher_id = ${id} and role = 'owner'
    `
    assert.equal(left.length, 1)
  })
})

describe('a personal access token', () => {
  const tokensOf = async ({ path, owner }: Owned) =>
    listOf<{ id: string; token: string; last_used_at?: string; expires_at?: string }>(
      await owner.get(`${path}/tokens`),
    )

  test('is shown once and stored as its hash alone', async () => {
    const owned = await registry.addPublisher()
    const { id, token } = owned
    assert.match(token, /^kiln_pat_[0-9A-Za-z]{36}$/)
    const [listed] = await tokensOf(owned)
    assert.equal(listed?.token, `kiln_pat_…${token.slice(-4)}`)
    const [row] = await sql`
      select t::text as row, sha256 from personal_access_token t where publisher_id = ${id}
    `
    assert.ok(!String(row?.['row']).includes(token), 'not in the row')
    assert.equal(row?.['sha256'], createHash('sha256').update(token).digest('hex'))
  })

  test('that is deleted publishes nothing from then on, and is listed no more', async () => {
    const owned = await registry.addPublisher()
    const [listed] = await tokensOf(owned)
    const path = `${owned.path}/tokens/${listed?.id}`
    const other = await registry.addPublisher()
    const theirs = path.replace(owned.path, other.path)
    expectStatus(await other.owner.delete(theirs), 404, 'token_not_found')
    expectStatus(await owned.publish(), 201)
    expectStatus(await owned.owner.delete(path), 204)
    expectStatus(await owned.publish(), 403, 'invalid_personal_access_token')
    for (const gone of [path, `${owned.path}/tokens/x`])
      expectStatus(await owned.owner.delete(gone), 404, 'token_not_found')
    assert.deepEqual(await tokensOf(owned), [])
  })

  test('a personal access token is returned again for its key, and lies encrypted until then', async () => {
    const { path, owner } = await registry.addPublisher()
    const key = unique('key')
    const make = () => owner.post(`${path}/tokens`, { name: 'x' }, { 'idempotency-key': key })
    const first = expectStatus(await make(), 201)
    assert.deepEqual((await make()).body, first.body)
    const [row] = await sql`
      select t::text as row from idempotency t where key = ${key}
    `
    assert.ok(!String(row?.['row']).includes(String(first.body['token'])), 'not in clear')
  })

  test('is rejected when its time is over', async () => {
    const owned = await registry.addPublisher()
    const expires = new Date(Date.now() + 86_400_000).toISOString()
    const body = { name: 'short', expires_at: expires }
    const made = expectStatus(await owned.owner.post(`${owned.path}/tokens`, body), 201)
    const listed = (await tokensOf(owned)).find((token) => token.expires_at === expires)
    assert.ok(listed, 'it is said')
    const publication = { token: String(made.body['token']), nodeId: unique('node') }
    expectStatus(await owned.publish(publication), 201)
    await sql`
      update personal_access_token set expires_at = clock_timestamp() where id = ${listed.id}
    `
    expectStatus(await owned.publish(publication), 403, 'invalid_personal_access_token')
  })

  test('says when it was last used, at first use and then at most once an hour', async () => {
    const owned = await registry.addPublisher()
    const nodeId = unique('node')
    const use = async (): Promise<string | undefined> => {
      expectStatus(await owned.publish({ nodeId }), 201)
      return (await tokensOf(owned))[0]?.last_used_at
    }
    const [token] = await tokensOf(owned)
    assert.equal(token && 'last_used_at' in token, false)
    const first = await use()
    assert.match(first ?? '', /Z$/)
    assert.equal(await use(), first)
    await sql`
      update personal_access_token set last_used_at = last_used_at - interval '61 minutes'
      where id = ${token?.id ?? null}
    `
    const later = await use()
    assert.ok((later ?? '') >= (first ?? ''), `${later} is not before ${first}`)
  })
})
