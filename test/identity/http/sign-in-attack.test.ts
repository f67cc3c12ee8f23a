import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { digest } from '../../../src/identity/http/access/digest.ts'
import { addPasskey, usePasskey } from '../../support/passkey.ts'
import { send } from '../../support/request.ts'
import { useService, type UsedService } from '../../support/service.ts'
import {
  addAccount,
  BUILTIN,
  exchange,
  goBack,
  linkIn,
  makeAttempt,
  openSignIn,
  operateUser,
  PASSWORD,
  signIn,
  Visitor,
} from '../../support/sign-in.ts'
import { waitFor } from '../../support/wait.ts'

const service = useService({ roles: ['api'], env: { ...BUILTIN, TRUST_PROXY: '127.0.0.1' } })

const visit = (headers?: Record<string, string>) => new Visitor(service.baseUrl, headers)

/** A visitor whose address is another. */
const from = (address: string) => visit({ 'x-forwarded-for': address })

const tryPassword = async (visitor: Visitor, email: string, password: string) => {
  const { path } = makeAttempt(service.baseUrl, { prompt: 'login' })
  return await visitor.post(await openSignIn(visitor, path), { email, password })
}

describe('an open redirect', () => {
  const WRONG = [
    'https://evil.example/console/signed-in',
    'BASE/console/signed-in/',
    'BASE/console/signed-in?next=https://evil.example',
    'BASE/console/../console/signed-in',
    'BASE/console/signed-in#x',
    'BASE@evil.example/console/signed-in',
    'javascript:alert(1)',
  ]
  for (const address of WRONG)
    test(`is not made of ${address}`, async () => {
      const uri = address.replace('BASE', service.baseUrl)
      const { path } = makeAttempt(service.baseUrl, { redirect_uri: uri })
      const { status, location, text } = await visit().get(path)
      assert.deepEqual([status, location], [400, ''])
      assert.match(text, /Signing in failed/)
    })

  test('is not made of the address after signing out', async () => {
    const leave = `/auth/sign-out?client_id=kiln-console&post_logout_redirect_uri=https://evil.example/`
    const { status, location } = await visit().get(leave)
    assert.deepEqual([status, location], [400, ''])
  })

  test('is not made of a Host or X-Forwarded-Host that a request brings', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    const path = '/auth/.well-known/openid-configuration'
    const { body } = await send(service.baseUrl + path, { headers })
    assert.doesNotMatch(JSON.stringify(body), /evil/)
    assert.equal(body['token_endpoint'], `${service.baseUrl}/auth/token`)
    const { path: authorize } = makeAttempt(service.baseUrl)
    const sent = await send(service.baseUrl + authorize, { headers })
    assert.doesNotMatch(String(sent.headers.location), /evil/)
  })
})

