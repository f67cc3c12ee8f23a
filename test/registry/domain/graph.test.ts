import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import type { HostNodeText } from '../../../src/registry/domain/comparison/host-node-form.ts'
import { readRequirement } from '../../../packages/inspector/src/requirements.ts'
import { makeCheck } from '../../../src/registry/domain/graph/check-node.ts'
import { worstOf } from '../../../src/registry/domain/graph/check.ts'
import type { Graph, GraphNode } from '../../../src/registry/domain/graph/graph.ts'
import { readGraph } from '../../../src/registry/domain/graph/read-graph.ts'
import { listModels } from '../../../src/registry/domain/graph/models.ts'
import { findConflicts } from '../../../src/registry/domain/graph/requirements.ts'
import { chooseFewest } from '../../../src/registry/domain/graph/fewest-packs.ts'
import { chooseClaim, chosenOfMany, listUsed } from '../../../src/registry/domain/graph/resolve.ts'
import { toJson } from '../../../src/registry/domain/graph/to-json.ts'

const read = (workflow: unknown): Graph => {
  const graph = readGraph(toJson(workflow))
  assert.ok(graph)
  return graph
}

/** A loader, a reroute, a sampler and a saver, with links between them. */
const editor = (sampler: Record<string, unknown> = {}) => ({
  nodes: [
    { id: 1, type: 'Loader', outputs: [{ name: 'MODEL', type: 'MODEL' }], widgets_values: ['a'] },
    { id: 2, type: 'Reroute', inputs: [{ name: '', type: '*' }], outputs: [{ type: '*' }] },
    {
      id: 3,
      type: 'Sampler',
      title: 'Big one',
      inputs: [{ name: 'model', type: 'MODEL', link: 12 }],
      outputs: [
        { name: 'LATENT', type: 'LATENT' },
        { name: 'noise', type: 'NOISE' },
      ],
      widgets_values: [7, 'fixed', 20, 8.5, 'euler'],
      properties: { cnr_id: 'sampler-pack', ver: '1.2.0' },
      ...sampler,
    },
    { id: 4, type: 'Saver', inputs: [{ name: 'samples', type: 'LATENT', link: 13 }] },
    { id: 5, type: 'Note', widgets_values: ['hello'] },
  ],
  links: [
    [11, 1, 0, 2, 0, 'MODEL'],
    [12, 2, 0, 3, 0, '*'],
    [13, 3, 0, 4, 0, 'LATENT'],
  ],
})

