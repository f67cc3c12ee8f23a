import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { UNKNOWN_NODE } from '../../../packages/inspector/src/nodes/unknown-node.ts'
import type { WorkflowName } from '../../../packages/inspector/src/inspection.ts'
import { finishExtraction, putExtraction } from '../../../src/registry/db/extraction.ts'
import { putBuiltIn } from '../../../src/registry/db/graph.ts'
import { expectStatus, makeClient } from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry({ env: {} })
const { anonymous, admin, sql } = registry
const owned = usePublisher(registry)

const LOADER = { input_types: '{"required":{"name":[["a","b"]]}}', return_types: '["MODEL"]' }
const sampler = (choices: string[], types = ['LATENT']) => ({
  input_types: JSON.stringify({
    required: { model: ['MODEL'], steps: ['INT', { default: 20 }], sampler: [choices] },
  }),
  return_types: JSON.stringify(types),
})

/** Publishes a version with these host nodes. */
const publish = async (
  nodeId: string,
  version: string,
  nodes: Record<string, object>,
  given = {},
  node = {},
): Promise<void> => {
  const added = await owned.addActive({ nodeId, version, given, node })
  expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
}

/** Publishes a version, and stores what a reading of its archive has found. */
const publishRead = async (
  nodeId: string,
  version: string,
  { nodes, names }: { nodes: readonly string[]; names: readonly WorkflowName[] },
): Promise<void> => {
  await owned.addActive({ nodeId, version })
  const [row] = await sql<{ versionId: string; sha256: string }[]>`
    select v.id as "versionId", a.sha256 from version v join archive a on a.version_id = v.id
    where v.node_id = ${nodeId} and v.version = ${version}
  `
  assert.ok(row)
  const known = { extractorVersion: 10, status: 'success', how: 'v1', partial: false } as const
  const section = {
    ...known,
    reasons: [],
    dropped: 0,
    nodes: nodes.map((name) => ({ ...UNKNOWN_NODE, name })),
    workflow_names: [...names],
    stats: {},
  }
  await sql.begin(async (given) => {
    await putExtraction(given, row, section)
    await finishExtraction(given, row.versionId)
  })
}

const [pack, other, twin] = [unique('sampler'), unique('other'), unique('twin')]
const [Sampler, Loader, Twin] = [unique('Sampler'), unique('Loader'), unique('Twin')]

const workflow = (properties: object = { cnr_id: pack, ver: '1.0.0' }) => ({
  nodes: [
    { id: 1, type: Loader, outputs: [{ type: 'MODEL' }], widgets_values: ['a'] },
    {
      id: 2,
      type: Sampler,
      title: 'Main',
      inputs: [{ name: 'model', type: 'MODEL', link: 1 }],
      outputs: [{ type: 'LATENT' }],
      widgets_values: [20, 'euler'],
      properties,
    },
    { id: 3, type: Twin },
    { id: 4, type: 'NobodyKnows', properties: { cnr_id: 'gone-pack', ver: '2.0.0' } },
    { id: 5, type: 'KSaver', properties: { cnr_id: 'comfy-core', ver: '0.3.64' } },
    { id: 6, type: 'Note' },
    { id: 7, type: 'KSampler' },
  ],
  links: [[1, 1, 0, 2, 0, 'MODEL']],
})

/** One host node of each name, in both forms, without the packs unless given. */
const apiOf = (...names: string[]) =>
  Object.fromEntries(names.map((name, id) => [id, { class_type: name, inputs: {} }]))
const editorOf = (first: string, second: string, properties = {}) => ({
  nodes: [
    { id: 1, type: first, properties },
    { id: 2, type: second },
  ],
})

const byId = ([a]: readonly unknown[], [b]: readonly unknown[]) => (String(a) < String(b) ? -1 : 1)

const pick = (body: Record<string, unknown>, name: string) =>
  body[name] as Record<string, unknown>[]

const resolve = async (body: object) =>
  expectStatus(await anonymous.post('/workflows/resolve', { workflow: workflow(), ...body }), 200)
