import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'

import type { Storage } from '../../../src/platform/storage/storage.ts'
import { makeSemaphore } from '../../../src/platform/domain/semaphore.ts'
import { makeVersionFileRoutes } from '../../../src/registry/http/version-file-routes.ts'
import type { JsonResponse, RouteRequest } from '../../../src/platform/http/route.ts'
import { listRoutes } from '../../support/contract.ts'
import { makeLatch } from '../../support/wait.ts'
import { expectStatus } from '../../support/client.ts'
import { storeArchive, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry({})
const { anonymous, sql, place, service } = registry
/** Its owner's id is an e-mail address. */
const owned = usePublisher(registry, { id: 'acme', user: 'olga@example.com' })
const { owner } = owned

registry.prepare(async () => {
  const { id, version } = await owned.addActive({ nodeId: 'Pack' })
  await storeArchive(registry, id)
  const nodes = { nodes: { Blur: {} } }
  expectStatus(await owned.owner.post(`${version}/host-nodes`, nodes), 204)
})

const NAMED: Record<string, string> = {
  publisherId: 'acme',
  nodeId: 'Pack',
  version: '1.0.0',
  hostNodeName: 'Blur',
}

/** Queries of some routes, by their paths. */
const QUERIES: Record<string, string> = {
  '/publishers/validate': '?username=free',
  '/nodes/search': '?search=pack',
  '/nodes/:nodeId/compare': '?from=1.0.0&to=1.0.0',
  '/nodes/:nodeId/versions/:version/files/content': '?path=x',
}

/** A path for every GET that is public. */
const PATHS = listRoutes()
  .filter(({ read, tag }) => read === 'public' && tag !== 'Service')
  .map(({ path }) => {
    const named = path.replaceAll(/:(\w+)/g, (_, name: string) => NAMED[name] ?? '')
    return named + (QUERIES[path] ?? '')
  })

const CACHED: Record<string, string> = {
  '/service': 'no-cache',
  '/nodes/Pack/install': 'no-store',
  '/archives/acme/Pack/1.0.0/node.zip': 'public, max-age=31536000, immutable',
}
const USUAL = 'public, max-age=0, s-maxage=60'

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.baseUrl + path, { headers })