describe('reading a saved workflow', () => {
  test('follows links of the editor through reroutes', () => {
    const { form, nodes } = read(editor())
    const sampler = nodes.find(({ id }) => id === '3')
    assert.equal(form, 'editor')
    assert.deepEqual([...(sampler?.inputs ?? [])], [['model', { types: ['MODEL'] }]])
    const loader = nodes.find(({ id }) => id === '1')
    assert.deepEqual(loader?.outputs, [{ output: 0, node: '3', input: 'model', types: ['MODEL'] }])
    assert.deepEqual(
      [sampler?.title, sampler?.pack, sampler?.version],
      ['Big one', 'sampler-pack', '1.2.0'],
    )
  })

  test('leaves out nodes of the editor alone, and counts the others by name', () => {
    const used = listUsed(read(editor()))
    assert.deepEqual(
      used.map(({ name, nodes, pack }) => [name, nodes.length, pack]),
      [
        ['Loader', 1, undefined],
        ['Sampler', 1, 'sampler-pack'],
        ['Saver', 1, undefined],
      ],
    )
  })

  test('reads each subgraph and group node once, with their links', () => {
    const id = '9b6d1f38-3f0c-4f86-9c35-0a3dbb1a4a0e'
    const inner = {
      id,
      name: 'Upscale twice',
      nodes: [
        { id: 1, type: 'Scale', outputs: [{ type: 'IMAGE' }] },
        { id: 2, type: 'Sharpen', inputs: [{ name: 'image', type: 'IMAGE', link: 5 }] },
        { id: 3, type: id },
      ],
      links: [{ id: 5, origin_id: 1, origin_slot: 0, target_id: 2, target_slot: 0, type: 'IMAGE' }],
    }
    const group = {
      nodes: [
        { type: 'Blur', index: 0, outputs: [{ type: 'IMAGE' }] },
        { type: 'Mix', index: 1, inputs: [{ name: 'image', type: 'IMAGE' }] },
      ],
      links: [[0, 0, 1, 0, 33, 'IMAGE']],
    }
    const { nodes } = read({
      nodes: [
        { id: 1, type: id },
        { id: 2, type: id },
        { id: 3, type: 'workflow>soft' },
        { id: 4, type: 'workflow/soft', mode: 4 },
      ],
      links: [],
      definitions: { subgraphs: [inner, { id: 'unused', nodes: [{ id: 1, type: 'Unused' }] }] },
      extra: { groupNodes: { soft: group } },
    })
    assert.deepEqual(
      nodes.map(({ hostNode, within }) => [hostNode, within]),
      [
        ['Scale', 'Upscale twice'],
        ['Sharpen', 'Upscale twice'],
        ['Blur', 'soft'],
        ['Mix', 'soft'],
      ],
    )
    assert.deepEqual(nodes[0]?.outputs, [
      { output: 0, node: '2', input: 'image', types: ['IMAGE'] },
    ])
    assert.deepEqual(nodes[2]?.outputs, [
      { output: 0, node: '1', input: 'image', types: ['IMAGE'] },
    ])
  })

  test('reads the form of the API, also as a request holds it', () => {
    const prompt = {
      '4': { class_type: 'Loader', inputs: { name: 'a' }, _meta: { title: 'Load' } },
      '9:1': { class_type: 'Sampler', inputs: { model: ['4', 0], steps: 20 } },
    }
    for (const workflow of [prompt, { prompt, client_id: 'x' }]) {
      const { form, nodes } = read(workflow)
      assert.equal(form, 'api')
      assert.deepEqual(
        nodes.map(({ id, title, hostNode, inputs }) => [id, title, hostNode, [...inputs.keys()]]),
        [
          ['4', 'Load', 'Loader', []],
          ['9:1', undefined, 'Sampler', ['model']],
        ],
      )
    }
  })

  test('leaves out what has no type, and says so', () => {
    const { nodes, warnings } = read({
      nodes: [{ id: 1 }, null, { type: 'Blur' }],
      links: [null, 7, []],
    })
    assert.deepEqual(
      nodes.map(({ id }) => id),
      ['2'],
    )
    assert.deepEqual(warnings, [
      '/nodes/0 has no type, and is left out.',
      '/nodes/1 has no type, and is left out.',
    ])
  })

  test('takes nothing else for a workflow', () => {
    for (const other of [null, 1, [], {}, { nodes: {} }, { a: { inputs: {} } }, 'text'])
      assert.equal(readGraph(toJson(other)), undefined)
  })
})

const SAMPLER = {
  required: {
    model: ['MODEL'],
    seed: ['INT', { default: 0, max: 100 }],
    steps: ['INT', { default: 20, min: 1, max: 100 }],
    cfg: ['FLOAT', { default: 8, max: 100 }],
    sampler: [['euler', 'heun']],
  } as Record<string, unknown[]>,
  optional: {} as Record<string, unknown[]>,
  types: ['LATENT', 'NOISE'],
}

const text = ({ required, optional, types }: typeof SAMPLER): HostNodeText => ({
  display_name: null,
  category: null,
  description: null,
  deprecated: false,
  experimental: false,
  output_node: null,
  input_types: JSON.stringify({ required, optional }),
  return_types: JSON.stringify(types),
  return_names: null,
  output_is_list: [],
  dynamic: [],
  policy: 'HostNodePolicyActive',
})

const withInputs = (edit: (inputs: [string, unknown[]][]) => [string, unknown[]][]) => ({
  ...SAMPLER,
  required: Object.fromEntries(edit(Object.entries(SAMPLER.required))),
})
const withInput = (name: string, spec: unknown[]) =>
  withInputs((inputs) => inputs.map((one) => (one[0] === name ? [name, spec] : one)))
const without = (name: string) => withInputs((inputs) => inputs.filter(([one]) => one !== name))

const API = { model: ['1', 0], seed: 7, steps: 20, cfg: 8.5, sampler: 'euler' }

const samplerOf = (workflow: unknown): GraphNode => {
  const node = read(workflow).nodes.find(({ hostNode }) => hostNode === 'Sampler')
  assert.ok(node)
  return node
}

