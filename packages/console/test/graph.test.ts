import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { markNodes } from '../src/graph/marks.ts'
import type { Change } from '../src/graph/types.ts'
import { readSaved } from '../src/graph/read-file.ts'
import { readWorkflow } from '../src/graph/read-workflow.ts'
import { fitView, zoomView } from '../src/graph/view.ts'

const placesOf = (workflow: unknown) =>
  readWorkflow(workflow)?.[0]?.nodes.map(({ id, x, y, width, height }) => [id, x, y, width, height])

const linksOf = (workflow: unknown, part = 0) =>
  readWorkflow(workflow)?.[part]?.links.map(({ from, output, to, input }) => [
    `${from.id}.${output}`,
    `${to.id}.${input}`,
  ])

const API_FORM = {
  1: { class_type: 'Load', inputs: { name: 'a' } },
  2: { class_type: 'Blur', inputs: { image: ['1', 0], steps: 3, mask: ['3', 1] } },
  3: { class_type: 'Mask', inputs: { image: ['1', 0] } },
  4: { class_type: 'Ring', inputs: { back: ['4', 0] } },
}

describe('the drawing of a workflow', () => {
  test('has the places that the editor saved, in both of its forms', () => {
    const nodes = [
      { id: 1, type: 'A', pos: [10, 20], size: [300, 120] },
      { id: 2, type: 'B', pos: { 0: -5, 1: 7.5 }, size: { 0: 100, 1: 60 } },
      { id: 3, type: 'C', pos: [0, 0], size: [300, 120], flags: { collapsed: true } },
      { type: 7 },
    ]
    assert.deepEqual(placesOf({ nodes }), [
      ['1', 10, 20, 300, 120],
      ['2', -5, 7.5, 100, 60],
      ['3', 0, 0, 140, 0],
    ])
  })

  test('reads links as lists and objects, and leaves out those without an end', () => {
    const nodes = [1, 2].map((id) => ({ id, type: 'A', pos: [0, 0] }))
    const object = { id: 2, origin_id: 1, origin_slot: 3, target_id: 2, target_slot: 0, type: 'X' }
    const links = [[1, 1, 0, 2, 1, 'X'], object, [3, 1, 0, -20, 0, 'X'], null, 'x']
    assert.deepEqual(linksOf({ nodes, links }), [
      ['1.0', '2.1'],
      ['1.3', '2.0'],
    ])
    const groupNodes = {
      G: { nodes: [{ type: 'A' }, { type: 'B' }], links: [[0, 1, 1, 2, 9, 'X']] },
    }
    assert.deepEqual(linksOf({ nodes, extra: { groupNodes } }, 1), [['0.1', '1.2']])
  })

  test('lays out what has no places by the longest way to it, circles too', () => {
    for (const workflow of [API_FORM, { prompt: API_FORM }]) {
      const places = placesOf(workflow)?.map(([id, x]) => [id, x])
      assert.deepEqual(places, [
        ['1', 0],
        ['2', 600],
        ['3', 300],
        ['4', 0],
      ])
    }
    const far = { id: 1, type: 'A', pos: [1e300, 0] }
    assert.deepEqual(placesOf({ nodes: [far, { ...far, id: 2 }] }), [
      ['1', 0, 0, 210, 40],
      ['2', 0, 100, 210, 40],
    ])
  })

  for (const value of [null, 3, [], {}, { nodes: 1 }, { 1: { class_type: 1 } }, { prompt: {} }])
    test(`is none of ${JSON.stringify(value)}`, () => assert.equal(readWorkflow(value), undefined))

  test('marks a subgraph by the worst in it, and survives one that holds itself', () => {
    const parts =
      readWorkflow({
        nodes: [
          { id: 1, type: 'outer' },
          { id: 2, type: 'Gone' },
          { id: 3, type: 'Fine' },
        ],
        definitions: {
          subgraphs: [
            { id: 'outer', name: 'Outer', nodes: [{ id: 1, type: 'inner' }] },
            {
              id: 'inner',
              name: 'Inner',
              nodes: [
                { id: 1, type: 'A' },
                { id: 2, type: 'outer' },
              ],
            },
          ],
        },
      }) ?? []
    const change = { level: 'breaks', node: { id: '1', within: 'Inner' } } as Change
    const safe = { level: 'safe', node: { id: '3' } } as Change
    const marks = markNodes(parts, { changes: [change, safe], unknown: new Set(['Gone']) })
    assert.deepEqual(Object.fromEntries(marks), {
      '#1': 'breaks',
      '#2': 'unknown',
      'Outer#1': 'breaks',
      'Inner#1': 'breaks',
      'Inner#2': 'breaks',
    })
  })

  test('fits a window, and a zoom leaves the point under the pointer', () => {
    const nodes = readWorkflow({ nodes: [{ id: 1, type: 'A', pos: [0, 30], size: [1000, 970] }] })
    const view = fitView(nodes?.[0]?.nodes ?? [], { width: 548, height: 648 })
    assert.deepEqual(view, { x: 24, y: 74, scale: 0.5 })
    const near = zoomView(view, 2, { x: 124, y: 74 })
    assert.deepEqual(near, { x: -76, y: 74, scale: 1 })
  })
})

/** A PNG of one chunk of text; nobody reads its check sum here. */
const pngOf = (keyword: string, text: string): File => {
  const data = Buffer.from(`${keyword}\0${text}`)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const chunk = [size, Buffer.from('tEXt'), data, Buffer.alloc(4)]
  return new File([Buffer.concat([signature, ...chunk])], 'made.png')
}

const jpegOf = (): File => new File([Buffer.from('ffd8ffe000104a464946', 'hex')], 'made.jpg')

describe('a file of a workflow', () => {
  test('is JSON, or a picture that carries it', async () => {
    const workflow = { nodes: [{ id: 1, type: 'A' }] }
    const json = JSON.stringify(workflow)
    const marked = new File([`\uFEFF${json}`], 'a.json')
    for (const file of [
      new File([json], 'a.json'),
      marked,
      pngOf('workflow', json),
      pngOf('prompt', json),
    ])
      assert.deepEqual((await readSaved(file)).workflow, workflow)
  })

  const CASES: [file: File, message: RegExp][] = [
    [new File(['nodes'], 'a.json'), /^a\.json is no JSON\.$/],
    [new File(['{"nodes": [{"type": "a]}"}, {"type": "cut'], 'a.json'), /^a\.json is cut: /],
    [new File(['\uFEFF \n'], 'a.json'), /^a\.json is empty\.$/],
    [jpegOf(), /^made\.jpg is a picture or video that holds no workflow\. Save .* as JSON\.$/],
    [new File(['[1]'], 'a.json'), /^a\.json is no workflow/],
    [pngOf('Comment', '{}'), /^made\.png is a picture or video that holds no workflow/],
    [new File([JSON.stringify({ nodes: ['x'.repeat(4 * 2 ** 20)] })], 'a.json'), /4 MiB/],
  ]
  for (const [file, message] of CASES)
    test(`is rejected with ${message.source}`, () => assert.rejects(readSaved(file), { message }))
})
