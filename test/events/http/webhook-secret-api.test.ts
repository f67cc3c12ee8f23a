import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { insertFirstSecret } from '../../../src/events/db/webhook-secret.ts'
import type { WebhookSecret } from '../../../src/events/domain/event.ts'
import { atOnce, makeClient, type Client, type HttpResponse } from '../../support/client.ts'
import { useService } from '../../support/service.ts'
import { countLockWaits, waitFor } from '../../support/wait.ts'

const ROTATE = '/webhook-secret/rotate'

const service = useService({ roles: ['api'] })
const { sql } = service

const secretsOf = ({ status, body }: HttpResponse): WebhookSecret[] => {
  assert.equal(status, 200, JSON.stringify(body))
  return body['secrets'] as unknown as WebhookSecret[]
}

const read = async (client: Client): Promise<WebhookSecret[]> =>
  secretsOf(await client.get('/webhook-secret'))

const rotate = async (client: Client, body?: object): Promise<WebhookSecret[]> =>
  secretsOf(await client.call('POST', ROTATE, body))

const textsOf = (secrets: WebhookSecret[]): string[] => secrets.map(({ secret }) => secret)

/** Seconds from the making of the newest until the end of the one before it. */
const overlapOf = ([newest, older]: WebhookSecret[]): number => {
  assert.ok(newest && older?.expires_at, 'the one before has an end')
  assert.equal(newest.expires_at, undefined)
  const span = Date.parse(older.expires_at) - Date.parse(newest.created_at)
  return Math.round(span / 1000)
}

