import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'

import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import type { Answer, Client } from '../support/client.ts'
import { listRoutes } from '../support/contract.ts'
import { openStream } from '../support/event-stream.ts'
import {
  expectStatus,
  listOf,
  makeToken,
  unique,
  usePublisher,
  useRegistry,
} from './registry-support.ts'

/** As they are stored; the tests spell them in other ways. */
const PUBLISHER = 'acme'
const NODE = 'Image-Tools'

const registry = useRegistry({})
const owned = usePublisher(registry, { id: PUBLISHER })

registry.prepare(async () => {
  const { id } = await owned.addActive({ nodeId: NODE })
  // Two pictures that were fetched before.
  const { sql } = registry.service.database
  const url = 'https://pictures.example.com/x'
  await sql`update node set icon = ${url}, banner_url = ${url}`
  await sql`update publisher set logo = ${url}`
  for (const side of [128, 1200])
    await sql`insert into picture (key, bytes) values (encode(sha256(convert_to(${`${side} ${url}`}, 'utf8')), 'hex'), '{}')`
  const storage = makeLocalStorage({ root: registry.service.storagePath })
  await storage.putStream(`archives/${id}`, Readable.from([id]), { maxBytes: 100 })
  const place = { dataOffset: 0, packedBytes: 36, isDeflated: false }
  const files = [{ path: 'x', bytes: 36, sha256: 'a', ...place }]
  await sql`update archive set files = ${sql.json(files)} where version_id = ${id}`
})

const NODES = '/publishers/ACME/nodes'
const OWN = `${NODES}/iMAGE-tOOLS`
const READ = '/nodes/IMAGE-TOOLS'
const HOST_NODES = `${READ}/versions/1.0.0/host-nodes`

let count = 0

const newVersion = async (): Promise<string> => {
  count += 1
  const { id } = await owned.addVersion({ nodeId: NODE, version: `0.0.${count}` })
  return `${OWN}/versions/${id.toUpperCase()}`
}

const newReview = async (): Promise<string> => {
  const { id } = await owned.addFlagged({ nodeId: NODE, version: '4.0.0' })
  return `${OWN}/versions/${id}/review`
}

const newMember = async (): Promise<string> =>
  `/publishers/ACME/members/${(await owned.addMember('member')).user}`

const newToken = async (): Promise<string> => {
  const value = await makeToken(owned.owner, PUBLISHER)
  const tokens = listOf(await owned.owner.get('/publishers/acme/tokens'))
  const made = tokens.find((listed) => String(listed['token']).endsWith(value.slice(-4)))
  return `/publishers/Acme/tokens/${String(made?.['id'])}`
}

const TRUST = { provider: 'oidc', issuer: 'https://ci.example.com', claims: { sub: 'x' } }

const newTrust = async (): Promise<string> => {
  const path = `/publishers/acme/nodes/${NODE}/trusted-publishers`
  const made = await owned.owner.post(path, { ...TRUST, claims: { sub: unique('job') } })
  return `${OWN}/trusted-publishers/${String(made.body['id'])}`
}

const ENDPOINTS = '/publishers/ACME/endpoints'
const SINCE = { since: '2026-01-01T00:00:00Z' }

const newEndpoint =
  (rest = '') =>
  async (): Promise<string> => {
    const body = { url: 'https://receiver.example.com/', events: ['version.active'] }
    const { body: made } = expectStatus(await owned.owner.post(ENDPOINTS, body), 201)
    return `${ENDPOINTS}/${String(made['id']).toUpperCase()}${rest}`
  }

const newTestEvent = (last: string) => async (): Promise<string> => {
  const endpoint = await newEndpoint()()
  const { body } = await owned.owner.post(`${endpoint}/test`, {})
  return `${endpoint}/events/${String(body['event_id']).toUpperCase()}/${last}`
}

const newRetry = async (): Promise<string> => {
  const { id } = await owned.addVersion({ nodeId: NODE, version: '5.0.0' })
  await registry.place.receive(id, id)
  await registry.place.move(id, 'give_up_checks', 'checks could not run (x)')
  return `/admin${READ}/versions/5.0.0/retry`
}

const publication = (): object => ({
  node: { id: 'IMAGE-tools' },
  node_version: { version: '3.0.0' },
  personal_access_token: owned.token,
})

type Call = [
  route: string,
  path: string | (() => Promise<string>),
  status: number,
  body?: object | (() => object),
]

