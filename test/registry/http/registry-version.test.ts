import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expireVersion } from '../../../src/registry/db/archive.ts'
import { assertMembers, expectStatus, listOf, memberOf, pluck } from '../../support/client.ts'
import type { HttpResponse } from '../../support/client.ts'
import { makeToken, unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin, sql, place } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned

const read = (path: string): Promise<HttpResponse> => anonymous.get(path)

const bulk = (...asked: object[]): Promise<HttpResponse> =>
  anonymous.post('/bulk/nodes/versions', { node_versions: asked })

/** Fields of a version, as long as they may be. */
const LARGE = {
  changelog: 'c'.repeat(65_536),
  dependencies: Array.from({ length: 500 }, () => 'd'.repeat(512)),
}

describe('a publication', () => {
  test('a publication without a live token of the publisher always gets the same response', async () => {
    const { id } = owned
    const revoked = await makeToken(owner, id)
    await sql`update personal_access_token set revoked_at = now() where last4 = ${revoked.slice(-4)}`
    const expired = await makeToken(owner, id)
    await sql`update personal_access_token set expires_at = now() where last4 = ${expired.slice(-4)}`
    const other = await registry.addPublisher()
    const wrong = `${owned.token.slice(0, -1)}${owned.token.endsWith('0') ? '1' : '0'}`
    const messages = new Set<string | undefined>()
    for (const token of [revoked, expired, other.token, wrong, 'x', '']) {
      const rejected = await owned.publish({ token })
      expectStatus(rejected, 403, 'invalid_personal_access_token')
      messages.add(rejected.body.message)
    }
    assert.equal(messages.size, 1)
    const nobody = await owner.post('/publishers/no-one/nodes/x/versions', {
      node: {},
      node_version: { version: '1.0.0' },
      personal_access_token: owned.token,
    })
    expectStatus(nobody, 403, 'invalid_personal_access_token')
  })

  test('a publication gets everything that is wrong with its body, but never its token', async () => {
    const body = { node: 5, node_version: {}, personal_access_token: [owned.token] }
    const rejected = await owner.post(`${own}/nodes/${unique('node')}/versions`, body)
    expectStatus(rejected, 400, 'validation_failed')
    assert.equal(rejected.body.details?.length, 3)
    assert.ok(!JSON.stringify(rejected.body).includes(owned.token), 'not echoed')
    expectStatus(await owned.publish({ node: { id: 'other' } }), 400, 'id_mismatch')
    const odd = expectStatus(await owned.publish({ version: '1.2.3.4' }), 400, 'version_invalid')
    assert.match(
      odd.body.details?.[0] ?? '',
      /such as 1\.0\.0.*, got "1\.2\.3\.4"; the nearest is 1\.2\.3$/,
    )
  })

  test('may write a version as real packs do, and finds it in either form', async () => {
    const { id, node, nodeId } = await owned.addVersion({ version: '7.8' })
    for (const form of ['7.8', '7.8.0', 'v7.8', '07.8']) {
      const published = expectStatus(await owned.publish({ nodeId, version: form }), 201)
      const again = memberOf(published, 'node_version')
      assert.deepEqual([again['id'], again['version']], [id, '7.8.0'])
      const { body } = expectStatus(await read(`${node}/versions/${form}`), 200)
      assert.equal(body['version'], '7.8.0')
    }
    await place.receive(id, id)
    assert.ok(await place.accept(id, id), 'accepted')
    assert.ok(await place.transition(id, 'pass'), 'passed')
    for (const form of ['7.8', '7.8.0']) {
      const taken = expectStatus(
        await owned.publish({ nodeId, version: form }),
        409,
        'version_exists',
      )
      assert.match(
        taken.body.message ?? '',
        /"7\.8\.0" exists and is published: Passed automated checks\. Publish a higher number\.$/,
      )
      const { body } = expectStatus(await read(`${node}/install?version=${form}`), 200)
      assert.match(String(body['downloadUrl']), /\/7\.8\.0\/node\.zip$/)
    }
  })
})