describe('the secret of a caller', () => {
  test('is made when it is first read, and stays', async () => {
    const client = service.client()
    const [secret, ...others] = await read(client)
    assert.match(secret?.secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual([others, secret?.expires_at], [[], undefined])
    assert.deepEqual(await read(client), [secret])
  })

  test('is one, however many read it first at once', async () => {
    const client = service.client()
    const all = await atOnce(8, () => read(client))
    assert.equal(new Set(all.flatMap(textsOf)).size, 1)
  })

  test('is another one for each caller', async () => {
    const [alice, bob] = [service.client(), service.client()]
    assert.notDeepEqual(textsOf(await read(alice)), textsOf(await read(bob)))
  })

  test('is the same with an API key of the caller', async () => {
    const client = service.client()
    const { body } = await client.post('/users/api-keys', { name: 'x' })
    const keyed = makeClient(service.baseUrl, String(body['key']))
    assert.deepEqual(await read(keyed), await read(client))
  })

  test('is kept by nobody on the way, replaced or read', async () => {
    const client = service.client()
    for (const response of [await client.get('/webhook-secret'), await client.post(ROTATE, {})])
      assert.equal(response.headers.get('cache-control'), 'no-store')
  })

  test('stands in no table in clear', async () => {
    const owner = `user-${randomUUID()}`
    const client = service.client(owner)
    const key = { 'idempotency-key': randomUUID() }
    const secrets = [...(await read(client)), ...secretsOf(await client.post(ROTATE, {}, key))]
    const [rows] = await sql<{ text: string }[]>`
      select (select string_agg(s::text, ' ') from webhook_secret s)
        || (select string_agg(i::text, ' ') from idempotency i) as text
    `
    assert.ok(rows?.text.includes(owner), 'both tables were read')
    for (const { secret } of secrets) {
      const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
      for (const form of [secret.slice('whsec_'.length), bytes.toString('hex')])
        assert.equal(rows?.text.includes(form), false, 'a secret stands in a table')
    }
  })
})

describe('a rotation', () => {
  test('without a body keeps the one before for a day, newest first', async () => {
    const client = service.client()
    const [first] = await read(client)
    for (const body of [undefined, {}, { overlap_seconds: null }]) {
      const before = (await read(client))[0]?.secret
      const secrets = await rotate(client, body)
      assert.deepEqual([secrets.length, secrets[1]?.secret], [2, before])
      assert.equal(overlapOf(secrets), 86_400)
      assert.deepEqual(await read(client), secrets)
    }
    assert.equal(textsOf(await read(client)).includes(first?.secret ?? ''), false)
  })

  for (const overlap of [60, 3600, 604_800])
    test(`a rotation keeps the secret before for ${overlap} s when asked to`, async () => {
      const client = service.client()
      await read(client)
      assert.equal(overlapOf(await rotate(client, { overlap_seconds: overlap })), overlap)
    })

  test('without an overlap ends the one before at once', async () => {
    const client = service.client()
    const [first] = await read(client)
    const [second, ...others] = await rotate(client, { overlap_seconds: 0 })
    assert.deepEqual(others, [])
    assert.notEqual(second?.secret, first?.secret)
    assert.deepEqual(await read(client), [second])
  })

  test('before any was read makes the first', async () => {
    const client = service.client()
    const [secret, ...others] = await rotate(client)
    assert.deepEqual([others, secret?.expires_at], [[], undefined])
    assert.deepEqual(await read(client), [secret])
  })

  test('after another ends the oldest at once, so that there are never three', async () => {
    const client = service.client()
    const [first] = textsOf(await read(client))
    const [second] = textsOf(await rotate(client))
    const [third, ...others] = textsOf(await rotate(client))
    assert.deepEqual(others, [second])
    assert.ok(third !== first && third !== second, 'it is a new one')
    assert.deepEqual(textsOf(await read(client)), [third, second])
  })

  test('whose overlap is over leaves one', async () => {
    const owner = `user-${randomUUID()}`
    const client = service.client(owner)
    await read(client)
    const [newest] = await rotate(client)
    await sql`
      update webhook_secret set expires_at = clock_timestamp()
      where owner = ${owner} and expires_at is not null
    `
    assert.deepEqual(await read(client), [newest])
  })

  test('names the newest first also when the clock of the database went back', async () => {
    const owner = `user-${randomUUID()}`
    const client = service.client(owner)
    await read(client)
    await sql`
      update webhook_secret set created_at = clock_timestamp() + interval '1 hour' where owner = ${owner}
    `
    const secrets = await rotate(client)
    assert.deepEqual(
      secrets.map(({ expires_at: end }) => end === undefined),
      [true, false],
    )
    assert.deepEqual(textsOf(await read(client)), textsOf(secrets))
  })

  test('beside first reads and other rotations succeeds, and leaves two at most', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = service.client()
      const responses = await Promise.all([
        ...Array.from({ length: 4 }, () => client.get('/webhook-secret')),
        ...Array.from({ length: 4 }, () => client.post(ROTATE, {})),
      ])
      for (const response of responses)
        assert.ok(secretsOf(response).length <= 2, JSON.stringify(response.body))
      assert.equal(new Set(textsOf(await read(client))).size, 2)
    }
  })

  test('waits for a first secret that is being made elsewhere, and replaces it', async () => {
    const owner = `user-${randomUUID()}`
    const client = service.client(owner)
    const { response } = await sql.begin(async (sql) => {
      await insertFirstSecret(sql, { owner, secret: 'of a worker that is about to commit' })
      const response = client.post(ROTATE, { overlap_seconds: 0 })
      await waitFor('the rotation waits', async () => (await countLockWaits(service.sql)) > 0)
      return { response }
    })
    assert.equal(secretsOf(await response).length, 1)
  })

  test('of one caller changes nothing for another', async () => {
    const [alice, bob] = [service.client(), service.client()]
    const before = await read(bob)
    await rotate(alice, { overlap_seconds: 0 })
    assert.deepEqual(await read(bob), before)
  })

  test('a rotation repeated with its key returns the same secrets and replaces none', async () => {
    const client = service.client()
    await read(client)
    const key = { 'idempotency-key': 'rotation' }
    const first = await client.post(ROTATE, { overlap_seconds: 3600 }, key)
    const second = await client.post(ROTATE, { overlap_seconds: 3600 }, key)
    assert.deepEqual(secretsOf(second), secretsOf(first))
    assert.deepEqual(
      [second.headers.get('idempotent-replayed'), second.headers.get('cache-control')],
      ['true', 'no-store'],
    )
    assert.deepEqual(await read(client), secretsOf(first))
    const other = await client.post(ROTATE, { overlap_seconds: 3601 }, key)
    assert.deepEqual([other.status, other.body.error], [422, 'idempotency_mismatch'])
  })
})
