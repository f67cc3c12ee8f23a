import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { relative } from 'node:path'
import { describe, test } from 'node:test'

import { expectStatus, listOf, memberOf, pluck, type HttpResponse } from '../../support/client.ts'
import { sha256Of } from '../../support/digest.ts'
import { waitFor } from '../../support/wait.ts'
import { makeZip } from '../../support/zip.ts'
import { unique, untilDecided, upload, usePublisher, useRegistry } from './registry-support.ts'

/** More than twice as many as the api has connections to PostgreSQL. */
const MANY = 24
const ACTIVE = 'NodeVersionStatusActive'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { anonymous, service } = registry
const owned = usePublisher(registry)

const atOnce = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, index) => work(index)))

/** Publications of one node wait for each other, on a slow machine longer than one request may: those come again. */
const publish = (nodeId: string, version: string, changelog = 'x'): Promise<HttpResponse> =>
  waitFor(`${nodeId}@${version} has its response`, async () => {
    const node = { description: changelog }
    const response = await owned.publish({ nodeId, version, node, given: { changelog } })
    return response.status !== 503 && response
  })

/** Uploads to one link wait for each other, too. */
const put = (signedUrl: string, zip: Buffer): Promise<Response> =>
  waitFor('the upload has its response', async () => {
    const response = await upload(signedUrl, zip)
    return response.status !== 503 && response
  })

const idOf = (response: HttpResponse): unknown =>
  memberOf(expectStatus(response, 201), 'node_version').id

const statusesOf = (responses: readonly { status: number }[]): number[] =>
  [...new Set(responses.map(({ status }) => status))].toSorted((a, b) => a - b)

/** Waits until the store keeps nothing of a version but its archive. */
const untilOnly = async (id: string, zip: Buffer): Promise<void> => {
  const { listFiles, storagePath } = service
  await waitFor('only the archive is left', async () => {
    const files = (await listFiles()).map((file) => relative(storagePath, file))
    return (
      files.filter((file) => file.includes(id)).join() === `archives/${id}/${sha256Of(zip)}.zip`
    )
  })
}

describe(`${MANY} publications at once`, () => {
  test('publications of one version of a new node are one row, and all get its id', async () => {
    const nodeId = unique('pack')
    const responses = await atOnce((index) => publish(nodeId, '1.0.0', `by ${index}`))
    const ids = new Set(responses.map(idOf))
    assert.equal(ids.size, 1)
    const stored = listOf(await anonymous.get(`/nodes/${nodeId}/versions`))
    assert.deepEqual(pluck(stored), [...ids])
    // Node and version are of the same publication, the last.
    const { body: node } = await anonymous.get(`/nodes/${nodeId}`)
    assert.equal(stored[0]?.['changelog'], node['description'])
    const found = await anonymous.get(`/nodes?node_id=${nodeId}`)
    assert.equal(found.body['total'], 1)
    // Every link is of that row.
    for (const { body } of responses.slice(0, 3))
      assert.equal((await upload(String(body['signedUrl']), makeZip('x'))).status, 200)
    const { status } = await untilDecided(registry, `/nodes/${nodeId}/versions/1.0.0`)
    assert.equal(status, ACTIVE)
  })

  test('of forms that differ in build metadata are one row, too', async () => {
    const nodeId = unique('pack')
    const responses = await atOnce((index) => publish(nodeId, `1.0.0+b${index}`))
    const ids = new Set(responses.map(idOf))
    assert.equal(ids.size, 1)
  })

  test('of as many versions are as many rows', async () => {
    const nodeId = unique('pack')
    const responses = await atOnce((index) => publish(nodeId, `1.0.${index}`))
    const ids = new Set(responses.map(idOf))
    assert.equal(ids.size, MANY)
    assert.equal(listOf(await anonymous.get(`/nodes/${nodeId}/versions`)).length, MANY)
  })

  test('of a version whose archive has arrived are all a conflict', async () => {
    const { nodeId, signedUrl } = await owned.addVersion()
    assert.equal((await upload(signedUrl, makeZip('x'))).status, 200)
    for (const response of await atOnce(() => publish(nodeId, '1.0.0')))
      expectStatus(response, 409, 'version_exists')
  })
})

describe(`${MANY} uploads at once`, () => {
  test('of different archives to one link leave one of them, whole, and nothing else', async () => {
    const { id, version, signedUrl } = await owned.addVersion()
    const zips = Array.from({ length: MANY }, (_, n) => makeZip(randomBytes(30_000 + n)))
    const responses = await Promise.all(zips.map((zip) => put(signedUrl, zip)))
    // One that comes after the checks have decided is rejected, as it would have been alone.
    const statuses = statusesOf(responses)
    assert.ok(
      statuses[0] === 200 && statuses.every((status) => [200, 409].includes(status)),
      statuses.join(),
    )
    for (const response of responses.filter(({ status }) => status === 409))
      assert.equal(((await response.json()) as { error: string }).error, 'archive_exists')
    const { downloadUrl } = await untilDecided(registry, version)
    const archive = await fetch(String(downloadUrl))
    const bytes = Buffer.from(await archive.arrayBuffer())
    const place = zips.findIndex((zip) => zip.equals(bytes))
    assert.notEqual(place, -1, 'it is one of them')
    assert.equal(responses[place]?.status, 200)
    assert.equal(archive.headers.get('etag'), `"${sha256Of(bytes)}"`)
    await untilOnly(id, bytes)
    // But for the records of the processes that read archives, which live on.
    await waitFor('nothing unfinished is left', async () => {
      const files = await service.listFiles()
      return !files.some((file) => file.includes('/.scratch/') && !file.endsWith('.child.json'))
    })
  })

  test('of the same archive are all taken', async () => {
    const { id, version, signedUrl } = await owned.addVersion()
    const zip = makeZip(randomBytes(30_000))
    assert.deepEqual(statusesOf(await atOnce(() => put(signedUrl, zip))), [200])
    assert.equal((await untilDecided(registry, version))['status'], ACTIVE)
    // After the decision, too.
    assert.equal((await upload(signedUrl, zip)).status, 200)
    await untilOnly(id, zip)
  })
})