const api = (inputs: Record<string, unknown>) => ({
  '1': { class_type: 'Loader', inputs: {} },
  '3': { class_type: 'Sampler', inputs },
  '4': { class_type: 'Saver', inputs: { samples: ['3', 0] } },
})

type Edit = [
  title: string,
  after: typeof SAMPLER,
  inEditor: [code: string, of: string | number | undefined][],
  inApi: [code: string, of: string | number | undefined][],
]

const EDITS: Edit[] = [
  ['nothing', SAMPLER, [], []],
  [
    'a choice that was taken is gone',
    withInput('sampler', [['heun']]),
    [['option_removed', 'sampler']],
    [['option_removed', 'sampler']],
  ],
  ['another choice is gone', withInput('sampler', [['euler']]), [], []],
  [
    'a new input must be connected',
    withInputs((inputs) => [...inputs, ['latent', ['LATENT']]]),
    [['socket_required', 'latent']],
    [['socket_required', 'latent']],
  ],
  [
    'a new widget stands before others',
    withInputs(([model, seed, ...others]) => [
      model ?? ['model', []],
      seed ?? ['seed', []],
      ['eta', ['FLOAT', { default: 0 }]],
      ...others,
    ]),
    [
      ['widget_inserted', 'eta'],
      ['widget_moved', 'steps'],
      ['widget_moved', 'cfg'],
    ],
    [['widget_required', 'eta']],
  ],
  [
    'a widget before others is gone, with its usual value',
    without('steps'),
    [
      ['widget_moved', 'cfg'],
      ['widget_moved', 'sampler'],
    ],
    [],
  ],
  [
    'the last widget is gone, with a value of its own',
    without('sampler'),
    [['input_removed', 'sampler']],
    [['input_removed', 'sampler']],
  ],
  [
    'a linked output has another type',
    { ...SAMPLER, types: ['IMAGE', 'NOISE'] },
    [['output_type_changed', 0]],
    [['output_type_changed', 0]],
  ],
  [
    'an output without a link has another type',
    { ...SAMPLER, types: ['LATENT', 'SIGMAS'] },
    [],
    [],
  ],
  ['an output without a link is gone', { ...SAMPLER, types: ['LATENT'] }, [], []],
  [
    'a linked input takes another type',
    withInput('model', ['CLIP']),
    [['input_type_changed', 'model']],
    [['input_type_changed', 'model']],
  ],
  ['a linked input takes more types', withInput('model', ['MODEL,CLIP']), [], []],
  [
    'a value is out of the new bounds',
    withInput('steps', ['INT', { default: 20, min: 1, max: 10 }]),
    [['bounds_narrowed', 'steps']],
    [['bounds_narrowed', 'steps']],
  ],
  [
    'a value is within the new bounds',
    withInput('steps', ['INT', { default: 20, max: 30 }]),
    [],
    [],
  ],
  [
    'a number with a fraction is whole now',
    withInput('cfg', ['INT', { default: 8, max: 100 }]),
    [['number_type_changed', 'cfg']],
    [['number_type_changed', 'cfg']],
  ],
  [
    'a default has changed beside a value',
    withInput('steps', ['INT', { default: 30, min: 1, max: 100 }]),
    [],
    [],
  ],
  ['an optional input is new', { ...SAMPLER, optional: { mask: ['MASK'] } }, [], []],
  [
    'a widget became a socket',
    withInput('cfg', ['FLOAT', { default: 8, max: 100, forceInput: true }]),
    [
      ['widget_became_socket', 'cfg'],
      ['widget_moved', 'sampler'],
    ],
    [['widget_became_socket', 'cfg']],
  ],
]

