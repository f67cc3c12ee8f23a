import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { SignJWT, UnsecuredJWT, exportSPKI, importJWK, type CryptoKey } from 'jose'

import {
  columnsOf,
  expectStatus,
  listOf,
  makeClient,
  memberOf,
  statusesOf,
} from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { JOB } from '../../support/identity-issuer.ts'
import { respond, hangUp, type Reply } from '../../support/receiver.ts'
import { unique, useRegistry, type Owned } from './registry-support.ts'
import { CLAIMS, useTrusting, type Trusting } from './trusted-publishing-support.ts'

const registry = useRegistry()
const { anonymous, admin, sql, service } = registry
const { ci, addNode, addTrusting } = useTrusting(registry)

/** Publishes with a token and nothing else, as a job does. */
const publish = (
  { owned, nodeId }: Trusting,
  token: string,
  { version = '1.0.0', client = anonymous, ...other }: Record<string, unknown> = {},
): Promise<HttpResponse> =>
  owned.publish({ nodeId, token, version: String(version), client: client as Client, ...other })

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Asserts that a job is rejected for a reason; a rejected token may be sent again. */
const expectRejected = (respond: HttpResponse, reason: RegExp): void => {
  expectStatus(respond, 403, 'identity_token_refused')
  assert.match(respond.body.message ?? '', reason)
}

