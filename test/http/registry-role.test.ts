import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer, Client } from '../support/client.ts'
import {
  addActive,
  addFlagged,
  expectStatus,
  makeNode,
  makePublisher,
  publish,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

let registry: Registry
let owned: Owned
let nodeId: string
let active: string
const clients = new Map<string, Client>()

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry)
  nodeId = await makeNode(owned)
  active = await addActive(registry, owned, { nodeId })
  clients.set('owner', owned.owner)
  for (const role of ['admin', 'member']) {
    const user = unique(role)
    const client = await registry.client(user)
    await client.get('/users')
    expectStatus(
      await owned.owner.call('PUT', `/publishers/${owned.id}/members/${user}`, { role }),
      200,
    )
    clients.set(role, client)
  }
  clients.set('stranger', await registry.client(unique('stranger')))
  clients.set('platform admin', registry.admin)
})

after(() => registry?.stop())

const newUser = async (): Promise<string> => {
  const user = unique('user')
  await (await registry.client(user)).get('/users')
  return user
}

const addMember = async (): Promise<string> => {
  const user = await newUser()
  await owned.owner.call('PUT', `/publishers/${owned.id}/members/${user}`, { role: 'member' })
  return user
}

const addToken = async (): Promise<string> => {
  const path = `/publishers/${owned.id}/tokens`
  await owned.owner.post(path, { name: 'x' })
  const { body } = await owned.owner.get(path)
  return (body as unknown as { id: string }[])[0]?.id ?? ''
}

type Act = (client: Client, base: string) => Promise<Answer>

const nodePath = (base: string): string => `${base}/nodes/${nodeId}`

/** What each does, and the status for owner, admin and member; everybody else is refused. */
const ACTIONS: [what: string, act: Act, owner: number, admin: number, member: number][] = [
  [
    'publish',
    (client) => publish({ ...owned, owner: client }, { nodeId, version: '2.0.0' }),
    201,
    201,
    201,
  ],
  [
    'create a node',
    (client, base) => client.post(`${base}/nodes`, { id: unique('n') }),
    201,
    201,
    201,
  ],
  [
    'edit a node',
    (client, base) => client.call('PUT', nodePath(base), { name: 'x' }),
    200,
    200,
    200,
  ],
  [
    'edit a version',
    (client, base) =>
      client.call('PUT', `${nodePath(base)}/versions/${active}`, { changelog: 'x' }),
    200,
    200,
    200,
  ],
  ['list members', (client, base) => client.get(`${base}/members`), 200, 200, 200],
  ['create a token', (client, base) => client.post(`${base}/tokens`, { name: 'x' }), 201, 201, 403],
  ['list tokens', (client, base) => client.get(`${base}/tokens`), 200, 200, 403],
  [
    'revoke a token',
    async (client, base) => client.call('DELETE', `${base}/tokens/${await addToken()}`),
    204,
    204,
    403,
  ],
  ['edit the publisher', (client, base) => client.call('PUT', base, { name: 'x' }), 200, 200, 403],
  [
    'add a member',
    async (client, base) =>
      client.call('PUT', `${base}/members/${await newUser()}`, { role: 'member' }),
    200,
    403,
    403,
  ],
  [
    'change a member',
    async (client, base) =>
      client.call('PUT', `${base}/members/${await addMember()}`, { role: 'admin' }),
    200,
    403,
    403,
  ],
  [
    'remove a member',
    async (client, base) => client.call('DELETE', `${base}/members/${await addMember()}`),
    204,
    403,
    403,
  ],
  [
    'delete a node',
    async (client, base) => client.call('DELETE', `${base}/nodes/${await makeNode(owned)}`),
    204,
    403,
    403,
  ],
  [
    'delete a version',
    async (client, base) => {
      const own = await makeNode(owned)
      const version = await addActive(registry, owned, { nodeId: own })
      return client.call('DELETE', `${base}/nodes/${own}/versions/${version}`)
    },
    204,
    403,
    403,
  ],
  [
    'ask for a review',
    async (client, base) => {
      const own = await makeNode(owned)
      const version = await addFlagged(registry, owned, { nodeId: own })
      return client.post(`${base}/nodes/${own}/versions/${version}/review`, {})
    },
    201,
    403,
    403,
  ],
]

describe('the role in a publisher', () => {
  for (const [what, act, ...statuses] of ACTIONS)
    for (const [index, role] of [
      'owner',
      'admin',
      'member',
      'stranger',
      'platform admin',
    ].entries()) {
      const status = statuses[index] ?? 403
      test(`${status < 400 ? 'lets' : 'does not let'} the ${role} ${what}`, async () => {
        const client = clients.get(role)
        assert.ok(client, role)
        const answer = await act(client, `/publishers/${owned.id}`)
        expectStatus(answer, status, status === 403 ? 'forbidden' : undefined)
      })
    }

  test('lets everybody leave', async () => {
    for (const role of ['owner', 'admin', 'member']) {
      const user = unique(role)
      const client = await registry.client(user)
      await client.get('/users')
      const path = `/publishers/${owned.id}/members/${user}`
      await owned.owner.call('PUT', path, { role })
      expectStatus(await client.call('DELETE', path), 204)
    }
  })

  test('shows findings in whole to members and platform admins', async () => {
    const path = `/nodes/${nodeId}/versions/1.0.0/findings`
    for (const [role, client] of clients) {
      const { body } = expectStatus(await client.get(path), 200)
      const isShown = role !== 'stranger'
      assert.equal('moves' in body, isShown, role)
      assert.equal('reviews' in body, isShown, role)
    }
    assert.deepEqual(Object.keys((await registry.anonymous.get(path)).body), ['counts'])
  })

  test('is asked for after the credential, the body and existence', async () => {
    const client = clients.get('stranger')
    assert.ok(client, 'stranger')
    const path = `/publishers/${owned.id}/nodes`
    expectStatus(await registry.anonymous.post(path, { id: '-' }), 401, 'unauthorized')
    expectStatus(await client.post(path, { id: '-' }), 400, 'validation_failed')
    expectStatus(
      await client.post('/publishers/none/nodes', { id: 'a' }),
      404,
      'publisher_not_found',
    )
    expectStatus(await client.post(path, { id: nodeId }), 403, 'forbidden')
    expectStatus(await owned.owner.post(path, { id: nodeId.toUpperCase() }), 409, 'node_exists')
  })
})