describe('what a graph feels of an update', () => {
  for (const [title, after, inEditor, inApi] of EDITS)
    test(title, () => {
      for (const [workflow, expected] of [
        [editor(), inEditor],
        [api(API), inApi],
      ] as const) {
        const found = makeCheck(text(SAMPLER), text(after))(samplerOf(workflow))
        assert.deepEqual(
          found.map(({ code, input, output }) => [code, input ?? output]),
          expected,
        )
      }
    })

  test('a default that changed counts where the graph leaves the value out', () => {
    const optional = { ...SAMPLER, optional: { eta: ['FLOAT', { default: 0 }] } }
    const after = { ...SAMPLER, optional: { eta: ['FLOAT', { default: 1 }] } }
    const [change] = makeCheck(text(optional), text(after))(samplerOf(api(API)))
    assert.deepEqual([change?.code, change?.level], ['default_changed', 'may_break'])
    const given = samplerOf(api({ ...API, eta: 0.5 }))
    assert.deepEqual(makeCheck(text(optional), text(after))(given), [])
  })

  test('the sentence says what the graph has there', () => {
    const after = text(withInput('sampler', [['heun']]))
    const [change] = makeCheck(text(SAMPLER), after)(samplerOf(editor()))
    assert.equal(change?.message, 'The choice "euler" of "sampler" is gone.')
    const [moved] = makeCheck(text(SAMPLER), text(without('steps')))(samplerOf(editor()))
    assert.match(moved?.message ?? '', /It gets 20, the value of "steps"\.$/)
    const types = { ...SAMPLER, types: ['IMAGE', 'NOISE'] }
    const [output] = makeCheck(text(SAMPLER), text(types))(samplerOf(editor()))
    assert.match(output?.message ?? '', /It is linked to "samples" of node 4\.$/)
    assert.equal(worstOf(output ? [output] : []), 'breaks')
  })

  test('rows that the form does not have make places doubtful', () => {
    const node = samplerOf(editor({ widgets_values: [7, 'fixed', 20, 8.5, 'euler', 'image'] }))
    const found = makeCheck(text(SAMPLER), text(without('steps')))(node)
    assert.deepEqual([...new Set(found.map(({ level }) => level))], ['may_break'])
  })
})

describe('made-up workflows', () => {
  const feel = (workflow: unknown): void => {
    const graph = readGraph(toJson(workflow))
    for (const { nodes } of graph ? listUsed(graph) : [])
      for (const node of nodes) makeCheck(text(SAMPLER), text(without('steps')))(node)
  }

  test('are read or left, whatever stands in place of any part', () => {
    const pointers = listPointers(editor())
    fc.assert(
      fc.property(fc.constantFrom(...pointers), fc.jsonValue(), (path, value) => {
        const workflow = structuredClone(editor()) as unknown
        const parent = path
          .slice(0, -1)
          .reduce((one, step) => Reflect.get(Object(one), step), workflow)
        Reflect.set(Object(parent), path.at(-1) ?? '', value)
        feel(workflow)
      }),
      { numRuns: 2000 },
    )
  })

  test('take few steps where reroutes go round or fan out', () => {
    const nodes = Array.from({ length: 2000 }, (_, id) => ({
      id,
      type: id % 2 ? 'Reroute' : 'Sampler',
      inputs: [{ name: 'model', type: '*' }],
    }))
    const links = nodes.flatMap(({ id }) => [
      [id, id, 0, (id + 1) % 2000, 0, '*'],
      [id, id, 0, 1, 0, '*'],
      [id, 1, 0, id, 0, '*'],
    ])
    const { nodes: read } = readGraph(toJson({ nodes, links })) ?? { nodes: [] }
    const targets = read.reduce((sum, { outputs }) => sum + outputs.length, 0)
    assert.ok(targets <= 200_000, `${targets} targets`)
  })
})

/** The way to each value in a value. */
const listPointers = (value: unknown): string[][] =>
  Object.entries(Object(value) as object).flatMap(([name, member]) => [
    [name],
    ...(typeof member === 'object' ? listPointers(member).map((path) => [name, ...path]) : []),
  ])