const check = async (body: object) =>
  expectStatus(await anonymous.post('/workflows/check', { workflow: workflow(), ...body }), 200)

registry.prepare(async () => {
  const old = { [Sampler]: sampler(['euler', 'heun']) }
  await publish(pack, '1.0.0', old, { dependencies: ['numpy<2'] })
  await publish(pack, '1.1.0', old, { dependencies: ['numpy<2'] })
  const broken = { [Sampler]: sampler(['heun']) }
  const given = { dependencies: ['numpy<2'], supported_host_version: '>=1.4' }
  await publish(pack, '2.0.0', broken, given)
  const node = { repository: `https://github.com/Acme/${other}.git` }
  await publish(
    other,
    '1.0.0',
    { [Loader]: LOADER, [Twin]: {} },
    { dependencies: ['numpy>=2'] },
    node,
  )
  await publish(twin, '1.0.0', { [Twin]: {} })
})

describe('resolving a workflow', () => {
  test('finds the pack of each host node, and says why', async () => {
    const { body } = await resolve({})
    assert.deepEqual(body['counts'], { nodes: 6, built_in: 2, found: 3, unknown: 1 })
    const found = pick(body, 'host_nodes').map((one) => [
      one['host_node'],
      one['origin'],
      one['node_id'],
      one['reason'],
    ])
    assert.deepEqual(
      found,
      [
        [Loader, 'found', other, 'only_claim'],
        [Sampler, 'found', pack, 'only_claim'],
        [Twin, 'found', other, 'oldest_claim'],
        ['KSampler', 'built_in', undefined, undefined],
        ['KSaver', 'built_in', undefined, undefined],
        ['NobodyKnows', 'unknown', undefined, undefined],
      ].toSorted(byId),
    )
    const unknown = pick(body, 'host_nodes').find(({ origin }) => origin === 'unknown')
    assert.match(String(unknown?.['message']), /saved with "gone-pack"/)
  })

  test('takes the pack that has all where two have a name, though the other has it for longer', async () => {
    const [both, one] = [unique('Both'), unique('One')]
    await publish(unique('older'), '1.0.0', { [both]: {} })
    const wide = unique('wide')
    await publish(wide, '1.0.0', { [both]: {}, [one]: {} })
    const { body } = await resolve({ workflow: apiOf(both, one) })
    const found = pick(body, 'host_nodes').map(({ node_id, reason }) => [node_id, reason])
    assert.deepEqual(found, [
      [wide, 'fewest_packs'],
      [wide, 'only_claim'],
    ])
    assert.equal(pick(body, 'packs').length, 1)
  })

  test('takes the saved versions where they are preferred, and names those that cannot be had', async () => {
    const versionOf = async (ver: string, prefer?: string) => {
      const { body } = await resolve({
        workflow: workflow({ cnr_id: pack, ver }),
        ...(prefer && { prefer }),
      })
      const found = pick(body, 'packs').find(({ node_id: id }) => id === pack)
      return [found?.['version'], found?.['saved_version'], found?.['message']]
    }
    assert.deepEqual(await versionOf('1.0.0'), ['2.0.0', '1.0.0', undefined])
    assert.deepEqual(await versionOf('1.0.0', 'saved'), ['1.0.0', '1.0.0', undefined])
    const gone =
      'The workflow was saved with 1.9.0, which is not among its versions that can be installed there: 2.0.0 is taken.'
    assert.deepEqual(await versionOf('1.9.0', 'saved'), ['2.0.0', '1.9.0', gone])
    for (const build of ['nightly', '9c1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b']) {
      const [, named, message] = await versionOf(build, 'saved')
      assert.equal(named, build)
      assert.match(String(message), /is a commit or a build, and no version: 2\.0\.0 is taken/)
    }
    const { status } = await anonymous.post('/workflows/resolve', {
      workflow: workflow(),
      prefer: 'oldest',
    })
    assert.equal(status, 400)
  })

  test('takes an older version that has what the newest lacks, and says so', async () => {
    const [kept, dropped, id] = [unique('Kept'), unique('Dropped'), unique('shrinks')]
    await publish(id, '1.0.0', { [kept]: {}, [dropped]: {} })
    await publish(id, '2.0.0', { [kept]: {} })
    const nodes = [
      { id: 1, type: kept, properties: { cnr_id: id, ver: '1.0.0' } },
      { id: 2, type: dropped, properties: { cnr_id: id, ver: '1.0.0' } },
    ]
    const { body } = await resolve({ workflow: { nodes, links: [] } })
    const [found] = pick(body, 'packs')
    assert.deepEqual(
      [found?.['version'], found?.['message']],
      ['1.0.0', `Version 2.0.0 does not list: ${dropped}.`],
    )
    const own = await resolve({ workflow: { nodes, links: [] }, installed: { [id]: '2.0.0' } })
    const [installed] = pick(own.body, 'packs')
    assert.deepEqual(
      [installed?.['version'], installed?.['missing_host_nodes']],
      ['2.0.0', [dropped]],
    )
  })

  test('says by what the host has replaced a host node, with its inputs', async () => {
    const old = ['T2IAdapterLoader', 'SDV_img2vid_Conditioning', 'ConditioningAverage ']
    const { body } = await resolve({
      workflow: apiOf(...old, 'Load3DAnimation', 'Preview3DAnimation'),
    })
    assert.deepEqual(body['counts'], { nodes: 5, built_in: 5, found: 0, unknown: 0 })
    const found = pick(body, 'host_nodes').map((one) => [one['host_node'], one['replaced_by']])
    assert.deepEqual(Object.fromEntries(found), {
      T2IAdapterLoader: {
        host_node: 'ControlNetLoader',
        inputs: [{ input: 'control_net_name', from: 't2i_adapter_name' }],
      },
      SDV_img2vid_Conditioning: { host_node: 'SVD_img2vid_Conditioning', inputs: [] },
      'ConditioningAverage ': { host_node: 'ConditioningAverage', inputs: [] },
      Load3DAnimation: { host_node: 'Load3D', inputs: [] },
      Preview3DAnimation: { host_node: 'Preview3D', inputs: [] },
    })
  })

  test('names the pack whose scripts have a node in the editor, and misses nothing', async () => {
    const [id, old, real] = [unique('editor'), unique('older'), unique('real')]
    const [SetNode, Real] = [unique('SetNode'), unique('Real')]
    await publishRead(old, '1.0.0', { nodes: [], names: [{ name: SetNode }] })
    await publishRead(id, '1.0.0', { nodes: [real], names: [{ name: SetNode }, { name: '\0' }] })
    await publish(unique('server'), '1.0.0', { [Real]: {} })
    const found = async (body: object) => {
      const response = await resolve(body)
      const one = pick(response.body, 'host_nodes').find(({ host_node: name }) => name === SetNode)
      return { ...response.body, one }
    }
    const alone = await found({ workflow: apiOf(SetNode) })
    assert.deepEqual(alone.one, {
      host_node: SetNode,
      count: 1,
      nodes: [{ id: '0' }],
      origin: 'found',
      node_id: old,
      reason: 'oldest_claim',
      message: 'This pack has had the name for longest. It is a node of the editor alone.',
      is_editor_only: true,
      other_node_ids: [id],
    })
    const both = await found({ workflow: editorOf(SetNode, real, { cnr_id: id }) })
    assert.deepEqual([both.one?.['node_id'], both.one?.['reason']], [id, 'named_by_workflow'])
    const [needed] = pick(both, 'packs')
    assert.deepEqual(
      [needed?.['host_nodes'], needed?.['missing_host_nodes'], needed?.['message']],
      [[real, SetNode].toSorted(), [], undefined],
    )
    const checked = await check({
      workflow: editorOf(SetNode, real, { cnr_id: id }),
      from: { [id]: '1.0.0' },
    })
    assert.equal(checked.body['verdict'], 'safe')
    await publishRead(id, '2.0.0', { nodes: [real], names: [] })
    const installed = await found({ workflow: apiOf(SetNode), installed: { [id]: '1.0.0' } })
    assert.deepEqual([installed.one?.['node_id'], installed.one?.['reason']], [id, 'installed'])
    const later = await found({ workflow: apiOf(SetNode) })
    assert.deepEqual(later.one?.['other_node_ids'], undefined)
  })

  test('says by what a pack has replaced a host node that no other has', async () => {
    const id = unique('renames')
    const [Old, New] = [unique('Old'), unique('New')]
    const replaced_by = { host_node: New, inputs: [{ input: 'steps', from: 'count' }] }
    const names = [Old, Sampler].map((name) => ({ name, replaced_by }))
    await publishRead(id, '1.0.0', { nodes: [New], names })
    const { body } = await resolve({ workflow: apiOf(Old, Sampler) })
    const found = pick(body, 'host_nodes').map((one) => [
      one['host_node'],
      one['node_id'],
      one['replaced_by'],
    ])
    assert.deepEqual(
      found,
      [
        [Old, id, replaced_by],
        [Sampler, pack, undefined],
      ].toSorted(byId),
    )
    const [needed] = pick(body, 'packs').filter(({ node_id }) => node_id === id)
    assert.deepEqual([needed?.['version'], needed?.['missing_host_nodes']], ['1.0.0', []])
    const message = pick(body, 'host_nodes').find(({ node_id }) => node_id === id)?.['message']
    assert.equal(message, `No other pack has it. The pack has ${New} in its place.`)
  })

  test('takes the pack that a host node was saved with, where no version lists it', async () => {
    const nodes = [
      { id: 1, type: 'EditorOnly', properties: { cnr_id: pack.toUpperCase(), ver: '1.0.0' } },
      { id: 2, type: 'Elsewhere', properties: { aux_id: `Acme/${other}` } },
      { id: 3, type: 'Spam', properties: { cnr_id: pack } },
    ]
    const policy = `/admin/nodes/${pack}/host-nodes/Spam`
    const banned = { policy: 'HostNodePolicyBanned', reason: 'spam' }
    expectStatus(await admin.put(policy, banned), 200)
    const { body } = await resolve({ workflow: { nodes, links: [] } })
    const found = pick(body, 'host_nodes').map(({ host_node, node_id, reason }) => [
      host_node,
      node_id,
      reason,
    ])
    assert.deepEqual(found, [
      ['EditorOnly', pack, 'recorded'],
      ['Elsewhere', other, 'recorded'],
      ['Spam', undefined, undefined],
    ])
    const needed = pick(body, 'packs').find(({ node_id: id }) => id === pack)
    assert.deepEqual(needed?.['missing_host_nodes'], ['EditorOnly'])
    assert.match(String(needed?.['message']), /does not list: EditorOnly/)
  })

  test('has the names of an operator in place of those that are shipped', async () => {
    await putBuiltIn(sql, [Sampler])
    const { body } = await resolve({})
    await sql`truncate built_in_host_node`
    const origins = pick(body, 'host_nodes').map(({ host_node, origin }) => [host_node, origin])
    const origin = Object.fromEntries(origins) as Record<string, string>
    assert.deepEqual([origin[Sampler], origin['KSampler']], ['built_in', 'unknown'])
  })

  test('a key of narrow scope resolves workflows, as anybody does', async () => {
    const key = expectStatus(
      await owned.owner.post('/users/api-keys', { name: 'x', scopes: ['images'] }),
      201,
    )
    const keyed = makeClient(
      () => registry.service.baseUrl,
      () => Promise.resolve(String(key.body['key'])),
    )
    const body = { workflow: workflow() }
    expectStatus(await keyed.post('/workflows/resolve', body), 200)
    expectStatus(await keyed.post('/workflows/check', body), 200)
  })

  test('lists the models that it names, and shows platform admins who has them', async () => {
    const name = unique('gpu')
    await sql`insert into instance (name, model_files) values (${name}, ${['vae/a.pt', 'loras/b.pt']})`
    const nodes = [
      { id: 1, type: 'VAELoader', widgets_values: ['a.pt'] },
      { id: 2, type: 'VAELoader', widgets_values: ['b.pt'] },
    ]
    const body = { workflow: { nodes, links: [] } }
    const shown = ['a.pt', 'b.pt'].map((file) => ({
      file,
      folder: 'vae',
      host_nodes: ['VAELoader'],
    }))
    const { body: found } = await resolve(body)
    assert.deepEqual(found['models'], shown)
    const seen = expectStatus(await admin.post('/workflows/resolve', body), 200)
    assert.deepEqual(
      seen.body['models'],
      shown.map((model, index) => ({ ...model, instances: index === 0 ? [name] : [] })),
    )
    const { models: _, ...rest } = seen.body
    const { models: __, ...others } = found
    assert.deepEqual(rest, others)
  })

  test('locks the newest versions that fit, with the address and digest of each archive', async () => {
    const { body } = await resolve({ host_version: '1.3.0' })
    const lock = pick(body, 'lock')
    assert.deepEqual(
      lock.map(({ node, version }) => [node, version]),
      [
        [other, '1.0.0'],
        [pack, '1.1.0'],
      ].toSorted(byId),
    )
    assert.match(String(lock[0]?.['sha256']), /^[\da-f]{64}$/)
    assert.match(String(lock[0]?.['url']), /\/archives\/.*\/1\.\d\.0\/node\.zip$/)
    const newest = pick((await resolve({})).body, 'packs').find(({ node_id: id }) => id === pack)
    assert.equal(newest?.['version'], '2.0.0')
  })

  test('keeps what is installed, and prefers its packs', async () => {
    const { body } = await resolve({ installed: { [pack.toUpperCase()]: '1.0', [twin]: '1.0.0' } })
    const packs = pick(body, 'packs')
    const shown = packs.map((one) => [one['node_id'], one['version'], one['is_installed']])
    assert.deepEqual(
      shown,
      [
        [other, '1.0.0', false],
        [pack, '1.0.0', true],
        [twin, '1.0.0', true],
      ].toSorted(byId),
    )
  })

  test('names Python packages of which no version suits all', async () => {
    const [conflict] = pick((await resolve({})).body, 'conflicts')
    assert.equal(conflict?.['package'], 'numpy')
    assert.match(String(conflict?.['message']), /asks for numpy<2/)
  })

  test('a host node of a banned name is found in the next pack', async () => {
    const path = `/admin/nodes/${other}/host-nodes/${Twin}`
    const banned = { policy: 'HostNodePolicyBanned', reason: 'spam' }
    expectStatus(await admin.put(path, banned), 200)
    const found = pick((await resolve({})).body, 'host_nodes').find(
      (one) => one['host_node'] === Twin,
    )
    assert.equal(found?.['node_id'], twin)
    expectStatus(await admin.put(path, { policy: 'HostNodePolicyActive', reason: 'mended' }), 200)
  })
})