describe('a read that is for everybody', () => {
  for (const path of PATHS)
    test(`has an ETag, rules for caches, and a 304: ${path}`, async () => {
      const first = await get(path)
      assert.equal(first.status, 200, await first.text())
      const etag = first.headers.get('etag') ?? ''
      assert.match(etag, /^"[^"]+"$/)
      assert.equal(first.headers.get('cache-control'), CACHED[path] ?? USUAL)
      assert.equal(first.headers.get('access-control-allow-origin'), '*')
      // Installing counts, and so changes its response.
      const again = await get(path, { 'if-none-match': etag })
      assert.deepEqual([again.status, await again.text()], [304, ''])
      assert.equal(again.headers.get('etag'), etag)
    })

  test('is packed where it is long and its client takes that', async () => {
    const given = { changelog: 'Quicker. '.repeat(300) }
    const { nodeId } = await owned.addActive({ nodeId: 'Packed', version: '1.0.0', given })
    const path = `/nodes/${nodeId}/versions`
    const plain = await get(path, { 'accept-encoding': 'gzip;q=0, identity' })
    const packed = await get(path, { 'accept-encoding': 'gzip' })
    const text = await plain.text()
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.ok(Number(packed.headers.get('content-length')) < text.length / 2)
    assert.equal(await packed.text(), text)
    for (const { headers } of [plain, packed])
      assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
    const short = await get('/nodes/Pack', { 'accept-encoding': 'gzip' })
    assert.equal(short.headers.get('content-encoding'), null)
  })

  test('is for its caller alone when there is a credential', async () => {
    const token = await service.token('somebody')
    for (const path of PATHS) {
      const response = await get(path, { authorization: `Bearer ${token}` })
      const isPrivate = !/install|archives|host-nodes\/\w+\/node|validate|service/.test(path)
      const expected = isPrivate ? 'private, no-cache' : (CACHED[path] ?? USUAL)
      assert.equal(response.headers.get('cache-control'), expected, path)
      await response.text()
    }
  })

  test('shows no e-mail address but to members, not even an id that is one', async () => {
    // As if the last token had said it.
    await place.addUser(owned.user)
    const stranger = `Bearer ${await service.token('stranger')}`
    const admin = `Bearer ${await service.token('root')}`
    for (const path of PATHS)
      for (const authorization of [undefined, stranger, admin]) {
        const response = await get(path, authorization === undefined ? {} : { authorization })
        assert.doesNotMatch(await response.text(), /@/, path)
      }
    const bulk = await anonymous.post('/bulk/nodes/versions', {
      node_versions: [{ node_id: 'Pack', version: '1.0.0' }],
    })
    assert.doesNotMatch(JSON.stringify(bulk.body), /@/)
    for (const path of ['/publishers/acme', '/users/publishers/'])
      assert.match(JSON.stringify((await owner.get(path)).body), /olga@example\.com/)
  })

  test('a read by HEAD has no body, and counts no install', async () => {
    const counted = async () => (await anonymous.get('/nodes/Pack')).body['downloads']
    const before = await counted()
    for (const path of PATHS) {
      const { status, body } = await anonymous.call('HEAD', path)
      assert.deepEqual([status, body], [200, undefined], path)
    }
    assert.equal(await counted(), before)
  })

  test('installs are read by day and version', async () => {
    const path = '/nodes/Pack/downloads'
    const now = expectStatus(await anonymous.get(path), 200).body
    const before = Number(now['downloads'])
    expectStatus(await anonymous.get('/nodes/Pack/install?version=1.0.0'), 200)
    await sql`
      insert into download_day (version_id, day, n)
      select id, '2026-01-30', 3 from version where node_id = 'Pack' and version = '1.0.0'
    `
    const today = expectStatus(await anonymous.get(path), 200).body
    assert.equal(today['downloads'], before + 1)
    const old = await anonymous.get(`${path}?from=2026-01-01&to=2026-01-31`)
    const day = { day: '2026-01-30', downloads: 3, versions: { '1.0.0': 3 } }
    const whole = { from: '2026-01-01', to: '2026-01-31', downloads: 3, days: [day] }
    assert.deepEqual(expectStatus(old, 200).body, whole)
    for (const query of [
      'from=2025-01-01&to=2026-01-31',
      'from=2026-02-01&to=2026-01-31',
      'to=2026',
      'to=',
      'to=soon',
      'from=0000-01-01&to=0000-02-01',
    ]) {
      const { message } = expectStatus(
        await anonymous.get(`${path}?${query}`),
        400,
        'validation_failed',
      ).body
      assert.match(
        String(message),
        /^(\?from must be (at most 365 days before 2026-01-31|a day)|\?to must be a day)/,
      )
    }
  })
})

test('a store that does not respond holds up who reads a file, and no lists', async () => {
  const stream = new PassThrough()
  const begun = makeLatch()
  const open = () => {
    begun.open()
    return Promise.resolve({ stream, size: 36 })
  }
  const heavyReadSemaphore = makeSemaphore(1)
  const routes = makeVersionFileRoutes({
    sql,
    heavyReadSemaphore,
    storage: { open } as Partial<Storage> as Storage,
  })
  const asked = { params: NAMED, query: { path: 'x' }, headers: {} } as Partial<RouteRequest>
  const reading = routes
    .find(({ path }) => path.endsWith('/content'))
    ?.handler(asked as RouteRequest)
  await begun.opened
  await heavyReadSemaphore.run(() => Promise.resolve(), 100)
  stream.end(Buffer.from('x'.repeat(36)))
  assert.equal(((await reading) as JsonResponse).status, 200)
})