describe('a version', () => {
  test('is published with a warning where another one stays the latest, and says why a number is taken', async () => {
    const { nodeId } = await owned.addActive({ version: '0.4.11' })
    const low = expectStatus(await owned.publish({ nodeId, version: '0.4.2' }), 201)
    assert.deepEqual(low.body['warnings'], [
      'The version "0.4.2" will not be the latest one: "0.4.11" stays it, because it has the higher number.',
    ])
    const high = expectStatus(await owned.publish({ nodeId, version: '1.0.0' }), 201)
    assert.deepEqual(Object.keys(high.body).toSorted(), ['node_version', 'signedUrl'])
    const taken = await owned.publish({ nodeId, version: '0.4.11+b2' })
    const { message = '' } = expectStatus(taken, 409, 'version_exists').body
    assert.match(message, /"0\.4\.11\+b2" is the same version, because build metadata/)
  })

  test('is installed by channel: a pre-release where it is above the latest version', async () => {
    const { nodeId, node } = await owned.addActive({ version: '1.1.0' })
    const installed = async (query = '?channel=pre') =>
      expectStatus(await read(`${node}/install${query}`), 200).body['version']
    assert.equal(await installed(), '1.1.0')
    await owned.addActive({ nodeId, version: '1.1.0-rc.1' })
    assert.equal(await installed(), '1.1.0', 'one of before the release')
    const [beta] = await Promise.all([
      owned.addActive({ nodeId, version: '1.2.0-beta.2' }),
      owned.addActive({ nodeId, version: '1.2.0-beta.10', given: { deprecated: true } }),
      owned.addFlagged({ nodeId, version: '1.3.0-rc.1' }),
    ])
    assert.equal(await installed(), '1.2.0-beta.2')
    for (const query of ['', '?channel=latest', '?channel='])
      assert.equal(await installed(query), '1.1.0')
    const path = `${owned.path}/nodes/${nodeId}/versions/1.1.0`
    expectStatus(await owned.owner.put(path, { deprecated: true }), 200)
    assert.equal(await installed(''), '1.1.0', 'a release before any pre-release')
    expectStatus(await owned.owner.delete(beta.ownVersion), 204)
    assert.equal(await installed(), '1.1.0')
    const both = await read(`${node}/install?channel=pre&version=1.1.0`)
    assert.match(
      expectStatus(both, 400, 'validation_failed').body.message ?? '',
      /\?channel must be absent where `version` names one/,
    )
    expectStatus(await read(`${node}/install?channel=beta`), 400, 'validation_failed')
  })

  test('is published with a warning where it makes a node with nearly the id of another', async () => {
    const id = unique('tools')
    const { nodeId } = await owned.addVersion({ nodeId: `image-${id}` })
    for (const [near, warned] of [
      [`imgae-${id}`, true],
      [`Image_${id}`, true],
      [`image-${id}2`, false],
      [`video-${id}`, false],
      [nodeId, false],
    ] as const) {
      const { body } = expectStatus(await owned.publish({ nodeId: near, version: '1.1.0' }), 201)
      const [said = ''] = (body['warnings'] ?? []) as string[]
      assert.equal(
        said.includes(`did you mean "${nodeId}", which the publisher has?`),
        warned,
        near,
      )
    }
    const other = await registry.addPublisher()
    const { body } = await other.publish({ nodeId: `imag-${id}` })
    assert.equal(body['warnings'], undefined)
  })

  test('and its node are of a status that platform admins alone set', async () => {
    const { node, ownNode, ownVersion, version } = await owned.addActive()
    for (const [path, present, other] of [
      [ownNode, 'NodeStatusActive', 'NodeStatusDeleted'],
      [ownVersion, 'NodeVersionStatusActive', 'NodeVersionStatusDeleted'],
    ] as const) {
      const rejected = await owned.owner.put(path, { status: other, changelog: 'x' })
      const { message } = expectStatus(rejected, 403, 'forbidden').body
      assert.match(message ?? '', /^\/status must be absent .* platform admins alone set it/)
      for (const status of [present, 5, 'unknown']) {
        const { headers } = expectStatus(await owned.owner.put(path, { status }), 200)
        assert.equal(headers.get('ignored-fields'), '/status')
      }
    }
    assert.equal((await read(version)).body['changelog'], undefined)
    assert.equal((await read(node)).body['status'], 'NodeStatusActive')
  })

  test('is found by its number where its id is wanted, and the other way round', async () => {
    const { id, node, ownNode } = await owned.addActive({ version: '1.2.0' })
    const edited = await owned.owner.put(`${ownNode}/versions/v1.2`, { deprecated: true })
    assert.deepEqual([expectStatus(edited, 200).body['id'], edited.body['deprecated']], [id, true])
    const { body } = expectStatus(await read(`${node}/versions/${id.toUpperCase()}`), 200)
    assert.equal(body['version'], '1.2.0')
    expectStatus(await owned.owner.delete(`${ownNode}/versions/1.2.0`), 204)
    expectStatus(await read(`${node}/versions/${id}`), 404, 'version_not_found')
  })
})

