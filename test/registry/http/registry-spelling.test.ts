import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf, type Client, type HttpResponse } from '../../support/client.ts'
import { listRoutes } from '../../support/contract.ts'
import { openStream } from '../../support/event-stream.ts'
import { makeToken, storeArchive, unique, usePublisher, useRegistry } from './registry-support.ts'

/** As they are stored; the tests spell them in other ways. */
const PUBLISHER = 'acme'
const NODE = 'Image-Tools'

const registry = useRegistry({})
const { anonymous, admin, sql, place, service } = registry
const owned = usePublisher(registry, { id: PUBLISHER })
const { owner } = owned
const reader = registry.client('reader')

registry.prepare(async () => {
  const { id } = await owned.addActive({ nodeId: NODE })
  // Two pictures that were fetched before.
  const url = 'https://pictures.example.com/x'
  await sql`update node set icon = ${url}, banner_url = ${url}`
  await sql`update publisher set logo = ${url}`
  for (const side of [128, 1200])
    await sql`insert into picture (key, bytes) values (encode(sha256(convert_to(${`${side} ${url}`}, 'utf8')), 'hex'), '{}')`
  await storeArchive(registry, id)
})

/** Spellings of what the path of a route names. */
const SPELT = { publisherId: 'ACME', nodeId: 'iMAGE-tOOLS', version: 'v1.0', hostNodeName: 'Blur' }

type Ids = Record<string, string>

let count = 0

const newVersion = async (): Promise<Ids> => {
  count += 1
  const { id } = await owned.addVersion({ nodeId: NODE, version: `0.0.${count}` })
  return { versionId: id.toUpperCase() }
}

const newFlagged = async (): Promise<Ids> => {
  const { id } = await owned.addFlagged({ nodeId: NODE, version: '4.0.0' })
  return { versionId: id }
}

const newHint = async (): Promise<Ids> => {
  const { id, version } = await owned.addVersion({ nodeId: NODE, version: '5.0.0' })
  expectStatus(await anonymous.post(`${version}/host-nodes`, { nodes: {} }), 204)
  return { versionId: id }
}

const newMember = async (): Promise<Ids> => ({ userId: (await owned.addMember('member')).user })

const newToken = async (): Promise<Ids> => {
  const value = await makeToken(owner, PUBLISHER)
  const tokens = listOf(await owner.get('/publishers/acme/tokens'))
  const made = tokens.find((listed) => String(listed['token']).endsWith(value.slice(-4)))
  return { tokenId: String(made?.['id']) }
}

const TRUST = { provider: 'oidc', issuer: 'https://ci.example.com', claims: { sub: 'x' } }

const newTrust = async (): Promise<Ids> => {
  const path = `/publishers/acme/nodes/${NODE}/trusted-publishers`
  const made = await owner.post(path, { ...TRUST, claims: { sub: unique('job') } })
  return { trustedPublisherId: String(made.body['id']) }
}

const ENDPOINT = { url: 'https://receiver.example.com/', events: ['version.active'] }

const newEndpoint = async (): Promise<Ids> => {
  const made = expectStatus(await owner.post('/publishers/acme/endpoints', ENDPOINT), 201)
  return { endpoint_id: String(made.body['id']).toUpperCase() }
}

const newEvent = async (): Promise<Ids> => {
  const endpoint = await newEndpoint()
  const path = `/publishers/acme/endpoints/${endpoint['endpoint_id']}/test`
  const { body } = await owner.post(path, {})
  return { ...endpoint, event_id: String(body['event_id']).toUpperCase() }
}

/** An offer of another publisher to this one. */
const newOffer = async (): Promise<Ids> => {
  const other = await registry.addPublisher()
  const nodeId = await other.addNode()
  const made = await other.owner.post(`${other.path}/nodes/${nodeId}/transfer`, { to: 'ACME' })
  return { transferId: String(made.body['id']).toUpperCase() }
}

/** A node that an admin takes away, for its publisher has to stay. */
const newNode = async (): Promise<Ids> => ({ nodeId: await owned.addNode() })

const newFailed = async (): Promise<Ids> => {
  const { id } = await owned.addVersion({ nodeId: NODE, version: '5.0.0' })
  await place.receive(id, id)
  await place.transition(id, 'give_up_checks', 'checks could not run (x)')
  return { version: '5.0.0' }
}

const newReview = async (): Promise<Ids> => {
  const reviewer = registry.client(unique('reviewer'))
  const made = await reviewer.put(`/nodes/${NODE}/reviews/mine`, { stars: 3 })
  return { reviewId: String(made.body['id']).toUpperCase() }
}