describe('a replay', () => {
  test('of a code is rejected, and ends what the code gave', async () => {
    const { visitor, tokens, code, verifier } = await signIn(service, await addAccount(service))
    const again = await exchange(visitor, { code, code_verifier: verifier })
    assert.equal(again.status, 400)
    const renewed = await exchange(visitor, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    })
    assert.equal(renewed.status, 400)
  })

  test('of a code at once gives tokens to one', async () => {
    const email = await addAccount(service)
    const visitor = visit()
    const { verifier, path } = makeAttempt(service.baseUrl)
    const page = await openSignIn(visitor, path)
    const back = await goBack(visitor, await visitor.post(page, { email, password: PASSWORD }))
    const code = back.searchParams.get('code') ?? ''
    const all = await Promise.all(
      Array.from({ length: 8 }, () => exchange(visitor, { code, code_verifier: verifier })),
    )
    assert.equal(all.filter(({ status }) => status === 200).length, 1)
  })

  test('of a code by who does not have the verifier is rejected', async () => {
    const email = await addAccount(service)
    const visitor = visit()
    const page = await openSignIn(visitor, makeAttempt(service.baseUrl).path)
    const back = await goBack(visitor, await visitor.post(page, { email, password: PASSWORD }))
    const code = back.searchParams.get('code') ?? ''
    for (const verifier of ['', 'x'.repeat(43)])
      assert.equal((await exchange(visitor, { code, code_verifier: verifier })).status, 400)
  })

  test('of a request without a challenge, or with a plain one, is rejected', async () => {
    for (const changed of [{ code_challenge: '' }, { code_challenge_method: 'plain' }]) {
      const { location } = await visit().get(makeAttempt(service.baseUrl, changed).path)
      assert.match(location, /error=invalid_request/)
    }
  })

  test('of a link is rejected, at once too, and a newer link ends an older', async () => {
    const email = 'links@example.com'
    const old = linkIn(await operateUser(service, { verb: 'add', email }))
    const link = linkIn(await operateUser(service, { verb: 'reset', email }))
    assert.equal((await visit().get(old)).status, 404)
    const all = await Promise.all(
      Array.from({ length: 4 }, () => visit().post(link, { new: PASSWORD })),
    )
    assert.equal(all.filter(({ status }) => status === 200).length, 1)
    assert.equal((await visit().post(link, { new: `${PASSWORD} x` })).status, 404)
    await signIn(service, email)
  })

  test('of a link whose time has ended is rejected', async () => {
    const email = 'late@example.com'
    const link = linkIn(await operateUser(service, { verb: 'add', email }))
    await service.sql`update sign_in_once set expires_at = now()`
    assert.equal((await visit().post(link, { new: PASSWORD })).status, 404)
  })
})

describe('a session', () => {
  test('cannot be fixed: a cookie that was given is not the one after signing in', async () => {
    const email = await addAccount(service)
    const { visitor: attacker } = await signIn(service, await addAccount(service))
    const victim = visit()
    const planted = attacker.cookies.filter(({ name }) => name.startsWith('kiln_session'))
    assert.equal(planted.length, 2)
    victim.cookies = planted.map((cookie) => ({ ...cookie, value: `x${cookie.value.slice(1)}` }))
    const before = victim.cookie('kiln_session')?.value
    await signIn(service, email, { visitor: victim })
    assert.notEqual(victim.cookie('kiln_session')?.value, before)
  })

  test('of one account does not become another account: signing in asks in the open first', async () => {
    const { visitor } = await signIn(service, await addAccount(service))
    const before = visitor.cookie('kiln_session')?.value
    const { path } = makeAttempt(service.baseUrl, { prompt: 'login' })
    const page = await openSignIn(visitor, path)
    const other = await addAccount(service)
    const sent = await visitor.post(page, { email: other, password: PASSWORD })
    const resumed = await visitor.get(sent.location)
    assert.equal(resumed.location, '')
    assert.match(resumed.text, /sign-out\/confirm/)
    assert.equal(visitor.cookie('kiln_session')?.value, before)
  })

  test('a sign-in that another browser began is not finished here', async () => {
    const email = await addAccount(service)
    const page = await openSignIn(visit(), makeAttempt(service.baseUrl).path)
    const other = visit()
    await openSignIn(other, makeAttempt(service.baseUrl).path)
    assert.equal((await other.get(page)).status, 400)
    assert.equal((await other.post(page, { email, password: PASSWORD })).status, 400)
  })

  test('cookies are out of reach of scripts and of other sites', async () => {
    const { visitor } = await signIn(service, await addAccount(service))
    assert.ok(visitor.cookies.length >= 3)
    for (const { name, attributes } of visitor.cookies) assert.match(attributes, /httponly/i, name)
    for (const { name, attributes } of visitor.cookies)
      assert.match(attributes, /samesite=lax/i, name)
  })

  test('cookies go by TLS alone where PUBLIC_URL is https, whatever headers say', async () => {
    const origin = 'https://kiln.example.com'
    const { baseUrl } = await service.startSecondApi({ ...BUILTIN, PUBLIC_URL: origin })
    const email = await addAccount(service)
    const visitor = new Visitor(baseUrl, { 'x-forwarded-proto': 'http' })
    const page = await openSignIn(visitor, makeAttempt(origin).path)
    const sent = await visitor.post(page, { email, password: PASSWORD }, { origin })
    assert.ok(sent.location.startsWith(`${origin}/auth/authorize/`), sent.text)
    const { pathname } = new URL(sent.location)
    const back = await visitor.get(pathname)
    assert.ok(back.location.startsWith(`${origin}/console/signed-in?code=`), back.text)
    assert.ok(visitor.cookie('kiln_session') && visitor.cookie('kiln_device'))
    for (const { name, attributes } of visitor.cookies) assert.match(attributes, /; secure/i, name)
  })

  test('signing out takes a press on the page', async () => {
    const { visitor } = await signIn(service, await addAccount(service))
    const { text } = await visitor.get('/auth/sign-out?client_id=kiln-console')
    assert.match(text, /Sign out<\/button>/)
    assert.equal((await visitor.get('/auth/account')).status, 200)
    const xsrf = /name="xsrf" value="(\w+)"/.exec(text)?.[1] ?? ''
    await visitor.post('/auth/sign-out/confirm', { xsrf: 'guessed', logout: 'yes' })
    assert.equal((await visitor.get('/auth/account')).status, 200)
    await visitor.post('/auth/sign-out/confirm', { xsrf, logout: 'yes' })
    assert.equal((await visitor.get('/auth/account')).status, 401)
  })
})

