import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'

import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import type { Answer, Client } from '../support/client.ts'
import { listRoutes } from '../support/contract.ts'
import {
  addActive,
  addFlagged,
  addVersion,
  expectStatus,
  listOf,
  makePublisher,
  makeToken,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

/** Ids are the same in whatever case; `registry-defects.test.ts` says for which fault of other registries this is. */

let registry: Registry
let owned: Owned
let token: string
/** As it is stored; the tests call it by other spellings. */
const PUBLISHER = 'acme'
const NODE = 'Image-Tools'

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry, { id: PUBLISHER })
  token = await makeToken(owned.owner, PUBLISHER)
  const id = await addActive(registry, owned, { nodeId: NODE })
  const storage = makeLocalStorage({ root: registry.service.storagePath })
  await storage.putStream(`archives/${id}`, Readable.from([id]), { maxBytes: 100 })
})

after(() => registry?.stop())

/** Where a route is called: its client, its path with `{p}` and `{n}` spelled in another way, and its body. */
interface Call {
  client?: () => Client
  path: () => string | Promise<string>
  body?: () => object
  status: number
}

const NODES = `/publishers/${PUBLISHER.toUpperCase()}/nodes`
const OWN = `${NODES}/iMAGE-tOOLS`
const READ = `/nodes/IMAGE-TOOLS`
const HOST_NODES = `${READ}/versions/1.0.0/host-nodes`
const admin = (): Client => registry.admin
const anonymous = (): Client => registry.anonymous

const newUser = async (): Promise<string> => {
  const user = unique('user')
  await (await registry.client(user)).get('/users')
  return user
}

const newVersion = async (): Promise<string> =>
  `${OWN}/versions/${await addVersion(owned, { nodeId: NODE, version: `0.0.${next()}` })}`

let count = 0
const next = (): number => (count += 1)

const newMember = async (): Promise<string> => {
  const path = `/publishers/ACME/members/${await newUser()}`
  expectStatus(await owned.owner.call('PUT', path, { role: 'member' }), 200)
  return path
}

const tokenPath = async (): Promise<string> => {
  const value = await makeToken(owned.owner, PUBLISHER)
  const tokens = listOf(await owned.owner.get('/publishers/acme/tokens'))
  const made = tokens.find((listed) => String(listed['token']).endsWith(value.slice(-4)))
  return `/publishers/Acme/tokens/${String(made?.['id'])}`
}

