import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { relative } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { sha256Of } from '../support/digest.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { expectStatus, listOf, makeToken, unique } from './registry-support.ts'

const MANY = 50
const ACTIVE = 'NodeVersionStatusActive'

let service: Service
let owner: Client
let token: string

before(async () => {
  service = await startService()
  owner = makeClient(service.baseUrl, await service.token('olga'))
  expectStatus(await owner.post('/publishers', { id: 'acme' }), 201)
  token = await makeToken(owner, 'acme')
})

after(() => service?.stop())

const atOnce = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, index) => work(index)))

/** Publications of one node wait for each other, on a slow machine longer than one request may: those come again. */
const publish = (nodeId: string, version: string, changelog = 'x'): Promise<Answer> =>
  waitFor(`${nodeId}@${version} is answered`, async () => {
    const answer = await owner.post(`/publishers/acme/nodes/${nodeId}/versions`, {
      node: { description: changelog },
      node_version: { version, changelog },
      personal_access_token: token,
    })
    return answer.status !== 503 && answer
  })

interface Published {
  signedUrl: string
  node_version: { id: string; changelog: string }
}

const publishedOf = (answer: Answer): Published =>
  expectStatus(answer, 201).body as unknown as Published

const put = (signedUrl: string, bytes: Buffer): Promise<Response> =>
  fetch(signedUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip' },
    body: Uint8Array.from(bytes),
  })

/** Statuses of many answers, each once. */
const statusesOf = (answers: readonly { status: number }[]): number[] =>
  [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b)

const untilActive = (nodeId: string): Promise<Answer> =>
  waitFor(`${nodeId} is active`, async () => {
    const answer = await owner.get(`/nodes/${nodeId}/versions/1.0.0`)
    return String(answer.body['status']) === ACTIVE && answer
  })

/** What the store keeps of a version. */
const listStored = async (id: string): Promise<string[]> =>
  (await service.listFiles())
    .map((file) => relative(service.storagePath, file))
    .filter((file) => file.includes(id))

describe(`${MANY} publications at once`, () => {
  test('of one version of a new node are one row, and all are told its id', async () => {
    const nodeId = unique('pack')
    const answers = await atOnce((index) => publish(nodeId, '1.0.0', `by ${index}`))
    const published = answers.map(publishedOf)
    const ids = new Set(published.map(({ node_version: { id } }) => id))
    assert.equal(ids.size, 1)
    const stored = listOf<Published['node_version']>(await owner.get(`/nodes/${nodeId}/versions`))
    assert.deepEqual(
      stored.map(({ id }) => id),
      [...ids],
    )
    // Node and version are of the same publication, the last.
    const { body: node } = await owner.get(`/nodes/${nodeId}`)
    assert.equal(stored[0]?.changelog, node['description'])
    const found = await owner.get(`/nodes?node_id=${nodeId}`)
    assert.equal(found.body['total'], 1)
    // Every link is of that row.
    for (const { signedUrl } of published.slice(0, 3))
      assert.equal((await put(signedUrl, makeZip('x'))).status, 200)
    await untilActive(nodeId)
  })

  test('of forms that differ in build metadata are one row, too', async () => {
    const nodeId = unique('pack')
    const answers = await atOnce((index) => publish(nodeId, `1.0.0+b${index}`))
    const ids = new Set(answers.map((answer) => publishedOf(answer).node_version.id))
    assert.equal(ids.size, 1)
  })

  test('of as many versions are as many rows', async () => {
    const nodeId = unique('pack')
    const answers = await atOnce((index) => publish(nodeId, `1.0.${index}`))
    const ids = new Set(answers.map((answer) => publishedOf(answer).node_version.id))
    assert.equal(ids.size, MANY)
    assert.equal(listOf(await owner.get(`/nodes/${nodeId}/versions`)).length, MANY)
  })

  test('of a version whose archive has arrived are all a conflict', async () => {
    const nodeId = unique('pack')
    const { signedUrl } = publishedOf(await publish(nodeId, '1.0.0'))
    assert.equal((await put(signedUrl, makeZip('x'))).status, 200)
    for (const answer of await atOnce(() => publish(nodeId, '1.0.0')))
      expectStatus(answer, 409, 'version_exists')
  })
})

describe(`${MANY} uploads at once`, () => {
  test('of different archives to one link leave one of them, whole, and nothing else', async () => {
    const nodeId = unique('pack')
    const { signedUrl, node_version: version } = publishedOf(await publish(nodeId, '1.0.0'))
    const zips = Array.from({ length: MANY }, (_, n) => makeZip(randomBytes(30_000 + n)))
    const answers = await Promise.all(zips.map((zip) => put(signedUrl, zip)))
    // One that comes after the checks have decided is refused, as it would have been alone.
    const statuses = statusesOf(answers)
    assert.ok(
      statuses[0] === 200 && statuses.every((status) => [200, 409].includes(status)),
      statuses.join(),
    )
    for (const answer of answers.filter(({ status }) => status === 409))
      assert.equal(((await answer.json()) as { error: string }).error, 'archive_exists')
    const { body } = await untilActive(nodeId)
    const archive = await fetch(String(body['downloadUrl']))
    const bytes = Buffer.from(await archive.arrayBuffer())
    const place = zips.findIndex((zip) => zip.equals(bytes))
    assert.notEqual(place, -1, 'it is one of them')
    assert.equal(answers[place]?.status, 200)
    assert.equal(archive.headers.get('etag'), `"${sha256Of(bytes)}"`)
    const expected = `archives/${version.id}/${sha256Of(bytes)}.zip`
    await waitFor('only the archive is left', async () => {
      const stored = await listStored(version.id)
      return stored.join() === expected
    })
    // But for the records of the processes that read archives, which live on.
    await waitFor('nothing unfinished is left', async () => {
      const files = await service.listFiles()
      return !files.some((file) => file.includes('/.scratch/') && !file.endsWith('.child.json'))
    })
  })

  test('of the same archive are all taken', async () => {
    const nodeId = unique('pack')
    const { signedUrl, node_version: version } = publishedOf(await publish(nodeId, '1.0.0'))
    const zip = makeZip(randomBytes(30_000))
    assert.deepEqual(statusesOf(await atOnce(() => put(signedUrl, zip))), [200])
    await untilActive(nodeId)
    // After the decision, too.
    assert.equal((await put(signedUrl, zip)).status, 200)
    await waitFor('only the archive is left', async () => {
      const stored = await listStored(version.id)
      return stored.join() === `archives/${version.id}/${sha256Of(zip)}.zip`
    })
  })
})
