import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import sharp from 'sharp'

import { makePicture } from '../../support/pictures.ts'
import { startReceiver, type Receiver } from '../../support/network.ts'
import { atOnce, expectStatus } from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const ORIGIN = 'https://registry.example.com'

const registry = useRegistry()
const { anonymous, admin, sql, service } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned

describe('a node', () => {
  test('has every member that is always there', async () => {
    const nodeId = await owned.addNode()
    const { body } = expectStatus(await anonymous.get(`/nodes/${nodeId}`), 200)
    const { created_at, publisher, ...rest } = body as unknown as Record<string, unknown>
    assert.match(String(created_at), /Z$/)
    assert.equal((publisher as { id: string }).id, owned.id)
    assert.equal('members' in (publisher as object), false)
    assert.deepEqual(rest, {
      id: nodeId,
      name: nodeId,
      description: '',
      status: 'NodeStatusActive',
      downloads: 0,
      github_stars: 0,
      rating: 0,
      rating_count: 0,
      search_ranking: 5,
      tags: [],
      supported_os: [],
      supported_accelerators: [],
      preempted_host_node_names: [],
      tags_admin: [],
      availability: 'none',
    })
  })

  test('is edited in part: empty clears, absent keeps, and what is not theirs is ignored', async () => {
    const nodeId = await owned.addNode({ name: 'N', author: 'a', tags: ['x'] })
    const put = (fields: object) => owner.put(`${own}/nodes/${nodeId.toUpperCase()}`, fields)
    const given = { id: nodeId, name: '', tags: [], search_ranking: 'high', status: 5, icon: null }
    const { body } = expectStatus(await put(given), 200)
    assert.deepEqual(
      [body['name'], body['tags'], body['author'], body['search_ranking'], body['status']],
      [nodeId, [], 'a', 5, 'NodeStatusActive'],
    )
    expectStatus(await put({ id: 'other' }), 400, 'id_mismatch')
    const url = expectStatus(await put({ icon: 'javascript:1' }), 400, 'url_refused')
    assert.match(url.body.details?.[0] ?? '', /^\/icon/)
  })

  test('is 304 until something a reader sees of it changes', async () => {
    const nodeId = await owned.addNode()
    const path = `/nodes/${nodeId}`
    let etag = ''
    const expectChange = async (what: string, change: () => Promise<unknown>) => {
      await change()
      const { status, headers } = await anonymous.get(path, { 'if-none-match': etag })
      assert.equal(status, 200, what)
      etag = headers.get('etag') ?? ''
      const again = await anonymous.get(path, { 'if-none-match': `"x", W/${etag}` })
      assert.deepEqual([again.status, again.body], [304, undefined], what)
      assert.equal(again.headers.get('etag'), etag)
    }
    await expectChange('first', () => Promise.resolve())
    await expectChange('edit', () => owner.put(`${own}/nodes/${nodeId}`, { name: 'x' }))
    await expectChange('publisher', () => owner.put(own, { name: unique('x') }))
    await expectChange('version', () => owned.addActive({ nodeId }))
    await expectChange('download', () => anonymous.get(`${path}/install`))
    const reviewer = registry.client(unique('reviewer'))
    await expectChange('review', () => reviewer.put(`${path}/reviews/mine`, { stars: 4 }))
    await expectChange('ranking', () => admin.put(`/admin${path}`, { search_ranking: 1 }))
    const head = await anonymous.call('HEAD', path)
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  })

  test('is compared with If-Match', async () => {
    const nodeId = await owned.addNode()
    const etag = (await anonymous.get(`/nodes/${nodeId}`)).headers.get('etag') ?? ''
    const path = `${own}/nodes/${nodeId}`
    const put = () => owner.put(path, { name: 'x' }, { 'if-match': etag })
    expectStatus(await put(), 200)
    expectStatus(await put(), 412, 'precondition_failed')
  })

  test('of another publisher is not found', async () => {
    const nodeId = await owned.addNode()
    const other = await registry.addPublisher()
    const path = `${other.path}/nodes/${nodeId}`
    expectStatus(await other.owner.put(path, {}), 404, 'node_not_found')
    expectStatus(await other.owner.delete(path), 404, 'node_not_found')
  })
})