/** Makes the waits that have begun last: two seconds would be over on a slow machine. */
const holdWaits = () => service.sql`
  update sign_in_failure set wait_until = now() + interval '1 hour' where wait_until > '-infinity'
`

describe('enumeration', () => {
  test('finds nothing in the response to a password, whether or not there is an account', async () => {
    const known = await addAccount(service)
    const disabled = await addAccount(service)
    const bare = 'bare@example.com'
    await operateUser(service, { verb: 'add', email: bare })
    await operateUser(service, { verb: 'disable', email: disabled })
    const shown = new Set<string>()
    for (const email of [known, 'nobody@example.com', disabled, bare, 'no address']) {
      const { status, text, headers } = await tryPassword(visit(), email, 'not the password')
      const names = [...headers.keys()].filter((name) => !/date|x-request-id/.test(name))
      shown.add(JSON.stringify([status, text.replaceAll(email, 'EMAIL'), names]))
    }
    assert.equal(shown.size, 1)
  })

  test('finds nothing in the wait after failures either', async () => {
    const shown = new Set<string>()
    for (const email of [await addAccount(service), 'nobody.else@example.com']) {
      const statuses: number[] = []
      for (let turn = 0; turn < 8; turn += 1) {
        statuses.push((await tryPassword(from('203.0.113.9'), email, 'wrong')).status)
        await holdWaits()
      }
      shown.add(JSON.stringify(statuses))
    }
    assert.deepEqual([...shown], [JSON.stringify([401, 401, 401, 401, 401, 401, 429, 429])])
  })
})

describe('a lock-out', () => {
  test('holds for the address that failed, and neither for others nor for a browser that is known', async () => {
    const email = await addAccount(service)
    const own = from('198.51.100.1')
    await signIn(service, email, { visitor: own })
    for (let turn = 0; turn < 7; turn += 1) await tryPassword(from('203.0.113.1'), email, 'wrong')
    await holdWaits()
    const locked = await tryPassword(from('203.0.113.1'), email, PASSWORD)
    assert.equal(locked.status, 429)
    await signIn(service, email, { visitor: from('203.0.113.2') })
    // The known browser, from the very address that is locked.
    own.headers['x-forwarded-for'] = '203.0.113.1'
    assert.equal((await tryPassword(own, email, PASSWORD)).status, 303)
  })

  test('slows guesses at one account from many addresses, and still lets its known browser in', async () => {
    const email = await addAccount(service)
    const own = from('198.51.100.2')
    await signIn(service, email, { visitor: own })
    await tryPassword(from('192.0.2.1'), email, 'wrong')
    // The next one makes all wait for minutes: two seconds would be over on a slow machine.
    await service.sql`update sign_in_failure set failures = 58 where key = ${digest(email)}`
    await tryPassword(from('192.0.2.2'), email, 'wrong')
    assert.equal((await tryPassword(from('192.0.2.3'), email, PASSWORD)).status, 429)
    assert.equal((await tryPassword(own, email, PASSWORD)).status, 303)
  })

  test('counts attempts that are made at once', async () => {
    const email = await addAccount(service)
    const visitor = from('203.0.113.3')
    const page = await openSignIn(visitor, makeAttempt(service.baseUrl).path)
    const all = await Promise.all(
      Array.from({ length: 12 }, () => visitor.post(page, { email, password: 'wrong' })),
    )
    // Some of the six may find the processor busy.
    assert.equal(all.filter(({ status }) => status === 429).length, 6)
  })

  test('a device cookie of another account, or a forged one, is none', async () => {
    const email = await addAccount(service)
    const { visitor } = await signIn(service, await addAccount(service))
    visitor.headers['x-forwarded-for'] = '203.0.113.4'
    for (let turn = 0; turn < 7; turn += 1) await tryPassword(from('203.0.113.4'), email, 'wrong')
    await holdWaits()
    assert.equal((await tryPassword(visitor, email, PASSWORD)).status, 429)
  })
})