describe('the response about a version', () => {
  test('has every member that is always there, and none that is null', async () => {
    const nodeId = unique('node')
    const published = expectStatus(await owned.publish({ nodeId }), 201)
    const { id, createdAt, ...rest } = memberOf(published, 'node_version')
    assert.match(String(id), /^[\da-f-]{36}$/)
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      node_id: nodeId,
      version: '1.0.0',
      status: 'NodeVersionStatusPending',
      status_reason: 'waiting for the archive',
      deprecated: false,
      host_node_extract_status: 'pending',
      dependencies: [],
      tags: [],
      tags_admin: [],
      supported_os: [],
      supported_accelerators: [],
    })
  })

  test('has the reason of its status everywhere, asked for or not', async () => {
    const nodeId = unique('node')
    const published = expectStatus(await owned.publish({ nodeId, version: '2.0.0' }), 201)
    const { node, version } = await owned.addActive({ nodeId })
    const install = await read(`${node}/install`)
    const [listed = {}] = listOf(await read(`/nodes?node_id=${nodeId}`), 'nodes')
    const found = await bulk({ node_id: nodeId, version: '1.0.0' })
    const [{ node_version: inBulk } = {}] = listOf(found, 'node_versions')
    const seen = [
      memberOf(published, 'node_version'),
      (await read(version)).body,
      ...listOf(await read(`${node}/versions`)),
      ...listOf(await read(`${node}/versions?include_status_reason=false`)),
      ...listOf(await read(`/versions?nodeId=${nodeId}`), 'versions'),
      install.body,
      memberOf(await read(node), 'latest_version'),
      memberOf({ body: listed }, 'latest_version'),
      inBulk as Record<string, unknown>,
    ]
    assert.equal(seen.length, 12)
    for (const { status, status_reason: reason } of seen) {
      const isPending = status === 'NodeVersionStatusPending'
      assert.equal(reason, isPending ? 'waiting for the archive' : 'Passed automated checks')
    }
  })
})