describe('checking a workflow', () => {
  test('says what the newest version does to it, and proposes one that breaks nothing', async () => {
    const { body } = await check({ from: { [other]: '1.0.0' } })
    assert.equal(body['verdict'], 'breaks')
    const [change, ...more] = pick(body, 'changes')
    assert.deepEqual(more, [])
    assert.deepEqual(change?.['node'], { id: '2', title: 'Main' })
    assert.deepEqual(
      [change?.['pack'], change?.['host_node'], change?.['code'], change?.['input']],
      [pack, Sampler, 'option_removed', 'sampler'],
    )
    const checked = pick(body, 'packs').find(({ node_id: id }) => id === pack)
    assert.deepEqual(
      [checked?.['from'], checked?.['to'], checked?.['newest_safe']],
      ['1.0.0', '2.0.0', '1.1.0'],
    )
  })

  test('finds nothing where the versions are as asked, or the host keeps the older', async () => {
    const from = { [other]: '1.0.0' }
    for (const asked of [{ to: { [pack]: '1.1.0' } }, { host_version: '1.3.0' }]) {
      const { body } = await check({ from, ...asked })
      assert.deepEqual(body['counts'], { breaks: 0, may_break: 0, nodes: 6, unknown: 1 })
      assert.deepEqual(body['unknown_host_nodes'], ['NobodyKnows'])
      const checked = pick(body, 'packs').find(({ node_id: id }) => id === pack)
      assert.deepEqual([checked?.['to'], checked?.['verdict']], ['1.1.0', 'safe'])
    }
  })

  test('says of packs that cannot be compared why, and what to do', async () => {
    const [saved, none] = [{ [other]: '1.0.0', [pack]: '1.0.0' }, { [pack]: '9.9.9' }]
    const { nodes } = workflow({})
    const known = { nodes: nodes.filter(({ type }) => type !== 'NobodyKnows') }
    for (const [asked, reason, says] of [
      [{}, 'from_unknown', /does not say with which version .*: choose the installed one\.$/],
      [
        { from: none },
        'from_not_found',
        /^There is no version "9\.9\.9" here .*: choose another\.$/,
      ],
      [{ from: saved, to: none }, 'to_not_found', /^There is no version "9\.9\.9" here /],
    ] as const) {
      const { body } = await check({ workflow: known, ...asked })
      assert.equal(body['verdict'], 'none')
      const checked = pick(body, 'packs').find(({ node_id: id }) => id === pack)
      assert.deepEqual([checked?.['verdict'], checked?.['reason']], ['none', reason])
      assert.match(String(checked?.['message']), says)
    }
  })
})

