import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { expectStatus, type Client } from '../../support/client.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'
import { verify } from '../../events/http/delivery-support.ts'
import { unique, useRegistry } from '../../registry/http/registry-support.ts'

const KEYS = '/users/api-keys'
const DAY_MS = 86_400_000

const registry = useRegistry({
  roles: ['api', 'core'],
  env: { KEY_MAX_DAYS: '30', OVERRIDE_NOTICE_INTERVAL_MS: '100' },
})
const { anonymous, sql, service } = registry
const receiver = useWebhookReceiver()

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

describe('a key whose life is limited', () => {
  const RULE = '/expires_at must be an ISO 8601 date-time at most 30 days from now (KEY_MAX_DAYS)'
  const rejectAll = async (client: Client, path: string) => {
    const late = inDays(30.01)
    for (const [given, came] of [
      [{ name: 'a' }, 'but is absent'],
      // oxlint-disable-next-line unicorn/no-null -- of JSON
      [{ name: 'a', expires_at: null }, 'but is absent'],
      [{ name: 'a', expires_at: late }, `got "${late}"`],
    ] as const) {
      const { body } = expectStatus(await client.post(path, given), 400, 'validation_failed')
      assert.deepEqual(body.details, [`${RULE}, ${came}`])
    }
    const { body } = await client.post(path, { name: 'a', expires_at: 'tomorrow' })
    assert.equal(body.details?.length, 1)
    assert.match(body.details[0] ?? '', /such as 2026/)
    expectStatus(await client.post(path, { name: 'a', expires_at: inDays(29.99) }), 201)
  }

  test('is made with an end within that, and its maker reads field, longest life and value', async () => {
    await rejectAll(registry.client(unique('user')), KEYS)
    const { body } = expectStatus(await anonymous.get('/service'), 200)
    assert.equal((body['limits'] as unknown as { key_days: number }).key_days, 30)
  })

  test('is a personal access token, too; one for a publication needs no end', async () => {
    const [id, nodeId] = [unique('pub'), unique('node')]
    const owner = registry.client(unique('owner'))
    expectStatus(await owner.post('/publishers', { id }), 201)
    const path = `/publishers/${id}`
    await rejectAll(owner, `${path}/tokens`)
    expectStatus(await owner.post(`${path}/nodes`, { id: nodeId }), 201)
    expectStatus(await owner.post(`${path}/nodes/${nodeId}/publish-tokens`, {}), 201)
  })

  test('stays as it is where it was made before', async () => {
    const user = unique('user')
    const client = registry.client(user)
    const made = await client.post(KEYS, { name: 'old', expires_at: inDays(1) })
    const { id, key } = expectStatus(made, 201).body as unknown as { id: string; key: string }
    await sql`update api_key set expires_at = null where id = ${id}`
    // The key is known; the route takes no keys.
    expectStatus(await anonymous.get(KEYS, { 'x-api-key': key }), 403, 'forbidden')
  })
})

describe('a key that ends within a week', () => {
  before(async () => void (await service.startSecondApi()))

  test('is notified of once to the endpoints of its owner, while two processes look', async () => {
    const client = registry.client(unique('user'))
    const url = receiver.url('/expiring')
    const body = { url, events: ['api_key.expiring'], labels: ['project:none'] }
    const { secret } = expectStatus(await client.post('/endpoints', body), 201).body as unknown as {
      secret: string
    }
    const make = async (name: string, days: number): Promise<string> => {
      const made = await client.post(KEYS, { name, expires_at: inDays(days), scopes: ['images'] })
      return String(expectStatus(made, 201).body['id'])
    }
    const [soon, later] = [await make('soon', 3), await make('later', 20)]
    const notices = () =>
      receiver.of('/expiring').map(
        (request) =>
          verify(request, secret) as unknown as {
            type: string
            subject_id: string
            data: Record<string, unknown>
          },
      )
    const first = await waitFor('the first notice', () => notices()[0])
    const { expires_at: end, ...data } = first.data
    assert.deepEqual(
      [first.type, first.subject_id, data],
      ['api_key.expiring', soon, { api_key_id: soon, name: 'soon', scopes: ['images'] }],
    )
    assert.ok(Date.parse(String(end)) > Date.now())
    await sql`update api_key set expires_at = ${inDays(2)} where id = ${later}`
    await waitFor('the second notice', () => notices().some((one) => one.subject_id === later))
    assert.deepEqual(new Set(notices().map((one) => one.subject_id)), new Set([soon, later]))
    const [row] = await sql`
      select count(*)::integer as count from event where subject_id in (${soon}, ${later})
    `
    assert.equal(row?.['count'], 2)
  })
})