describe('a CI job whose repository a node trusts', () => {
  test('publishes without any stored credential, and the version says where it came from', async () => {
    const node = await addTrusting()
    const identity = await ci.sign()
    const exchanged = expectStatus(await node.exchange(identity), 201)
    const minutes = (Date.parse(String(exchanged.body['expires_at'])) - Date.now()) / 60_000
    assert.ok(minutes > 5 && minutes < 16, `${minutes} minutes`)
    const token = String(exchanged.body['token'])
    const published = expectStatus(await publish(node, token), 201)
    const server = ci.issuer.replace('/_services/token', '')
    const provenance = {
      issuer: ci.issuer,
      repository: `${server}/${JOB.repository}`,
      commit: JOB.sha,
      ref: JOB.ref,
      run_url: `${server}/${JOB.repository}/actions/runs/${JOB.run_id}`,
    }
    assert.deepEqual(memberOf(published, 'node_version')['provenance'], provenance)
    const read = await anonymous.get(`/nodes/${node.nodeId}/versions/1.0.0`)
    assert.deepEqual(read.body['provenance'], provenance)
    const [listed] = listOf(await node.owned.owner.get(`${node.owned.path}/tokens`))
    assert.equal(listed?.['node_id'], node.nodeId)
    assert.equal(listed['description'], provenance.run_url)

    expectRejected(await node.exchange(identity), /exchanged before/)
    const rows = await service.database.sql<{ text: string }[]>`
      select t::text as text from personal_access_token t union all select a::text from audit_log a
      union all select i::text from idempotency i
    `
    const stored = rows.map(({ text }) => text).join('\n') + service.entry('api').log.join('\n')
    const [, payload = ''] = identity.split('.')
    for (const secret of [token, identity, payload]) assert.ok(!stored.includes(secret), 'a secret')
    assert.ok(stored.includes(sha256(token)))
  })

  test('publishes that node alone, and only publishes', async () => {
    const node = await addTrusting()
    const other = await addNode(node.owned)
    const stranger = await addNode()
    const token = await node.token()
    expectStatus(await publish(other, token), 403, 'token_scope_insufficient')
    expectStatus(await publish(stranger, token), 401, 'unauthorized')
    const { owner } = stranger.owned
    const rejected = await publish(stranger, token, { client: owner })
    expectStatus(rejected, 403, 'invalid_personal_access_token')
    const bearer = makeClient(service.baseUrl, token)
    expectStatus(await bearer.put(node.path, { name: 'x' }), 401, 'unauthorized')
    expectStatus(await bearer.get('/users'), 401, 'unauthorized')
    // Somebody else's credential beside it changes nothing.
    expectStatus(await publish(node, token, { client: owner }), 201)
  })

  test('is one of GitHub by numbers that no other repository gets', async () => {
    const claims = { ...CLAIMS, repository_owner_id: '77', environment: 'Release' }
    const node = await addTrusting({ claims })
    const renamed = { repository: 'acme/new-name' }
    const workflow_ref = JOB.workflow_ref.replace('acme/image-tools', 'acme/new-name')
    await node.token({ ...renamed, workflow_ref })
    const REJECTED: [string, Record<string, unknown>, RegExp][] = [
      ['another repository', { repository_id: '4243' }, /repository_id is "4243"/],
      [
        'one that has taken the name of a renamed one',
        { ...JOB, repository_id: '9999', repository_owner_id: '88' },
        /repository_id is "9999", and "4242" is trusted, its repository_owner_id is "88"/,
      ],
      ['one that was given away', { repository_owner_id: '88' }, /repository_owner_id is "88"/],
      [
        'another workflow',
        { workflow_ref: JOB.workflow_ref.replace('publish', 'test') },
        /workflow_file is ".github\/workflows\/test.yml"/,
      ],
      [
        'a workflow whose name begins alike',
        { workflow_ref: JOB.workflow_ref.replace('@', '@refs@') },
        /workflow_file is ".github\/workflows\/publish.yml@refs"/,
      ],
      [
        'a workflow of another repository',
        { workflow_ref: JOB.workflow_ref.replace('acme/', 'evil/') },
        /workflow_file is nothing/,
      ],
      ['another environment', { environment: 'test' }, /environment is "test"/],
      ['no environment', { environment: undefined }, /environment is nothing/],
    ]
    for (const [what, changed, reason] of REJECTED)
      await test(`not ${what}`, async () =>
        expectRejected(await node.exchange(await ci.sign(changed)), reason))
  })

  test('may be one of GitLab, or of any issuer', async () => {
    const gitlab = await addTrusting({
      provider: 'gitlab',
      claims: { project_id: '22', workflow_file: '.gitlab-ci.yml', environment: 'prod' },
    })
    const { host } = new URL(ci.issuer)
    const job = {
      project_id: '22',
      project_path: 'group/sub/project',
      ci_config_ref_uri: `${host}/group/sub/project//.gitlab-ci.yml@refs/heads/main`,
      environment: 'prod',
      job_id: '7',
      ref: 'v1.0.0',
    }
    const published = await publish(gitlab, await gitlab.token(job))
    assert.deepEqual(memberOf(expectStatus(published, 201), 'node_version')['provenance'], {
      issuer: ci.issuer,
      repository: `${ci.issuer}/group/sub/project`,
      commit: JOB.sha,
      ref: 'v1.0.0',
      run_url: `${ci.issuer}/group/sub/project/-/jobs/7`,
    })
    const elsewhere = { ci_config_ref_uri: `${host}/other/project//.gitlab-ci.yml@refs/heads/main` }
    const identity = await ci.sign({ ...job, ...elsewhere })
    expectRejected(await gitlab.exchange(identity), /workflow_file is nothing/)

    const claims = { sub: 'pipeline', trusted: 'true' }
    const any = await addTrusting({ provider: 'oidc', claims })
    const made = await publish(any, await any.token({ sub: 'pipeline', trusted: true }))
    assert.deepEqual(memberOf(made, 'node_version')['provenance'], { issuer: ci.issuer })
    expectRejected(await any.exchange(await ci.sign({ sub: 'other', trusted: true })), /sub is/)
    expectRejected(await any.exchange(await ci.sign({ sub: 'pipeline' })), /trusted is nothing/)
  })

  test('whose token has no id is taken once, too', async () => {
    const node = await addTrusting()
    const identity = await ci.sign({ jti: undefined })
    const responses = await Promise.all([1, 2, 3].map(() => node.exchange(identity)))
    const statuses = statusesOf(responses).toSorted((one, other) => one - other)
    assert.deepEqual(statuses, [201, 403, 403])
    await node.token({ jti: undefined, run_attempt: '2' })
  })
})