describe('a page of another origin', () => {
  const call = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(service.baseUrl + path, { method, headers })

  const EXPOSED =
    'X-Total-Count, X-Credits-Used, Location, Idempotent-Replayed, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset'
  const ALLOWED =
    'Authorization, Cache-Control, Pragma, Expires, Prefer, Last-Event-ID, traceparent'

  const missingOf = (list: string | null, names: string): string[] =>
    names.split(', ').filter((name) => !list?.split(', ').includes(name))

  test('may read what is public, whatever its origin', async () => {
    const nodeId = await owned.addNode()
    for (const path of [`/nodes/${nodeId}`, '/nodes', '/nodes/none-of-it']) {
      const { headers } = await call(path, { origin: 'https://other.example' })
      assert.equal(headers.get('access-control-allow-origin'), '*', path)
      assert.deepEqual(missingOf(headers.get('access-control-expose-headers'), EXPOSED), [])
    }
  })

  test('may call the rest when its origin is listed', async () => {
    for (const [origin, allowed] of [
      [ORIGIN, ORIGIN],
      ['https://other.example', null],
    ] as const) {
      const { headers, status } = await call('/users', { origin })
      assert.equal(status, 401)
      assert.equal(headers.get('access-control-allow-origin'), allowed)
      assert.match(headers.get('vary') ?? '', /Origin/)
      const asked = { origin, 'access-control-request-method': 'PUT' }
      const preflight = await call(own, asked, 'OPTIONS')
      assert.equal(preflight.status, allowed === null ? 405 : 204)
      if (allowed !== null)
        assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, PUT')
    }
    const asked = { origin: 'https://other.example', 'access-control-request-method': 'GET' }
    const read = await call('/nodes', asked, 'OPTIONS')
    assert.equal(read.status, 204)
    assert.deepEqual(missingOf(read.headers.get('access-control-allow-headers'), ALLOWED), [])
  })
})

