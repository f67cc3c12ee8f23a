import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { before, beforeEach, describe, test, type TestContext } from 'node:test'

import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { CryptoKey, JWK, JWTHeaderParameters, JWTPayload } from 'jose'

import { examine, type Check } from '../../../src/operate/doctor.ts'
import { makeFetchKeys, makeKeySet, readKeySet } from '../../../src/identity/adapters/key-set.ts'
import { insertApiKey, listApiKeys, revokeApiKey } from '../../../src/identity/db/api-key.ts'
import { ApiError } from '../../../src/platform/domain/errors.ts'
import { makeCredential } from '../../../src/platform/domain/credential.ts'
import { makeAuthenticator } from '../../../src/identity/http/access/auth.ts'
import type { Authenticate } from '../../../src/identity/http/access/auth.ts'
import type { CredentialHeaders } from '../../../src/platform/http/access/caller.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { atOnce } from '../../support/client.ts'
import { startReceiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { useDatabase } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'

const ISSUER = 'https://issuer.example'
const AUDIENCE = 'kiln'

interface SigningKey {
  alg: string
  kid: string
  privateKey: CryptoKey
  publicKey: CryptoKey
  jwk: JWK
}

const makeKey = async (alg: string, kid: string): Promise<SigningKey> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig' }
  return { alg, kid, privateKey, publicKey, jwk }
}

/** Stops the clock by which tokens are validated, however long the test takes. */
const stopClock = (t: TestContext): void =>
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })

const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset

const claims = (more: Record<string, unknown> = {}): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'alice',
  iat: seconds(0),
  exp: seconds(600),
  ...more,
})

const sign = (
  key: SigningKey,
  payload: JWTPayload = claims(),
  header: Partial<JWTHeaderParameters> = {},
) => {
  const options = header.crit === undefined ? {} : { crit: { [header.crit[0] ?? '']: true } }
  return new SignJWT(payload)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey, options)
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const bearer = (token: string): CredentialHeaders => ({ authorization: `Bearer ${token}` })

const unauthorized = (error: unknown): true => {
  assert.ok(error instanceof ApiError)
  assert.deepEqual(
    { code: error.code, message: error.message, headers: error.headers, details: error.details },
    {
      code: 'unauthorized',
      message:
        'The credential that was sent is not valid here: it is malformed, unknown, revoked or expired, or of a kind that this route does not take.',
      headers: { 'www-authenticate': 'Bearer' },
      details: undefined,
    },
  )
  return true
}

type Cases = Record<string, CredentialHeaders>

const rejects = async (authenticate: Authenticate, cases: Cases): Promise<void> => {
  for (const [name, headers] of Object.entries(cases))
    await assert.rejects(authenticate(headers), unauthorized, name)
}

const { sql } = useDatabase()
const server = useWebhookReceiver()
/** A key set that can be made to fail or to keep silent, at an address of each test's own. */
let issuer: { keys: JWK[]; fetches: number; mode: 'up' | 'broken' | 'silent'; url: string }
let rsa: SigningKey
let pss: SigningKey
let ec: SigningKey
let ed: SigningKey
let logged: string[]
let time = 0

const make = () => {
  const log = {
    info: (...facts: unknown[]) => void logged.push(JSON.stringify(facts)),
    warn: (...facts: unknown[]) => void logged.push(String(facts[1])),
  }
  const keys = makeKeySet({
    url: issuer.url,
    log,
    fetch: makeFetchKeys(issuer.url, { allowLoopback: false, ports: [], deny: [] }),
    clock: () => time,
  })
  return makeAuthenticator({ issuer: ISSUER, audience: AUDIENCE, keys, sql, log })
}

before(async () => {
  ;[rsa, pss, ec, ed] = await Promise.all([
    makeKey('RS256', 'rsa'),
    makeKey('PS256', 'pss'),
    makeKey('ES256', 'ec'),
    makeKey('EdDSA', 'ed'),
  ])
})