/** Every route whose path has such an id, in an order that they allow; those under /admin are called by an admin. */
const CALLS: Call[] = [
  ['get /publishers/:publisherId', '/publishers/ACME', 200],
  ['put /publishers/:publisherId', '/publishers/Acme', 200, {}],
  ['get /publishers/:publisherId/members', '/publishers/ACME/members', 200],
  ['put /publishers/:publisherId/members/:userId', newMember, 200, { role: 'admin' }],
  ['delete /publishers/:publisherId/members/:userId', newMember, 204],
  ['post /publishers/:publisherId/tokens', '/publishers/ACME/tokens', 201, { name: 'x' }],
  ['get /publishers/:publisherId/tokens', '/publishers/ACME/tokens', 200],
  ['delete /publishers/:publisherId/tokens/:tokenId', newToken, 204],
  [
    'post /publishers/:publisherId/endpoints',
    ENDPOINTS,
    201,
    { url: 'https://receiver.example.com/', events: ['version.active'] },
  ],
  ['get /publishers/:publisherId/endpoints', ENDPOINTS, 200],
  ['get /publishers/:publisherId/endpoints/:endpoint_id', newEndpoint(), 200],
  ['put /publishers/:publisherId/endpoints/:endpoint_id', newEndpoint(), 200, {}],
  ['delete /publishers/:publisherId/endpoints/:endpoint_id', newEndpoint(), 204],
  ['post /publishers/:publisherId/endpoints/:endpoint_id/test', newEndpoint('/test'), 202, {}],
  [
    'post /publishers/:publisherId/endpoints/:endpoint_id/webhook-secret/rotate',
    newEndpoint('/webhook-secret/rotate'),
    200,
    {},
  ],
  [
    'post /publishers/:publisherId/endpoints/:endpoint_id/redeliver',
    newEndpoint('/redeliver'),
    202,
    SINCE,
  ],
  ['get /publishers/:publisherId/endpoints/:endpoint_id/events', newEndpoint('/events'), 200],
  [
    'get /publishers/:publisherId/endpoints/:endpoint_id/events/:event_id/attempts',
    newTestEvent('attempts'),
    200,
  ],
  [
    'post /publishers/:publisherId/endpoints/:endpoint_id/events/:event_id/redeliver',
    newTestEvent('redeliver'),
    202,
    {},
  ],
  ['post /publishers/:publisherId/nodes', NODES, 201, () => ({ id: unique('node') })],
  ['get /publishers/:publisherId/nodes', NODES, 200],
  ['get /publishers/:publisherId/nodes/v2', `${NODES}/v2`, 200],
  ['get /publishers/:publisherId/permissions', '/publishers/ACME/permissions', 200],
  ['get /publishers/:publisherId/nodes/:nodeId/permissions', `${OWN}/permissions`, 200],
  ['put /publishers/:publisherId/nodes/:nodeId', OWN, 200, { id: 'image-TOOLS', author: 'x' }],
  ['post /publishers/:publisherId/nodes/:nodeId/versions', `${OWN}/versions`, 201, publication],
  [
    'put /publishers/:publisherId/nodes/:nodeId/versions/:versionId',
    newVersion,
    200,
    { changelog: 'x' },
  ],
  ['delete /publishers/:publisherId/nodes/:nodeId/versions/:versionId', newVersion, 204],
  ['post /publishers/:publisherId/nodes/:nodeId/versions/:versionId/review', newReview, 201, {}],
  [
    'post /publishers/:publisherId/nodes/:nodeId/trusted-publishers',
    `${OWN}/trusted-publishers`,
    201,
    TRUST,
  ],
  [
    'get /publishers/:publisherId/nodes/:nodeId/trusted-publishers',
    `${OWN}/trusted-publishers`,
    200,
  ],
  [
    'delete /publishers/:publisherId/nodes/:nodeId/trusted-publishers/:trustedPublisherId',
    newTrust,
    204,
  ],
  // The node is found, and trusts nobody who could have signed this.
  [
    'post /publishers/:publisherId/nodes/:nodeId/token-exchange',
    `${OWN}/token-exchange`,
    403,
    { identity_token: 'e30.e30.e30' },
  ],
  ['post /publishers/:publisherId/nodes/:nodeId/publish-tokens', `${OWN}/publish-tokens`, 201, {}],
  ['get /nodes/:nodeId/icon', `${READ}/icon`, 200],
  ['get /nodes/:nodeId/banner', `${READ}/banner`, 200],
  ['get /publishers/:publisherId/logo', '/publishers/ACME/logo', 200],
  ['get /nodes/:nodeId', READ, 200],
  ['get /nodes/:nodeId/versions', `${READ}/versions`, 200],
  ['get /nodes/:nodeId/versions/:version', `${READ}/versions/1.0.0`, 200],
  ['get /nodes/:nodeId/versions/:version/findings', `${READ}/versions/1.0.0/findings`, 200],
  ['get /nodes/:nodeId/compare', `${READ}/compare?from=1.0.0&to=v1.0`, 200],
  ['get /nodes/:nodeId/versions/:version/files', `${READ}/versions/v1.0/files`, 200],
  [
    'get /nodes/:nodeId/versions/:version/files/content',
    `${READ}/versions/v1.0/files/content?path=x`,
    200,
  ],
  ['get /nodes/:nodeId/install', `${READ}/install`, 200],
  ['post /nodes/:nodeId/versions/:version/host-nodes', HOST_NODES, 204, { nodes: { Blur: {} } }],
  ['get /nodes/:nodeId/versions/:version/host-nodes', HOST_NODES, 200],
  ['get /nodes/:nodeId/versions/:version/host-nodes/:hostNodeName', `${HOST_NODES}/Blur`, 200],
  ['put /admin/nodes/:nodeId', `/admin${READ}`, 200, { github_stars: 1 }],
  [
    'put /admin/nodes/:nodeId/versions/:version',
    `/admin${READ}/versions/1.0.0`,
    200,
    { tags_admin: ['x'] },
  ],
  ['post /admin/nodes/:nodeId/versions/:version/retry', newRetry, 200, {}],
  [
    'post /admin/publishers/:publisherId/ban',
    '/admin/publishers/ACME/ban',
    200,
    { reason: 'spam' },
  ],
  ['post /admin/publishers/:publisherId/unban', '/admin/publishers/ACME/unban', 200, {}],
  ['delete /publishers/:publisherId/nodes/:nodeId', OWN, 204],
]