const publication = (): object => ({
  node: { id: 'IMAGE-tools' },
  node_version: { version: '3.0.0' },
  personal_access_token: owned.token,
})

interface More {
  body?: object | (() => object | Promise<object>)
  /** Type of a body that is no JSON. */
  type?: string
  query?: string
  /** Makes what else the path names. */
  make?: () => Promise<Ids>
  /** In place of the owner. */
  by?: Client
}

const P = '/publishers/:publisherId'
const E = `${P}/endpoints/:endpoint_id`
const OWN = `${P}/nodes/:nodeId`
const TRUSTED = `${OWN}/trusted-publishers`
const READ = '/nodes/:nodeId'
const VERSION = `${READ}/versions/:version`
const REVIEWS = `${READ}/reviews`
const REVIEW = `${REVIEWS}/:reviewId`
const REPLY = `${OWN}/reviews/:reviewId/reply`

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')

type Call = [route: string, status: number, more?: More]

/** Every route whose path has such an id, in an order that they allow; those under /admin are called by an admin. */
const CALLS: Call[] = [
  [`get ${P}`, 200],
  [`put ${P}`, 200, { body: {} }],
  [`get ${P}/members`, 200],
  [`put ${P}/members/:userId`, 200, { make: newMember, body: { role: 'admin' } }],
  [`delete ${P}/members/:userId`, 204, { make: newMember }],
  [`post ${P}/tokens`, 201, { body: { name: 'x' } }],
  [`get ${P}/tokens`, 200],
  [`delete ${P}/tokens/:tokenId`, 204, { make: newToken }],
  [`post ${P}/endpoints`, 201, { body: ENDPOINT }],
  [`get ${P}/endpoints`, 200],
  [`get ${E}`, 200, { make: newEndpoint }],
  [`put ${E}`, 200, { make: newEndpoint, body: {} }],
  [`delete ${E}`, 204, { make: newEndpoint }],
  [`post ${E}/test`, 202, { make: newEndpoint, body: {} }],
  [`post ${E}/webhook-secret/rotate`, 200, { make: newEndpoint, body: {} }],
  [`post ${E}/redeliver`, 202, { make: newEndpoint, body: { since: '2026-01-01T00:00:00Z' } }],
  [`get ${E}/events`, 200, { make: newEndpoint }],
  [`get ${E}/events/:event_id/attempts`, 200, { make: newEvent }],
  [`post ${E}/events/:event_id/redeliver`, 202, { make: newEvent, body: {} }],
  [`post ${P}/nodes`, 201, { body: () => ({ id: unique('node') }) }],
  [`get ${P}/nodes`, 200],
  [`get ${P}/nodes/v2`, 200],
  [`get ${P}/permissions`, 200],
  [`get ${OWN}/permissions`, 200],
  [`put ${OWN}`, 200, { body: { id: 'image-TOOLS', author: 'x' } }],
  [`post ${OWN}/versions`, 201, { body: publication }],
  [`put ${OWN}/versions/:versionId`, 200, { make: newVersion, body: { changelog: 'x' } }],
  [`delete ${OWN}/versions/:versionId`, 204, { make: newVersion }],
  [`post ${OWN}/versions/:versionId/review`, 201, { make: newFlagged, body: {} }],
  [`post ${OWN}/versions/:versionId/confirm-host-nodes`, 200, { make: newHint, body: {} }],
  [`post ${TRUSTED}`, 201, { body: TRUST }],
  [`get ${TRUSTED}`, 200],
  [`get ${P}/trusted-publishers`, 200],
  [`delete ${TRUSTED}/:trustedPublisherId`, 204, { make: newTrust }],
  // The node is found, and trusts nobody who could have signed this.
  [`post ${OWN}/token-exchange`, 403, { body: { identity_token: 'e30.e30.e30' } }],
  [`post ${OWN}/publish-tokens`, 201, { body: {} }],
  [`post ${OWN}/transfer`, 201, { body: async () => ({ to: (await registry.addPublisher()).id }) }],
  [`get ${P}/transfers`, 200],
  [`post ${P}/transfers/:transferId/accept`, 200, { make: newOffer, body: {} }],
  [`delete ${P}/transfers/:transferId`, 204, { make: newOffer }],
  [`post ${READ}/reports`, 201, { body: { reason: 'spam', text: 'x' } }],
  [`get ${READ}/reports/mine`, 200],
  [`get ${READ}/icon`, 200],
  [`get ${READ}/banner`, 200],
  [`get ${P}/logo`, 200],
  ...[`${OWN}/icon`, `${OWN}/banner`, `${P}/logo`].flatMap((path): Call[] => [
    [`put ${path}`, 200, { body: SVG, type: 'image/svg+xml' }],
    [`delete ${path}`, 200],
  ]),
  [`get ${READ}`, 200],
  [`get ${READ}/versions`, 200],
  [`get ${VERSION}`, 200],
  [`get ${VERSION}/findings`, 200],
  [`get ${READ}/downloads`, 200],
  [`get ${READ}/compare`, 200, { query: '?from=1.0.0&to=v1.0' }],
  [`get ${VERSION}/example-workflows`, 200],
  [`get ${VERSION}/files`, 200],
  [`get ${VERSION}/files/content`, 200, { query: '?path=x' }],
  [`get ${READ}/install`, 200],
  [`post ${VERSION}/host-nodes`, 204, { body: { nodes: { Blur: {} } } }],
  [`get ${VERSION}/host-nodes`, 200],
  [`get ${VERSION}/host-nodes/:hostNodeName`, 200],
  [`get ${REVIEWS}`, 200],
  [`put ${REVIEWS}/mine`, 200, { body: { stars: 3, version: 'v1.0' }, by: reader }],
  [`get ${REVIEWS}/mine`, 200, { by: reader }],
  [`post ${REVIEWS}`, 200, { query: '?star=4', by: reader }],
  [`delete ${REVIEWS}/mine`, 204, { by: reader }],
  [`post ${REVIEW}/report`, 204, { make: newReview, body: { reason: 'x' } }],
  [`put ${REPLY}`, 200, { make: newReview, body: { text: 'x' } }],
  [`put /admin${REVIEW}`, 200, { make: newReview, body: { status: 'hidden', reason: 'x' } }],
  [`put /admin${READ}`, 200, { body: { github_stars: 1 } }],
  [
    `put /admin${READ}/host-nodes/:hostNodeName`,
    200,
    { body: { policy: 'HostNodePolicyLocalOnly' } },
  ],
  [`put /admin${VERSION}`, 200, { body: { tags_admin: ['x'] } }],
  [`post /admin${VERSION}/retry`, 200, { make: newFailed, body: {} }],
  [
    `post /admin${READ}/transfer`,
    200,
    { make: newNode, body: async () => ({ to: (await registry.addPublisher()).id, reason: 'x' }) },
  ],
  [`post /admin${P}/ban`, 200, { body: { reason: 'spam' } }],
  [`post /admin${P}/unban`, 200, { body: {} }],
  [`delete ${OWN}`, 204],
]

