import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { unique, usePublisher, useRegistry } from './registry-support.ts'
import {
  columnsOf,
  expectStatus,
  listOf,
  makeClient,
  memberOf,
  pluck,
} from '../../support/client.ts'

const EXTRACTION_TOKEN = 'extraction-token-of-this-test'

const registry = useRegistry()
const { anonymous, admin, sql, service } = registry
const owned = usePublisher(registry)
const { owner } = owned
/** A second api with EXTRACTION_TOKEN. */
let closedUrl: string

registry.prepare(async () => {
  closedUrl = (await service.startSecondApi({ EXTRACTION_TOKEN })).baseUrl
})

describe('the host nodes of a version', () => {
  test('are registered, with any JSON for their types', async () => {
    const { nodeId, version } = await owned.addActive()
    const path = `${version}/host-nodes`
    assert.deepEqual((await anonymous.get(path)).body['host_nodes'], [])
    const nodes = {
      'a/b ': { return_types: '["IMAGE"]', name: 'other', output_is_list: [true] },
      Blur: { input_types: { required: { x: [null] } }, category: 'c', deprecated: true },
    }
    assert.equal((await anonymous.get(version)).body['host_nodes'], undefined)
    const body = { nodes, status: 'anything' }
    assert.equal(expectStatus(await owned.owner.post(path, body), 204).body, undefined)
    expectStatus(await anonymous.post(path, body), 409, 'already_registered')
    expectStatus(await owned.owner.post(path, { success: false }), 409, 'already_registered')
    assert.deepEqual(memberOf(await anonymous.get(version), 'host_nodes'), {
      count: 2,
      partial: false,
      source: 'reported',
    })
    const list = expectStatus(await anonymous.get(`${path}?limit=1`), 200)
    assert.deepEqual([list.body['total'], list.body['totalNumberOfPages']], [2, 2])
    const one = expectStatus(await anonymous.get(`${path}/Blur`), 200)
    assert.deepEqual(one.body, {
      host_node_name: 'Blur',
      category: 'c',
      deprecated: true,
      experimental: false,
      input_types: '{"required":{"x":[null]}}',
      output_is_list: [],
      dynamic: [],
      policy: 'HostNodePolicyActive',
    })
    const odd = expectStatus(await anonymous.get(`${path}/${encodeURIComponent('a/b ')}`), 200)
    assert.deepEqual(
      [odd.body['host_node_name'], odd.body['return_types'], odd.body['output_is_list']],
      ['a/b ', '["IMAGE"]', [true]],
    )
    for (const name of ['blur', 'a%2Fb', '%2F'])
      expectStatus(await anonymous.get(`${path}/${name}`), 404, 'host_node_not_found')
    const found = await anonymous.get(`/host-nodes/${encodeURIComponent('a/b ')}/node`)
    assert.equal(expectStatus(found, 200).body['id'], nodeId)
    expectStatus(await anonymous.get('/host-nodes/none/node'), 404, 'host_node_not_found')
    const search = await anonymous.get('/nodes/search?host_node_search=A/B')
    assert.equal(search.body['total'], 1)
  })

  test('are searched by name, category and the beginning of a type', async () => {
    const { version } = await owned.addActive()
    const nodes = {
      Alpha: { display_name: 'Mix 100%', return_types: ['LATENT'] },
      Beta: { category: 'kiln/heat', input_types: { required: { clay: ['IMAGE,MASK', {}] } } },
      Gamma: { input_types: { required: { mode: [['IMAGE']] } } },
    }
    const path = `${version}/host-nodes`
    expectStatus(await owned.owner.post(path, { nodes }), 204)
    for (const [search, found] of [
      ['', ['Alpha', 'Beta', 'Gamma']],
      ['alp', ['Alpha']],
      ['0%25', ['Alpha']],
      ['%25', ['Alpha']],
      ['LN/HE', ['Beta']],
      ['lat', ['Alpha']],
      ['image', ['Beta']],
      ['mask', []],
      ['nothing', []],
    ] as const) {
      const response = expectStatus(await anonymous.get(`${path}?search=${search}`), 200)
      assert.deepEqual(pluck(listOf(response, 'host_nodes'), 'host_node_name'), found, search)
      assert.equal(response.body['total'], found.length)
    }
    const long = await anonymous.get(`${path}?search=${'x'.repeat(201)}`)
    assert.match(expectStatus(long, 400, 'validation_failed').body.details?.[0] ?? '', /^\?search/)
  })

  test('of two versions may differ by a ban alone', async () => {
    const { nodeId, node, version: old } = await owned.addActive({ version: '1.0.0' })
    const { version } = await owned.addFlagged({ nodeId, version: '2.0.0' })
    for (const path of [old, version])
      expectStatus(await owned.owner.post(`${path}/host-nodes`, { nodes: { Bare: {} } }), 204)
    const policies = { host_node_policies: { Bare: 'HostNodePolicyBanned' } }
    expectStatus(await admin.put(`/admin${version}`, policies), 200)
    const found = expectStatus(await anonymous.get(`${node}/compare?from=1.0.0&to=2.0.0`), 200)
    assert.deepEqual(pluck(listOf(found, 'changes'), 'code'), ['host_node_banned'])
  })

  test('of two versions are compared', async () => {
    const { nodeId, node, version: old } = await owned.addActive({ version: '1.0.0' })
    const { version } = await owned.addFlagged({ nodeId, version: '2.0.0' })
    const path = `${node}/compare?from=1.0.0&to=v2`
    const none = expectStatus(await anonymous.get(path), 200)
    assert.deepEqual([none.body['verdict'], none.body['changes']], ['none', []])
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`N${index}`, { description: 'x'.repeat(60_000) }]),
    )
    const forms = (type: string) => ({
      ...many,
      Same: {},
      'Kiln/é': { input_types: { required: { '2': [type], a: ['INT'] } } },
    })
    const register = async (path: string, nodes: object) =>
      expectStatus(await owned.owner.post(`${path}/host-nodes`, { nodes }), 204)
    await register(old, { ...forms('MASK'), Gone: {} })
    await register(version, { ...forms('IMAGE'), New: { category: 'c', input_types: {} } })
    const policies = { host_node_policies: { N1: 'HostNodePolicyBanned' } }
    expectStatus(await admin.put(`/admin${version}`, policies), 200)
    const found = expectStatus(await anonymous.get(path), 200)
    const { changes, ...rest } = found.body as unknown as { changes: Record<string, unknown>[] }
    assert.deepEqual(rest, {
      node_id: nodeId,
      from: '1.0.0',
      to: '2.0.0',
      verdict: 'breaks',
      partial: false,
      counts: { breaks: 2, may_break: 1, safe: 1 },
    })
    assert.deepEqual(columnsOf(changes, 'host_node', 'code'), [
      ['Gone', 'host_node_removed'],
      ['Kiln/é', 'input_type_changed'],
      ['N1', 'host_node_banned'],
      ['New', 'host_node_added'],
    ])
    const same = await anonymous.get(`${node}/compare?from=2.0.0&to=2.0.0`)
    assert.deepEqual([same.body['verdict'], same.body['changes']], ['safe', []])
    const etag = { 'if-none-match': found.headers.get('etag') ?? '' }
    assert.equal((await anonymous.get(path, etag)).status, 304)
    expectStatus(
      await admin.put(`/admin${version}`, { host_node_policies: { N2: 'HostNodePolicyBanned' } }),
      200,
    )
    assert.equal((await anonymous.get(path, etag)).status, 200)
    for (const [query, status, error] of [
      ['from=1.0.0', 400, 'validation_failed'],
      ['from=1.0.0&to=x', 400, 'version_invalid'],
      ['from=1.0.0&to=3.0.0', 404, 'version_not_found'],
    ] as const) {
      const { body } = expectStatus(await anonymous.get(`${node}/compare?${query}`), status, error)
      assert.match(body.message ?? '', status === 400 ? /^\?to / : /"3.0.0"/)
    }
  })

  test('may fail first', async () => {
    const { version } = await owned.addActive()
    const report = (body: object) => owned.owner.post(`${version}/host-nodes`, body)
    expectStatus(await report({ status: 'FAILED', reason: 'no import' }), 204)
    const { body } = await anonymous.get(version)
    assert.equal(body['host_node_extract_status'], 'failed')
    const findings = await owner.get(`${version}/findings`)
    const extraction = { status: 'failed', reason: 'no import', source: 'reported', partial: false }
    assert.deepEqual(findings.body['extraction'], extraction)
    expectStatus(await report({ nodes: {} }), 204)
  })

  test('of a stranger are a hint, until a member confirms them', async () => {
    const { node, version, ownVersion } = await owned.addActive()
    const stranger = (await registry.addUser()).client
    const name = unique('Hint')
    const nodes = { [name]: {} }
    const find = async () => {
      const search = await anonymous.get(`/nodes/search?host_node_search=${name}`)
      return [(await anonymous.get(`/host-nodes/${name}/node`)).status, search.body['total']]
    }
    for (const client of [anonymous, stranger])
      expectStatus(await client.post(`${version}/host-nodes`, { nodes }), 204)
    const seen = expectStatus(await anonymous.get(version), 200)
    assert.equal(seen.body['host_node_extract_status'], 'reported')
    assert.equal((await anonymous.get(`${version}/host-nodes`)).body['total'], 1)
    expectStatus(await anonymous.get(`${version}/host-nodes/${name}`), 200)
    assert.deepEqual(await find(), [404, 0])
    const confirm = `${ownVersion}/confirm-host-nodes`
    const old = { 'if-match': '"0"' }
    expectStatus(await anonymous.post(confirm, {}), 401, 'unauthorized')
    expectStatus(await stranger.post(confirm, {}), 403, 'forbidden')
    const member = (await owned.addMember('member')).client
    expectStatus(await member.post(confirm, {}, old), 412, 'precondition_failed')
    const now = { 'if-match': seen.headers.get('etag') ?? '' }
    const { body } = expectStatus(await member.post(confirm, {}, now), 200)
    assert.equal(body['host_node_extract_status'], 'success')
    assert.deepEqual(await find(), [200, 1])
    expectStatus(await member.post(confirm, {}), 409, 'nothing_to_confirm')
    assert.equal((await anonymous.get(node)).body['status'], 'NodeStatusActive')
  })

  test('are confirmed at the revision that If-Match names, and without it whatever it is', async () => {
    const { version, ownVersion } = await owned.addActive()
    const hint = async (name: string) => {
      expectStatus(await anonymous.post(`${version}/host-nodes`, { nodes: { [name]: {} } }), 204)
      return (await anonymous.get(version)).headers.get('etag') ?? ''
    }
    const confirm = (headers = {}) => owner.post(`${ownVersion}/confirm-host-nodes`, {}, headers)
    const seen = await hint('Seen')
    const latest = await hint('Unseen')
    for (const tag of [seen, '"x"', `W/${latest}`])
      expectStatus(await confirm({ 'if-match': tag }), 412, 'precondition_failed')
    assert.equal((await anonymous.get(version)).body['host_node_extract_status'], 'reported')
    expectStatus(await confirm({ 'if-match': latest }), 200)
    const other = await owned.addActive()
    expectStatus(await anonymous.post(`${other.version}/host-nodes`, { nodes: {} }), 204)
    expectStatus(await owner.post(`${other.ownVersion}/confirm-host-nodes`, {}), 200)
  })

  test('are reported by a personal access token of the publisher that may write', async () => {
    const other = await registry.addPublisher()
    const { version } = await owned.addActive()
    const report = (token: string) =>
      makeClient(
        () => service.baseUrl,
        () => Promise.resolve(token),
      ).post(`${version}/host-nodes`, { nodes: {} })
    const made = await owner.post(`${owned.path}/tokens`, { name: 'x', scope: 'read' })
    const reading = String(expectStatus(made, 201).body['token'])
    for (const token of [other.token, reading])
      expectStatus(await report(token), 403, 'token_scope_insufficient')
    expectStatus(await report(owned.token), 204)
    assert.equal((await anonymous.get(version)).body['host_node_extract_status'], 'success')
  })

  test('of nothing that is there are not found, not even to say that they failed', async () => {
    const { node } = await owned.addActive()
    for (const [path, error] of [
      ['/nodes/none/versions/1.0.0', 'node_not_found'],
      [`${node}/versions/9.0.0`, 'version_not_found'],
      [`${node}/versions/x`, 'version_not_found'],
    ] as const)
      for (const body of [{ nodes: {} }, { success: false }])
        expectStatus(await owned.owner.post(`${path}/host-nodes`, body), 404, error)
  })

  test('are taken from whoever has the token, where there is one', async () => {
    const { version } = await owned.addActive()
    const post = (authorization?: string) =>
      fetch(`${closedUrl}${version}/host-nodes`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
        body: '{"nodes":{"T":{}}}',
      })
    for (const wrong of [undefined, 'Bearer x', `Basic ${EXTRACTION_TOKEN}`, EXTRACTION_TOKEN]) {
      const rejected = await post(wrong)
      assert.equal(rejected.status, 401, wrong)
      assert.equal(rejected.headers.get('www-authenticate'), 'Bearer')
    }
    const { user } = await registry.addUser()
    assert.equal((await post(`Bearer ${await service.token(user)}`)).status, 403)
    assert.equal((await post(`Bearer ${EXTRACTION_TOKEN}`)).status, 204)
    const { body } = await anonymous.get(`${version}/host-nodes`)
    assert.equal(body['total'], 1)
  })

  test('may be very many, in pages by name', async () => {
    const { version } = await owned.addActive()
    const names = Array.from({ length: 5000 }, (_, index) => `N${String(index).padStart(4, '0')}`)
    const fields = { input_types: 'x'.repeat(2000) }
    const nodes = Object.fromEntries(names.map((name) => [name, fields]))
    expectStatus(await owned.owner.post(`${version}/host-nodes`, { nodes }), 204)
    const { body } = await anonymous.get(`${version}/host-nodes?page=5&limit=1000`)
    const last = body['host_nodes'] as unknown as { host_node_name: string }[]
    assert.deepEqual([body['total'], last.length, last[0]?.host_node_name], [5000, 1000, 'N4000'])
  })

  test('may be large, and are then written in parts', async () => {
    const { version } = await owned.addActive()
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G']
    const fields = { input_types: 'x'.repeat(400_000) }
    const nodes = Object.fromEntries(names.map((name) => [name, fields]))
    expectStatus(await owned.owner.post(`${version}/host-nodes`, { nodes }), 204)
    const path = `${version}/host-nodes?limit=1000`
    const response = await anonymous.get(path)
    const listed = listOf(expectStatus(response, 200), 'host_nodes')
    assert.deepEqual(pluck(listed, 'host_node_name'), names)
    for (const one of listed) assert.ok(one['input_types'] === fields.input_types, 'whole')
    assert.equal(response.headers.get('transfer-encoding'), 'chunked')
    const past = await anonymous.get(`${version}/host-nodes?page=2`)
    assert.deepEqual([past.body['total'], listOf(past, 'host_nodes')], [7, []])
  })

  test('come with any part of the build info, which is stored', async () => {
    for (const info of [
      {},
      { build_id: '1' },
      { location: 'x', project_number: '2' },
      { build_id: '1', location: 'x', project_id: 'p', project_number: '2' },
    ]) {
      const { id, version } = await owned.addVersion()
      const body = { nodes: {}, cloud_build_info: info }
      expectStatus(await owned.owner.post(`${version}/host-nodes`, body), 204)
      const [row] =
        await sql`select build_info as info from host_node_report where version_id = ${id}`
      assert.deepEqual(row?.['info'], info)
    }
  })
})
