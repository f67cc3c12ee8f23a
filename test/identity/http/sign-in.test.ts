import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { decodeJwt, decodeProtectedHeader } from 'jose'

import { digest } from '../../../src/identity/http/access/digest.ts'
import { makeSecrets } from '../../../src/platform/adapters/secrets.ts'
import { operate, operateWith } from '../../faults/operate.ts'
import { expectStatus, makeClient } from '../../support/client.ts'
import { addPasskey, offerPasskey, usePasskey } from '../../support/passkey.ts'
import { openStream } from '../../support/event-stream.ts'
import { send } from '../../support/request.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import {
  addAccount,
  BUILTIN,
  exchange,
  linkIn,
  makeAttempt,
  operateUser,
  openSignIn,
  PASSWORD,
  signIn,
  Visitor,
  type Tokens,
} from '../../support/sign-in.ts'

const service = useService({ roles: ['api'], env: { ...BUILTIN, TRUST_PROXY: '127.0.0.1' } })

const ISSUER = {
  AUTH_ISSUER: 'https://issuer.example.com',
  AUTH_AUDIENCE: 'kiln',
  AUTH_JWKS_URL: 'https://issuer.example.com/jwks',
}

const ask = (path: string, token: string, method = 'GET', body?: object) =>
  send(
    service.baseUrl + path,
    { method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    body && Buffer.from(JSON.stringify(body)),
  )

const refresh = (visitor: Visitor, token: string) =>
  exchange(visitor, { grant_type: 'refresh_token', refresh_token: token })

/** Asks without a question to the user, as a reload of the console does. Returns the error. */
const askSilently = async (visitor: Visitor): Promise<string | null> => {
  const { path } = makeAttempt(service.baseUrl, { prompt: 'none' })
  const { location } = await visitor.get(path)
  return new URL(location).searchParams.get('error')
}

const idOf = (token: string): string => decodeJwt(token).sub ?? ''

describe('an account of AUTH=builtin', () => {
  test('is added by an operator, sets its password by the link, signs in and calls the API', async () => {
    const link = linkIn(
      await operateUser(service, { verb: 'add', email: 'first@example.com', isAdmin: true }),
    )
    const visitor = new Visitor(service.baseUrl)
    assert.match((await visitor.get(link)).text, /first@example\.com/)
    assert.equal((await visitor.post(link, { new: PASSWORD })).status, 200)
    const { tokens } = await signIn(service, 'First@Example.com')
    const claims = decodeJwt(tokens.access_token)
    assert.deepEqual([claims.iss, claims['role']], [`${service.baseUrl}/auth`, 'admin'])
    const { status, body } = await ask('/users', tokens.access_token)
    assert.deepEqual([status, body['id'], body['email']], [200, claims.sub, 'first@example.com'])
    assert.equal((await ask('/admin/operations', tokens.access_token)).status, 200)
  })

  test('is added by what an operator types, which says what is wrong with it', async () => {
    const run = (...args: string[]) => operate(service, 'user', ...args)
    const { output } = await run('add', 'Typed@example.com', '--admin')
    assert.match(output, /\/auth\/link\/[\w-]{43}\nsets the password of typed@example\.com/)
    const WRONG: [args: string[], expected: RegExp][] = [
      [
        ['add', 'typed@example.com'],
        /has an account: `kiln operate user reset typed@example\.com`/,
      ],
      [['add', 'typed'], /behind add must be an email address, got typed/],
      [
        ['remove', 'typed@example.com'],
        /must be add, list, promote, demote, disable, reset, link, got remove/,
      ],
      [['reset', 'nobody@example.com'], /has no account/],
      [['link', 'typed@example.com'], /--subject belongs to link/],
    ]
    for (const [args, expected] of WRONG) {
      const { errors, code } = await run(...args)
      assert.match(errors, expected)
      assert.equal(code, 1)
    }
    const elsewhere = await operateWith(
      { ...service.settings, AUTH: 'issuer', ...ISSUER },
      'user',
      'add',
      'a@example.com',
    )
    assert.match(elsewhere.errors, /set AUTH=builtin/)
  })

  test('is no platform admin without --admin', async () => {
    const { tokens, visitor } = await signIn(service, await addAccount(service))
    assert.equal((await ask('/users', tokens.access_token)).status, 200)
    assert.equal((await ask('/admin/operations', tokens.access_token)).status, 403)
    const people = await visitor.get('/auth/people')
    assert.deepEqual([people.status, /example\.com/.test(people.text)], [403, false])
    assert.equal(
      (await visitor.post('/auth/people/invite', { email: 'x@example.com' })).status,
      403,
    )
  })

  test('is invited by an admin on the page of people, and reset and disabled there', async () => {
    const { visitor } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const invited = await visitor.post('/auth/people/invite', { email: 'guest@example.com' })
    const link = linkIn(invited.text.replaceAll('</code>', ' '))
    assert.equal((await new Visitor(service.baseUrl).post(link, { new: PASSWORD })).status, 200)
    const { tokens, visitor: guest } = await signIn(service, 'guest@example.com')
    const id = idOf(tokens.access_token)
    assert.equal((await visitor.post('/auth/people/reset', { id })).status, 200)
    assert.equal((await refresh(guest, tokens.refresh_token)).status, 400)
    assert.equal((await visitor.post('/auth/people/disable', { id })).status, 200)
    assert.match((await visitor.get('/auth/people')).text, /guest@example\.com.*disabled/)
  })

  test('keeps its API keys and tokens when it is reset, unless that is asked; page and command say which', async () => {
    const admin = await signIn(service, await addAccount(service, { isAdmin: true }))
    const email = await addAccount(service)
    const { tokens } = await signIn(service, email)
    const id = idOf(tokens.access_token)
    const made = await ask('/users/api-keys', tokens.access_token, 'POST', { name: 'mine' })
    const headers = { 'x-api-key': String(made.body['key']) }
    const statusOfKey = async () => (await send(`${service.baseUrl}/tasks`, { headers })).status
    const kept = /The API keys and tokens of the account go on\./
    assert.match((await admin.visitor.post('/auth/people/reset', { id })).text, kept)
    assert.match(await operateUser(service, { verb: 'reset', email }), kept)
    assert.equal(await statusOfKey(), 200)
    const page = await admin.visitor.get('/auth/people')
    assert.match(page.text, /name="keys" value="yes">and end its API keys and tokens/)
    const ended = /The API keys and tokens of the account have ended\./
    assert.match((await admin.visitor.post('/auth/people/reset', { id, keys: 'yes' })).text, ended)
    assert.equal(await statusOfKey(), 401)
    const { output } = await operate(service, 'user', 'reset', email, '--end-keys')
    assert.match(output, ended)
    const { body } = await ask(`/admin/audit-log?target=user/${id}`, admin.tokens.access_token)
    const [last] = body['entries'] as { action: string; after: object }[]
    assert.deepEqual(
      [last?.action, last?.after],
      ['account.reset', { link: 'made', api_keys: 'ended' }],
    )
  })

  test('that there is not is 404 to all that the page of people does', async () => {
    const { visitor } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const { text } = await visitor.get('/auth/people')
    const paths = new Set(
      [...text.matchAll(/action="(\/auth\/people\/\w+)"/g)].map(([, path]) => path),
    )
    paths.delete('/auth/people/invite')
    assert.ok(paths.size >= 3)
    for (const path of paths)
      for (const id of ['', 'nobody', '\0', '0f8d9f7e-5a55-4f0e-9a1e-3d9c6b7a5f10']) {
        const shown = await visitor.post(path ?? '', { id })
        assert.deepEqual([shown.status, /No such account/.test(shown.text)], [404, true], path)
      }
  })

  const ALIKE: [what: string, email: string][] = [
    ['with a letter of another alphabet', '\u0430lice@look.example.com'],
    ['in letters of full width', '\uff41lice@look.example.com'],
    ['with a letter that nobody sees', 'al\u200bice@look.example.com'],
    ['with a dot over one that has it', 'ali\u0307ce@look.example.com'],
    ['at a host with a letter of another alphabet', 'alice@l\u043eok.example.com'],
  ]
  test('is the one of all addresses that look the same, and no other is made of them', async () => {
    const { visitor: admin } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const id = idOf(
      (await signIn(service, await addAccount(service, { email: 'alice@look.example.com' }))).tokens
        .access_token,
    )
    for (const [what, email] of ALIKE) {
      await assert.rejects(operateUser(service, { verb: 'add', email }), /has an account/, what)
      const { status, text } = await admin.post('/auth/people/invite', { email })
      assert.deepEqual(
        [status, /what looks the same, has an account/.test(text)],
        [400, true],
        what,
      )
      const { tokens } = await signIn(service, email)
      assert.equal(idOf(tokens.access_token), id, what)
    }
    for (const email of [
      'a1ice@look.example.com',
      'aiice@look.example.com',
      'älice@look.example.com',
    ])
      await addAccount(service, { email })
  })

  test('counts failures of all spellings of its address together', async () => {
    const email = await addAccount(service, { email: 'bob@look.example.com' })
    const visitor = new Visitor(service.baseUrl, { 'x-forwarded-for': '203.0.113.80' })
    const page = await openSignIn(visitor, makeAttempt(service.baseUrl).path)
    for (const name of ['bob', 'b\u043eb', 'bo\u200bb', 'b\u03bfb'])
      await visitor.post(page, { email: `${name}@look.example.com`, password: 'wrong' })
    const keys = [digest(email), digest(`${email} 203.0.113.80`)]
    const rows = await service.sql`select failures from sign_in_failure where key = any(${keys})`
    assert.deepEqual([...rows], [{ failures: 4 }, { failures: 4 }])
  })

  test('of the release before keeps its address, and is the one of those that look the same from the next account on', async () => {
    const [accented, plain] = ['c\u00e9line\u200b@old.example.com', 'dave@old.example.com']
    const alike = ['c\u00e9line@old.example.com', 'd\u0430ve@old.example.com']
    for (const email of [accented, plain]) await addAccount(service, { email })
    await service.sql`update sign_in_account set look = null where email like '%@old.example.com'`
    for (const email of [accented, plain]) await signIn(service, email)
    for (const email of alike)
      await assert.rejects(operateUser(service, { verb: 'add', email }), /has an account/)
    await addAccount(service)
    for (const email of alike) await signIn(service, email)
    // Two that look the same were there before: each is found by its very address.
    await service.sql`
      insert into sign_in_account (id, email, password)
      select 'twin', ${alike[1] ?? ''}, password from sign_in_account where email = ${plain}
    `
    await addAccount(service)
    const read = async (email: string) => idOf((await signIn(service, email)).tokens.access_token)
    assert.notEqual(await read(plain), 'twin')
    assert.equal(await read(alike[1] ?? ''), 'twin')
  })

  test('is not added to by a passkey that is of another', async () => {
    const { visitor } = await signIn(service, await addAccount(service))
    const { visitor: other } = await signIn(service, await addAccount(service))
    const passkey = await addPasskey(visitor)
    for (const one of [other, visitor]) {
      const { status, text } = await offerPasskey(one, passkey)
      assert.deepEqual([status, /"passkey_exists"/.test(text)], [409, true], text)
    }
    const page = await openSignIn(other, makeAttempt(service.baseUrl, { prompt: 'login' }).path)
    assert.equal((await usePasskey(other, page, { ...passkey, id: 'a\0' })).status, 401)
    const [row] = await service.sql<{ entries: number }[]>`
      select count(*)::int as entries from audit_log where action = 'account.passkey_add'
    `
    assert.equal(row?.entries, 1)
  })

  const invitations = '/admin/invitations'

  test('is invited by a request of an admin, whose response alone has the link', async () => {
    const { tokens } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const given = { email: ' Asked@Example.com', is_admin: true }
    const { status, body } = await ask(invitations, tokens.access_token, 'POST', given)
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual([body['email'], body['is_admin']], ['asked@example.com', true])
    const days = (Date.parse(String(body['expires_at'])) - Date.now()) / 86_400_000
    assert.ok(days > 2.9 && days <= 3, String(days))
    const link = String(body['link'])
    assert.equal((await new Visitor(service.baseUrl).post(link, { new: PASSWORD })).status, 200)
    const { tokens: own } = await signIn(service, 'asked@example.com')
    assert.equal(idOf(own.access_token), body['id'])
    assert.equal((await ask('/admin/operations', own.access_token)).status, 200)
    const again = await ask(invitations, tokens.access_token, 'POST', given)
    assert.deepEqual([again.status, again.body['error']], [409, 'account_exists'])
  })

  test('is invited once by a request that is repeated, and its link is stored nowhere', async () => {
    const { tokens } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const headers = {
      authorization: `Bearer ${tokens.access_token}`,
      'content-type': 'application/json',
      'idempotency-key': 'invite',
    }
    const invite = () =>
      send(
        service.baseUrl + invitations,
        { method: 'POST', headers },
        Buffer.from(JSON.stringify({ email: 'repeated@example.com' })),
      )
    const [first, second] = [await invite(), await invite()]
    assert.deepEqual([first.status, second.status, second.body], [201, 201, first.body])
    const token = String(first.body['link']).split('/').at(-1) ?? ''
    const rows = await service.sql`select body as text from idempotency where body is not null`
    assert.ok(rows.length > 0 && token.length === 43)
    assert.ok(rows.every(({ text }) => !String(text).includes(token)))
  })

  const NOT_INVITED: [given: object, message: RegExp][] = [
    [{}, /^\/email must be an email address, but is absent/],
    [{ email: 7 }, /^\/email must be an email address, got 7/],
    [{ email: 'nobody' }, /^\/email must be an email address, got "nobody"/],
    [{ email: 'a@b c' }, /^\/email must be an email address/],
    [{ email: `${'a'.repeat(320)}@x.org` }, /^\/email must be an email address/],
    [{ email: 'a@x.org', is_admin: 'yes' }, /^\/is_admin must be true or false, got "yes"/],
    [{ email: 'a@x.org', isAdmin: true }, /^\/isAdmin must be absent.*\/is_admin/],
  ]
  test('is not invited by a request that is wrong, or of somebody else', async () => {
    const { tokens } = await signIn(service, await addAccount(service, { isAdmin: true }))
    for (const [given, message] of NOT_INVITED) {
      const { status, body } = await ask(invitations, tokens.access_token, 'POST', given)
      assert.equal(status, 400, JSON.stringify(given))
      assert.match(String(body['message']), message)
    }
    const { tokens: other } = await signIn(service, await addAccount(service))
    const given = { email: 'x@example.com' }
    assert.equal((await ask(invitations, other.access_token, 'POST', given)).status, 403)
    const bare = await send(service.baseUrl + invitations, { method: 'POST' })
    assert.equal(bare.status, 401)
  })

  test('is invited by an API key of an admin, but no further admin', async () => {
    const { tokens } = await signIn(service, await addAccount(service, { isAdmin: true }))
    const made = await ask('/users/api-keys', tokens.access_token, 'POST', { name: 'script' })
    const client = makeClient(service.baseUrl, String(made.body['key']))
    expectStatus(await client.post(invitations, { email: 'scripted@example.com' }), 201)
    const admin = { email: 'more@example.com', is_admin: true }
    expectStatus(await client.post(invitations, admin), 403, 'forbidden')
  })

  /** Requests that an admin alone may make, by a token, a key and a session. */
  const makeAdmin = async () => {
    const email = await addAccount(service, { isAdmin: true })
    const { tokens, visitor } = await signIn(service, email)
    const token = tokens.access_token
    const key = await ask('/users/api-keys', token, 'POST', { name: 'script' })
    const keyed = makeClient(service.baseUrl, String(key.body['key']))
    const rights = async () => [
      (await ask('/admin/operations', token)).status,
      (await keyed.get('/admin/operations')).status,
      (await visitor.get('/auth/people')).status,
      (await ask('/users', token)).body['isAdmin'],
    ]
    assert.deepEqual(await rights(), [200, 200, 200, true])
    return { email, id: idOf(token), token, rights, visitor }
  }
  const NO_RIGHTS = [403, 403, 403, false]

  test('of an admin is made that of a user again by another one, whatever it comes by', async () => {
    const [admin, other] = [await makeAdmin(), await makeAdmin()]
    const { id } = other
    const text = (await admin.visitor.post('/auth/people/demote', { id })).text
    assert.match(text, new RegExp(`${other.email}</td><td>user`))
    await waitFor('no right is left', async () => {
      const left = await other.rights()
      return JSON.stringify(left) === JSON.stringify(NO_RIGHTS)
    })
    assert.equal((await other.visitor.post('/auth/people/promote', { id })).status, 403)
    assert.equal((await admin.visitor.post('/auth/people/demote', { id: admin.id })).status, 400)
    assert.equal((await admin.visitor.post('/auth/people/promote', { id })).status, 200)
    await waitFor('it is an admin again', async () => (await other.rights())[0] === 200)
    const log = await admin.visitor.get('/auth/people')
    assert.match(log.text, new RegExp(`${other.email}</td><td>admin`))
    const entries = await service.sql`
      select actor, before, after from audit_log where action = 'account.role' order by at
    `
    assert.deepEqual(
      entries.map(({ actor, before, after }) => [actor, before, after]),
      [
        [admin.id, { isAdmin: true }, { isAdmin: false }],
        [admin.id, { isAdmin: false }, { isAdmin: true }],
      ],
    )
  })

  test('of an admin is made that of a user again by an operator', async () => {
    const { email, rights, token } = await makeAdmin()
    const operate = async (more: object) => {
      const body = { action: 'cancel', filter: { state: ['waiting'] }, ...more }
      const made = await ask('/operations', token, 'POST', body)
      return `/operations/${String(made.body['operation_id'])}`
    }
    const [all, own] = [await operate({ owner: '*' }), await operate({})]
    assert.match(await operateUser(service, { verb: 'demote', email }), /is a user/)
    const stateOf = async (path: string) => (await ask(path, token)).body['state']
    assert.deepEqual([await stateOf(all), await stateOf(own)], ['cancelling', 'running'])
    await waitFor('no right is left', async () => {
      const left = await rights()
      return JSON.stringify(left) === JSON.stringify(NO_RIGHTS)
    })
    assert.match(await operateUser(service, { verb: 'promote', email }), /is a platform admin/)
    assert.match(await operateUser(service, { verb: 'list' }), new RegExp(`${email}  \\S+  admin`))
  })

  test('that is disabled ends its streams and its links to upload', async () => {
    const email = await addAccount(service)
    const { tokens } = await signIn(service, email)
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const { body } = await ask('/customers/storage', tokens.access_token, 'POST', {
      file_name: 'a.png',
    })
    const put = () => fetch(String(body['upload_url']), { method: 'PUT', body: 'bytes' })
    assert.equal((await put()).status, 200)
    await using stream = await openStream(`${service.baseUrl}/tasks/stream`, headers)
    await operateUser(service, { verb: 'disable', email })
    assert.deepEqual(await stream.rest(), [])
    assert.equal((await put()).status, 410)
  })

  test('has its changes in the audit log: who made them, by what, from where, and no secret', async () => {
    const email = await addAccount(service, { isAdmin: true })
    const { tokens, visitor } = await signIn(service, email)
    const guest = await addAccount(service)
    const signedIn = await signIn(service, guest)
    const [admin, id] = [idOf(tokens.access_token), idOf(signedIn.tokens.access_token)]
    const next = `${PASSWORD} new`
    const { visitor: own } = signedIn
    await own.post('/auth/account/password', { password: PASSWORD, new: next })
    await own.post('/auth/account/sessions', {})
    await signIn(service, guest, { password: next })
    for (const act of ['end', 'reset', 'disable'])
      assert.equal((await visitor.post(`/auth/people/${act}`, { id })).status, 200)
    const { body } = await ask(`/admin/audit-log?target=user/${id}`, tokens.access_token)
    const entries = body['entries'] as Record<string, string>[]
    assert.deepEqual(
      entries.map(({ action, actor, credential }) => [action, actor, credential]).toReversed(),
      [
        ['account.invite', 'root', undefined],
        ['account.password', id, 'link'],
        ['account.password', id, 'session'],
        ['account.sessions_end', admin, 'session'],
        ['account.reset', admin, 'session'],
        ['account.disable', admin, 'session'],
      ],
    )
    assert.ok(entries.slice(0, 5).every(({ address }) => address === '127.0.0.1'))
    assert.doesNotMatch(JSON.stringify(entries), /gravel|scrypt|auth\/link/)
  })

  test('is listed, disabled with its sessions and API keys, and let in again by reset', async () => {
    const email = await addAccount(service)
    const { tokens, visitor } = await signIn(service, email)
    const made = await ask('/users/api-keys', tokens.access_token, 'POST', { name: 'mine' })
    const withKey = () =>
      send(`${service.baseUrl}/tasks`, { headers: { 'x-api-key': String(made.body['key']) } })
    assert.equal((await withKey()).status, 200)
    assert.match(
      await operateUser(service, { verb: 'list' }),
      new RegExp(`${email}  ${idOf(tokens.access_token)}  user  active  0 passkeys  1 session`),
    )
    await operateUser(service, { verb: 'disable', email })
    assert.equal((await withKey()).status, 401)
    const isOut = async () => (await ask('/users', tokens.access_token)).status === 401
    await waitFor('the bearer token has ended', isOut)
    assert.equal((await refresh(visitor, tokens.refresh_token)).status, 400)
    assert.equal(await askSilently(visitor), 'login_required')
    const page = await openSignIn(visitor, makeAttempt(service.baseUrl).path)
    const rejected = await visitor.post(page, { email, password: PASSWORD })
    assert.match(rejected.text, /Email or password is wrong/)
    const link = linkIn(await operateUser(service, { verb: 'reset', email }))
    assert.equal((await visitor.post(link, { new: `${PASSWORD} again` })).status, 200)
    const again = await signIn(service, email, { password: `${PASSWORD} again` })
    assert.equal(idOf(again.tokens.access_token), idOf(tokens.access_token))
  })

  test('sees its sessions, and ends one of them or all others', async () => {
    const email = await addAccount(service)
    const agent = new Visitor(service.baseUrl, { 'user-agent': '<script>alert(1)</script>' })
    const other = await signIn(service, email, { visitor: agent })
    const { visitor } = await signIn(service, email)
    const { text } = await visitor.get('/auth/account')
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
    assert.doesNotMatch(text, /<script>alert/)
    const id = /name="id" value="(\w{64})"/.exec(text)?.[1] ?? ''
    assert.equal((await visitor.post('/auth/account/session', { id })).status, 303)
    assert.equal((await refresh(other.visitor, other.tokens.refresh_token)).status, 400)
    const third = await signIn(service, email)
    await visitor.post('/auth/account/sessions', {})
    assert.equal(await askSilently(third.visitor), 'login_required')
    assert.equal(await askSilently(visitor), null)
  })

  test('changes its password with the old one, which ends its other sessions', async () => {
    const email = await addAccount(service)
    const { visitor } = await signIn(service, email)
    const other = await signIn(service, email)
    const change = (password: string, next: string) =>
      visitor.post('/auth/account/password', { password, new: next })
    assert.match((await change('wrong', `${PASSWORD} new`)).text, /password is wrong/)
    assert.match((await change(PASSWORD, 'short')).text, /at least 12 characters/)
    assert.equal((await change(PASSWORD, `${PASSWORD} new`)).status, 303)
    assert.equal(await askSilently(other.visitor), 'login_required')
    await signIn(service, email, { password: `${PASSWORD} new` })
  })

  test('an hour after signing in nothing that signs in can be changed', async () => {
    const email = await addAccount(service)
    const { visitor, tokens } = await signIn(service, email)
    const [row] = await service.sql<{ id: string; payload: string }[]>`
      select id, payload from sign_in_record
      where account_id = ${idOf(tokens.access_token)} and model = 'Session'
    `
    assert.ok(row)
    const secrets = makeSecrets({ keys: [String(service.settings['SECRETS_KEYS'])] })
    const context = `sign_in_record Session ${row.id}`
    const payload = JSON.parse(secrets.decrypt(row.payload, context)) as { loginTs: number }
    payload.loginTs -= 3601
    const older = secrets.encrypt(JSON.stringify(payload), context)
    await service.sql`update sign_in_record set payload = ${older} where id = ${row.id}`
    const change = { password: PASSWORD, new: `${PASSWORD} new` }
    assert.match((await visitor.post('/auth/account/password', change)).text, /more than an hour/)
    assert.match(
      (await visitor.post('/auth/account/passkeys', { id: 'x' })).text,
      /more than an hour/,
    )
    const options = await visitor.post('/auth/account/passkey/options', {})
    assert.deepEqual([options.status, /more than an hour/.test(options.text)], [403, true])
    await signIn(service, email)
  })

  const WEAK: [what: string, password: string, expected: RegExp][] = [
    ['one of eleven characters', 'x9!kQ2$zR7p', /at least 12/],
    ['a known one, with digits behind', 'password123456', /leaked/],
    ['the address with a year', 'weak@example.com2026', /leaked/],
    ['a row of keys', 'qwertyuiop[]asdf', /leaked/],
  ]
  for (const [what, password, expected] of WEAK)
    test(`rejects as a password ${what}, and keeps the link`, async () => {
      await operateUser(service, { verb: 'add', email: 'weak@example.com' }).catch(() => {})
      const link = linkIn(await operateUser(service, { verb: 'reset', email: 'weak@example.com' }))
      const visitor = new Visitor(service.baseUrl)
      const { status, text } = await visitor.post(link, { new: password })
      assert.equal(status, 400)
      assert.match(text, expected)
      assert.equal((await visitor.get(link)).status, 200)
    })
})

describe('an api with AUTH=builtin', () => {
  test('says in its log which Node it wants, and the library says nothing beside it', () => {
    const { log } = service.entry('api')
    const isOld = Number(process.versions.node.split('.')[0]) < 22
    const lines = log.filter((line) => /AUTH=builtin wants Node 22 or later/.test(line))
    assert.equal(lines.length, isOld ? 1 : 0)
    assert.deepEqual(
      log.filter((line) => !line.startsWith('{') || line.includes('oidc-provider')),
      [],
    )
  })
})

describe('tokens of AUTH=builtin', () => {
  /** Renews tokens, and returns those that came. */
  const renew = async (visitor: Visitor, token: string): Promise<Tokens> => {
    const { status, text } = await refresh(visitor, token)
    assert.equal(status, 200, text)
    return JSON.parse(text) as Tokens
  }
  const pass = (token: string, seconds: number) => service.sql`
    update sign_in_record set consumed_at = consumed_at - make_interval(secs => ${seconds})
    where model = 'RefreshToken' and id = ${digest(token)}
  `

  test('are renewed by a refresh token, which gives the same successor to all who use it within 30 s', async () => {
    const { visitor, tokens } = await signIn(service, await addAccount(service))
    const { refresh_token: first } = tokens
    const all = await Promise.all([1, 2, 3, 4].map(() => renew(visitor, first)))
    await pass(first, 20)
    const again = await renew(visitor, first)
    const successors = new Set([...all, again].map(({ refresh_token: token }) => token))
    assert.deepEqual([...successors], [again.refresh_token])
    assert.notEqual(again.refresh_token, first)
    assert.match(again.refresh_token, /^[\w-]{43}$/)
    assert.equal((await ask('/users', again.access_token)).status, 200)
    const next = await renew(visitor, again.refresh_token)
    assert.ok(!successors.has(next.refresh_token))
  })

  test('end with their session when a refresh token is used again later, access tokens and all', async () => {
    const { visitor, tokens } = await signIn(service, await addAccount(service))
    const first = await renew(visitor, tokens.refresh_token)
    assert.equal((await ask('/users', first.access_token)).status, 200)
    await pass(tokens.refresh_token, 31)
    assert.equal((await refresh(visitor, tokens.refresh_token)).status, 400)
    assert.equal((await refresh(visitor, first.refresh_token)).status, 400)
    assert.equal(await askSilently(visitor), 'login_required')
    const isOut = async () => (await ask('/users', first.access_token)).status === 401
    await waitFor('the access token has ended', isOut)
    const log = service.entry('api').log.join('\n')
    assert.match(log, /what counts once was used again: its session has ended/)
    assert.ok(!log.includes(tokens.refresh_token))
  })

  test('of a code that is used again end, access tokens and all', async () => {
    const { visitor, tokens, code, verifier } = await signIn(service, await addAccount(service))
    assert.equal((await exchange(visitor, { code, code_verifier: verifier })).status, 400)
    const isOut = async () => (await ask('/users', tokens.access_token)).status === 401
    await waitFor('the access token has ended', isOut)
  })

  test('name the key that signed them, which the key set has without its private part', async () => {
    const { tokens } = await signIn(service, await addAccount(service))
    const { kid } = decodeProtectedHeader(tokens.access_token)
    const { text } = await new Visitor(service.baseUrl).get('/auth/jwks')
    const { keys } = JSON.parse(text) as { keys: Record<string, string>[] }
    assert.ok(keys.some((key) => key['kid'] === kid && key['d'] === undefined))
  })

  test('stand nowhere in the database, nor does a private key', async () => {
    const { tokens, code, visitor } = await signIn(service, await addAccount(service))
    const rows = await service.sql`
      select payload || id || coalesce(grant_id, '') || coalesce(uid, '') as text from sign_in_record
      union all select private_key from sign_in_key
      union all select sha256 from sign_in_once
    `
    const all = rows.map((row) => String(row['text'])).join('\n')
    const session = visitor.cookie('kiln_session')?.value ?? ''
    for (const secret of [tokens.refresh_token, code, session, '"d":', 'redirectUri'])
      assert.ok(secret.length > 2 && !all.includes(secret))
  })
})