const now = (): number => Math.floor(Date.now() / 1000)

describe('an identity token is rejected', () => {
  const REJECTED: [string, () => Promise<string>, RegExp][] = [
    ['for another audience', () => ci.sign({ aud: 'pypi' }), /audience must be "127\.0\.0\.1:/],
    ['for none', () => ci.sign({ aud: undefined }), /audience must be/],
    ['after its end', () => ci.sign({ exp: now() - 100 }), /has expired/],
    ['without an end', () => ci.sign({ exp: undefined }), /CLAIM_VALIDATION_FAILED exp/],
    ['before its time', () => ci.sign({ nbf: now() + 200 }), /CLAIM_VALIDATION_FAILED nbf/],
    ['from the future', () => ci.sign({ iat: now() + 200 }), /CLAIM_VALIDATION_FAILED iat/],
    ['without its time', () => ci.sign({ iat: undefined }), /CLAIM_VALIDATION_FAILED iat/],
    ['of yesterday', () => ci.sign({ iat: now() - 90_000 }), /JWT_EXPIRED iat/],
    ['of another issuer', () => ci.sign({ iss: 'https://evil.example' }), /trusts no issuer/],
    ['of an issuer spelt otherwise', () => ci.sign({ iss: `${ci.issuer}/` }), /trusts no issuer/],
    ['without an issuer', () => ci.sign({ iss: undefined }), /names no issuer \(iss\)/],
    ['signed by an unknown key', () => ci.sign({}, { kid: 'two' }), /JWKS_NO_MATCHING_KEY/],
    [
      'signed by nobody',
      () =>
        Promise.resolve(
          new UnsecuredJWT({ ...JOB, iat: now(), exp: now() + 300 })
            .setIssuer(ci.issuer)
            .setAudience(ci.audience)
            .encode(),
        ),
      /JWS_INVALID|ALG_NOT_ALLOWED|JWT_INVALID/,
    ],
    [
      'signed with the public key as if it were a secret',
      async () => {
        const key = (await importJWK(ci.publicKey, 'RS256')) as CryptoKey
        const secret = new TextEncoder().encode(await exportSPKI(key))
        return await new SignJWT({ ...JOB, jti: randomUUID() })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .setIssuer(ci.issuer)
          .setAudience(ci.audience)
          .setIssuedAt()
          .setExpirationTime('5m')
          .sign(secret)
      },
      /ALG_NOT_ALLOWED/,
    ],
    [
      'with claims that were not signed',
      async () => {
        const [head, , signature] = (await ci.sign()).split('.')
        const [, claims] = (await ci.sign({ repository_id: '1' })).split('.')
        return [head, claims, signature].join('.')
      },
      /JWS_SIGNATURE_VERIFICATION_FAILED/,
    ],
    ['that is none', () => Promise.resolve('a.b.c'), /not a JSON Web Token/],
  ]
  for (const [what, make, reason] of REJECTED)
    test(what, async () => {
      const node = await addTrusting()
      expectRejected(await node.exchange(await make()), reason)
    })

  test('rejects a text that is no token without repeating it in the response', async () => {
    const node = await addTrusting()
    for (const text of ['', 'secret text', 'x'.repeat(17_000)]) {
      const rejected = expectStatus(await node.exchange(text), 400, 'validation_failed')
      assert.match(rejected.body.message ?? '', /identity_token must be a JSON Web Token/)
      assert.doesNotMatch(JSON.stringify(rejected.body), /secret text|xxx/)
    }
  })

  test('for a node that is not there, or of a banned publisher', async () => {
    const node = await addTrusting()
    const token = await node.token()
    const { path } = node.owned
    const missing = `${path}/nodes/none/token-exchange`
    const body = { identity_token: await ci.sign() }
    expectStatus(await anonymous.post(missing, body), 404, 'node_not_found')
    const ban = { reason: 'spam' }
    expectStatus(await admin.post(`/admin${path}/ban`, ban), 200)
    expectStatus(await node.exchange(await ci.sign()), 403, 'publisher_banned')
    expectStatus(await publish(node, token), 403, 'publisher_banned')
  })
})

describe('an issuer', () => {
  const BROKEN: [string, Parameters<typeof ci.addIssuer>[0]][] = [
    ['that cannot be reached', { discovery: hangUp }],
    ['that fails', { keys: respond(500) }],
    ['whose document is no JSON', { discovery: respond(200, {}, '<html>') }],
    ['whose document is of another', { discovery: respond(200, {}, '{"issuer":"https://x.y"}') }],
    ['whose keys are none', { keys: respond(200, {}, '{"keys":"none"}') }],
    [
      'whose keys are where no user may lead us',
      {
        discovery: ({ request, response }) => {
          const issuer = ci.server.url(
            request.path.replace('/.well-known/openid-configuration', ''),
          )
          response.end(JSON.stringify({ issuer, jwks_uri: 'https://10.0.0.1/keys' }))
        },
      },
    ],
    ['whose document leads elsewhere', { discovery: respond(302, { location: '/' }) }],
    ['whose document has no end', { discovery: (turn) => endless(turn) }],
  ]
  for (const [what, replies] of BROKEN)
    test(`${what} makes the exchange wait`, async () => {
      const issuer = ci.addIssuer(replies)
      const node = await addTrusting({ issuer })
      const rejected = await node.exchange(await ci.sign({ iss: issuer }))
      const waits = expectStatus(rejected, 503, 'auth_unavailable')
      assert.ok(Number(waits.headers.get('retry-after')) > 0)
    })

  test('is asked for its keys once, and not again for each key that it does not have', async () => {
    const issuer = ci.addIssuer()
    const node = await addTrusting({ issuer })
    const path = `${new URL(issuer).pathname}/keys`
    await node.token({ iss: issuer })
    await node.token({ iss: issuer })
    for (const kid of ['two', 'three']) {
      const identity = await ci.sign({ iss: issuer }, { kid })
      expectRejected(await node.exchange(identity), /NO_MATCHING_KEY/)
    }
    assert.equal(ci.server.of(path).length, 1)
  })

  test('that no node trusts is never called', async () => {
    const issuer = ci.addIssuer()
    const node = await addTrusting()
    expectRejected(await node.exchange(await ci.sign({ iss: issuer })), /trusts no issuer/)
    const { pathname } = new URL(issuer)
    assert.deepEqual(
      ci.server.received.filter(({ path }) => path.startsWith(pathname)),
      [],
    )
  })
})

const endless: Reply = ({ response }) => {
  response.writeHead(200)
  response.on('drain', () => response.write('x'.repeat(65_536)))
  response.write('x'.repeat(65_536))
}

describe("a member's token for one publication", () => {
  test('publishes that node alone for 15 minutes, beside a credential, until the membership ends', async () => {
    const node = await addNode()
    const other = await addNode(node.owned)
    const { user, client: member } = await node.owned.addMember('member')
    const path = `${node.path}/publish-tokens`
    const made = expectStatus(await member.call('POST', path), 201)
    const minutes = (Date.parse(String(made.body['expires_at'])) - Date.now()) / 60_000
    assert.ok(minutes > 5 && minutes <= 15, `${minutes} minutes`)
    const token = String(made.body['token'])
    expectStatus(await publish(node, token), 401, 'unauthorized')
    const elsewhere = await publish(other, token, { client: member })
    expectStatus(elsewhere, 403, 'token_scope_insufficient')
    expectStatus(await publish(node, token, { client: member }), 201)
    const [listed] = listOf(await node.owned.owner.get(`${node.owned.path}/tokens`))
    assert.deepEqual(
      [listed?.['node_id'], listed?.['scope'], listed?.['created_by'], listed?.['expires_at']],
      [node.nodeId, 'publish', user, made.body['expires_at']],
    )
    const none = await member.post(`${node.owned.path}/nodes/none/publish-tokens`, {})
    expectStatus(none, 404, 'node_not_found')
    expectStatus(await anonymous.post(path, {}), 401, 'unauthorized')
    const last = String((await member.post(path, {})).body['token'])
    expectStatus(await node.owned.owner.delete(`${node.owned.path}/members/${user}`), 204)
    const { owner: client } = node.owned
    const rejected = await publish(node, last, { client, version: '2.0.0' })
    expectStatus(rejected, 403, 'invalid_personal_access_token')
  })
})

describe('a trusted publisher', () => {
  test('is added, listed and removed by admins, and each change is in the audit log', async () => {
    const node = await addNode()
    const trusted = expectStatus(await node.trust(), 201)
    const { id, createdAt: _time, ...rest } = trusted.body as Record<string, unknown>
    assert.deepEqual(rest, {
      node_id: node.nodeId,
      provider: 'github',
      issuer: ci.issuer,
      claims: CLAIMS,
      created_by: node.owned.user,
    })
    const { client: admin } = await node.owned.addMember('admin')
    const { client: member } = await node.owned.addMember('member')
    const path = `${node.path}/trusted-publishers`
    assert.deepEqual(listOf(await admin.get(path)), [trusted.body])
    for (const rejected of [
      await member.get(path),
      await member.post(path, { provider: 'oidc', issuer: ci.issuer, claims: { sub: 'x' } }),
      await member.delete(`${path}/${String(id)}`),
    ])
      expectStatus(rejected, 403, 'forbidden')
    expectStatus(await node.trust(), 409, 'trusted_publisher_exists')
    expectStatus(await admin.delete(`${path}/${String(id)}`), 204)
    for (const none of [`${path}/${String(id)}`, `${path}/none`])
      expectStatus(await admin.delete(none), 404, 'trusted_publisher_not_found')
    const target = encodeURIComponent(`node/${node.nodeId}`)
    const entries = listOf(await registry.admin.get(`/admin/audit-log?target=${target}`), 'entries')
    assert.deepEqual(columnsOf(entries.slice(0, 2), 'action', 'before', 'after'), [
      ['trusted_publisher.delete', trusted.body, {}],
      ['trusted_publisher.create', {}, trusted.body],
    ])
  })

  test('that is removed can no longer publish, whatever its jobs hold', async () => {
    const node = await addNode()
    const { id } = expectStatus(await node.trust(), 201).body as { id?: string }
    const token = await node.token()
    await node.owned.owner.delete(`${node.path}/trusted-publishers/${String(id)}`)
    expectStatus(await publish(node, token), 401, 'unauthorized')
    expectRejected(await node.exchange(await ci.sign()), /trusts no issuer/)
    const none = await anonymous.get(`/nodes/${node.nodeId}/versions/1.0.0`)
    expectStatus(none, 404, 'version_not_found')
  })

  test('ends with the membership of whom it was added by', async () => {
    const node = await addNode()
    const { client, user } = await node.owned.addMember('admin')
    const body = { provider: 'github', issuer: ci.issuer, claims: CLAIMS }
    expectStatus(await client.post(`${node.path}/trusted-publishers`, body), 201)
    const token = await node.token()
    expectStatus(await node.owned.owner.delete(`${node.owned.path}/members/${user}`), 204)
    expectStatus(await publish(node, token), 401, 'unauthorized')
    expectRejected(await node.exchange(await ci.sign()), /trusts no issuer/)
  })

  test('may say much', async () => {
    const node = await addNode()
    const long = Array.from({ length: 10 }, (_, index) => [`claim-${index}`, 'x'.repeat(512)])
    const fields = { provider: 'oidc', claims: Object.fromEntries(long) as object }
    expectStatus(await node.trust(fields), 201)
    expectStatus(await node.trust(fields), 409, 'trusted_publisher_exists')
  })

  test('is one of 20 of a node', async () => {
    const node = await addNode()
    const trust = (id: number) => node.trust({ claims: { ...CLAIMS, repository_id: String(id) } })
    for (let id = 1; id <= 20; id += 1) expectStatus(await trust(id), 201)
    expectStatus(await trust(21), 403, 'trusted_publisher_limit_reached')
  })

  const BAD: [object, string | RegExp, string?][] = [
    [{ provider: 'bitbucket' }, '/provider must be one of github, gitlab, oidc, got "bitbucket"'],
    [{ provider: '__proto__' }, /\/provider must be one of/],
    [{ provider: 'oidc', issuer: undefined }, /\/issuer must be given with oidc/],
    [{ issuer: 'https://10.0.0.1' }, /\/issuer must name a public address/, 'url_refused'],
    [{ issuer: 'http://ci.example.com' }, /\/issuer must be/, 'url_refused'],
    [{ issuer: 'https://ci.example.com/?a' }, /\/issuer must be .* without query/],
    [{ claims: undefined }, /\/claims must be an object/],
    [{ claims: {} }, /\/claims/],
    [
      { claims: { workflow_file: 'a.yml' } },
      /\/claims\/repository_id must be the number above 0, as a string, but is absent/,
    ],
    [
      { claims: { ...CLAIMS, repository_id: 'acme/x' } },
      /the number above 0, as a string, got "acme/,
    ],
    [{ claims: { ...CLAIMS, repository_id: '0' } }, /the number above 0, as a string, got "0"/],
    [{ claims: { ...CLAIMS, repository_id: '042' } }, /the number above 0, as a string, got "042"/],
    [{ claims: { ...CLAIMS, repository_owner_id: '0' } }, /repository_owner_id must be the number/],
    [
      { claims: { ...CLAIMS, environment: 'Release ' } },
      /\/claims\/environment must have no blanks around it, got "Release "/,
    ],
    [{ claims: { ...CLAIMS, repository_id: 42 } }, /\/claims\/repository_id must be a string/],
    [
      { claims: { ...CLAIMS, workflow_file: '/a.yml' } },
      /such as .github\/workflows\/publish.yml, got "\/a.yml"/,
    ],
    [{ claims: { ...CLAIMS, workflow_file: 'publish.yml' } }, /the whole path of a workflow file/],
    [{ claims: { ...CLAIMS, ref: 'main' } }, /a whole ref, such as refs\/heads\/main, got "main"/],
    [{ provider: 'oidc', claims: { ['a'.repeat(129)]: 'x' } }, /must have short names, got "aaa/],
    [{ provider: 'oidc', claims: { sub: '' } }, /\/claims\/sub must be/],
  ]
  test('that makes no sense is rejected with what is wrong', async () => {
    const node = await addNode()
    for (const [fields, message, code = 'validation_failed'] of BAD) {
      const rejected = expectStatus(await node.trust(fields), 400, code)
      assert.match(rejected.body.message ?? '', new RegExp(message), JSON.stringify(fields))
    }
  })
})

test('a provenance is not that of a version whose archive somebody else may upload', async () => {
  const node = await addTrusting()
  const { owner } = node.owned
  const provenanceOf = async (token: string, client?: Client) => {
    const made = await publish(node, token, { client: client ?? anonymous })
    return memberOf(expectStatus(made, 201), 'node_version')['provenance']
  }
  // The same run, once more.
  assert.deepEqual(await provenanceOf(await node.token()), await provenanceOf(await node.token()))
  assert.equal(await provenanceOf(node.owned.token, owner), undefined)
  assert.equal(await provenanceOf(await node.token()), undefined, 'the link of the owner works')
})

describe('a personal access token', () => {
  const addToken = async (owned: Owned, fields: object): Promise<string> => {
    const made = await owned.owner.post(`${owned.path}/tokens`, { name: 'x', ...fields })
    return String(expectStatus(made, 201).body['token'])
  }

  test('may be for one node', async () => {
    const node = await addNode()
    const { owned } = node
    const token = await addToken(owned, { node_id: node.nodeId.toUpperCase() })
    const client = owned.owner
    expectStatus(await publish(node, token, { client }), 201)
    const rejected = await publish(await addNode(owned), token, { client })
    expectStatus(rejected, 403, 'token_scope_insufficient')
    assert.match(rejected.body.message ?? '', new RegExp(node.nodeId))
    const none = { name: 'x', node_id: 'none' }
    expectStatus(await client.post(`${owned.path}/tokens`, none), 404, 'node_not_found')
    const [listed] = listOf(await client.get(`${owned.path}/tokens`))
    assert.deepEqual([listed?.['scope'], listed?.['node_id']], ['publish', node.nodeId])
  })

  test('may be for reading findings alone, and the others read them, too', async () => {
    const { owned } = await addNode()
    const flagged = await owned.addFlagged()
    const path = `${flagged.version}/findings`
    const reads = async (token: string, at = path) =>
      await makeClient(service.baseUrl, token).get(at)
    const reader = await addToken(owned, { scope: 'read', node_id: flagged.nodeId })
    const publication = { nodeId: flagged.nodeId, token: reader, version: '2.0.0' }
    expectStatus(await owned.publish(publication), 403, 'token_scope_insufficient')
    for (const token of [reader, owned.token])
      assert.equal(listOf(expectStatus(await reads(token), 200), 'moves').length, 2)
    assert.equal('moves' in (await anonymous.get(path)).body, false)

    const listed = listOf(await owned.owner.get(`${owned.path}/tokens`))
    const used = listed.filter((token) => token['last_used_at'] !== undefined)
    assert.equal(used.length, 2, 'both uses are noted')

    const other = await owned.addFlagged()
    const elsewhere = await reads(reader, `${other.version}/findings`)
    expectStatus(elsewhere, 403, 'token_scope_insufficient')
    const { owned: stranger } = await addNode()
    expectStatus(await reads(stranger.token), 403, 'token_scope_insufficient')
    expectStatus(await reads(reader, `${owned.path}/members`), 401, 'unauthorized')
    expectStatus(await reads(`${reader.slice(0, -1)}~`), 401, 'unauthorized')
    const bad = { name: 'x', scope: 'write' }
    const rejected = await owned.owner.post(`${owned.path}/tokens`, bad)
    expectStatus(rejected, 400, 'validation_failed')
  })
})

describe('an api that is killed', () => {
  const killedAt = async (node: Trusting, identity: string, key: string, failpoint: string) => {
    const { baseUrl, entry } = await service.startSecondApi({
      OVERRIDE_FAILPOINT: failpoint,
      // Its host is the audience of the identities.
      PUBLIC_URL: service.baseUrl,
    })
    const headers = { 'idempotency-key': key }
    const body = { identity_token: identity }
    const path = `${node.path}/token-exchange`
    await assert.rejects(makeClient(baseUrl).post(path, body, headers))
    await entry.end()
    return () => anonymous.post(path, body, headers)
  }
  const countTokens = async ({ nodeId }: Trusting): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from personal_access_token where node_id = ${nodeId}
    `
    return row?.count ?? 0
  }

  test('before the exchange is done has used up nothing', async () => {
    const node = await addTrusting()
    const identity = await ci.sign()
    await killedAt(node, identity, unique('key'), 'create.before-commit')
    assert.equal(await countTokens(node), 0)
    expectStatus(await node.exchange(identity), 201)
  })

  test('an api killed after the exchange leaves a token, which a repetition returns, and no version', async () => {
    const node = await addTrusting()
    const identity = await ci.sign()
    const again = await killedAt(node, identity, unique('key'), 'create.after-commit')
    assert.equal(await countTokens(node), 1)
    assert.deepEqual(listOf(await anonymous.get(`/nodes/${node.nodeId}/versions`)), [])
    const token = String(expectStatus(await again(), 201).body['token'])
    assert.equal(await countTokens(node), 1)
    expectStatus(await publish(node, token), 201)
  })
})