describe('the quota of an address', () => {
  /** A fifth of it: four failures in a minute. */
  let limited: Pick<UsedService, 'sql' | 'baseUrl'>
  before(async () => {
    const { baseUrl } = await service.startSecondApi({ RATE_LIMITS: '0.2' })
    limited = { sql: service.sql, baseUrl }
  })
  const at = (address: string) => new Visitor(limited.baseUrl, { 'x-forwarded-for': address })
  const openAgain = (visitor: Visitor) =>
    openSignIn(visitor, makeAttempt(limited.baseUrl, { prompt: 'login' }).path)

  test('is taken before a password is compared, so that behind wrong ones a right one is not found', async () => {
    const [email, other] = [await addAccount(limited), await addAccount(limited)]
    const known = at('203.0.113.50')
    await signIn(limited, email, { visitor: known })
    const passkey = await addPasskey(known)
    const visitor = at('203.0.113.51')
    const page = await openAgain(visitor)
    const tried: number[] = []
    for (let turn = 0; turn < 6; turn += 1)
      tried.push(
        (await visitor.post(page, { email: `${turn}@example.com`, password: 'wrong' })).status,
      )
    assert.deepEqual(tried, [401, 401, 401, 401, 429, 429])
    const right = await visitor.post(page, { email: other, password: PASSWORD })
    assert.deepEqual([right.status, /Too many attempts/.test(right.text)], [429, true])
    await signIn(limited, other, { visitor: at('203.0.113.52') })
    assert.equal((await usePasskey(visitor, page, passkey)).status, 200)
    known.headers['x-forwarded-for'] = '203.0.113.51'
    const sent = await known.post(await openAgain(known), { email, password: PASSWORD })
    assert.equal(sent.status, 303)
  })

  test('counts no right password', async () => {
    const email = await addAccount(limited)
    const visitor = at('203.0.113.53')
    const page = await openAgain(visitor)
    for (let turn = 0; turn < 6; turn += 1) {
      visitor.cookies = visitor.cookies.filter(({ name }) => name !== 'kiln_device')
      assert.equal((await visitor.post(page, { email, password: PASSWORD })).status, 303)
    }
  })

  test('is taken before the present password is compared that changes one', async () => {
    const { visitor } = await signIn(limited, await addAccount(limited), {
      visitor: at('203.0.113.54'),
    })
    const change = (password: string) =>
      visitor.post('/auth/account/password', { password, new: `${PASSWORD} new` })
    for (let turn = 0; turn < 4; turn += 1)
      assert.match((await change('wrong')).text, /password is wrong/)
    assert.match((await change(PASSWORD)).text, /Too many attempts/)
  })

  test('leaves room at the processor: who signs in elsewhere is not behind all of one address', async () => {
    const email = await addAccount(service)
    const victim = from('198.51.100.60')
    const own = await openSignIn(victim, makeAttempt(service.baseUrl).path)
    const attacker = from('203.0.113.60')
    const page = await openSignIn(attacker, makeAttempt(service.baseUrl).path)
    let [compared, rejected] = [0, 0]
    const end = new AbortController()
    /** Sends one wrong password after another, of an account each, until the processor takes no more. */
    const attack = async (name: number): Promise<void> => {
      for (let turn = 0; !end.signal.aborted; turn += 1) {
        const wrong = { email: `${name}.${turn}@example.com`, password: 'wrong' }
        if ((await attacker.post(page, wrong)).status === 503) return void (rejected += 1)
        compared += 1
      }
    }
    const all = Array.from({ length: 30 }, (_, name) => attack(name))
    await waitFor('as many of the address wait as may', () => Promise.resolve(rejected > 0))
    const before = compared
    const { status } = await victim.post(own, { email, password: PASSWORD })
    const ahead = compared - before
    end.abort()
    await Promise.all(all)
    assert.equal(status, 303)
    // With one queue for all it was behind 28.
    assert.ok(ahead < 14, `${ahead} were compared before`)
  })
})

