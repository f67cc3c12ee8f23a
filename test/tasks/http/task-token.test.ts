import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { deleteOldRecords } from '../../../src/platform/db/purge.ts'
import { credentialKind } from '../../../src/platform/domain/credential.ts'
import { signToken, tokenExpiry } from '../../../src/platform/process/development-issuer.ts'
import {
  atOnce,
  expectStatus,
  listOf,
  makeClient,
  memberOf,
  statusesOf,
  UPSCALE,
  type Client,
} from '../../support/client.ts'
import type { Document } from '../../support/contract.ts'
import { openStream } from '../../support/event-stream.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { addAccount, BUILTIN, operateUser, signIn } from '../../support/sign-in.ts'
import { waitFor } from '../../support/wait.ts'

const service = useService(
  {
    env: { ADMIN_SUBJECTS: 'root', LOG_LEVEL: 'trace', OVERRIDE_RULES_INTERVAL_MS: '100' },
  },
  async ({ sql, client }) => {
    await sql`insert into template (name, digest, content, members) values ('x', '', '{}', '{}')`
    await waitFor(
      'the template is a kind',
      async () => listOf(await client().get('/templates'), 'templates').length > 0,
    )
  },
)
const { sql, anonymous } = service
const alice = service.client('alice')

/** A page of an origin that no setting names. */
const ORIGIN = { origin: 'https://shop.example' }
/** Nothing renders a task that waits. */
const LATER = { kiln_start_after: 3600 }
const HOUR_MS = 3_600_000
const LIFE_MS = tokenExpiry(new Date(0)).getTime()

const addTask = (client = alice, more: object = {}): Promise<string> =>
  client.createImage({ ...LATER, ...more })

const tokensOf = (id: string): string => `/tasks/${id}/tokens`

const makeToken = async (id: string, client = alice): Promise<string> =>
  String(expectStatus(await client.post(tokensOf(id), {}), 201).body['token'])

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const streamOf = (id: string) => `${service.baseUrl}/tasks/${id}/stream`
const reader = (token: string, baseUrl = service.baseUrl): Client => makeClient(baseUrl, token)

const addKey = async (more: object, client = alice) => {
  const { body } = expectStatus(await client.post('/users/api-keys', { name: 'x', ...more }), 201)
  const [id, key] = [String(body['id']), String(body['key'])]
  return { id, key, client: makeClient(service.baseUrl, key) }
}

