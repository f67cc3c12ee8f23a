import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, listOf } from '../../support/client.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { unique, untilDecided, upload, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { anonymous, sql } = registry
const owned = usePublisher(registry)
const { owner } = owned

const [Blur, Grain, Other] = [unique('Blur'), unique('Grain'), unique('Other')]
const nodeId = unique('Soft-Tools')

const INIT = `
class Node:
  RETURN_TYPES = ("IMAGE",)
  FUNCTION = "run"
  @classmethod
  def INPUT_TYPES(s): return {"required": {"image": ("IMAGE",)}}
NODE_CLASS_MAPPINGS = {"${Blur}": Node, "${Grain}": Node}
WEB_DIRECTORY = "./web"
`
const own = { cnr_id: nodeId.toLowerCase(), ver: '1.0.0' }

/** A workflow with host nodes of the pack, of another, of the host, of the editor, and of nobody. */
const EDITOR = {
  nodes: [
    { id: 1, type: Blur, properties: own },
    { id: 2, type: Blur, properties: own },
    { id: 3, type: Other },
    { id: 4, type: 'KSampler' },
    { id: 5, type: 'Note' },
    { id: 6, type: 'group-of-two' },
    { id: 7, type: `${Blur} bypasser`, properties: own },
  ],
  links: [],
  definitions: {
    subgraphs: [{ id: 'group-of-two', name: 'Two', nodes: [{ id: 1, type: 'NobodyKnows' }] }],
  },
}
const API = { '1': { class_type: Grain, inputs: {} }, '2': { class_type: 'SaveImage', inputs: {} } }
const OUTDATED = { nodes: [{ id: 1, type: `${Blur}Old`, properties: own }], links: [] }

const FILES = {
  '__init__.py': INIT,
  'web/editor.js': `app.registerExtension({ name: "${Blur} bypasser" })`,
  'example_workflows/deep/all.json': JSON.stringify(EDITOR),
  'Workflows/api.json': JSON.stringify({ prompt: API }),
  'examples/outdated.json': JSON.stringify(OUTDATED),
  'examples/cut.json': JSON.stringify(API).slice(0, 40),
  'examples/settings.json': '{"nodes": 3}',
  'other/none.json': JSON.stringify(EDITOR),
}

const publish = async (version: string) => {
  const added = await owned.addVersion({ nodeId, version })
  const entries = Object.entries(FILES).map(([name, data]) => ({ name, data, method: 8 }))
  assert.equal((await upload(added.signedUrl, writeZip(entries))).status, 200)
  const seen = await untilDecided(registry, added.version)
  assert.equal(seen['status'], 'NodeVersionStatusActive')
  return added
}

let added: Awaited<ReturnType<typeof publish>>
let other: string
registry.prepare(async () => {
  const active = await owned.addActive({ version: '1.0.0' })
  expectStatus(await owner.post(`${active.version}/host-nodes`, { nodes: { [Other]: {} } }), 204)
  other = active.nodeId
  added = await publish('1.0.0')
})

interface Example {
  path: string
  nodes: number
  packs: { node_id: string; host_nodes: string[] }[]
  unknown_host_nodes: string[]
}
const listExamples = async (query = '') =>
  listOf<Example>(
    expectStatus(await anonymous.get(`${added.version}/example-workflows${query}`), 200),
    'example_workflows',
  )

describe('the example workflows of a version', () => {
  test('are listed with the packs that each needs, and what is unknown', async () => {
    const [api, all, outdated, ...more] = await listExamples()
    assert.deepEqual(more, [])
    assert.deepEqual(api, {
      path: 'Workflows/api.json',
      bytes: FILES['Workflows/api.json'].length,
      form: 'api',
      nodes: 2,
      packs: [{ node_id: nodeId, host_nodes: [Grain] }],
      unknown_host_nodes: [],
    })
    assert.equal(all?.path, 'example_workflows/deep/all.json')
    assert.equal(all?.nodes, 6)
    const packs = [
      { node_id: nodeId, host_nodes: [Blur, `${Blur} bypasser`] },
      { node_id: other, host_nodes: [Other] },
    ]
    assert.deepEqual(
      all?.packs,
      packs.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1)),
    )
    assert.deepEqual(all?.unknown_host_nodes, ['NobodyKnows'])
    assert.equal(outdated?.path, 'examples/outdated.json')
  })

  test('are found by a host node, and named by its own route', async () => {
    const found = await listExamples(`?host_node=${Blur}`)
    assert.deepEqual(
      found.map(({ path }) => path),
      ['example_workflows/deep/all.json'],
    )
    assert.deepEqual(await listExamples('?host_node=Blu'), [])
    const read = async (name: string) =>
      expectStatus(await anonymous.get(`${added.version}/host-nodes/${name}`), 200).body
    assert.deepEqual((await read(Grain))['example_workflows'], ['Workflows/api.json'])
    const path = encodeURIComponent('Workflows/api.json')
    const { body } = await anonymous.get(`${added.version}/files/content?path=${path}`)
    assert.equal(body['text'], FILES['Workflows/api.json'])
  })

  test('that are broken are info findings for the publisher', async () => {
    const { body } = expectStatus(await owner.get(`${added.version}/findings`), 200)
    const broken = (body['findings'] as unknown as Record<string, unknown>[])
      .filter((one) => one['issue_type'] === 'broken-example')
      .map(({ severity, file_path: path, message }) => [severity, path, message])
    assert.deepEqual(broken, [
      [
        'info',
        'examples/cut.json',
        'An example workflow is no JSON. Save it from the host once more.',
      ],
      [
        'info',
        'examples/outdated.json',
        `An example workflow uses 1 host node that this version of the pack does not have ("${Blur}Old"). Save the example with this version, or keep the old names.`,
      ],
    ])
  })

  test('are none of a version whose reading did not look for them', async () => {
    await sql`update extraction set examples = null where version_id = ${added.id}`
    assert.deepEqual(await listExamples(), [])
    const read = await anonymous.get(`${added.version}/host-nodes/${Grain}`)
    assert.equal(read.body['example_workflows'], undefined)
  })
})