describe('requirements of several packs', () => {
  const conflictsOf = (...lists: string[][]) =>
    findConflicts(
      lists.map((dependencies, place) => ({ node_id: `pack-${place}`, dependencies })),
      readRequirement,
    )

  const CASES: [string[], string[], boolean][] = [
    [['numpy<2'], ['numpy>=2'], true],
    [['numpy==1.26.4'], ['numpy>=1.25,<1.27'], false],
    [['numpy==1.26.4'], ['NumPy==1.26.3'], true],
    [['torch>2.0'], ['torch<2.1'], false],
    [['torch>=2.1'], ['torch<=2.1'], false],
    [['torch~=2.1'], ['torch>=3'], true],
    [['torch!=2.1'], ['torch==2.1'], true],
    [['a_b>=2'], ['a-b<2'], true],
    [['pillow; sys_platform == "win32"'], ['pillow<1'], false],
    [['pillow<1; sys_platform == "win32"'], ['pillow>2'], false],
    [['git+https://example.com/x.git'], ['x<1'], false],
    [['numpy'], ['numpy<2'], false],
    [['numpy latest'], ['numpy<2'], false],
  ]
  for (const [one, other, isConflict] of CASES)
    test(`${one.join()} and ${other.join()} ${isConflict ? 'contradict' : 'suit'} each other`, () => {
      assert.equal(conflictsOf(one, other).length, isConflict ? 1 : 0)
    })

  test('the sentence names who asks for what', () => {
    const [conflict] = conflictsOf(['numpy<2'], ['numpy>=2'], ['numpy'])
    assert.equal(conflict?.package, 'numpy')
    assert.match(conflict?.message ?? '', /pack-0 asks for numpy<2, pack-1 asks for numpy>=2/)
  })
})

describe('one of several packs that have a name', () => {
  const claim = (nodeId: string, more = {}) => ({
    name: 'Blur',
    nodeId,
    nodeName: nodeId,
    repositoryKey: `github.com/acme/${nodeId}`,
    preempts: false,
    ranking: 5,
    downloads: 0,
    ...more,
  })
  const choose = (claims: ReturnType<typeof claim>[], pack?: string, installed: string[] = []) => {
    const chosen = chooseClaim(claims, { pack, installed: new Set(installed) })
    return chosen && [chosen.claim.nodeId, chosen.reason]
  }

  test('is the one it was saved with, one that is installed, or one for which it is kept', () => {
    const [a, b] = [claim('a'), claim('b')]
    assert.deepEqual(choose([]), undefined)
    assert.deepEqual(choose([a]), ['a', 'only_claim'])
    assert.deepEqual(choose([a, b], 'B', ['a']), ['b', 'named_by_workflow'])
    assert.deepEqual(choose([a, b], 'Acme/B'), ['b', 'named_by_workflow'])
    assert.deepEqual(choose([a, b], undefined, ['b']), ['b', 'installed'])
    assert.deepEqual(choose([claim('p', { preempts: true }), b]), ['p', 'preempted'])
    assert.equal(choose([a, b]), undefined)
  })

  test('is else of the fewest packs, and says so where another claim is better', () => {
    const [a, b] = [claim('a'), claim('b')]
    const best = claim('r', { ranking: 1 })
    assert.equal(chosenOfMany(b, [a, b]).reason, 'fewest_packs')
    assert.equal(chosenOfMany(best, [best, b]).reason, 'ranking')
    assert.equal(chosenOfMany(a, [a, b]).reason, 'oldest_claim')
  })
})

describe('the fewest packs that have all names', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const packs = fc.tuple(...ids.map(() => fc.record({ ranking: fc.nat(3), downloads: fc.nat(3) })))
  const asked = fc.record({
    packs,
    needed: fc.subarray(ids, { maxLength: 2 }),
    names: fc.array(fc.subarray(ids, { minLength: 2 }), { maxLength: 8 }),
  })
  type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never
  const namesOf = ({ packs, names }: Asked) =>
    names.map((owners, place) => ({
      name: `n${place}`,
      claims: owners.map((nodeId) => {
        const facts = packs[ids.indexOf(nodeId)] ?? { ranking: 0, downloads: 0 }
        return { name: '', nodeId, nodeName: '', repositoryKey: null, preempts: false, ...facts }
      }),
    }))
  /** Sizes, rankings and downloads of all sets that have every name, the best first. */
  const listCovers = ({ packs, needed, names }: Asked) =>
    Array.from({ length: 2 ** ids.length }, (_, set) =>
      ids.filter((_, place) => set & (1 << place)),
    )
      .filter((chosen) => !chosen.some((id) => needed.includes(id)))
      .filter((chosen) =>
        names.every((owners) => owners.some((id) => chosen.includes(id) || needed.includes(id))),
      )
      .map((chosen) => costOf(packs, chosen))
      .toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || b[2] - a[2])
  const costOf = (packs: Asked['packs'], chosen: readonly string[]): [number, number, number] => [
    chosen.length,
    chosen.reduce((sum, id) => sum + (packs[ids.indexOf(id)]?.ranking ?? 0), 0),
    chosen.reduce((sum, id) => sum + (packs[ids.indexOf(id)]?.downloads ?? 0), 0),
  ]

  test('are as good as the best of all sets, then by ranking, then by downloads', () => {
    fc.assert(
      fc.property(asked, (given) => {
        const { claims, isExact } = chooseFewest(namesOf(given), new Set(given.needed))
        assert.ok(isExact)
        assert.equal(claims.size, given.names.length)
        const taken = new Set([...claims.values()].map(({ nodeId }) => nodeId))
        const added = [...taken].filter((id) => !given.needed.includes(id))
        assert.deepEqual(costOf(given.packs, added), listCovers(given)[0])
      }),
    )
  })

  test('are found step by step for more names than twelve, and it says so', () => {
    const claims = (...owners: string[]) =>
      namesOf({
        packs: Array.from({ length: 6 }, () => ({ ranking: 0, downloads: 0 })) as Asked['packs'],
        needed: [],
        names: [owners],
      })[0]?.claims ?? []
    const names = Array.from({ length: 13 }, (_, place) => ({
      name: `n${place}`,
      claims: claims(place % 2 === 0 ? 'a' : 'b', 'c'),
    }))
    const { claims: chosen, isExact } = chooseFewest(names, new Set())
    assert.equal(isExact, false)
    assert.deepEqual([...new Set([...chosen.values()].map(({ nodeId }) => nodeId))], ['c'])
  })
})

