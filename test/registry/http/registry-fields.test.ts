import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf } from '../../support/client.ts'
import { RECORDS } from '../../../tools/docs/fields.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { admin, anonymous, sql, place } = registry
const owned = usePublisher(registry)

type Fields = Record<string, unknown>

/** Fields that have had a value in a response, by the record they are of. */
const seen = new Map<string, Set<string>>(RECORDS.map(({ title }) => [title, new Set()]))

/** Notes the fields of a response that have a value; returns it. */
const see = (title: string, record: Fields): Fields => {
  for (const [name, value] of Object.entries(record))
    if (![undefined, '', 0].includes(value as never) && JSON.stringify(value) !== '[]')
      seen.get(title)?.add(name)
  return record
}

const pick = (record: Fields, names: object): Fields =>
  Object.fromEntries(Object.keys(names).map((name) => [name, record[name]]))

const SUPPORT = {
  supported_os: ['OS Independent'],
  supported_accelerators: ['GPU :: NVIDIA CUDA'],
  supported_host_version: '>=1.2',
  supported_host_frontend_version: '>=3.4',
}

describe('each field of the registry has a value that comes back', () => {
  const nodeId = unique('node')
  const version = `/nodes/${nodeId}/versions/1.0.0`

  test('of a publisher, its members and tokens', async () => {
    const given = {
      name: 'Acme',
      description: 'Makes tools.',
      logo: 'https://acme.example/logo.png',
      source_code_repo: 'https://git.example/acme',
      website: 'https://acme.example',
      support: 'help@acme.example',
    }
    const edited = see(
      'Publisher',
      expectStatus(await owned.owner.put(owned.path, given), 200).body,
    )
    assert.deepEqual(pick(edited, given), given)
    await owned.addMember('member')
    const [first] = listOf(await owned.owner.get(`${owned.path}/members`))
    assert.equal(see('PublisherMember', first ?? {})['role'], 'owner')
    await owned.addNode()
    const scoped = {
      name: 'ci',
      description: 'for the build',
      scope: 'publish',
      node_id: await owned.addNode(),
      expires_at: '2999-01-01T00:00:00.000Z',
    }
    expectStatus(await owned.owner.post(`${owned.path}/tokens`, scoped), 201)
    await sql`update personal_access_token set last_used_at = now()`
    const tokens = listOf(await owned.owner.get(`${owned.path}/tokens`))
    const made = see('PersonalAccessToken', tokens.find(({ name }) => name === 'ci') ?? {})
    assert.deepEqual(pick(made, scoped), scoped)
  })

  test('of a node and its versions', async () => {
    const node = {
      name: 'Tools',
      description: 'Cuts and blurs.',
      author: 'Ann',
      banner_url: 'https://acme.example/banner.png',
      icon: 'https://acme.example/icon.png',
      repository: 'https://github.com/acme/tools',
      license: '{"file": "LICENSE"}',
      category: 'image',
      translations: { de: { name: 'Werkzeuge', description: 'Schneidet.' } },
      tags: ['image'],
      ...SUPPORT,
    }
    const given = {
      changelog: 'First.',
      dependencies: ['numpy>=1.26'],
      deprecated: true,
      tags: ['beta'],
      ...SUPPORT,
    }
    const added = await owned.addActive({ nodeId, node, given })
    const byAdmin = {
      search_ranking: 2,
      preempted_host_node_names: ['Blur'],
      tags_admin: ['featured'],
      github_stars: 7,
    }
    expectStatus(await admin.put(`/admin/nodes/${nodeId}`, byAdmin), 200)
    expectStatus(await admin.put(`/admin${version}`, { tags_admin: ['checked'] }), 200)
    await sql`update version set license_id = 'MIT', provenance = ${sql.json({
      issuer: 'https://token.actions.githubusercontent.com',
      repository: 'https://github.com/acme/tools',
    })} where id = ${added.id}`
    expectStatus(await anonymous.get(`/nodes/${nodeId}/install?version=1.0.0`), 200)
    const { client: reader } = await registry.addUser('reader')
    expectStatus(await reader.put(`/nodes/${nodeId}/reviews/mine`, { stars: 4 }), 200)
    const shown = see('Node', expectStatus(await anonymous.get(`/nodes/${nodeId}`), 200).body)
    assert.deepEqual(pick(shown, { ...node, ...byAdmin }), { ...node, ...byAdmin })
    const latest = see('NodeVersion', shown['latest_version'] as Fields)
    assert.deepEqual(pick(latest, given), given)
    await sql`update node set stars_by_admin = null, stars_updated_at = now() where id = ${nodeId}`
    see('Node', (await anonymous.get(`/nodes/${nodeId}`)).body)
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    const banned = expectStatus(await admin.put(`/admin/nodes/${nodeId}`, ban), 200).body
    assert.equal(see('Node', banned)['status_detail'], 'malware')
    expectStatus(await admin.put(`/admin/nodes/${nodeId}`, { status: 'NodeStatusActive' }), 200)
  })

  test('of a host node, and of a version that has none', async () => {
    const blur = {
      display_name: 'Blur an image',
      category: 'image/filter',
      description: 'Blurs.',
      function: 'blur',
      deprecated: true,
      experimental: true,
      output_node: true,
      input_types: '{"required": {"image": ["IMAGE"]}}',
      return_types: '["IMAGE"]',
      return_names: '["image"]',
      output_is_list: [false],
    }
    const reported = { nodes: { Blur: blur } }
    expectStatus(await owned.owner.post(`${version}/host-nodes`, reported), 204)
    const policy = { policy: 'HostNodePolicyLocalOnly', reason: 'reads files' }
    expectStatus(await admin.put(`/admin/nodes/${nodeId}/host-nodes/Blur`, policy), 200)
    await sql`update host_node set dynamic = '{input_types.image}'`
    const shown = expectStatus(await anonymous.get(`${version}/host-nodes/Blur`), 200).body
    assert.deepEqual(pick(see('HostNode', shown), blur), blur)
    see('NodeVersion', expectStatus(await anonymous.get(version), 200).body)
    const other = await owned.addActive()
    const failure = { success: false, reason: 'it cannot be imported' }
    expectStatus(await owned.owner.post(`${other.version}/host-nodes`, failure), 204)
    see('NodeVersion', expectStatus(await anonymous.get(other.version), 200).body)
    await place.transition(other.id, 'admin_flag', 'looked at')
    const flagged = see('NodeVersion', (await anonymous.get(other.version)).body)
    assert.equal(flagged['status_reason'], 'looked at')
    const finding = {
      issue_type: 'eval',
      severity: 'high',
      file_path: 'a.py',
      line_number: 3,
      message: 'It runs text.',
    }
    await sql`insert into finding ${sql({ ...finding, version_id: other.id, scanner: 'kiln', position: 0 })}`
    const own = see('NodeVersion', (await owned.owner.get(other.version)).body)
    assert.equal(flagged['findings'], undefined, 'nobody else reads them')
    assert.deepEqual(pick((own['findings'] as Fields[])[0] ?? {}, finding), finding)
  })

  for (const { title, schema } of RECORDS)
    test(`of ${title}, none left out`, () => {
      const missing = Object.keys(schema.properties).filter((name) => !seen.get(title)?.has(name))
      assert.deepEqual(missing, [])
    })
})