const CALLS: Record<string, Call> = {
  'get /publishers/:publisherId': {
    client: anonymous,
    path: () => '/publishers/ACME',
    status: 200,
  },
  'put /publishers/:publisherId': { path: () => '/publishers/Acme', body: () => ({}), status: 200 },
  'get /publishers/:publisherId/members': { path: () => '/publishers/ACME/members', status: 200 },
  'put /publishers/:publisherId/members/:userId': {
    path: newMember,
    body: () => ({ role: 'admin' }),
    status: 200,
  },
  'delete /publishers/:publisherId/members/:userId': { path: newMember, status: 204 },
  'post /publishers/:publisherId/tokens': {
    path: () => '/publishers/ACME/tokens',
    body: () => ({ name: 'x' }),
    status: 201,
  },
  'get /publishers/:publisherId/tokens': { path: () => '/publishers/ACME/tokens', status: 200 },
  'delete /publishers/:publisherId/tokens/:tokenId': { path: tokenPath, status: 204 },
  'post /publishers/:publisherId/nodes': {
    path: () => NODES,
    body: () => ({ id: unique('node') }),
    status: 201,
  },
  'get /publishers/:publisherId/nodes': { client: anonymous, path: () => NODES, status: 200 },
  'put /publishers/:publisherId/nodes/:nodeId': {
    path: () => OWN,
    body: () => ({ id: 'image-TOOLS', author: 'x' }),
    status: 200,
  },
  'post /publishers/:publisherId/nodes/:nodeId/versions': {
    path: () => `${OWN}/versions`,
    body: () => ({
      node: { id: 'IMAGE-tools' },
      node_version: { version: '3.0.0' },
      personal_access_token: token,
    }),
    status: 201,
  },
  'put /publishers/:publisherId/nodes/:nodeId/versions/:versionId': {
    path: async () => (await newVersion()).replace(/[^/]+$/, (id) => id.toUpperCase()),
    body: () => ({ changelog: 'x' }),
    status: 200,
  },
  'delete /publishers/:publisherId/nodes/:nodeId/versions/:versionId': {
    path: newVersion,
    status: 204,
  },
  'post /publishers/:publisherId/nodes/:nodeId/versions/:versionId/review': {
    path: async () =>
      `${OWN}/versions/${await addFlagged(registry, owned, { nodeId: NODE, version: '4.0.0' })}/review`,
    body: () => ({}),
    status: 201,
  },
  'get /nodes/:nodeId': { client: anonymous, path: () => READ, status: 200 },
  'get /nodes/:nodeId/versions': { client: anonymous, path: () => `${READ}/versions`, status: 200 },
  'get /nodes/:nodeId/versions/:version': {
    client: anonymous,
    path: () => `${READ}/versions/1.0.0`,
    status: 200,
  },
  'get /nodes/:nodeId/versions/:version/findings': {
    path: () => `${READ}/versions/1.0.0/findings`,
    status: 200,
  },
  'get /nodes/:nodeId/install': { client: anonymous, path: () => `${READ}/install`, status: 200 },
  'post /nodes/:nodeId/versions/:version/host-nodes': {
    client: anonymous,
    path: () => HOST_NODES,
    body: () => ({ nodes: { Blur: {} } }),
    status: 204,
  },
  'get /nodes/:nodeId/versions/:version/host-nodes': {
    client: anonymous,
    path: () => HOST_NODES,
    status: 200,
  },
  'get /nodes/:nodeId/versions/:version/host-nodes/:hostNodeName': {
    client: anonymous,
    path: () => `${HOST_NODES}/Blur`,
    status: 200,
  },
  'put /admin/nodes/:nodeId': {
    client: admin,
    path: () => `/admin${READ}`,
    body: () => ({ github_stars: 1 }),
    status: 200,
  },
  'put /admin/nodes/:nodeId/versions/:version': {
    client: admin,
    path: () => `/admin${READ}/versions/1.0.0`,
    body: () => ({ tags_admin: ['x'] }),
    status: 200,
  },
  'post /admin/nodes/:nodeId/versions/:version/retry': {
    client: admin,
    path: async () => {
      const id = await addVersion(owned, { nodeId: NODE, version: '5.0.0' })
      await registry.place.receive(id, id)
      await registry.place.move(id, 'give_up_checks', 'checks could not run (x)')
      return `/admin${READ}/versions/5.0.0/retry`
    },
    body: () => ({}),
    status: 200,
  },
  'post /admin/publishers/:publisherId/ban': {
    client: admin,
    path: () => '/admin/publishers/ACME/ban',
    body: () => ({ reason: 'spam' }),
    status: 200,
  },
  'post /admin/publishers/:publisherId/unban': {
    client: admin,
    path: () => '/admin/publishers/ACME/unban',
    body: () => ({}),
    status: 200,
  },
  'delete /publishers/:publisherId/nodes/:nodeId': { path: () => OWN, status: 204 },
}

/** Its answer is no JSON, so it is asked for apart. */
const ARCHIVE = 'get /archives/:publisherId/:nodeId/:version/node.zip'

describe('another spelling of an id', () => {
  test('is tried on every route that has one', () => {
    const routes = listRoutes().filter(({ path }) => /:(publisher|node)Id\b/.test(path))
    assert.deepEqual(
      routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
      [...Object.keys(CALLS), ARCHIVE].toSorted(),
    )
  })

  test(`names the same on ${ARCHIVE}`, async () => {
    const path = '/archives/ACME/IMAGE-TOOLS/1.0.0/node.zip'
    const answer = await fetch(registry.service.baseUrl + path)
    assert.deepEqual([answer.status, (await answer.text()).length], [200, 36])
  })

  for (const [route, { client = () => owned.owner, path, body, status }] of Object.entries(CALLS))
    test(`names the same on ${route}, which answers the stored one`, async () => {
      const [method = ''] = route.split(' ')
      const answer = await client().call(method.toUpperCase(), await path(), body?.())
      expectStatus(answer, status)
      assertStored(answer)
    })

  test('makes no second thing', async () => {
    const made = await owned.owner.post('/publishers/acme/nodes', { id: 'image-tools' })
    expectStatus(made, 409, 'node_deleted')
    const other = await makePublisher(registry)
    const theirs = `/publishers/${other.id}/nodes`
    for (const id of ['Other-Tools', 'OTHER-tools', 'other-TOOLS'])
      expectStatus(
        await other.owner.post(theirs, { id }),
        id === 'Other-Tools' ? 201 : 409,
        id === 'Other-Tools' ? undefined : 'node_exists',
      )
    expectStatus(await owned.owner.post('/publishers', { id: PUBLISHER }), 409, 'publisher_exists')
    const taken = await registry.anonymous.get('/publishers/validate?username=ACME')
    expectStatus(taken, 400, 'publisher_id_unavailable')
  })
})

/** The ids of an answer are as they were created; only a version's own id is no name. */
const assertStored = ({ body }: Answer): void => {
  const text = JSON.stringify(body ?? {})
  for (const [found] of text.matchAll(/\b(acme|image-tools)\b/gi))
    assert.ok([PUBLISHER, NODE].includes(found), found)
}