describe('a version', () => {
  test('a version is edited in part, returned in whole, and compared with If-Match', async () => {
    const given = { changelog: 'a', dependencies: ['numpy'], tags: ['a'], supported_os: ['Linux'] }
    const { id, version, ownVersion } = await owned.addActive({ given })
    const etag = (await read(version)).headers.get('etag') ?? ''
    const put = (fields: object, tag: string) => owner.put(ownVersion, fields, { 'if-match': tag })
    const { body } = expectStatus(await put({ deprecated: true }, etag), 200)
    assertMembers(body, { ...given, id, deprecated: true })
    assert.deepEqual(body, (await read(version)).body)
    for (const tag of [etag, 'W/"1"', 'x'])
      expectStatus(await put({ deprecated: false }, tag), 412, 'precondition_failed')
    expectStatus(await put({ changelog: '' }, '*'), 200)
    assert.equal('changelog' in (await read(version)).body, false)
  })

  test('of another node, or without a UUID, is not found', async () => {
    const [one, two] = [await owned.addVersion(), await owned.addVersion()]
    for (const path of [
      `${two.ownNode}/versions/${one.id}`,
      `${one.ownNode}/versions/x`,
      `${one.ownNode}/versions/${'0'.repeat(8)}`,
    ]) {
      expectStatus(await owner.put(path, {}), 404, 'version_not_found')
      expectStatus(await owner.delete(path), 404, 'version_not_found')
    }
    const other = await registry.addPublisher()
    const theirs = `${other.path}${one.node}/versions/${one.id}`
    expectStatus(await other.owner.put(theirs, {}), 404, 'node_not_found')
  })

  test('has other tags and dependencies until somebody installs it', async () => {
    const { ownVersion, node } = await owned.addActive({
      given: { tags: ['a'], dependencies: ['pillow', 'numpy'] },
    })
    const fewer = { tags: ['b', 'c'], dependencies: ['numpy'] }
    const { body } = expectStatus(await owner.put(ownVersion, fewer), 200)
    assert.deepEqual([body['tags'], body['dependencies']], [['b', 'c'], ['numpy']])
    const added = await owner.put(ownVersion, { dependencies: ['numpy', 'unchecked'] })
    assert.match(expectStatus(added, 409, 'illegal_move').body.message ?? '', /checked with/)
    expectStatus(await read(`${node}/install`), 200)
    expectStatus(await owner.put(ownVersion, { ...fewer, changelog: 'x' }), 200)
    for (const change of [{ tags: [] }, { dependencies: [] }]) {
      const late = expectStatus(await owner.put(ownVersion, change), 409, 'illegal_move')
      assert.match(late.body.message ?? '', /Somebody has installed/)
    }
    const now = expectStatus(await read(`${node}/install`), 200).body
    assert.deepEqual([now['tags'], now['dependencies']], [['b', 'c'], ['numpy']])
  })

  test('takes any dependencies before its archive is there', async () => {
    const { ownVersion } = await owned.addVersion({ given: { dependencies: ['pillow'] } })
    const { body } = expectStatus(await owner.put(ownVersion, { dependencies: ['numpy'] }), 200)
    assert.deepEqual(body['dependencies'], ['numpy'])
  })

  test('says which versions of the host it supports, and a search compares them', async () => {
    const tag = unique('tag')
    const add = async (said: string): Promise<string> => {
      const node = { tags: [tag], supported_host_version: said }
      return (await owned.addActive({ node })).nodeId
    }
    const [old, both, none, odd] = [
      await add('<2'),
      await add('>=1.4,<3'),
      await add(''),
      await add('new ones'),
    ]
    const find = async (version: string): Promise<unknown[]> => {
      const found = await read(`/nodes/search?tag=${tag}&facets=true&host_version=${version}`)
      expectStatus(found, 200)
      return listOf(found, 'nodes').map(({ id }) => id)
    }
    const sorted = (ids: unknown[]) => ids.map(String).toSorted((a, b) => a.localeCompare(b))
    assert.deepEqual(sorted(await find('1.3')), sorted([old, none, odd]))
    assert.deepEqual(sorted(await find('1.4.0')), sorted([old, both, none, odd]))
    assert.deepEqual(sorted(await find('2.0.0rc1')), sorted([both, none, odd]))
    assert.deepEqual(sorted(await find('3')), sorted([none, odd]))
    assert.equal((await find('')).length, 4)
    expectStatus(await read('/nodes/search?host_version=newest'), 400, 'validation_failed')
    const given = { supported_host_frontend_version: 'new' }
    const warned = expectStatus(await owned.publish({ given }), 201).body['warnings']
    assert.match(String(warned), /^\/node_version\/supported_host_frontend_version is stored, but/)
    const edited = await owner.put(`${own}/nodes/${old}`, { supported_host_version: '1 or 2' })
    assert.match(String(expectStatus(edited, 200).body['warnings']), /got "1 or 2"\.$/)
    const translations = { de: { name: 'Licht', motto: 'hell' }, german_language: { name: 'x' } }
    const kept = expectStatus(await owner.put(`${own}/nodes/${old}`, { translations }), 200).body
    assert.deepEqual(kept['translations'], translations)
    assert.match(String(kept['warnings']), /: not "motto" of "de", "german_language"\.$/)
  })

  test('is read in every status, and installed in one', async () => {
    const nodeId = unique('node')
    await owned.addVersion({ nodeId, version: '1.0.0' })
    await owned.addFlagged({ nodeId, version: '2.0.0' })
    const { node, version } = await owned.addActive({ nodeId, version: '3.0.0' })
    const ban = { status: 'NodeVersionStatusBanned', status_reason: 'malware' }
    expectStatus(await admin.put(`/admin${version}`, ban), 200)
    const CASES: [string, string, number, string][] = [
      ['1.0.0', 'NodeVersionStatusPending', 404, 'version_not_installable'],
      ['2.0.0', 'NodeVersionStatusFlagged', 403, 'version_blocked'],
      ['3.0.0', 'NodeVersionStatusBanned', 403, 'version_blocked'],
    ]
    for (const [number, status, code, error] of CASES) {
      const { body } = expectStatus(await read(`${node}/versions/${number}`), 200)
      assert.equal(body['status'], status)
      assert.equal('downloadUrl' in body, false, number)
      const reason = String(body['status_reason'])
      const rejected = expectStatus(await read(`${node}/install?version=${number}`), code, error)
      if (code === 403) assert.ok(rejected.body.message?.includes(reason), number)
    }
    for (const none of ['9.0.0', 'x1'])
      expectStatus(await read(`${node}/versions/${none}`), 404, 'version_not_found')
    expectStatus(await read(`${node}/install`), 404, 'version_not_installable')
    expectStatus(await read(`${node}/install?version=x1`), 400, 'version_invalid')
    expectStatus(await read(`${node}/install?version=9.0.0`), 404, 'version_not_found')
  })

  test('whose archive never came leaves its number free', async () => {
    const { id, nodeId, node, version, ownVersion } = await owned.addVersion({
      given: { changelog: 'first' },
    })
    const tag = (await read(version)).headers.get('etag') ?? ''
    const expire = () => sql.begin((sql) => expireVersion(sql, id))
    assert.equal(await expire(), false, 'while there is time left')
    await sql`update version set upload_expires_at = now() - interval '1 hour' where id = ${id}`
    assert.deepEqual([await expire(), await expire()], [true, false])
    expectStatus(await read(version), 404, 'version_not_found')
    const again = await owned.addVersion({ nodeId })
    assert.notEqual(again.id, id)
    const { body } = await read(version)
    assert.deepEqual([body['id'], 'changelog' in body], [again.id, false])
    expectStatus(await anonymous.get(version, { 'if-none-match': tag }), 200)
    const deleted = await read(`${node}/versions?statuses=NodeVersionStatusDeleted`)
    assert.deepEqual(
      listOf(deleted).map((version) => [version['id'], version['status_reason']]),
      [[id, 'archive was not uploaded in time']],
    )
    expectStatus(await owner.put(ownVersion, {}), 404, 'version_not_found')
  })
})

