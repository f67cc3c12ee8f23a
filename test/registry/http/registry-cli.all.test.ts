import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { findPort } from '../../../src/local/port.ts'
import { makeRegistryPlace } from '../db/registry-place.ts'
import { assertMembers, columnsOf, expectStatus, listOf, makeClient } from '../../support/client.ts'
import { sha256Of } from '../../support/digest.ts'
import { makeCli, type CliNode, type CliVersion } from '../../support/registry-cli.ts'
import { startService, type Service } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { makeZip } from '../../support/zip.ts'
import { makeToken, unique } from './registry-support.ts'

const ACTIVE = 'NodeVersionStatusActive'
const PENDING = 'NodeVersionStatusPending'
const PUBLISHER = 'acme'
/** As the tool packs it: the files of the project at the root. */
const packWith = (text: string): Buffer =>
  makeZip(`NODE_CLASS_MAPPINGS = {}\n${text}\n`, '__init__.py')

let service: Service
/** The api with PUBLISH_AUTH=token, by the name that the tool has built in. */
let cli: ReturnType<typeof makeCli>
let baseUrl: string
let owner: ReturnType<typeof makeClient>
let token: string

before(async () => {
  service = await startService()
  const port = await findPort()
  baseUrl = `http://localhost:${port}`
  await service.startSecondApi({ PORT: String(port), PUBLIC_URL: baseUrl, PUBLISH_AUTH: 'token' })
  cli = makeCli(baseUrl)
  owner = makeClient(baseUrl, await service.token('olga'))
  expectStatus(await owner.post('/publishers', { id: PUBLISHER, name: 'Acme' }), 201)
  token = await makeToken(owner, PUBLISHER)
})

after(() => service?.stop())

const publish = (nodeId: string, more: { version?: string; changelog?: string } = {}) =>
  cli.publish({ publisherId: PUBLISHER, nodeId, token, ...more })

const untilActive = (nodeId: string, version = '1.0.0'): Promise<CliVersion> =>
  waitFor(`${nodeId}@${version} is active`, async () => {
    const { body } = await cli.get(`/nodes/${nodeId}/versions/${version}`)
    return body['status'] === ACTIVE && (body as unknown as CliVersion)
  })

/** Publishes and uploads, and waits for the checks, which begin by themselves. */
const release = async (nodeId: string, version = '1.0.0'): Promise<Buffer> => {
  const zip = packWith(`${nodeId}@${version}`)
  const { signedUrl } = await publish(nodeId, { version })
  await cli.upload(signedUrl, zip)
  await untilActive(nodeId, version)
  return zip
}

/** The tool crashes where a member is null. */
const assertNoNull = (value: unknown, at = ''): void => {
  assert.notEqual(value, null, at)
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) assertNoNull(member, `${at}/${name}`)
}

const assertReadable = (node: CliNode): void => {
  assertNoNull(node)
  for (const name of ['id', 'name', 'description'] as const)
    assert.equal(typeof node[name], 'string', `${node.id}: ${name}`)
}