describe('models of a workflow', () => {
  const source = {
    name: 'base.safetensors',
    directory: 'checkpoints',
    url: 'https://me:key@models.example/base.safetensors?token=x&b=1',
    hash: 'AB12',
    hash_type: 'SHA256',
  }

  test('are what loaders name, with what the editor has recorded of them', () => {
    const nodes = [
      {
        id: 1,
        type: 'CheckpointLoaderSimple',
        widgets_values: ['sub\\base.safetensors'],
        properties: { models: [source, { name: 7 }, null] },
      },
      { id: 2, type: 'VAELoader', widgets_values: ['kl.pt', 'not a model'] },
      {
        id: 3,
        type: 'Power Loader',
        widgets_values: [{ on: true, lora: 'a.safetensors' }, 'kl.pt'],
      },
      { id: 4, type: 'toString', widgets_values: ['x.gguf'] },
      { id: 5, type: 'inner' },
      { id: 7, type: 'Note', widgets_values: ['https://a.example/note.safetensors'] },
    ]
    const inner = { id: 6, type: 'LoraLoader', widgets_values: ['a.safetensors', 1] }
    const subgraphs = [{ id: 'inner', name: 'Inner', nodes: [inner] }]
    const found = listModels(
      read({ nodes, models: [{ name: 'late.onnx' }], definitions: { subgraphs } }),
    )
    assert.deepEqual(found, [
      { file: 'a.safetensors', host_nodes: ['Power Loader', 'LoraLoader'] },
      { file: 'kl.pt', folder: 'vae', host_nodes: ['VAELoader', 'Power Loader'] },
      { file: 'late.onnx', host_nodes: [] },
      {
        file: 'sub\\base.safetensors',
        folder: 'checkpoints',
        url: 'https://models.example/base.safetensors?b=1',
        digest: 'sha256:AB12',
        host_nodes: ['CheckpointLoaderSimple'],
      },
      { file: 'x.gguf', host_nodes: ['toString'] },
    ])
  })

  test('of the form of the API have the folders of their inputs', () => {
    const found = listModels(
      read({
        1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'a.ckpt' } },
        2: { class_type: 'Anything', inputs: { lora_name: 'b.safetensors', constructor: 'c.bin' } },
        3: { class_type: 'KSampler', inputs: { model: ['1', 0], text: 'a photo of a.ckpt, big' } },
      }),
    )
    assert.deepEqual(
      found.map(({ file, folder }) => [file, folder]),
      [
        ['a.ckpt', 'checkpoints'],
        ['b.safetensors', 'loras'],
        ['c.bin', undefined],
      ],
    )
  })

  test('are 500 at most', () => {
    const widgets_values = Array.from({ length: 600 }, (_, index) => `${index}.pt`)
    assert.equal(listModels(read({ nodes: [{ id: 1, type: 'A', widgets_values }] })).length, 500)
  })
})
