import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { makeClient } from '../support/client.ts'
import {
  addActive,
  addVersion,
  expectStatus,
  makeNode,
  makePublisher,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

const EXTRACTION_TOKEN = 'extraction-token-of-this-test'

let registry: Registry
let owned: Owned
/** A second api with EXTRACTION_TOKEN. */
let closedUrl: string

before(async () => {
  registry = await startRegistry()
  closedUrl = (await registry.service.startSecondApi({ EXTRACTION_TOKEN })).baseUrl
  owned = await makePublisher(registry)
})

after(() => registry?.stop())

const newVersion = async (): Promise<{ nodeId: string; id: string; path: string }> => {
  const nodeId = await makeNode(owned)
  const id = await addActive(registry, owned, { nodeId })
  return { nodeId, id, path: `/nodes/${nodeId}/versions/1.0.0/host-nodes` }
}

describe('the host nodes of a version', () => {
  test('are registered once, with any JSON for their types', async () => {
    const { anonymous } = registry
    const { nodeId, path } = await newVersion()
    assert.deepEqual((await anonymous.get(path)).body['host_nodes'], [])
    const nodes = {
      'a/b ': { return_types: '["IMAGE"]', name: 'other', output_is_list: [true] },
      Blur: { input_types: { required: { x: [null] } }, category: 'c', deprecated: true },
    }
    const body = { nodes, cloud_build_info: { build_id: '1' }, status: 'anything' }
    const upper = path.replace(nodeId, nodeId.toUpperCase())
    const answer = expectStatus(await anonymous.post(upper, body), 204)
    assert.equal(answer.body, undefined)
    expectStatus(await anonymous.post(path, body), 409, 'already_registered')
    expectStatus(await anonymous.post(path, { success: false }), 409, 'already_registered')
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

  test('are registered by one of two at once', async () => {
    const { path } = await newVersion()
    const answers = await Promise.all(
      [1, 2].map(() => registry.anonymous.post(path, { success: true, nodes: {} })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [204, 409],
    )
  })

  test('may fail first', async () => {
    const { nodeId, path } = await newVersion()
    const { anonymous } = registry
    expectStatus(await anonymous.post(path, { status: 'FAILED', reason: 'no import' }), 204)
    const version = await anonymous.get(path.replace('/host-nodes', ''))
    assert.equal(version.body['host_node_extract_status'], 'failed')
    const findings = await owned.owner.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
    assert.deepEqual(findings.body['extraction'], {
      status: 'failed',
      reason: 'no import',
      partial: false,
    })
    expectStatus(await anonymous.post(path, { nodes: {} }), 204)
  })

  test('of nothing that is there are not found', async () => {
    const { nodeId } = await newVersion()
    const { anonymous } = registry
    for (const body of [{ nodes: {} }, { success: false }]) {
      expectStatus(
        await anonymous.post('/nodes/none/versions/1.0.0/host-nodes', body),
        404,
        'node_not_found',
      )
      for (const version of ['9.0.0', 'x'])
        expectStatus(
          await anonymous.post(`/nodes/${nodeId}/versions/${version}/host-nodes`, body),
          404,
          'version_not_found',
        )
    }
  })

  test('are taken from whoever has the token, where there is one', async () => {
    const { path } = await newVersion()
    const closed = makeClient(closedUrl)
    const post = (authorization?: string) =>
      fetch(closedUrl + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
        body: '{"nodes":{"T":{}}}',
      })
    for (const wrong of [undefined, 'Bearer x', `Basic ${EXTRACTION_TOKEN}`, EXTRACTION_TOKEN]) {
      const refused = await post(wrong)
      assert.equal(refused.status, 401, wrong)
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
    }
    assert.equal((await post(`Bearer ${EXTRACTION_TOKEN}`)).status, 204)
    assert.equal((await closed.get(path)).body['total'], 1)
  })

  test('may be very many', async () => {
    const { path } = await newVersion()
    const nodes = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`N${index}`, { input_types: 'x'.repeat(2000) }]),
    )
    expectStatus(await registry.anonymous.post(path, { nodes }), 204)
    const last = await registry.anonymous.get(`${path}?page=5&limit=1000`)
    assert.equal((last.body['host_nodes'] as unknown as unknown[]).length, 1000)
  })

  const BAD: [string, object][] = [
    ['a list', { nodes: [] }],
    ['nothing for a success', { success: true }],
    ['null', { nodes: null }],
    ['5,001', { nodes: Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [at, {}])) }],
    ['success as a text', { success: 'true', nodes: {} }],
    ['a text for output_is_list', { nodes: { a: { output_is_list: 'x' } } }],
    ['no name', { nodes: { '': {} } }],
    ['a long reason', { success: false, reason: 'x'.repeat(2001) }],
  ]
  for (const [what, body] of BAD)
    test(`are refused when they are ${what}`, async () => {
      const nodeId = unique('node')
      await addVersion(owned, { nodeId })
      const path = `/nodes/${nodeId}/versions/1.0.0/host-nodes`
      const refused = await registry.anonymous.post(path, body)
      expectStatus(refused, 400, 'validation_failed')
      assert.equal(refused.body.details?.length, 1, refused.body.details?.join('\n'))
    })
})