describe('a host node that an update removed', () => {
  const [lossy, taker] = [unique('lossy'), unique('taker')]
  const [Gone, Kept, Taken] = [unique('Gone'), unique('Kept'), unique('Taken')]
  const forms = { api: apiOf(Gone, Kept), editor: editorOf(Gone, Kept) }
  const saved = 'The workflow was saved with this pack, which had it until version 1.4.0,'
  const until = new RegExp(`Pack ${lossy} had it until version 1\\.4\\.0,`)
  const last_version = { node_id: lossy, version: '1.4.0' }
  const hostNode = (body: Record<string, unknown>, name = Gone) =>
    pick(body, 'host_nodes').find((one) => one['host_node'] === name)

  registry.prepare(async () => {
    const all = { [Gone]: {}, [Kept]: {}, [Taken]: {} }
    await publish(lossy, '1.4.0', all)
    await publish(lossy, '1.0.0', all)
    await publish(lossy, '2.0.0', { [Kept]: {} })
    await publish(taker, '1.0.0', { [Taken]: {} })
  })

  for (const [form, workflow] of Object.entries(forms))
    test(`breaks the ${form} form, in which no pack is named`, async () => {
      const { body } = await check({ workflow, from: { [lossy.toUpperCase()]: 'v1.0' } })
      assert.deepEqual(body['unknown_host_nodes'], [])
      const changes = pick(body, 'changes').map(({ code, host_node, pack: id }) => [
        code,
        host_node,
        id,
      ])
      assert.deepEqual([body['verdict'], changes], ['breaks', [['host_node_removed', Gone, lossy]]])
    })

  for (const [form, workflow] of Object.entries(forms))
    test(`is unknown in the ${form} form where no version is given, with the last that had it`, async () => {
      const { body } = await check({ workflow, to: { [lossy]: '2.0.0' } })
      assert.deepEqual([body['verdict'], body['unknown_host_nodes']], ['unknown', [Gone]])
      const [{ message, ...unknown } = {}] = pick(body, 'unknown')
      assert.deepEqual(unknown, { host_node: Gone, origin: 'unknown', last_version })
      assert.match(String(message), until)
      const found = hostNode((await resolve({ workflow })).body)
      assert.deepEqual([found?.['origin'], found?.['last_version']], ['unknown', last_version])
      assert.match(String(found?.['message']), until)
    })

  test('is found in the installed version that has it, before packs that have it now', async () => {
    const workflow = apiOf(Gone, Taken)
    const { body } = await resolve({ workflow, installed: { [lossy]: '1.0.0' } })
    for (const [name, reason] of [
      [Gone, 'only_claim'],
      [Taken, 'installed'],
    ] as const) {
      const found = hostNode(body, name)
      assert.deepEqual([found?.['node_id'], found?.['reason']], [lossy, reason])
    }
    const [needed, ...more] = pick(body, 'packs')
    assert.deepEqual(
      [more, needed?.['version'], needed?.['is_installed'], needed?.['missing_host_nodes']],
      [[], '1.0.0', true, []],
    )
    const from = { [lossy]: '1.0.0', [taker]: '1.0.0' }
    const checked = await check({ workflow, from })
    assert.deepEqual(checked.body['counts'], { breaks: 2, may_break: 0, nodes: 2, unknown: 0 })
    const now = hostNode((await resolve({ workflow })).body, Taken)
    assert.deepEqual([now?.['node_id'], now?.['last_version']], [taker, undefined])
  })

  test('is shown with the last version of the pack that it was saved with', async () => {
    const { body } = await resolve({ workflow: editorOf(Gone, Kept, { cnr_id: lossy }) })
    const found = hostNode(body)
    assert.deepEqual(
      [found?.['node_id'], found?.['reason'], found?.['last_version']],
      [lossy, 'recorded', last_version],
    )
    assert.ok(String(found?.['message']).startsWith(saved))
  })

  test('is unknown without a version where none ever had it', async () => {
    const workflow = apiOf(unique('Never'))
    for (const asked of [{}, { from: { [lossy]: '1.0.0' } }, { from: { [lossy]: 'none' } }]) {
      const { body } = await check({ workflow, ...asked })
      const [unknown] = pick(body, 'unknown')
      assert.deepEqual([body['verdict'], unknown?.['last_version']], ['unknown', undefined])
      assert.match(String(unknown?.['message']), /Ask whoever made the workflow/)
    }
  })

  test('is said to be replaced where the newer version, or the host, has another in its place', async () => {
    const id = unique('renamer')
    const [Old, New] = [unique('Old'), unique('New')]
    const replaced_by = { host_node: New, inputs: [{ input: 'steps', from: 'count' }] }
    const host = 'SDV_img2vid_Conditioning'
    await publishRead(id, '1.0.0', { nodes: [Old, host], names: [] })
    await publishRead(id, '2.0.0', { nodes: [New], names: [{ name: Old, replaced_by }] })
    const asked = { workflow: apiOf(Old, host, 'T2IAdapterLoader'), from: { [id]: '1.0.0' } }
    const { body } = await check(asked)
    const changes = pick(body, 'changes').map(({ host_node, code, level, message, ...change }) => [
      host_node,
      code,
      level,
      message,
      change['replaced_by'],
    ])
    const inPlace = { host_node: 'SVD_img2vid_Conditioning', inputs: [] }
    const code = ['host_node_replaced', 'may_break']
    assert.deepEqual(
      changes.toSorted(byId),
      [
        [Old, ...code, `The pack has ${New} in its place.`, replaced_by],
        [host, ...code, 'The host has SVD_img2vid_Conditioning in its place.', inPlace],
      ].toSorted(byId),
    )
    assert.equal(body['verdict'], 'may_break')
    const shown = pick(body, 'replaced')
    const resolved = await resolve({ workflow: asked.workflow, installed: asked.from })
    assert.deepEqual(
      shown.map(({ host_node, message }) => [host_node, message]),
      pick(resolved.body, 'host_nodes')
        .filter((one) => one['replaced_by'] !== undefined)
        .map(({ host_node, message }) => [host_node, message]),
    )
    assert.deepEqual(
      shown.map(({ host_node }) => host_node),
      ['T2IAdapterLoader'],
    )
  })

  test('of a pack that could not be read is said to be so, with the reason', async () => {
    const id = unique('unread')
    await publish(id, '1.0.0', { [unique('Known')]: LOADER })
    await sql`
      update version set host_node_extract_status = 'failed', extract_source = 'derived',
        extract_reason = 'mapping_unknown', host_node_partial = null
      where node_id = ${id}
    `
    const nodes = [{ id: 1, type: 'Hidden', properties: { cnr_id: id, ver: '1.0.0' } }]
    const why =
      /^The workflow was saved with this pack\. The host nodes of version 1\.0\.0 could not be read, .* made at run time/
    const { body } = await resolve({ workflow: { nodes, links: [] } })
    const [found] = pick(body, 'host_nodes')
    assert.deepEqual([found?.['node_id'], found?.['reason']], [id, 'recorded'])
    assert.match(String(found?.['message']), why)
    const reading = /^The host nodes of version 1\.0\.0 could not be read, .* made at run time/
    assert.match(String(pick(body, 'packs')[0]?.['message']), reading)
    const checked = await check({ workflow: { nodes, links: [] } })
    const [pack] = pick(checked.body, 'packs')
    assert.equal(pack?.['reason'], 'host_nodes_unread')
    assert.match(String(pack?.['message']), reading)
  })

  test('is no change that hides another, nor hidden by one', async () => {
    const sampled = { type: Sampler, widgets_values: [20, 'euler'] }
    const properties = { cnr_id: pack, ver: '1.0.0' }
    for (const [mode, verdict] of [
      [0, 'breaks'],
      [2, 'may_break'],
    ] as const) {
      const node = { id: 1, ...sampled, properties, mode, inputs: [], outputs: [] }
      const { body } = await check({ workflow: { nodes: [node, { id: 2, type: Gone }] } })
      assert.deepEqual([body['verdict'], body['unknown_host_nodes']], [verdict, [Gone]])
    }
  })

  test('is shown in versions that everybody may install, and found in those that may be read', async () => {
    const [hidden, Hidden] = [unique('hidden'), unique('Hidden')]
    const workflow = apiOf(Hidden)
    const nodes = { [Hidden]: {} }
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publish(hidden, version, nodes)
    await publish(hidden, '2.0.0', {})
    const last = async () => pick((await check({ workflow })).body, 'unknown')[0]?.['last_version']
    const verdictFrom = async (version: string) =>
      (await check({ workflow, from: { [hidden]: version } })).body['verdict']
    const path = (version: string) => `${owned.path}/nodes/${hidden}/versions/${version}`
    const banned = { status: 'NodeVersionStatusBanned', status_reason: 'malware' }
    expectStatus(await admin.put(`/admin/nodes/${hidden}/versions/1.2.0`, banned), 200)
    expectStatus(await owned.owner.delete(path('1.1.0')), 204)
    assert.deepEqual(await last(), { node_id: hidden, version: '1.0.0' })
    const verdicts = ['1.2.0', '1.1.0', '1.0.0'].map(verdictFrom)
    assert.deepEqual(await Promise.all(verdicts), ['breaks', 'unknown', 'breaks'])
    const policy = { policy: 'HostNodePolicyBanned', reason: 'spam' }
    expectStatus(await admin.put(`/admin/nodes/${hidden}/host-nodes/${Hidden}`, policy), 200)
    assert.deepEqual([await last(), await verdictFrom('1.0.0')], [undefined, 'unknown'])
  })
})

test('rejects what is no workflow', async () => {
  for (const path of ['/workflows/resolve', '/workflows/check']) {
    for (const body of [{}, { workflow: 7 }, { workflow: {} }, { workflow: { nodes: {} } }]) {
      const response = expectStatus(await anonymous.post(path, body), 400, 'validation_failed')
      assert.match(response.body.details?.[0] ?? '', /^\/workflow /)
    }
    const absent = await anonymous.post(path, { wrokflow: {} })
    assert.match(
      expectStatus(absent, 400, 'validation_failed').body.details?.join('\n') ?? '',
      /^\/workflow must be a workflow as the host saves it .*, but is absent\n\/wrokflow .*did you mean \/workflow\?/,
    )
    const wrong = { workflow: workflow(), host_version: 'new' }
    const response = expectStatus(await anonymous.post(path, wrong), 400, 'validation_failed')
    assert.match(response.body.details?.[0] ?? '', /^\/host_version must be a version/)
  }
})