describe('a passkey', () => {
  test('is not made up, nor a body that is none', async () => {
    const visitor = visit()
    const page = await openSignIn(visitor, makeAttempt(service.baseUrl).path)
    const { text } = await visitor.post(`${page}/passkey/options`, {})
    const { challenge, allowCredentials = [] } = JSON.parse(text) as Record<string, string>
    // No account is named, so none can be asked for.
    assert.equal(allowCredentials.length, 0)
    const clientData = { type: 'webauthn.get', challenge, origin: service.baseUrl }
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    await service.sql`
      insert into sign_in_passkey (id, account_id, public_key, counter, transports)
      select 'made-up', id, 'AAAA', 0, '{}' from sign_in_account limit 1
    `
    const response = {
      clientDataJSON: encode(clientData),
      authenticatorData: 'AAAA',
      signature: 'AAAA',
    }
    const bodies = [
      { id: 'made-up', rawId: 'made-up', type: 'public-key', response, clientExtensionResults: {} },
      { id: 'made-up' },
      { id: { a: 1 } },
      [],
      {},
    ]
    const headers = { origin: service.baseUrl, 'content-type': 'application/json' }
    for (const body of bodies) {
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      assert.equal((await visitor.send(`${page}/passkey`, init)).status, 401)
    }
    for (const [body, status] of [
      ['{', 413],
      [`"${'x'.repeat(70_000)}"`, 413],
    ] as const)
      assert.equal(
        (await visitor.send(`${page}/passkey`, { method: 'POST', headers, body })).status,
        status,
      )
  })
})

describe('a page of another site', () => {
  const PATHS = [
    '/auth/sign-in/any',
    '/auth/sign-in/any/passkey/options',
    '/auth/link/any',
    '/auth/account/sessions',
    '/auth/account/password',
    '/auth/account/passkey',
    '/auth/people/invite',
    '/auth/people/disable',
    '/auth/sign-out/confirm',
    '/auth/token',
  ]
  test('cannot send a form', async () => {
    const { visitor } = await signIn(service, await addAccount(service, { isAdmin: true }))
    for (const path of PATHS)
      for (const origin of ['https://evil.example', 'null', `${service.baseUrl}.evil.example`, ''])
        assert.equal((await visitor.post(path, { email: 'x@example.com' }, { origin })).status, 403)
  })

  test('cannot put a page of ours into a frame, nor get a script of its own into it', async () => {
    const { visitor } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const link = linkIn(await operateUser(service, { verb: 'add', email: 'framed@example.com' }))
    const page = await openSignIn(visit(), makeAttempt(service.baseUrl).path)
    const paths = [page, link, '/auth/account', '/auth/people', '/auth/sign-out', '/auth/authorize']
    for (const path of paths) {
      const { headers, text } = await visitor.get(path)
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/, path)
      assert.doesNotMatch(policy, /unsafe|https?:/, path)
      assert.equal(headers.get('x-frame-options'), 'DENY')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.doesNotMatch(text, /<script(?! src="\/auth)|<style|\son\w+=|style=/, path)
    }
  })
})
