import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { warnOfKeys } from '../../../src/events/db/key-warning.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import { useDatabase } from '../../support/stack.ts'

interface Made {
  /** Days until its end; absent: it has none. */
  days?: number
  /** Days that it is old. */
  age?: number
  isRevoked?: boolean
}

describe('a key that ends soon', () => {
  const { sql } = useDatabase()

  const addKey = async (owner: string, { days, age = 30, isRevoked = false }: Made) => {
    const [row] = await sql<{ id: string }[]>`
      insert into api_key (owner, name, sha256, last4, created_at, expires_at, revoked_at)
      values (${owner}, 'renders', ${randomUUID()}, 'abcd', now() - ${age} * interval '1 day',
        now() + ${days ?? null}::float8 * interval '1 day',
        ${isRevoked ? sql`now()` : null}) returning id
    `
    return row?.id ?? ''
  }
  const addEndpoint = async (owner: string, status = 'enabled', type = 'api_key.expiring') => {
    const [row] = await sql<{ id: string }[]>`
      insert into endpoint (owner, url, events, status)
      values (${owner}, 'https://a.example/', ${[type]}, ${status}) returning id
    `
    return row?.id ?? ''
  }
  const listWarned = async (endpoint: string) =>
    await sql`
      select subject_id as id, sequence::integer, state, data from event
      where endpoint_id = ${endpoint} order by created_at, id
    `
  const listIds = async (endpoint: string): Promise<unknown[]> =>
    (await listWarned(endpoint)).map((event) => event['id'])

  test('has one event at each endpoint of its owner, however many passes there are at once', async () => {
    const owner = randomUUID()
    const endpoints = [await addEndpoint(owner), await addEndpoint(owner)]
    const id = await addKey(owner, { days: 6.9 })
    await Promise.all(Array.from({ length: 8 }, () => warnOfKeys(sql)))
    await warnOfKeys(sql)
    for (const endpoint of endpoints) {
      const [event, ...others] = await listWarned(endpoint)
      assert.ok(event)
      assert.deepEqual([event['id'], event['sequence'], event['state']], [id, 1, 'pending'])
      const { expires_at: end, ...data } = event['data'] as Record<string, unknown>
      assert.deepEqual(data, { api_key_id: id, name: 'renders' })
      assert.match(String(end), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
      assert.deepEqual(others, [])
    }
  })

  test('has its event from the next pass where a process dies in one', async () => {
    const owner = randomUUID()
    const endpoint = await addEndpoint(owner)
    const id = await addKey(owner, { days: 1 })
    const dying = sql.begin(async (sql) => {
      await warnOfKeys(sql)
      throw new Error('killed')
    })
    await assert.rejects(dying, /killed/)
    assert.deepEqual(await listIds(endpoint), [])
    await warnOfKeys(sql)
    assert.deepEqual(await listIds(endpoint), [id])
  })

  test('has none while it ends later, never, or has ended, and none that lives for minutes', async () => {
    const owner = randomUUID()
    const endpoint = await addEndpoint(owner)
    for (const made of [
      { days: 7.1 },
      {},
      { days: -0.1 },
      { days: 1, isRevoked: true },
      { days: 0.02, age: 0 },
    ])
      await addKey(owner, made)
    const last = await addKey(owner, { days: 0.02, age: 1 })
    await warnOfKeys(sql)
    assert.deepEqual(await listIds(endpoint), [last])
  })

  test('waits for an endpoint of its owner that wants to know and is on', async () => {
    const owner = randomUUID()
    const [off, other] = [
      await addEndpoint(owner, 'disabled'),
      await addEndpoint(owner, 'enabled', 'batch.ended'),
    ]
    await addEndpoint(randomUUID())
    const id = await addKey(owner, { days: 2 })
    await warnOfKeys(sql)
    const late = await addEndpoint(owner)
    await warnOfKeys(sql)
    assert.deepEqual(await listIds(late), [id])
    assert.deepEqual([await listIds(off), await listIds(other)], [[], []])
  })

  test('of a publisher is one of its endpoints, behind the event of its creation', async () => {
    const [publisher, user] = [`p${randomUUID()}`, randomUUID()]
    const endpoint = await addPublisher(sql, publisher, user)
    const [token] = await sql<{ id: string }[]>`
      insert into personal_access_token (publisher_id, name, sha256, last4, created_by, created_at, expires_at)
      values (${publisher}, 'laptop', ${randomUUID()}, 'abcd', ${user}, now() - interval '30 days',
        now() + interval '2 days') returning id
    `
    await warnOfKeys(sql)
    await warnOfKeys(sql)
    const rows = await sql`
      select status, sequence::integer, data->>'token_id' as id from event
      where endpoint_id = ${endpoint} order by sequence
    `
    assert.deepEqual(
      rows.map(({ status, sequence, id }) => [status, sequence, id]),
      [
        ['token.created', 1, token?.id],
        ['token.expiring', 2, token?.id],
      ],
    )
  })
})

/** A publisher with an endpoint, whose id it returns. */
const addPublisher = async (sql: Sql, publisher: string, user: string): Promise<string> => {
  await sql`insert into app_user (id, name) values (${user}, 'alice')`
  await sql`insert into publisher (id, name, created_by) values (${publisher}, 'packs', ${user})`
  const [row] = await sql<{ id: string }[]>`
    insert into endpoint (publisher_id, created_by, url, events)
    values (${publisher}, ${user}, 'https://a.example/', ${['token.created', 'token.expiring']})
    returning id
  `
  return row?.id ?? ''
}
