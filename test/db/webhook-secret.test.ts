import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { makeSecrets } from '../../src/adapters/secrets.ts'
import { decodeWebhookSecret, makeWebhookSecret } from '../../src/adapters/webhook.ts'
import { makeWebhookSecrets } from '../../src/adapters/webhook-secrets.ts'
import type { OwnerSecret, WebhookSecrets } from '../../src/adapters/webhook-secrets.ts'
import { useDatabase } from '../support/stack.ts'

const DAY = 86_400

describe('the secrets of an owner', () => {
  const shared = makeWebhookSecret()
  const { sql } = useDatabase()
  let secrets: WebhookSecrets
  before(async () => {
    const keys = [randomBytes(32).toString('base64')]
    secrets = makeWebhookSecrets({ sql, secrets: makeSecrets({ keys }), shared })
  })

  const rotate = (owner: string, overlapSeconds = DAY): Promise<OwnerSecret[]> =>
    sql.begin((sql) => secrets.rotate(sql, owner, overlapSeconds))
  const countRows = async (owner: string): Promise<{ current: number; leaving: number }> => {
    const [row] = await sql<{ current: number; leaving: number }[]>`
      select count(*) filter (where expires_at is null)::integer as current,
        count(*) filter (where expires_at is not null)::integer as leaving
      from webhook_secret where owner = ${owner}
    `
    return row ?? { current: 0, leaving: 0 }
  }
  const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => act(index)))

  test('are one, made at the first use and the same for ever', async () => {
    const owner = randomUUID()
    const [first, ...others] = await secrets.get(owner)
    assert.ok(first, 'there is one')
    assert.deepEqual(others, [])
    assert.equal(first.expiresAt, null)
    assert.equal(decodeWebhookSecret(first.secret).length, 32)
    assert.deepEqual(await secrets.active(owner), [first.secret])
    assert.notDeepEqual(await secrets.active(randomUUID()), [first.secret])
  })

  test('are one also when 20 use it first at once', async () => {
    const owner = randomUUID()
    const found = await times(20, () => secrets.active(owner))
    assert.equal(new Set(found.flat()).size, 1)
    assert.deepEqual(await countRows(owner), { current: 1, leaving: 0 })
  })

  test('are stored in no form that can be read', async () => {
    const owner = randomUUID()
    const [secret = ''] = await secrets.active(owner)
    const [row] = await sql<{ text: string }[]>`
      select webhook_secret::text as text from webhook_secret where owner = ${owner}
    `
    assert.ok(!row?.text.includes(secret.slice(6)), 'in clear')
    assert.ok(!row?.text.includes(decodeWebhookSecret(secret).toString('hex')), 'as hex')
  })

  test('are two while one replaces the other, newest first', async () => {
    const owner = randomUUID()
    const [old] = await secrets.active(owner)
    const rotated = await rotate(owner)
    assert.deepEqual(
      rotated.map(({ secret }) => secret),
      await secrets.active(owner),
    )
    assert.equal(rotated[1]?.secret, old)
    assert.notEqual(rotated[0]?.secret, old)
    assert.equal(rotated[0]?.expiresAt, null)
    const seconds = (Number(rotated[1]?.expiresAt) - Date.now()) / 1000
    assert.ok(seconds > DAY - 60 && seconds <= DAY + 60, `${seconds}`)
  })

  test('are never three: one that was on its way out goes at the next rotation', async () => {
    const owner = randomUUID()
    await secrets.active(owner)
    const [second] = await rotate(owner)
    const third = await rotate(owner)
    assert.deepEqual(
      third.map(({ secret }) => secret),
      [third[0]?.secret, second?.secret],
    )
    assert.deepEqual(await countRows(owner), { current: 1, leaving: 1 })
  })

  test('are one again at once, or when the time of the old one has passed', async () => {
    const owner = randomUUID()
    await secrets.active(owner)
    assert.equal((await rotate(owner, 0)).length, 1)
    assert.equal((await rotate(owner)).length, 2)
    await sql`update webhook_secret set expires_at = now() where owner = ${owner} and expires_at is not null`
    assert.equal((await secrets.active(owner)).length, 1)
  })

  test('begin with a rotation of what was never used', async () => {
    const owner = randomUUID()
    assert.equal((await rotate(owner)).length, 1)
    assert.equal((await secrets.active(owner)).length, 1)
  })

  test('are one current and one on its way out after 20 rotations at once', async () => {
    const owner = randomUUID()
    const answers = await times(20, () => rotate(owner))
    assert.deepEqual(await countRows(owner), { current: 1, leaving: 1 })
    assert.equal(new Set(answers.map(([newest]) => newest?.secret)).size, 20)
    for (const answer of answers) assert.ok(answer.length <= 2, `${answer.length}`)
  })

  test('are one current when the first use meets rotations', async () => {
    for (let round = 0; round < 5; round++) {
      const owner = randomUUID()
      await times(20, async (index): Promise<unknown> =>
        index % 4 === 0 ? rotate(owner) : secrets.active(owner),
      )
      const { current, leaving } = await countRows(owner)
      assert.equal(current, 1)
      assert.ok(leaving <= 1, `${leaving}`)
    }
  })

  test('stay as they were when a rotation is not committed', async () => {
    const owner = randomUUID()
    const before = await secrets.active(owner)
    await assert.rejects(
      sql.begin(async (sql) => {
        await secrets.rotate(sql, owner, 0)
        throw new Error('rolled back')
      }),
    )
    assert.deepEqual(await secrets.active(owner), before)
  })

  test('of anonymous callers is the shared one', async () => {
    assert.deepEqual(await secrets.active('anonymous'), [shared])
    assert.deepEqual(await countRows('anonymous'), { current: 0, leaving: 0 })
  })
})