const callerOf = (path: string): Client =>
  path.startsWith('/admin') ? registry.admin : owned.owner

/** Their answers are no JSON, so they are asked for apart. */
const STREAM = 'get /nodes/:nodeId/versions/:version/stream'
const ARCHIVE = 'get /archives/:publisherId/:nodeId/:version/node.zip'

describe('another spelling of an id', () => {
  test('is tried on every route that has one', () => {
    const routes = listRoutes().filter(({ path }) => /:(publisher|node)Id\b/.test(path))
    assert.deepEqual(
      routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
      [...CALLS.map(([route]) => route), ARCHIVE, STREAM].toSorted(),
    )
  })

  test(`names the same on ${ARCHIVE}`, async () => {
    const path = '/archives/ACME/IMAGE-TOOLS/1.0.0/node.zip'
    const answer = await fetch(registry.service.baseUrl + path)
    assert.deepEqual([answer.status, (await answer.text()).length], [200, 36])
  })

  test(`names the same on ${STREAM}`, async () => {
    await using stream = await openStream(
      `${registry.service.baseUrl}/nodes/IMAGE-Tools/versions/1.0.0/stream`,
    )
    assert.equal((await stream.next())?.event, 'steps')
    assert.equal((await stream.next())?.data['version'], '1.0.0')
  })

  for (const [route, given, status, body] of CALLS)
    test(`names the same on ${route}, which answers the stored one`, async () => {
      const [method = ''] = route.split(' ')
      const path = typeof given === 'string' ? given : await given()
      const sent = typeof body === 'function' ? body() : body
      const answer = await callerOf(path).call(method.toUpperCase(), path, sent)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assertStored(answer)
    })

  test('makes no second thing', async () => {
    const made = await owned.owner.post('/publishers/acme/nodes', { id: 'image-tools' })
    expectStatus(made, 409, 'node_deleted')
    const other = await registry.addPublisher()
    const make = (id: string) => other.owner.post(`${other.path}/nodes`, { id })
    expectStatus(await make('Other-Tools'), 201)
    for (const id of ['OTHER-tools', 'other-TOOLS'])
      expectStatus(await make(id), 409, 'node_exists')
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
