import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { expectStatus } from '../support/client.ts'
import { useWebhookReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'
import { unique, useRegistry } from '../registry/http/registry-support.ts'

const OFTEN = { OVERRIDE_NOTICE_INTERVAL_MS: '100' }
const registry = useRegistry({ roles: ['api', 'core'], env: OFTEN })
const { sql, service } = registry
const receiver = useWebhookReceiver()
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

interface Warned {
  id: string
  path: string
}

/** Two keys that end in twenty days, each with a receiver of its own: one of a user, one of a publisher. */
const addPair = async (): Promise<[key: Warned, token: Warned]> => {
  const [user, publisher] = [registry.client(unique('user')), await registry.addPublisher()]
  const add = async (client: typeof user, own: string, keys: string, type: string) => {
    const path = `/${unique('hook')}`
    const hook = { url: receiver.url(path), events: [type] }
    expectStatus(await client.post(`${own}/endpoints`, hook), 201)
    const name = unique('key')
    expectStatus(await client.post(keys, { name, expires_at: inDays(20) }), 201)
    const [row] = await sql<{ id: string }[]>`
      select id from api_key where name = ${name}
      union all select id from personal_access_token where name = ${name}
    `
    return { id: row?.id ?? '', path }
  }
  return [
    await add(user, '', '/users/api-keys', 'api_key.expiring'),
    await add(publisher.owner, publisher.path, `${publisher.path}/tokens`, 'token.expiring'),
  ]
}

/** Lets both end so soon that a warning is due. */
const expire = async ([key, token]: readonly Warned[]): Promise<void> => {
  const end = inDays(3)
  await sql.begin(async (sql) => {
    await sql`update api_key set expires_at = ${end} where id = ${key?.id ?? ''}`
    await sql`update personal_access_token set expires_at = ${end} where id = ${token?.id ?? ''}`
  })
}

const countEvents = async (pair: readonly Warned[]): Promise<number> => {
  const ids = pair.map(({ id }) => id)
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from event
    where status in ('api_key.expiring', 'token.expiring')
      and (subject_id::text = any(${ids}) or data->>'token_id' = any(${ids}))
  `
  return row?.count ?? 0
}

describe('a warning of a key that ends, while the api is killed', () => {
  const pairs: Warned[][] = []
  before(async () => {
    for (let count = 0; count < 3; count += 1) pairs.push(await addPair())
  })

  /** Has the api die, and starts it again; returns how many events it had written. */
  const restart = async (pair: readonly Warned[], die: () => Promise<void>): Promise<number> => {
    await die()
    const written = await countEvents(pair)
    await service.start('api', OFTEN)
    await waitFor('both warnings', async () =>
      pair.every(({ path }) => receiver.of(path).length > 0),
    )
    return written
  }
  const dieAt = (pair: readonly Warned[], failpoint: string) => async (): Promise<void> => {
    await service.entry('api').kill()
    const { end } = await service.start('api', { ...OFTEN, OVERRIDE_FAILPOINT: failpoint })
    await expire(pair)
    assert.equal(await end(), 'SIGKILL')
  }

  test('between its two statements is sent', async () => {
    const [pair = []] = pairs
    // Both are written where a pass began before both keys ended.
    assert.ok((await restart(pair, dieAt(pair, 'warn.after-keys'))) >= 1)
  })

  test('right after the COMMIT of the second is sent', async () => {
    const [, pair = []] = pairs
    assert.ok((await restart(pair, dieAt(pair, 'warn.after-tokens'))) >= 1)
  })

  test('in the midst of a statement is sent', async () => {
    const [, , pair = []] = pairs
    const die = () =>
      sql.begin(async (held) => {
        await held`lock table event in exclusive mode`
        await expire(pair)
        await waitFor('the pass waits for the lock', async () => {
          const waiting = await sql`
            select from pg_stat_activity
            where wait_event_type = 'Lock' and query like '%record_owner_event%'
              and datname = current_database()
          `
          return waiting.length > 0
        })
        await service.entry('api').kill()
      })
    assert.ok((await restart(pair, die)) <= 2)
  })

  test('is sent once, whenever it was', async () => {
    for (const pair of pairs) {
      assert.equal(await countEvents(pair), 2)
      for (const { path } of pair) assert.equal(receiver.of(path).length, 1)
    }
  })
})