describe('a picture that lies with a stranger', () => {
  const files = new Map<string, Buffer | number>()
  /** Paths, as they were asked for. */
  const asked: string[] = []
  let stranger: Receiver
  before(async () => {
    stranger = await startReceiver(({ url = '' }, response) => {
      asked.push(url)
      const file = files.get(url) ?? 404
      if (typeof file === 'number') response.writeHead(file, { location: 'http://10.0.0.1/' }).end()
      else response.end(file)
    })
  })
  after(() => stranger.close())

  const place = (file: Buffer | number): { url: string; times: () => number } => {
    const path = `/${unique('picture')}`
    files.set(path, file)
    const times = () => asked.filter((one) => one === path).length
    return { url: `http://127.0.0.1:${stranger.port}${path}`, times }
  }
  const read = async (path: string, init: RequestInit = {}) => {
    const got = await fetch(service.baseUrl + path, init)
    return {
      status: got.status,
      headers: got.headers,
      bytes: Buffer.from(await got.arrayBuffer()),
    }
  }
  /** Makes a picture of one flat colour, so that many pixels are few bytes. */
  const flat = (side: number): Promise<Buffer> =>
    sharp({ create: { width: side, height: side, channels: 3, background: '#f80' } })
      .png()
      .toBuffer()

  test('a stranger’s picture is served small, as WebP that says nothing of its maker, and fetched once', async () => {
    const picture = sharp(await makePicture({ width: 400, height: 200 }))
    const { url, times } = place(
      await picture
        .withExif({ IFD0: { Copyright: 'me' } })
        .jpeg()
        .toBuffer(),
    )
    const nodeId = await owned.addNode({ icon: url, banner_url: url })
    const path = `/nodes/${nodeId}/icon`
    const all = await atOnce(6, () => read(path))
    for (const { status, headers, bytes } of all) {
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'image/webp')
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      const { format, width, height, exif } = await sharp(bytes).metadata()
      assert.deepEqual([format, width, height, exif], ['webp', 128, 64, undefined])
    }
    assert.equal(times(), 1)
    const etag = all[0]?.headers.get('etag') ?? ''
    assert.equal((await read(path, { headers: { 'if-none-match': etag } })).status, 304)
    const { headers, bytes } = await read(path, { method: 'HEAD' })
    assert.deepEqual([headers.get('etag'), bytes.length], [etag, 0])
    assert.equal(times(), 1)
    const banner = await sharp((await read(`/nodes/${nodeId}/banner`)).bytes).metadata()
    assert.deepEqual([banner.width, banner.height], [400, 200])
  })

  test('is a logo, too, and the first frame of one that moves', async () => {
    const frames = await Promise.all(
      ['#f00', '#00f'].map((background) =>
        sharp({ create: { width: 300, height: 300, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    )
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    expectStatus(await owner.put(own, { logo: place(gif).url }), 200)
    const { bytes } = await read(`${own}/logo`)
    const { width, pages } = await sharp(bytes).metadata()
    assert.deepEqual([width, pages], [128, undefined])
    const { dominant } = await sharp(bytes).stats()
    assert.ok(dominant.r > 200 && dominant.b < 50, JSON.stringify(dominant))
  })

  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'
  const CASES: [string, () => Promise<Buffer | number>, RegExp][] = [
    ['is an SVG', async () => Buffer.from(svg), /damaged, or no JPEG/],
    [
      'is cut off',
      async () => (await makePicture({ width: 64, height: 64 })).subarray(0, 200),
      /damaged, or no JPEG/,
    ],
    ['has more than 16 megapixels', () => flat(4001), /more than 16,000,000 pixels/],
    [
      'has more than 1 MiB',
      async () => Buffer.concat([await flat(9), Buffer.alloc(2 ** 20)]),
      /over the limit of 1,048,576 bytes/,
    ],
    ['is not there', async () => 404, /responded with status 404/],
    ['leads where no user may lead us', async () => 302, /address not allowed/],
  ]
  for (const [what, make, reason] of CASES)
    test(`is none when it ${what}, which is asked once, and says why to members`, async () => {
      const { url, times } = place(await make())
      const nodeId = await owned.addNode({ icon: url })
      for (const path of [`/nodes/${nodeId}/icon`, `/nodes/${nodeId}/icon?again`]) {
        const response = await anonymous.get(path)
        expectStatus(response, 404, 'picture_not_found')
        assert.doesNotMatch(response.body.message ?? '', reason)
      }
      const shown = expectStatus(await owner.get(`/nodes/${nodeId}/icon`), 404, 'picture_not_found')
      assert.match(shown.body.message ?? '', reason)
      assert.equal(times(), 1)
    })

  test('is warned of at once where its address cannot be shown', async () => {
    const web = 'https://images.example.com'
    for (const [address, warning] of [
      [`${web}/my icon.png`, /^\/icon is stored, but cannot be shown: .*white space/],
      [`${web}/icon.SVG?v=1`, /address ends with \.SVG, and only JPEG, PNG/],
      ['icon.png', /must be an absolute URL/],
      ['https://10.0.0.1/icon.png', /must name a public address/],
      ['http://images.example.com/icon.png', /must begin with https:/],
      ['https://github.com/acme/pack/blob/main/icon.png', /page about the file/],
      [`${web}/icon.png`, undefined],
    ] as const) {
      const id = unique('node')
      const made = expectStatus(await owner.post(`${own}/nodes`, { id, icon: address }), 201)
      const edit = { banner_url: address }
      const edited = expectStatus(await owner.put(`${own}/nodes/${id}`, edit), 200)
      const byAdmin = expectStatus(await admin.put(`/admin/nodes/${id}`, edit), 200)
      const publisher = expectStatus(await owner.put(own, { logo: address }), 200)
      const published = await owned.publish({ node: { icon: address } })
      expectStatus(published, 201)
      for (const { body } of [made, edited, byAdmin, publisher, published]) {
        const [said, ...more] = (body['warnings'] ?? []) as string[]
        assert.deepEqual(more, [])
        if (warning) assert.match(said?.replace(/^(\/node)?\/\w+/, '/icon') ?? '', warning)
        else assert.equal(said, undefined)
      }
      assert.equal(made.body['icon'], address)
    }
  })

  test('is asked for again after a day, or ten minutes after a failure', async () => {
    const age = async (minutes: number) => {
      await sql`update picture set fetched_at = now() - make_interval(mins => ${minutes})`
    }
    for (const [file, minutes] of [
      [await flat(9), 1440],
      [404, 10],
    ] as const) {
      const { url, times } = place(file)
      const nodeId = await owned.addNode({ icon: url })
      const status = (await read(`/nodes/${nodeId}/icon`)).status
      await age(minutes - 1)
      assert.equal((await read(`/nodes/${nodeId}/icon`)).status, status)
      assert.equal(times(), 1)
      await age(minutes + 1)
      assert.equal((await read(`/nodes/${nodeId}/icon`)).status, status)
      assert.equal(times(), 2)
    }
  })

  test('is none where none is named, and that of a banned node is not shown', async () => {
    const nodeId = await owned.addNode({ icon: place(await flat(9)).url })
    const none = await anonymous.get(`/nodes/${nodeId}/banner`)
    expectStatus(none, 404, 'picture_not_found')
    expectStatus(await anonymous.get(`/nodes/${nodeId}/banner?missing=204`), 204)
    expectStatus(await anonymous.get('/nodes/none/icon'), 404, 'node_not_found')
    expectStatus(await anonymous.get('/publishers/none/logo'), 404, 'publisher_not_found')
    const ban = { status: 'NodeStatusBanned', status_detail: 'spam' }
    expectStatus(await admin.put(`/admin/nodes/${nodeId}`, ban), 200)
    expectStatus(await anonymous.get(`/nodes/${nodeId}/icon`), 403, 'node_banned')
  })

  test('is not fetched more often than 30 times a minute for one publisher', async () => {
    const greedy = await registry.addPublisher()
    const nodes = await atOnce(40, () => greedy.addNode({ icon: place(404).url }))
    const statuses = await Promise.all(
      nodes.map(async (id) => (await read(`/nodes/${id}/icon`)).status),
    )
    const count = (status: number) => statuses.filter((one) => one === status).length
    assert.deepEqual([count(404), count(503)], [30, 10])
  })
})