describe('a token for one task', () => {
  test('reads the task, its stream and the links of its results, and lives an hour', async () => {
    const id = await alice.createImage({ image: await base64({ shade: 3 }) })
    const before = Date.now()
    const { body } = expectStatus(await alice.post(tokensOf(id), {}), 201)
    const [token, expiresAt] = [String(body['token']), Date.parse(String(body['expires_at']))]
    assert.equal(credentialKind(token), 'task_token')
    assert.ok(expiresAt >= before + HOUR_MS - 60_000 && expiresAt <= Date.now() + HOUR_MS + 60_000)
    await using stream = await openStream(`${streamOf(id)}?token=${token}`, ORIGIN)
    const end = (await stream.rest()).at(-1)
    assert.equal(end?.event, 'end')
    const detail = expectStatus(await reader(token).get(`/tasks/${id}`), 200)
    const [result] = listOf<{ url: string }>(detail, 'results')
    const { generated } = memberOf({ body: end.data }, 'data')
    for (const url of [result?.url ?? '', ...(generated as string[])])
      assert.equal((await fetch(url, { headers: ORIGIN })).status, 200)
    assert.equal((await fetch(streamOf(id), { headers: bearer(token) })).status, 200)
    // The token of another task is none of this.
    assert.deepEqual(
      (await reader(await makeToken(await addTask())).get(`/tasks/${id}`)).body.error,
      'task_token_insufficient',
    )
  })

  test('is let through by nothing else that asks for a credential', async () => {
    const [id, other] = [await addTask(), await addTask()]
    const token = await makeToken(id)
    const { paths } = (await anonymous.get('/openapi.json')).body as unknown as Document
    const read: string[] = []
    const call = async (method: string, path: string, more: Record<string, string>) =>
      await fetch(service.baseUrl + path, {
        method: method.toUpperCase(),
        redirect: 'manual',
        headers: { 'content-type': 'application/json', ...more },
        ...(method === 'post' || method === 'put' ? { body: '{}' } : {}),
      })
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { security }] of Object.entries(operations)) {
        const name = `${method} ${path}`
        const own = path.replace('{task_id}', id).replaceAll(/\{\w+\}/g, 'x')
        const response = await call(method, own, bearer(token))
        if (security.length === 0) {
          await response.body?.cancel()
          assert.equal(response.status, (await call(method, own, {})).status, name)
        } else if (response.status === 200) {
          read.push(name)
          await response.body?.cancel()
          const foreign = await call(method, path.replace('{task_id}', other), bearer(token))
          assert.equal(foreign.status, 403, name)
        } else {
          const { error, message } = (await response.json()) as Record<string, string>
          assert.deepEqual([response.status, error], [403, 'task_token_insufficient'], name)
          assert.match(String(message), new RegExp(`GET /tasks/${id},`), name)
        }
      }
    assert.deepEqual(read.toSorted(), ['get /tasks/{task_id}', 'get /tasks/{task_id}/stream'])
    assert.equal((await anonymous.get(`/tasks/${id}`, { 'x-api-key': token })).status, 401)
  })

  test('stands in the query of the stream alone, as nothing else does, and in no log', async () => {
    const id = await addTask()
    const token = await makeToken(id)
    const { client, key } = await addKey({})
    for (const path of [`/tasks/${id}`, '/tasks', `${UPSCALE}/${id}`]) {
      const { status, body } = await anonymous.get(`${path}?token=${token}`)
      assert.ok(status === 400 || status === 401, `${status} ${path}`)
      assert.ok(!JSON.stringify(body).includes(token), path)
    }
    const unread = await client.get(`/tasks/${id}?token=${token}`)
    assert.ok(!JSON.stringify(expectStatus(unread, 400, 'validation_failed').body).includes(token))
    for (const wrong of ['', 'x', key, await service.token('alice'), `${token}0`])
      assert.equal((await fetch(`${streamOf(id)}?token=${wrong}`)).status, 401)
    assert.equal((await fetch(`${streamOf(id)}?token=${token}&token=x`)).status, 400)
    const { log } = service.entry('api')
    assert.ok(log.some((line) => line.includes('credential rejected')))
    assert.ok(!log.some((line) => line.includes(token.slice(10))))
  })

  test('works from a page of any origin, which other credentials do not', async () => {
    const id = await addTask()
    const token = await makeToken(id)
    const allowed = async (path: string, headers: Record<string, string>, method = 'GET') => {
      const response = await fetch(service.baseUrl + path, {
        method,
        headers: { ...ORIGIN, ...headers },
      })
      await response.body?.cancel()
      return response.headers.get('access-control-allow-origin')
    }
    const preflight = (method: string) => ({ 'access-control-request-method': method })
    for (const path of [`/tasks/${id}`, `/tasks/${id}/stream`]) {
      assert.equal(await allowed(path, preflight('GET'), 'OPTIONS'), '*', path)
      assert.equal(await allowed(path, bearer(token)), '*', path)
      // So that a page reads why.
      assert.equal(await allowed(path, bearer('kiln_task_over')), '*', path)
      assert.equal(await allowed(path, bearer(await service.token('alice'))), null, path)
      assert.equal(await allowed(path, {}), null, path)
    }
    assert.equal(await allowed(`/tasks/${id}/stream?token=${token}`, {}), '*')
    assert.equal(await allowed(`/tasks/${id}?token=${token}`, {}), null)
    for (const method of ['POST', 'DELETE'])
      for (const path of [`/tasks/${id}`, tokensOf(id)])
        assert.equal(await allowed(path, preflight(method), 'OPTIONS'), null, `${method} ${path}`)
  })

  test('shows the addresses of the task without their secrets', async () => {
    const webhook = 'https://hooks.example.com'
    const id = await addTask(alice, {
      image: 'https://images.example.com/a.png?key=hidden',
      webhook_url: `${webhook}/in/hidden?key=hidden`,
    })
    assert.match(JSON.stringify((await alice.get(`/tasks/${id}`)).body), /key=hidden/)
    const { body } = await reader(await makeToken(id)).get(`/tasks/${id}`)
    assert.doesNotMatch(JSON.stringify(body), /hidden/)
    assert.equal(memberOf({ body: memberOf({ body }, 'request') }, 'body')['webhook_url'], webhook)
    assert.equal(body['owner'], undefined)
  })

  test('still reads a task that was deleted, which has nothing left', async () => {
    const id = await addTask()
    const token = await makeToken(id)
    expectStatus(await alice.delete(`/tasks/${id}`), 204)
    assert.ok((await reader(token).get(`/tasks/${id}`)).body['deleted_at'])
  })
})

