import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { deleteNode, updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { transitionPublisher } from '../../../src/registry/db/publisher-ban.ts'
import type { VersionTransitionName } from '../../../src/registry/domain/version-transition.ts'
import { AUDIT, OPTIONS } from '../db/registry-place.ts'
import { sha256Of } from '../../support/digest.ts'
import { makeZip } from '../../support/zip.ts'
import { assertMembers, expectStatus } from '../../support/client.ts'
import { openArchivePlace, type ArchiveTestPlace } from './archive-support.ts'

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}')
const DIGEST = Buffer.from(sha256Of(ZIP), 'hex').toString('base64')
const ETAG = `"${sha256Of(ZIP)}"`

describe('the download of an archive', () => {
  let place: ArchiveTestPlace
  before(async () => {
    place = await openArchivePlace()
    await place.registry.addPublisher('other', 'otto')
    await place.addActive({ nodeId: 'Pack', version: '1.2.0-rc.1+build.7' }, ZIP)
  })
  after(() => place.close())

  const PATH = '/archives/pub/Pack/1.2.0-rc.1%2Bbuild.7/node.zip'
  const get = (path = PATH, headers: Record<string, string> = {}, method = 'GET') =>
    place.send(path, { method, headers })
  const assertRejected = async (path: string, expected: readonly [number, string]) => {
    const rejected = expectStatus(await get(path), ...expected)
    assert.equal(rejected.headers['access-control-allow-origin'], '*')
    assert.equal(rejected.headers['cache-control'], 'no-store')
    return rejected
  }

  test('the download of an archive has its bytes and their validators, for every page and cache', async () => {
    const { status, headers, bytes } = await get()
    assert.equal(status, 200)
    assert.deepEqual(bytes, ZIP)
    const expected = {
      'content-type': 'application/zip',
      'content-length': String(ZIP.length),
      'accept-ranges': 'bytes',
      etag: ETAG,
      digest: `sha-256=${DIGEST}`,
      'repr-digest': `sha-256=:${DIGEST}:`,
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline; filename="node.zip"',
    }
    assertMembers(headers, expected)
  })

  test('is of whatever spelling of the path', async () => {
    for (const path of ['PUB/pACK/1.2.0-rc.1', 'pub/pack/1.2.0-rc.1+other'])
      assert.deepEqual((await get(`/archives/${path}/node.zip`)).bytes, ZIP, path)
  })

  test('the download of an archive responds to HEAD without a body', async () => {
    const { status, headers, bytes } = await get(PATH, {}, 'HEAD')
    assert.deepEqual([status, bytes.length], [200, 0])
    assert.deepEqual([headers['content-length'], headers.etag], [String(ZIP.length), ETAG])
  })

  test('the download of an archive responds to a range with that part', async () => {
    const response = await get(PATH, { range: 'bytes=0-3', 'if-range': ETAG })
    assert.equal(response.status, 206)
    assert.equal(response.headers['content-range'], `bytes 0-3/${ZIP.length}`)
    assert.deepEqual(response.bytes, ZIP.subarray(0, 4))
  })

  test('the download of an archive is 304 for a client that has it already', async () => {
    const { status, bytes, headers } = await get(PATH, { 'if-none-match': `"x", ${ETAG}` })
    assert.deepEqual([status, bytes.length, headers.etag], [304, 0, ETAG])
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  })

  test('counts no download', async () => {
    const rows = await place.sql`select from node_stats where downloads > 0`
    assert.equal(rows.length, 0)
  })

  const MISSING: [string, readonly [number, string]][] = [
    ['/archives/nobody/Pack/1.2.0-rc.1/node.zip', [404, 'publisher_not_found']],
    ['/archives/pub/nothing/1.2.0-rc.1/node.zip', [404, 'node_not_found']],
    ['/archives/other/Pack/1.2.0-rc.1/node.zip', [404, 'node_not_found']],
    ['/archives/pub/Pack/9.9.9/node.zip', [404, 'version_not_found']],
    ['/archives/pub/Pack/v1.2.0/node.zip', [404, 'version_not_found']],
    ['/archives/pub/Pack/%2e%2e%2fetc/node.zip', [404, 'version_not_found']],
    ['/archives/pub/Pack/1.2.0-rc.1/other.zip', [404, 'not_found']],
  ]
  for (const [path, expected] of MISSING)
    test(`finds nothing at ${path}`, async () => {
      expectStatus(await get(path), ...expected)
    })

  const TRANSITIONS: [VersionTransitionName, readonly [number, string]][] = [
    ['admin_flag', [403, 'version_blocked']],
    ['admin_ban', [403, 'version_blocked']],
    ['delete', [404, 'archive_not_found']],
  ]
  for (const [name, expected] of TRANSITIONS)
    test(`ends at once with the move ${name}`, async () => {
      const nodeId = `moved-by-${name}`
      const id = await place.addActive({ nodeId }, ZIP)
      const path = `/archives/pub/${nodeId}/1.0.0/node.zip`
      assert.equal((await get(path)).status, 200)
      await place.registry.transition(id, name, 'it mines coins')
      const { body } = await assertRejected(path, expected)
      if (expected[0] === 403) assert.match(body.message ?? '', /it mines coins/)
      // Not even to whoever has it already.
      assert.equal((await get(path, { 'if-none-match': ETAG })).status, expected[0])
    })

  test('is not there before the checks have passed', async () => {
    const id = await place.registry.addVersion({ nodeId: 'waiting' })
    const path = '/archives/pub/waiting/1.0.0/node.zip'
    await assertRejected(path, [404, 'archive_not_found'])
    await place.send(place.sign(id), { body: ZIP })
    await assertRejected(path, [404, 'archive_not_found'])
  })

  test('is that of a deprecated version, too', async () => {
    await place.addActive({ nodeId: 'old', given: { deprecated: true } }, ZIP)
    assert.equal((await get('/archives/pub/old/1.0.0/node.zip')).status, 200)
  })

  test('ends with the ban or the deletion of its node', async () => {
    const path = (nodeId: string) => `/archives/pub/${nodeId}/1.0.0/node.zip`
    for (const nodeId of ['banned', 'deleted']) await place.addActive({ nodeId }, ZIP)
    const fields = { status: 'NodeStatusBanned', status_detail: 'bad' } as const
    await place.sql.begin((sql) =>
      updateNodeByAdmin(sql, { id: 'banned', fields, audit: AUDIT }, OPTIONS),
    )
    await assertRejected(path('banned'), [403, 'node_banned'])
    await place.sql.begin((sql) => deleteNode(sql, { publisherId: 'pub', id: 'deleted' }))
    await assertRejected(path('deleted'), [404, 'node_not_found'])
  })

  test('ends with the ban of its publisher, and begins again with the end of the ban', async () => {
    await place.addActive({ publisherId: 'other', nodeId: 'theirs' }, ZIP)
    const path = '/archives/other/theirs/1.0.0/node.zip'
    const transition = (name: 'ban' | 'unban') =>
      place.sql.begin((sql) =>
        transitionPublisher(sql, { id: 'other', name, reason: 'spam', audit: AUDIT }),
      )
    await transition('ban')
    const { body } = await assertRejected(path, [403, 'publisher_banned'])
    // Why is for its members.
    assert.doesNotMatch(body.message ?? '', /spam/)
    await transition('unban')
    assert.equal((await get(path)).status, 200)
  })

  test('is rejected for now when the store does not have it', async () => {
    const id = await place.addActive({ nodeId: 'lost' }, ZIP)
    await place.storage.removePrefix(`archives/${id}`)
    const lost = '/archives/pub/lost/1.0.0/node.zip'
    const { headers } = await assertRejected(lost, [503, 'unavailable'])
    assert.equal(headers['retry-after'], '2')
  })
})
