import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listExamples } from '../src/examples.ts'
import { makePack } from '../src/pack.ts'
import { entriesOf } from './entries.ts'

const examplesOf = (files: Record<string, string>) =>
  listExamples(makePack(entriesOf({ 'pack/__init__.py': '', ...files }), { nodeId: 'Demo-Pack' }))

const workflow = (...types: string[]) =>
  JSON.stringify({ nodes: types.map((type, id) => ({ id, type })) })

describe('example workflows of a pack', () => {
  test('are those of the folders in which a host looks, with their path in the archive', () => {
    const text = workflow('Blur')
    const found = examplesOf({
      'pack/example_workflows/a.json': text,
      'pack/Workflow/deep/b.JSON': text,
      'pack/examples/c.json': text,
      'pack/examples/c.png': text,
      'pack/src/examples/d.json': text,
      'pack/e.json': text,
    })
    assert.deepEqual(
      found.map(({ path }) => path),
      ['pack/Workflow/deep/b.JSON', 'pack/example_workflows/a.json', 'pack/examples/c.json'],
    )
  })

  test('name each host node once, those within subgraphs and group nodes too', () => {
    const inner = [{ id: 1, type: 'Inner' }]
    const text = JSON.stringify({
      nodes: [
        { type: 'Blur', properties: { aux_id: 'Acme/other' } },
        { type: 'Blur', properties: { cnr_id: 'demo_pack' } },
        { type: 'sub' },
        { type: 'workflow>Both' },
        { type: '' },
        { type: 'x'.repeat(513) },
        null,
      ],
      definitions: { subgraphs: [{ id: 'sub', nodes: inner }, null] },
      extra: { groupNodes: { Both: { nodes: inner } } },
    })
    const [example] = examplesOf({ 'pack/examples/a.json': text })
    assert.deepEqual(example?.host_nodes, [
      { name: 'Blur', count: 2, pack: 'Acme/other' },
      { name: 'Inner', count: 2 },
    ])
  })

  test('say which are of the pack itself, unless a script of it has the name', () => {
    const node = (type: string, properties: object) => ({ type, properties })
    const text = JSON.stringify({
      nodes: [
        node('Blur', { cnr_id: 'demo.pack' }),
        node('Blur Old', { aux_id: 'acme/Demo_Pack' }),
        node('Label (demo)', { cnr_id: 'demo-pack' }),
      ],
    })
    const files = { 'pack/examples/a.json': text, 'pack/js/a.js': 'register("Label")' }
    const [example] = examplesOf(files)
    assert.deepEqual(
      example?.host_nodes.map(({ name, own = false }) => [name, own]),
      [
        ['Blur', true],
        ['Blur Old', true],
        ['Label (demo)', false],
      ],
    )
  })

  test('are none where a file holds something else, and broken where it is no JSON', () => {
    const texts = ['{"nodes": [1]}', '{}', '[]', '7', 'null', '{"a": {"class_type": 1}}', '{"a":']
    const files = texts.map((text, index) => [`pack/examples/${index}.json`, text] as const)
    const found = examplesOf(Object.fromEntries(files))
    assert.deepEqual(
      found.map(({ path, form }) => [path, form]),
      [['pack/examples/6.json', 'none']],
    )
  })

  test('are read up to a number of files, and of host nodes in all of them', () => {
    const files = (length: number, text: string) =>
      Object.fromEntries(
        Array.from({ length }, (_, index) => [`pack/examples/${index}.json`, text]),
      )
    assert.equal(examplesOf(files(120, workflow('Blur'))).length, 100)
    const many = workflow(...Array.from({ length: 2000 }, (_, index) => `Node ${index}`))
    assert.equal(examplesOf(files(4, many)).length, 2)
    const large = { 'pack/examples/a.json': `${workflow('Blur')}${' '.repeat(2 ** 22)}` }
    assert.deepEqual(examplesOf(large), [])
  })
})
