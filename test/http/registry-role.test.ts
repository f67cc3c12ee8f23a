import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { HttpResponse, Client } from '../support/client.ts'
import { expectStatus, listOf, unique, usePublisher, useRegistry } from './registry-support.ts'
import type { Added } from './registry-support.ts'

const registry = useRegistry()
const owned = usePublisher(registry)
let active: Added
const clients = new Map<string, Client>()

registry.prepare(async () => {
  active = await owned.addActive()
  clients.set('owner', owned.owner)
  for (const role of ['admin', 'member']) clients.set(role, (await owned.addMember(role)).client)
  clients.set('stranger', await registry.client(unique('stranger')))
  clients.set('platform admin', registry.admin)
})

const newMember = async (): Promise<string> =>
  `${owned.path}/members/${(await owned.addMember('member')).user}`

const newToken = async (): Promise<string> => {
  await owned.owner.post(`${owned.path}/tokens`, { name: 'x' })
  const [token] = listOf(await owned.owner.get(`${owned.path}/tokens`))
  return `${owned.path}/tokens/${String(token?.['id'])}`
}

type Act = (client: Client) => Promise<HttpResponse>

/** Statuses for owner, admin and member; everybody else is rejected. */
const MEMBERS_MAKE = [201, 201, 201]
const MEMBERS_MAY = [200, 200, 200]
const ADMINS_MAY = [200, 200, 403]
const OWNERS_MAY = [200, 403, 403]
const OWNERS_DELETE = [204, 403, 403]

const ACTIONS: [what: string, statuses: readonly number[], act: Act][] = [
  [
    'publish',
    MEMBERS_MAKE,
    (client) => owned.publish({ client, nodeId: active.nodeId, version: '2.0.0' }),
  ],
  [
    'create a node',
    MEMBERS_MAKE,
    (client) => client.post(`${owned.path}/nodes`, { id: unique('n') }),
  ],
  ['edit a node', [200, 200, 200, 403, 200], (client) => client.put(active.ownNode, { name: 'x' })],
  ['edit a version', MEMBERS_MAY, (client) => client.put(active.ownVersion, { changelog: 'x' })],
  ['list members', MEMBERS_MAY, (client) => client.get(`${owned.path}/members`)],
  [
    'create a token',
    [201, 201, 403],
    (client) => client.post(`${owned.path}/tokens`, { name: 'x' }),
  ],
  [
    'get a token for one publication',
    MEMBERS_MAKE,
    (client) => client.post(`${active.ownNode}/publish-tokens`, {}),
  ],
  ['list tokens', ADMINS_MAY, (client) => client.get(`${owned.path}/tokens`)],
  ['revoke a token', [204, 204, 403], async (client) => client.delete(await newToken())],
  ['edit the publisher', ADMINS_MAY, (client) => client.put(owned.path, { name: 'x' })],
  [
    'add a member',
    OWNERS_MAY,
    async (client) => {
      const { user } = await registry.addUser()
      return client.put(`${owned.path}/members/${user}`, { role: 'member' })
    },
  ],
  [
    'change a member',
    OWNERS_MAY,
    async (client) => client.put(await newMember(), { role: 'admin' }),
  ],
  ['remove a member', OWNERS_DELETE, async (client) => client.delete(await newMember())],
  [
    'delete a node',
    OWNERS_DELETE,
    async (client) => client.delete(`${owned.path}/nodes/${await owned.addNode()}`),
  ],
  [
    'delete a version',
    OWNERS_DELETE,
    async (client) => client.delete((await owned.addActive()).ownVersion),
  ],
  [
    'ask for a review',
    [201, 403, 403],
    async (client) => client.post(`${(await owned.addFlagged()).ownVersion}/review`, {}),
  ],
]

describe('the role in a publisher', () => {
  for (const [what, statuses, act] of ACTIONS)
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
        expectStatus(await act(client), status, status === 403 ? 'forbidden' : undefined)
      })
    }

  test('lets everybody leave', async () => {
    for (const role of ['owner', 'admin', 'member']) {
      const { user, client } = await owned.addMember(role)
      expectStatus(await client.delete(`${owned.path}/members/${user}`), 204)
    }
  })

  test('shows findings in whole to members and platform admins', async () => {
    const path = `${active.version}/findings`
    for (const [role, client] of clients) {
      const { body } = expectStatus(await client.get(path), 200)
      const isShown = role !== 'stranger'
      assert.deepEqual(['moves' in body, 'reviews' in body], [isShown, isShown], role)
    }
    assert.deepEqual(Object.keys((await registry.anonymous.get(path)).body), ['counts'])
  })

  test('says what may be edited, and a PUT agrees', async () => {
    const all = new Map([...clients, ['nobody', registry.anonymous]])
    for (const path of [owned.path, active.ownNode])
      for (const [role, client] of all) {
        const { body } = expectStatus(await client.get(`${path}/permissions`), 200)
        const { status } = await client.put(path, {})
        assert.deepEqual(body, { canEdit: status === 200 }, `${role} of ${path}`)
      }
    const elsewhere = `${(await registry.addPublisher()).path}/nodes/${active.nodeId}/permissions`
    expectStatus(await registry.anonymous.get(elsewhere), 404, 'node_not_found')
    const nowhere = await registry.anonymous.get('/publishers/none/permissions')
    expectStatus(nowhere, 404, 'publisher_not_found')
  })

  test('is asked for after the credential, the body and existence', async () => {
    const client = await registry.client(unique('stranger'))
    const path = `${owned.path}/nodes`
    expectStatus(await registry.anonymous.post(path, { id: '-' }), 401, 'unauthorized')
    expectStatus(await client.post(path, { id: '-' }), 400, 'validation_failed')
    const nowhere = await client.post('/publishers/none/nodes', { id: 'a' })
    expectStatus(nowhere, 404, 'publisher_not_found')
    const { nodeId: id } = active
    expectStatus(await client.post(path, { id }), 403, 'forbidden')
    expectStatus(await owned.owner.post(path, { id: id.toUpperCase() }), 409, 'node_exists')
  })
})