describe('POST /tasks/{task_id}/tokens', () => {
  test('is for whoever may read the task, also by a key whose scope covers its kind', async () => {
    const [image, video] = [await addTask(), await alice.createVideo({ prompt: 'a sea', ...LATER })]
    const statuses = async (client: Client) =>
      statusesOf([
        await client.post(tokensOf(image), {}),
        await client.post(tokensOf(video), undefined),
      ])
    const cases: [object, [number, number]][] = [
      [{}, [201, 201]],
      [{ credit_cap: 0 }, [201, 201]],
      [{ scopes: ['images'] }, [201, 403]],
      [{ scopes: ['videos'] }, [403, 201]],
      [{ scopes: ['read'] }, [201, 201]],
      [{ scopes: ['webhooks', 'publish'] }, [403, 403]],
    ]
    for (const [more, expected] of cases)
      assert.deepEqual(await statuses((await addKey(more)).client), expected, JSON.stringify(more))
    assert.deepEqual(await statuses(service.client('root')), [201, 201])
    assert.deepEqual(await statuses(service.client()), [404, 404])
    assert.deepEqual(await statuses(anonymous), [401, 401])
    assert.equal((await alice.post(tokensOf(randomUUID()), {})).status, 404)
    // Whoever knows the id of such a task may read it.
    const open = await anonymous.createVideo({ prompt: 'a lake', ...LATER })
    const token = await makeToken(open)
    assert.equal((await reader(token).get(`/tasks/${open}`)).status, 200)
    const foreign = await makeToken(image, service.client('root'))
    assert.equal((await reader(foreign).get(`/tasks/${image}`)).status, 200)
  })

  test('keeps the digest of a token alone, repeats it for its key, and writes who made it', async () => {
    const id = await addTask()
    const key = { 'idempotency-key': id }
    const [first, second] = [
      await alice.post(tokensOf(id), {}, key),
      await alice.post(tokensOf(id), {}, key),
    ]
    assert.deepEqual(second.body, first.body)
    const token = String(first.body['token'])
    const rows = await sql`select k::text as text, sha256 from task_token k where task_id = ${id}`
    assert.equal(rows.length, 1)
    assert.equal(rows[0]?.['sha256'], createHash('sha256').update(token).digest('hex'))
    const saved = await sql`
      select row_to_json(i)::text as text from idempotency i where key = ${id}
      union all select row_to_json(a)::text from audit_log a where target = ${`task/${id}`}
    `
    assert.equal(saved.length, 2)
    for (const { text } of [...rows, ...saved]) assert.ok(!String(text).includes(token.slice(10)))
    const [entry] = await sql`select actor, action, credential from audit_log
      where target = ${`task/${id}`}`
    assert.deepEqual(
      { ...entry },
      { actor: 'alice', action: 'task_token.create', credential: 'jwt' },
    )
  })

  test('keeps a hundred alive a task, however many are asked for at once', async () => {
    const id = await addTask()
    const { client, id: keyId } = await addKey({})
    const made = await atOnce(104, (index) => (index % 2 ? alice : client).post(tokensOf(id), {}))
    const rejected = made.filter(({ status }) => status !== 201)
    assert.equal(rejected.length, 4)
    for (const response of rejected) {
      expectStatus(response, 429, 'quota_exceeded')
      assert.ok(Number(response.headers.get('retry-after')) > 0)
    }
    await makeToken(await addTask())
    await alice.delete(`/users/api-keys/${keyId}`)
    await makeToken(id)
  })
})

