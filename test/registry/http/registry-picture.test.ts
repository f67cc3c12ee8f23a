import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import sharp from 'sharp'

import { expectStatus, listOf, memberOf, pluck } from '../../support/client.ts'
import { startReceiver, type Receiver } from '../../support/network.ts'
import { makePicture } from '../../support/pictures.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin, service } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned

const read = async (path: string) => {
  const got = await fetch(service.baseUrl + path)
  const bytes = Buffer.from(await got.arrayBuffer())
  const { format, width, height } = got.ok ? await sharp(bytes).metadata() : {}
  const { r, g, b } = got.ok ? (await sharp(bytes).stats()).dominant : {}
  return { status: got.status, seen: [format, width, height], colour: [r, g, b], bytes }
}

const png = async (side = 300, background = '#f00'): Promise<Buffer> =>
  await sharp({ create: { width: side, height: side, channels: 3, background } })
    .png()
    .toBuffer()

const put = (path: string, body: Uint8Array, type = 'image/png', headers = {}, client = owner) =>
  client.call('PUT', path, body, { 'content-type': type, ...headers })

const svg = (content: string, size = 'width="24" height="12"'): Buffer =>
  Buffer.from(
    `<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`,
  )

describe('a picture that is sent', () => {
  test('is kept and shown as icon, banner and logo, whatever its kind', async () => {
    const nodeId = await owned.addNode()
    const picture = sharp(await makePicture({ width: 400, height: 200 }))
    const kinds = [
      ['image/png', await picture.png().toBuffer()],
      ['image/jpeg; q=1', await picture.jpeg().toBuffer()],
      ['image/webp', await picture.webp().toBuffer()],
      ['IMAGE/AVIF', await picture.avif().toBuffer()],
      ['image/svg+xml', svg('<rect width="24" height="12" fill="#00f"/>')],
    ] as const
    const addresses = new Set<unknown>()
    for (const [type, bytes] of kinds)
      for (const [route, member, page, side] of [
        [`${own}/nodes/${nodeId}/icon`, 'icon', `/nodes/${nodeId}/icon`, 128],
        [`${own}/nodes/${nodeId}/banner`, 'banner_url', `/nodes/${nodeId}/banner`, 1200],
        [`${own}/logo`, 'logo', `${own}/logo`, 128],
      ] as const) {
        const { body } = expectStatus(await put(route, bytes, type), 200)
        assert.equal(body['warnings'], undefined)
        const address = new URL(String(body[member]))
        assert.equal(address.pathname, page)
        addresses.add(address.href)
        const { status, seen } = await read(page + address.search)
        const width = type.includes('svg') ? side : Math.min(side, 400)
        assert.deepEqual([status, ...seen], [200, 'webp', width, width / 2], `${type} ${route}`)
      }
    assert.equal(
      addresses.size,
      15,
      'each has an address of its own, so that no cache shows another',
    )
    const node = expectStatus(await anonymous.get(`/nodes/${nodeId}`), 200)
    const { body } = node
    assert.ok([body['icon'], body['banner_url']].every((address) => addresses.has(address)))
    assert.ok(addresses.has(memberOf(node, 'publisher')['logo']))
  })

  test('gives way to an address, stays when its own is sent back, and is removed', async () => {
    const nodeId = await owned.addNode()
    const path = `${own}/nodes/${nodeId}`
    const shown = async () => (await anonymous.get(`/nodes/${nodeId}`)).body['icon']
    for (const edit of [
      (icon: string) => owner.put(path, { icon }),
      (icon: string) => admin.put(`/admin/nodes/${nodeId}`, { icon }),
    ]) {
      const kept = expectStatus(await put(`${path}/icon`, await png()), 200).body['icon']
      expectStatus(await owner.put(path, { author: 'x' }), 200)
      expectStatus(await edit(String(kept)), 200)
      assert.equal(await shown(), kept)
      assert.deepEqual((await read(`/nodes/${nodeId}/icon`)).colour.slice(0, 1), [248])
      const address = 'https://images.example.com/a.png'
      expectStatus(await edit(address), 200)
      assert.equal(await shown(), address)
    }
    expectStatus(await put(`${path}/icon`, await png()), 200)
    expectStatus(await owner.delete(`${path}/icon`), 200)
    assert.equal(await shown(), undefined)
    assert.equal((await read(`/nodes/${nodeId}/icon`)).status, 404)
    expectStatus(await put(`${own}/logo`, await png()), 200)
    assert.equal(expectStatus(await owner.delete(`${own}/logo`), 200).body['logo'], undefined)
  })

  test('is a change for copies of the lists, and obeys If-Match', async () => {
    const [nodeId, other] = [await owned.addNode(), await owned.addNode()]
    const path = `${own}/nodes/${nodeId}/icon`
    const changed = async (work: () => Promise<unknown>): Promise<string[]> => {
      const { body } = await anonymous.get('/nodes?include_removed=true&limit=1')
      await new Promise((resolve) => setTimeout(resolve, 20))
      await work()
      const since = encodeURIComponent(String(body['next_timestamp']))
      const list = `/nodes?timestamp=${since}&limit=1000`
      return pluck(listOf(await anonymous.get(list), 'nodes')).filter((id) =>
        [nodeId, other].includes(id),
      )
    }
    assert.deepEqual(await changed(async () => await put(path, await png())), [nodeId])
    const etag = (await anonymous.get(`/nodes/${nodeId}`)).headers.get('etag') ?? ''
    const given = { 'if-match': etag }
    expectStatus(await put(path, await png(), 'image/png', given), 200)
    const stale = await put(path, await png(), 'image/png', given)
    expectStatus(stale, 412, 'precondition_failed')
    assert.equal((await read(`/nodes/${nodeId}/icon`)).status, 200)
    const removed = await owner.call('DELETE', path, undefined, given)
    expectStatus(removed, 412, 'precondition_failed')
    const logo = () => png().then((bytes) => put(`${own}/logo`, bytes))
    assert.deepEqual((await changed(logo)).toSorted(), [nodeId, other].toSorted())
  })

  test('is for whoever may edit the record; an admin’s is in the audit log', async () => {
    const nodeId = await owned.addNode()
    const member = (await owned.addMember('member')).client
    const paths = [`${own}/nodes/${nodeId}/icon`, `${own}/logo`] as const
    const statuses = async (path: string) => {
      const bytes = await png(9)
      const all = [owner, member, admin, registry.client(unique('stranger')), anonymous].map(
        async (client) => (await put(path, bytes, 'image/png', {}, client)).status,
      )
      return await Promise.all(all)
    }
    assert.deepEqual(await statuses(paths[0]), [200, 200, 200, 403, 401])
    assert.deepEqual(await statuses(paths[1]), [200, 403, 403, 403, 401])
    const log = await admin.get(`/admin/audit-log?target=node/${nodeId}`)
    const [entry] = listOf<{ action: string; after: object }>(log, 'entries')
    assert.equal(entry?.action, 'node.update')
    assert.deepEqual(Object.keys(entry?.after ?? {}), ['icon'])
    expectStatus(await put(`${own}/nodes/none/icon`, await png(9)), 404, 'node_not_found')
  })

  test('is rejected with what is expected', async () => {
    const path = `${own}/nodes/${await owned.addNode()}/icon`
    const cut = (await makePicture({ width: 64, height: 64 })).subarray(0, 200)
    const broken = svg('<rect')
    const large = Buffer.concat([await png(9), Buffer.alloc(2 ** 20)])
    const cases = [
      [
        await png(9),
        'image/gif',
        415,
        'unsupported_media_type',
        /image\/png, .* or image\/svg\+xml/,
      ],
      [await png(9), 'application/json', 415, 'unsupported_media_type', /not .*application\/json/],
      [large, 'image/png', 413, 'body_too_large', /1,?048,?576/],
      [Buffer.alloc(0), 'image/png', 400, 'body_required', /file itself/],
      [cut, 'image/png', 400, 'image_invalid', /PNG, JPEG, WebP, AVIF or SVG .*: it is damaged/],
      [broken, 'image/svg+xml', 400, 'image_invalid', /it is damaged/],
      [svg('', 'width="0" height="0"'), 'image/svg+xml', 400, 'image_invalid', /it is damaged/],
      [Buffer.from('%PDF-1.7'), 'image/png', 400, 'image_invalid', /it is damaged/],
      [await png(4001), 'image/png', 400, 'image_invalid', /more than 16,000,000 pixels/],
    ] as const
    for (const [bytes, type, status, code, message] of cases) {
      const response = expectStatus(await put(path, bytes, type), status, code)
      assert.match(response.body.message ?? '', message)
    }
    const packed = await put(path, await png(9), 'image/png', { 'content-encoding': 'gzip' })
    expectStatus(packed, 415, 'unsupported_encoding')
    const digest = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    expectStatus(await put(path, await png(9), 'image/png', digest), 400, 'checksum_mismatch')
  })

  describe('as a drawing', () => {
    let asked = 0
    let stranger: Receiver
    before(async () => {
      const bytes = await png(24)
      stranger = await startReceiver((_, response) => {
        asked += 1
        response.end(bytes)
      })
    })
    after(() => stranger.close())

    test('shows nothing that it names outside itself, and has no more time than others', async () => {
      const nodeId = await owned.addNode()
      const path = `${own}/nodes/${nodeId}/icon`
      const white = '<rect width="24" height="24" fill="#fff"/>'
      const size = 'width="24" height="24" xmlns:xlink="http://www.w3.org/1999/xlink"'
      const inside = `data:image/png;base64,${(await png(24)).toString('base64')}`
      const page = `http://127.0.0.1:${stranger.port}/a.png`
      const file = new URL('../../../docs/pictures/', import.meta.url).href
      for (const [href, isDrawn] of [
        [inside, true],
        [page, false],
        [`${file}image-before.png`, false],
        ['/etc/hostname', false],
      ] as const) {
        const image = `<image width="24" height="24" xlink:href="${href}" href="${href}"/>`
        expectStatus(await put(path, svg(white + image, size), 'image/svg+xml'), 200)
        const { colour } = await read(`/nodes/${nodeId}/icon`)
        assert.deepEqual(colour, isDrawn ? [248, 8, 8] : [248, 248, 248], href)
      }
      assert.equal(asked, 0)
      const nested = Array.from(
        { length: 12 },
        (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(12)}</g>`,
      )
      const bomb = svg(`<rect id="g0" width="9" height="9"/>${nested.join('')}<use href="#g12"/>`)
      expectStatus(await put(path, bomb, 'image/svg+xml'), 400, 'image_invalid')
    })
  })
})