describe('versions in bulk', () => {
  test('have each what became of it once, in the order asked', async () => {
    const { nodeId } = await owned.addActive()
    await owned.addFlagged({ nodeId, version: '2.0.0' })
    const deleted = await owned.addActive({ nodeId, version: '3.0.0' })
    expectStatus(await owner.delete(deleted.ownVersion), 204)
    const banned = await owned.addActive()
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await admin.put(`/admin${banned.node}`, ban), 200)
    const CASES = [
      [nodeId, '1.0.0', 'success'],
      [nodeId.toUpperCase(), '2.0.0', 'success'],
      [nodeId, '3.0.0', 'not_found'],
      [banned.nodeId, '1.0.0', 'error'],
      [nodeId, '1.0.0+build', 'success'],
      [nodeId, 'x1', 'not_found'],
      [nodeId, 'v1', 'success'],
      ['none', '1.0.0', 'not_found'],
      ['', '', 'not_found'],
    ] as const
    const asked = CASES.map(([node_id, version]) => ({ node_id, version }))
    const twice = [...asked, ...asked.toReversed()]
    const found = listOf(expectStatus(await bulk(...twice), 200), 'node_versions')
    assert.deepEqual(
      pluck(found, 'status'),
      CASES.map(([, , status]) => status),
    )
    assert.deepEqual(pluck(found, 'identifier'), asked)
    for (const { status, node_version: version, error_message: message } of found) {
      assert.equal(version !== undefined, status === 'success')
      assert.equal(Boolean(message), status !== 'success')
    }
    // Why it is banned is for members.
    assert.doesNotMatch(JSON.stringify(found), /malware/)
  })

  test('versions that a response has no room for are to be asked for again', async () => {
    const nodeId = unique('node')
    const numbers = ['1.0.0', '2.0.0', '3.0.0', '4.0.0', '5.0.0']
    for (const version of numbers) await owned.addVersion({ nodeId, version, given: LARGE })
    const ask = async (asked: string[]) => {
      const response = await bulk(...asked.map((version) => ({ node_id: nodeId, version })))
      return listOf(expectStatus(response, 200), 'node_versions')
    }
    const found = await ask(numbers)
    const statuses = pluck(found, 'status')
    const failed = statuses.indexOf('error')
    assert.ok(failed > 0, statuses.join(' '))
    assert.deepEqual(
      statuses,
      numbers.map((_number, at) => (at < failed ? 'success' : 'error')),
    )
    assert.match(String(found[failed]?.['error_message']), /request this version again/)
    assert.deepEqual(pluck(await ask(numbers.slice(failed, failed + 1)), 'status'), ['success'])
  })

  test('versions in bulk are read once for one Idempotency-Key, and rejected when they are none', async () => {
    const body = { node_versions: [{ node_id: 'none', version: '1.0.0' }] }
    const post = (body: object, headers = {}) =>
      anonymous.post('/bulk/nodes/versions', body, headers)
    const key = { 'idempotency-key': unique('key') }
    const response = expectStatus(await post(body, key), 200)
    const again = await post(body, key)
    assert.deepEqual(again.body, response.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    for (const bad of [{}, { node_versions: [] }, { node_versions: [{ node_id: 5 }] }])
      expectStatus(await post(bad), 400, 'validation_failed')
  })
})