describe('the end of a token for one task', () => {
  /** Opens its stream, ends its credential, and asserts that neither reads any more. */
  const assertEnds = async (
    { id, token, baseUrl = service.baseUrl }: { id: string; token: string; baseUrl?: string },
    end: () => Promise<unknown>,
  ): Promise<void> => {
    await using stream = await openStream(`${baseUrl}/tasks/${id}/stream?token=${token}`)
    assert.equal((await stream.next())?.event, 'state')
    await end()
    await waitFor('it is rejected', async () => {
      const { status } = await reader(token, baseUrl).get(`/tasks/${id}`)
      return status === 401
    })
    // Of a task that goes on it would not end.
    assert.ok((await stream.rest()).every(({ event }) => event !== 'end'))
  }

  test('comes with that of the API key that made it', async () => {
    const id = await addTask()
    const ends: ((keyId: string) => Promise<unknown>)[] = [
      (keyId) => alice.delete(`/users/api-keys/${keyId}`),
      (keyId) => sql`update api_key set expires_at = clock_timestamp() where id = ${keyId}`,
    ]
    for (const end of ends) {
      const { client, id: keyId } = await addKey({})
      const [token, other] = [await makeToken(id, client), await makeToken(id)]
      await assertEnds({ id, token }, () => end(keyId))
      assert.equal((await reader(other).get(`/tasks/${id}`)).status, 200)
    }
  })

  test('is known from the start where the credential ends within the hour', async () => {
    const id = await addTask()
    const expires_at = new Date(Date.now() + HOUR_MS / 2).toISOString()
    const { client } = await addKey({ expires_at })
    const { body } = await client.post(tokensOf(id), {})
    assert.equal(body['expires_at'], expires_at)
    const issuedAt = new Date(Date.parse(expires_at) - LIFE_MS)
    const bearerToken = await signToken(service.issuerKey, 'alice', { issuedAt })
    const ends = await reader(bearerToken).post(tokensOf(id), {})
    const early = Date.parse(expires_at) - Date.parse(String(ends.body['expires_at']))
    assert.ok(Math.abs(early) < HOUR_MS / 4, `${early} ms`)
    // The service takes one for a minute after its end, and makes nothing of it.
    const over = new Date(Date.now() - LIFE_MS - 30_000)
    const ended = await signToken(service.issuerKey, 'alice', { issuedAt: over })
    assert.equal((await reader(ended).get(`/tasks/${id}`)).status, 200)
    assert.equal((await reader(ended).post(tokensOf(id), {})).status, 401)
  })

  test('comes with its hour, and then it is removed', async () => {
    const id = await addTask()
    const token = await makeToken(id)
    await assertEnds(
      { id, token },
      () => sql`update task_token set expires_at = clock_timestamp() where task_id = ${id}`,
    )
    await deleteOldRecords(sql)
    assert.equal((await sql`select from task_token where task_id = ${id}`).length, 0)
  })

  test('comes with that of the session or the account that made it, and of its rights', async () => {
    const { baseUrl } = await service.startSecondApi(BUILTIN)
    const at = { baseUrl, sql }
    const email = await addAccount(at, { isAdmin: true })
    const begin = async () => {
      const { tokens } = await signIn(at, email)
      return makeClient(baseUrl, tokens.access_token)
    }
    const client = await begin()
    const [own, foreign] = [await addTask(client), await addTask()]
    const made = (id: string, by: Client) =>
      makeToken(id, by).then((token) => ({ id, token, baseUrl }))
    const [first, second, third] = [
      await made(own, client),
      await made(own, await begin()),
      await made(foreign, client),
    ]
    await assertEnds(third, () => operateUser(at, { verb: 'demote', email }))
    await assertEnds(
      first,
      // The older of its sessions.
      () => sql`
        delete from sign_in_record where uid = (
          select session_uid from task_token where task_id = ${own} order by created_at limit 1
        )
      `,
    )
    assert.equal((await reader(second.token, baseUrl).get(`/tasks/${own}`)).status, 200)
    await assertEnds(second, () => operateUser(at, { verb: 'disable', email }))
  })
})