beforeEach(() => {
  logged = []
  time = 0
  const path = `/${randomUUID()}`
  const set: typeof issuer = {
    keys: [rsa.jwk, pss.jwk, ec.jwk, ed.jwk],
    fetches: 0,
    mode: 'up',
    url: server.url(path),
  }
  issuer = set
  server.script(path, ({ response }) => {
    set.fetches += 1
    if (set.mode === 'silent') return
    response.statusCode = set.mode === 'up' ? 200 : 500
    response.end(JSON.stringify({ keys: set.keys }))
  })
})

describe('a bearer token', () => {
  test('a bearer token of every allowed algorithm identifies the caller', async () => {
    const authenticate = make()
    const payload = claims()
    for (const key of [rsa, pss, ec, ed])
      assert.deepEqual(await authenticate(bearer(await sign(key, payload))), {
        principal: 'alice',
        owner: 'alice',
        scheme: 'jwt',
        expiresAt: payload.exp,
      })
  })

  test('is taken in any spelling of the scheme, from a list of audiences, and with 60 s of tolerance', async (t) => {
    stopClock(t)
    const authenticate = make()
    const token = await sign(ec)
    for (const authorization of [`bearer ${token}`, `BEARER   ${token} `, [`Bearer ${token}`]])
      assert.equal((await authenticate({ authorization }))?.owner, 'alice')
    const kept = [
      claims({ aud: ['other', AUDIENCE] }),
      claims({ exp: seconds(-59) }),
      claims({ nbf: seconds(60) }),
      claims({ sub: 'x'.repeat(255) }),
      claims({ sub: '🜂'.repeat(255) }),
    ]
    for (const payload of kept)
      assert.equal((await authenticate(bearer(await sign(ec, payload))))?.owner, payload.sub)
  })

  test('that was taken before is rejected after its end', async (t) => {
    stopClock(t)
    const authenticate = make()
    const token = bearer(await sign(ec))
    await authenticate(token)
    t.mock.timers.tick(659_000)
    assert.equal((await authenticate(token))?.owner, 'alice')
    t.mock.timers.tick(1000)
    await rejects(authenticate, { ended: token })
  })

  test('without a key id is tried with each key of its type', async () => {
    const second = await makeKey('ES256', 'ec-2')
    issuer.keys.push(second.jwk)
    const authenticate = make()
    for (const { alg, privateKey } of [ec, second]) {
      const token = await new SignJWT(claims()).setProtectedHeader({ alg }).sign(privateKey)
      assert.equal((await authenticate(bearer(token)))?.owner, 'alice')
    }
    const { alg, privateKey } = await makeKey('ES256', 'unknown')
    const forged = await new SignJWT(claims()).setProtectedHeader({ alg }).sign(privateKey)
    await rejects(authenticate, { forged: bearer(forged) })
  })

  test('that does not hold is the one 401', async (t) => {
    stopClock(t)
    const payloads: Record<string, JWTPayload> = {
      'expired 60 s ago': claims({ exp: seconds(-60) }),
      'not valid for another 61 s': claims({ nbf: seconds(61) }),
      'other issuer': claims({ iss: `${ISSUER}/` }),
      'other audience': claims({ aud: 'other' }),
      'no issuer': claims({ iss: undefined }),
      'no audience': claims({ aud: undefined }),
      'no expiry': claims({ exp: undefined }),
      'no subject': claims({ sub: undefined }),
      'expiry as text': claims({ exp: String(seconds(600)) }),
      'empty subject': claims({ sub: '' }),
      'subject of 256 characters': claims({ sub: 'x'.repeat(256) }),
      'subject that is no text': claims({ sub: 5 }),
      'subject anonymous': claims({ sub: 'anonymous' }),
      'subject of an anonymous account': claims({ sub: `anonymous:${'0'.repeat(32)}` }),
      'subject with NUL': claims({ sub: 'a\0b' }),
      'subject with a newline': claims({ sub: 'a\nb' }),
      'subject with a lone surrogate': claims({ sub: 'a\ud800b' }),
    }
    const authenticate = make()
    for (const [name, payload] of Object.entries(payloads))
      await rejects(authenticate, { [name]: bearer(await sign(ec, payload)) })
  })

  test('of a foreign algorithm, key or header is the one 401', async () => {
    const body = part(claims())
    const hmac = `${part({ alg: 'HS256', kid: 'rsa' })}.${body}`
    const publicText = await exportSPKI(rsa.publicKey)
    const stranger = await makeKey('ES256', 'ec')
    const embedded = { jwk: stranger.jwk, kid: undefined as unknown as string }
    const token = await sign(ec)
    const es512 = await makeKey('ES512', 'es512')
    issuer.keys.push(es512.jwk)
    await rejects(make(), {
      'alg none': bearer(`${part({ alg: 'none' })}.${body}.`),
      'HS256 with the public key': bearer(
        `${hmac}.${createHmac('sha256', publicText).update(hmac).digest('base64url')}`,
      ),
      'algorithm outside the list': bearer(await sign(es512)),
      'key of a stranger under a known id': bearer(await sign(stranger)),
      'key in the header': bearer(await sign(stranger, claims(), embedded)),
      'unknown key id': bearer(await sign(ec, claims(), { kid: 'unknown' })),
      'unknown crit': bearer(await sign(ec, claims(), { crit: ['exotic'], exotic: true })),
      'signature cut': bearer(token.slice(0, -4)),
      'payload of another token': bearer(
        token.replace(/\.[^.]+\./, `.${part(claims({ sub: 'bob' }))}.`),
      ),
      'payload that is no object': bearer(
        token.replace(/\.[^.]+\./, `.${Buffer.from('"x"').toString('base64url')}.`),
      ),
    })
  })

  test('signed by a key that is too short is the one 401', async () => {
    issuer.keys = [{ ...rsa.jwk, n: (rsa.jwk.n ?? '').slice(0, 171), kid: 'short' }]
    const token = await sign(rsa, claims(), { kid: 'short' })
    await rejects(make(), { short: bearer(token) })
  })

  test('in a malformed header is the one 401', async () => {
    const token = await sign(ec)
    await rejects(make(), {
      empty: { authorization: '' },
      'scheme alone': { authorization: 'Bearer' },
      'scheme and a blank': { authorization: 'Bearer ' },
      'no scheme': { authorization: token },
      basic: { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
      'two tokens': { authorization: `Bearer ${token} ${token}` },
      'a list of tokens': { authorization: `Bearer ${token}, Bearer ${token}` },
      'two headers': { authorization: [`Bearer ${token}`, `Bearer ${token}`] },
      'over 8 KiB': bearer(await sign(ec, claims({ more: 'x'.repeat(9000) }))),
      'not a token': bearer('abc'),
      'dots only': bearer('..'),
    })
  })

  test('leaves the cause in the log, and neither the token nor its claims', async () => {
    const token = await sign(ec, claims({ exp: seconds(-100), email: 'alice@example.com' }))
    await rejects(make(), { expired: bearer(token) })
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', /ERR_JWT_EXPIRED/)
    assert.doesNotMatch(logged[0] ?? '', /alice|eyJ/)
  })
})

describe('the key set', () => {
  test('of an issuer whose authority is unknown leads to the variable that names one', async () => {
    const certificate = makeCertificate(['localhost'])
    const secured = await startReceiver((_request, response) => response.end('{}'), certificate)
    issuer.url = `https://localhost:${secured.port}/`
    await assert.rejects(make()(bearer(await sign(ec))), { code: 'auth_unavailable' })
    const advice = /signed by no authority that Node knows: name the file .*NODE_EXTRA_CA_CERTS/
    assert.match(logged.join('\n'), advice)
    const rules = { allowLoopback: false, ports: [], deny: [] }
    const fetch = makeFetchKeys(issuer.url, rules)
    const check: Check = ['issuer', [], '', async () => String(await readKeySet(issuer.url, fetch))]
    const { lines } = await examine([check], { issues: [], limitMs: PATIENCE_MS })
    assert.match(lines.join('\n'), advice)
    await secured.close()
  })

  test('is fetched once for many tokens, and again after 10 minutes', async () => {
    const authenticate = make()
    const token = await sign(ec)
    await atOnce(20, () => authenticate(bearer(token)))
    time = 599_000
    await authenticate(bearer(token))
    assert.equal(issuer.fetches, 1)
    time = 600_000
    await atOnce(20, () => authenticate(bearer(token)))
    assert.equal(issuer.fetches, 2)
  })

  test('is fetched at most once in 30 s for two hundred unknown key ids', async () => {
    const authenticate = make()
    await authenticate(bearer(await sign(ec)))
    const token = (kid: string) => sign(ec, claims(), { kid })
    const tokens = await Promise.all(Array.from({ length: 100 }, (_, index) => token(`k${index}`)))
    const flood = () =>
      Promise.all(tokens.map((token) => assert.rejects(authenticate(bearer(token)), unauthorized)))
    await flood()
    time = 29_999
    await flood()
    assert.equal(issuer.fetches, 1)
    time = 30_000
    await flood()
    time = 59_999
    await flood()
    assert.equal(issuer.fetches, 2)
  })

  test('takes a rotated key after the cool-down, for all who wait for it', async () => {
    const authenticate = make()
    const known = bearer(await sign(ec))
    await authenticate(known)
    const fresh = await makeKey('ES256', 'fresh')
    issuer.keys = [fresh.jwk]
    time = 30_000
    const token = await sign(fresh)
    const callers = await atOnce(10, () => authenticate(bearer(token)))
    assert.ok(callers.every((caller) => caller?.owner === 'alice'))
    assert.equal(issuer.fetches, 2)
    await rejects(authenticate, { 'old key': bearer(await sign(ec)), 'known token': known })
  })

  test('serves for 24 hours while the issuer is broken, asked every 30 s at most, then is unavailable', async () => {
    const authenticate = make()
    const token = bearer(await sign(ec))
    await authenticate(token)
    issuer.mode = 'broken'
    for (time of [600_000, 610_000, 629_999, 86_399_999])
      assert.equal((await authenticate(token))?.owner, 'alice')
    assert.equal(issuer.fetches, 3)
    await rejects(authenticate, { unknown: bearer(await sign(ec, claims(), { kid: 'unknown' })) })
    time = 86_400_000
    await assert.rejects(authenticate(token), { code: 'auth_unavailable', status: 503 })
    issuer.mode = 'up'
    time += 30_000
    assert.equal((await authenticate(token))?.owner, 'alice')
  })

  test('that was never held is 503, and is asked for again after 5 s', async () => {
    issuer.mode = 'broken'
    const authenticate = make()
    const token = bearer(await sign(ec))
    for (time of [0, 1000, 4999])
      await assert.rejects(authenticate(token), { code: 'auth_unavailable', status: 503 })
    assert.equal(issuer.fetches, 1)
    issuer.mode = 'up'
    time = 5000
    assert.equal((await authenticate(token))?.owner, 'alice')
  })

  test('holds nobody up while the issuer keeps silent', async () => {
    issuer.mode = 'silent'
    const cold = make()
    const token = bearer(await sign(ec))
    const waiting = assert.rejects(cold(token), { code: 'auth_unavailable' })
    await waitFor('the key set is asked for', async () => issuer.fetches > 0)
    issuer.mode = 'up'
    const warm = make()
    await warm(token)
    issuer.mode = 'silent'
    time = 600_000
    assert.equal((await warm(token))?.owner, 'alice')
    await waiting
  })

  test('that is not one counts as a failed fetch', async () => {
    issuer.keys = 'none' as unknown as JWK[]
    await assert.rejects(make()(bearer(await sign(ec))), { code: 'auth_unavailable' })
  })
})

const insertKey = async (key: string, expires_at?: Date) => {
  const sha256 = createHash('sha256').update(key).digest('hex')
  const row = { owner: 'alice', name: 'test', sha256, last4: key.slice(-4), expires_at }
  const made = await insertApiKey(sql, row)
  assert.ok(made)
  return made.id
}

const lastUse = async (id: string) =>
  (await listApiKeys(sql, 'alice')).find((key) => key.id === id)?.last_used_at

describe('an API key', () => {
  test('acts for its owner, as bearer or in X-API-KEY, without the issuer', async () => {
    issuer.mode = 'broken'
    const authenticate = make()
    const key = makeCredential('api_key', randomBytes)
    const keyId = await insertKey(key)
    for (const headers of [bearer(key), { 'x-api-key': key }, { 'x-api-key': [key] }])
      assert.deepEqual(await authenticate(headers), {
        principal: 'alice',
        owner: 'alice',
        scheme: 'api_key',
        keyId,
      })
    assert.equal(issuer.fetches, 0)
  })

  test('does not count beside an Authorization header', async () => {
    const authenticate = make()
    const key = makeCredential('api_key', randomBytes)
    await insertKey(key)
    const token = await sign(ec, claims({ sub: 'bob' }))
    const caller = await authenticate({ ...bearer(token), 'x-api-key': key })
    assert.deepEqual([caller?.owner, caller?.scheme], ['bob', 'jwt'])
    assert.equal((await authenticate({ ...bearer(token), 'x-api-key': 'nonsense' }))?.owner, 'bob')
    await rejects(authenticate, {
      'bad bearer': { ...bearer('nonsense'), 'x-api-key': key },
      basic: { authorization: 'Basic YTpi', 'x-api-key': key },
    })
  })

  test('that is unknown, changed, expired, revoked or of another kind is the one 401', async () => {
    const authenticate = make()
    const [key, revoked, expired] = Array.from({ length: 3 }, () =>
      makeCredential('api_key', randomBytes),
    ) as [string, string, string]
    await insertKey(key)
    await revokeApiKey(sql, { id: await insertKey(revoked), owner: 'alice' })
    const id = await insertKey(expired, new Date(Date.now() + 60_000))
    await sql`update api_key set expires_at = clock_timestamp() where id = ${id}`
    const pat = makeCredential('personal_access_token', randomBytes)
    const changed = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21)
    await rejects(authenticate, {
      unknown: bearer(makeCredential('api_key', randomBytes)),
      changed: bearer(changed),
      revoked: bearer(revoked),
      expired: { 'x-api-key': expired },
      'personal access token as bearer': bearer(pat),
      'personal access token as key': { 'x-api-key': pat },
      'token in X-API-KEY': { 'x-api-key': await sign(ec) },
      empty: { 'x-api-key': '' },
      twice: { 'x-api-key': [key, key] },
      'twice in one': { 'x-api-key': `${key}, ${key}` },
    })
  })

  test('notes its first use, then one an hour', async () => {
    const authenticate = make()
    const key = makeCredential('api_key', randomBytes)
    const id = await insertKey(key)
    assert.equal(await lastUse(id), undefined)
    await atOnce(5, () => authenticate(bearer(key)))
    const first = await lastUse(id)
    assert.ok(first)
    await authenticate(bearer(key))
    assert.equal(await lastUse(id), first)
    await sql`update api_key set last_used_at = last_used_at - interval '61 minutes' where id = ${id}`
    const hourAgo = await lastUse(id)
    await authenticate(bearer(key))
    assert.ok(String(await lastUse(id)) > String(hourAgo))
  })

  test('still counts when its use cannot be noted', async () => {
    const authenticate = make()
    const key = makeCredential('api_key', randomBytes)
    const id = await insertKey(key)
    await sql`create rule read_only as on update to api_key do instead select 1 / 0`
    try {
      assert.equal((await authenticate(bearer(key)))?.owner, 'alice')
      assert.deepEqual(logged, ['the last use of an API key was not noted'])
    } finally {
      await sql`drop rule read_only on api_key`
    }
    assert.equal(await lastUse(id), undefined)
  })
})

test('a request without a credential has no caller', async () => {
  assert.equal(await make()({}), undefined)
  assert.equal(await make()({ cookie: 'a=b', authorization: undefined }), undefined)
})