describe('the publishing tool, at http://localhost,', () => {
  test('is rejected with 401 under the default PUBLISH_AUTH, and leaves nothing', async () => {
    const nodeId = unique('pack')
    const usual = makeCli(service.baseUrl.replace('127.0.0.1', 'localhost'))
    const { status, body } = await usual.tryPublish({ publisherId: PUBLISHER, nodeId, token })
    assert.equal(status, 401)
    assert.match(String(body['message']), /PUBLISH_AUTH/)
    const wrong = { authorization: 'Bearer x' }
    const path = `/publishers/${PUBLISHER}/nodes/${nodeId}/versions`
    expectStatus(await makeClient(baseUrl).post(path, {}, wrong), 401, 'unauthorized')
    assert.equal((await cli.get(`/nodes/${nodeId}`)).status, 404)
  })

  test('publishes with exactly 201, two members, and no downloadUrl', async () => {
    const nodeId = unique('pack')
    const { body, version, signedUrl } = await publish(nodeId)
    assert.deepEqual(Object.keys(body).toSorted(), ['node_version', 'signedUrl'])
    assert.deepEqual([version.node_id, version.version, version.status], [nodeId, '1.0.0', PENDING])
    assert.equal('downloadUrl' in version, false)
    assert.ok(signedUrl.startsWith(`${baseUrl}/uploads/${version.id}?`), signedUrl)
    assertNoNull(body)
    const { body: findings } = await owner.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
    const [{ actor } = {}] = findings['moves'] as unknown as { actor?: string }[]
    assert.equal(actor, 'user:olga')
  })

  test('the publishing tool gets exactly 200 for its upload, and its version goes on by itself', async () => {
    const nodeId = unique('pack')
    const zip = packWith('first')
    const { version, signedUrl } = await publish(nodeId)
    const archive = `/archives/${PUBLISHER}/${nodeId}/1.0.0/node.zip`
    const install = `/nodes/${nodeId}/install`
    assert.equal((await cli.get(archive)).body['error'], 'archive_not_found')
    assert.equal((await cli.get(install)).body['error'], 'version_not_installable')
    const uploaded = await cli.upload(signedUrl, zip)
    assert.equal(uploaded.bytes.toString(), '{}')
    const active = await untilActive(nodeId)
    assert.deepEqual([active.id, active.downloadUrl], [version.id, baseUrl + archive])
    const { version: found, archive: got } = await cli.install(nodeId)
    assert.deepEqual([found.id, found.version], [version.id, '1.0.0'])
    assert.equal(sha256Of(got.bytes), sha256Of(zip))
    const digest = Buffer.from(sha256Of(zip), 'hex').toString('base64')
    assert.equal(got.headers['digest'], `sha-256=${digest}`)
    assert.equal(got.headers['content-length'], String(zip.length))
    assert.equal((await cli.get(`/nodes/${nodeId}`)).body['downloads'], 1)
  })

  test('installs the latest version, or the one that it names', async () => {
    const nodeId = unique('pack')
    const zips = new Map<string, Buffer>()
    for (const version of ['1.9.0', '1.10.0', '2.0.0-rc.1', '0.1.0+build.7'])
      zips.set(version, await release(nodeId, version))
    const latest = await cli.install(nodeId)
    assert.equal(latest.version.version, '1.10.0')
    for (const [version, zip] of zips) {
      const { version: found, archive } = await cli.install(nodeId, version)
      assert.equal(found.version, version)
      assert.deepEqual(archive.bytes, zip)
    }
  })

  test('the publishing tool gets its changelog back, and reads it later', async () => {
    const nodeId = unique('pack')
    const changelog = 'Adds “blur”.\n- 100 % faster'
    const { version } = await publish(nodeId, { changelog })
    assert.equal(version.changelog, changelog)
    const read = await cli.get(`/nodes/${nodeId}/versions/1.0.0`)
    assert.equal(read.body['changelog'], changelog)
    const { version: silent } = await publish(nodeId, { version: '1.0.1' })
    assert.equal('changelog' in silent, false)
  })

  test('keeps what is stored where its second publication says nothing', async () => {
    const nodeId = unique('pack')
    await release(nodeId)
    const set = {
      name: 'Tools',
      description: 'Many.',
      icon: 'https://x.org/i.png',
      banner_url: 'https://x.org/b.png',
      tags: ['a'],
      supported_os: ['OS Independent'],
      supported_accelerators: ['GPU :: NVIDIA CUDA'],
      supported_host_version: '>=1.0',
      supported_host_frontend_version: '>=2.0',
    }
    const path = `/publishers/${PUBLISHER}/nodes/${nodeId}`
    expectStatus(await owner.call('PUT', path, set), 200)
    await publish(nodeId, { version: '1.1.0' })
    const { body } = await cli.get(`/nodes/${nodeId}`)
    assertMembers(body, set)
    assert.equal(body['license'], '{"file": "LICENSE"}')
  })

  test('may send the text of a license, or an empty object', async () => {
    const nodeId = unique('pack')
    for (const [index, license] of ['{"text": "MIT"}', '{}'].entries()) {
      await cli.publish({ publisherId: PUBLISHER, nodeId, token, version: `1.0.${index}`, license })
      assert.equal((await cli.get(`/nodes/${nodeId}`)).body['license'], license)
    }
  })

  test('the publishing tool gets in words why a version is not taken again', async () => {
    const nodeId = unique('pack')
    await release(nodeId)
    const again = await cli.tryPublish({ publisherId: PUBLISHER, nodeId, token })
    assert.deepEqual([again.status, again.body['error']], [409, 'version_exists'])
    assert.match(String(again.body['message']), /1\.0\.0.*is published/)
  })

  test('lists and looks for updates, with no latest_version where none is active', async () => {
    const [active, pending] = [unique('pack'), unique('pack')]
    await release(active)
    await publish(pending)
    const { body } = await cli.get('/nodes')
    const listed = body['nodes'] as CliNode[]
    assert.ok(listed.length > 0, 'the first page')
    for (const node of listed) assertReadable(node)
    for (const [nodeId, latest] of [
      [active, '1.0.0'],
      [pending, undefined],
    ] as const) {
      const node = (await cli.get(`/nodes/${nodeId}`)).body as unknown as CliNode
      assertReadable(node)
      assert.equal('latest_version' in node, latest !== undefined, nodeId)
      assert.equal(node.latest_version?.version, latest)
    }
  })
})

describe('the reader of the catalogue', () => {
  test('walks it in pages of 30 to totalPages, and reads versions by two statuses', async () => {
    const place = makeRegistryPlace(service.database)
    const ids = Array.from({ length: 65 }, (_, n) => `${unique('pack')}-${n}`)
    for (const id of ids) await place.addNode(id, {}, PUBLISHER)
    const known = ids[0] ?? ''
    await release(known)
    await publish(known, { version: '2.0.0' })
    const { nodes, pages } = await cli.walk('&host_version=1.2.3&form_factor=git-linux')
    assert.equal(pages, Math.ceil(nodes.length / 30))
    const seen = nodes.map(({ id }) => id)
    assert.equal(new Set(seen).size, seen.length)
    for (const id of ids) assert.ok(seen.includes(id), id)
    for (const node of nodes) {
      assertReadable(node)
      assert.equal(node.publisher.name, 'Acme')
      if (node.latest_version) assert.match(node.latest_version.createdAt, /Z$/)
    }
    assert.ok(nodes.find(({ id }) => id === known)?.latest_version, 'one has a version')
    const statuses = `statuses=${ACTIVE}&statuses=${PENDING}`
    const versions = await owner.get(`/nodes/${known}/versions?${statuses}`)
    assert.deepEqual(columnsOf(listOf(versions), 'version', 'status'), [
      ['2.0.0', PENDING],
      ['1.0.0', ACTIVE],
    ])
  })

  test('asks for what has changed since its last walk', async () => {
    const changed = unique('pack')
    const { body } = await cli.get('/nodes?limit=1000')
    const before = (body['nodes'] as CliNode[]).length
    await publish(changed)
    const [row] = await service.database.sql`
      select to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from node where id = ${changed}
    `
    const { nodes } = await cli.walk(`&timestamp=${String(row?.['at'])}`)
    assert.deepEqual([nodes.map(({ id }) => id), before > 1], [[changed], true])
  })
})