const callerOf = (path: string): Client => (path.startsWith('/admin') ? admin : owner)

/** Their responses are no JSON, so they are asked for apart. */
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
    const response = await fetch(service.baseUrl + path)
    assert.deepEqual([response.status, (await response.text()).length], [200, 36])
  })

  test(`names the same on ${STREAM}`, async () => {
    await using stream = await openStream(
      `${service.baseUrl}/nodes/IMAGE-Tools/versions/1.0.0/stream`,
    )
    assert.equal((await stream.next())?.event, 'steps')
    assert.equal((await stream.next())?.data['version'], '1.0.0')
  })

  for (const [route, status, { body, type, query = '', make, by } = {}] of CALLS)
    test(`another spelling names the same on ${route}, which returns the stored one`, async () => {
      const [method = '', pattern = ''] = route.split(' ')
      const ids: Ids = { ...SPELT, ...(await make?.()) }
      const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '') + query
      const sent = typeof body === 'function' ? await body() : body
      const response = await (by ?? callerOf(path)).call(
        method.toUpperCase(),
        path,
        sent,
        type === undefined ? {} : { 'content-type': type },
      )
      assert.equal(response.status, status, JSON.stringify(response.body))
      assertStored(response)
    })

  test('makes no second thing', async () => {
    const made = await owner.post('/publishers/acme/nodes', { id: 'image-tools' })
    expectStatus(made, 409, 'node_deleted')
    const other = await registry.addPublisher()
    const make = (id: string) => other.owner.post(`${other.path}/nodes`, { id })
    expectStatus(await make('Other-Tools'), 201)
    for (const id of ['OTHER-tools', 'other-TOOLS'])
      expectStatus(await make(id), 409, 'node_exists')
    expectStatus(await owner.post('/publishers', { id: PUBLISHER }), 409, 'publisher_exists')
    const taken = await anonymous.get('/publishers/validate?username=ACME')
    expectStatus(taken, 400, 'publisher_id_unavailable')
  })
})

/** Asserts that the ids of a response are as they were created; only a version's own id is no name. */
const assertStored = ({ body }: HttpResponse): void => {
  const text = JSON.stringify(body ?? {})
  for (const [found] of text.matchAll(/\b(acme|image-tools)\b/gi))
    assert.ok([PUBLISHER, NODE].includes(found), found)
}
