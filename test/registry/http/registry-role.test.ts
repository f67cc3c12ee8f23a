import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf, type Client, type HttpResponse } from '../../support/client.ts'
import { unique, usePublisher, useRegistry, type Added } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned
let active: Added
const clients = new Map<string, Client>()

registry.prepare(async () => {
  active = await owned.addActive()
  clients.set('owner', owner)
  for (const role of ['admin', 'member']) clients.set(role, (await owned.addMember(role)).client)
  clients.set('stranger', registry.client(unique('stranger')))
  clients.set('platform admin', admin)
})

const newMember = async (): Promise<string> =>
  `${own}/members/${(await owned.addMember('member')).user}`

const newToken = async (): Promise<string> => {
  await owner.post(`${own}/tokens`, { name: 'x' })
  const [token] = listOf(await owner.get(`${own}/tokens`))
  return `${own}/tokens/${String(token?.['id'])}`
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
  ['create a node', MEMBERS_MAKE, (client) => client.post(`${own}/nodes`, { id: unique('n') })],
  ['edit a node', [200, 200, 200, 403, 200], (client) => client.put(active.ownNode, { name: 'x' })],
  ['edit a version', MEMBERS_MAY, (client) => client.put(active.ownVersion, { changelog: 'x' })],
  [
    'reply to a review',
    MEMBERS_MAY,
    async (client) => {
      const reviewer = registry.client(unique('reviewer'))
      const { body } = await reviewer.put(`${active.node}/reviews/mine`, { stars: 1 })
      const path = `${active.ownNode}/reviews/${String(body['id'])}/reply`
      return client.put(path, { text: 'x' })
    },
  ],
  ['list members', MEMBERS_MAY, (client) => client.get(`${own}/members`)],
  ['create a token', [201, 201, 403], (client) => client.post(`${own}/tokens`, { name: 'x' })],
  [
    'get a token for one publication',
    MEMBERS_MAKE,
    (client) => client.post(`${active.ownNode}/publish-tokens`, {}),
  ],
  ['list tokens', ADMINS_MAY, (client) => client.get(`${own}/tokens`)],
  ['revoke a token', [204, 204, 403], async (client) => client.delete(await newToken())],
  ['edit the publisher', ADMINS_MAY, (client) => client.put(own, { name: 'x' })],
  [
    'add a member',
    OWNERS_MAY,
    async (client) => {
      const { user } = await registry.addUser()
      return client.put(`${own}/members/${user}`, { role: 'member' })
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
    async (client) => client.delete(`${own}/nodes/${await owned.addNode()}`),
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
        const response = await act(client)
        expectStatus(response, status, status === 403 ? 'forbidden' : undefined)
        const has = ['admin', 'member'].includes(role)
          ? `has the role ${role}`
          : 'is no member of it'
        if (status === 403)
          assert.ok(String(response.body['message']).includes(`the caller ${has};`))
      })
    }

  test('lets everybody leave', async () => {
    for (const role of ['owner', 'admin', 'member']) {
      const { user, client } = await owned.addMember(role)
      expectStatus(await client.delete(`${own}/members/${user}`), 204)
    }
  })

  test('shows findings in whole to members and platform admins', async () => {
    const path = `${active.version}/findings`
    for (const [role, client] of clients) {
      const { body } = expectStatus(await client.get(path), 200)
      const isShown = role !== 'stranger'
      assert.deepEqual(['moves' in body, 'reviews' in body], [isShown, isShown], role)
    }
    assert.deepEqual(Object.keys((await anonymous.get(path)).body), ['counts'])
  })

  test('says what may be edited, and a PUT agrees', async () => {
    const all = new Map([...clients, ['nobody', anonymous]])
    for (const path of [own, active.ownNode])
      for (const [role, client] of all) {
        const { body } = expectStatus(await client.get(`${path}/permissions`), 200)
        const { status } = await client.put(path, {})
        assert.deepEqual(body, { canEdit: status === 200 }, `${role} of ${path}`)
      }
    const elsewhere = `${(await registry.addPublisher()).path}/nodes/${active.nodeId}/permissions`
    expectStatus(await anonymous.get(elsewhere), 404, 'node_not_found')
    const nowhere = await anonymous.get('/publishers/none/permissions')
    expectStatus(nowhere, 404, 'publisher_not_found')
  })

  test('is asked for after the credential, the body and existence', async () => {
    const client = registry.client(unique('stranger'))
    const path = `${own}/nodes`
    expectStatus(await anonymous.post(path, { id: '-' }), 401, 'unauthorized')
    expectStatus(await client.post(path, { id: '-' }), 400, 'validation_failed')
    const nowhere = await client.post('/publishers/none/nodes', { id: 'a' })
    expectStatus(nowhere, 404, 'publisher_not_found')
    const { nodeId: id } = active
    expectStatus(await client.post(path, { id }), 403, 'forbidden')
    expectStatus(await owner.post(path, { id: id.toUpperCase() }), 409, 'node_exists')
  })
})
