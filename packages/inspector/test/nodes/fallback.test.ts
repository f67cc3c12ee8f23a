import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ADVICE } from '../../src/advice.ts'
import type { Files } from '../entries.ts'
import { extract, namesOf } from './extract-pack.ts'

const INIT = 'from helper import build\nNODE_CLASS_MAPPINGS, NODE_DISPLAY_NAME_MAPPINGS = build()\n'
const CUP = `class Cup:
    RETURN_TYPES = ("IMAGE",)
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"x": ("INT", {"default": 2})}}
`
const mappingOf = (name: string): string => `${CUP}NODE_CLASS_MAPPINGS = {"${name}": Cup}\n`

describe('where the mapping comes from an installed package', () => {
  const cases: [title: string, files: Files, names: string[]][] = [
    ['nodes.py is evaluated', { 'nodes.py': mappingOf('Cup') }, ['Cup']],
    [
      'so are files of nodes',
      { 'nodes/a.py': mappingOf('A'), 'nodes/b/c.py': mappingOf('C') },
      ['A', 'C'],
    ],
    [
      'a folder stands behind its __init__.py',
      {
        'nodes/__init__.py': 'from .a import Cup\nNODE_CLASS_MAPPINGS = {"Cup": Cup}',
        'nodes/a.py': mappingOf('A'),
        'nodes/old.py': mappingOf('Old'),
      },
      ['Cup'],
    ],
    [
      'a comprehension, a union and a loop have names',
      {
        'nodes/__init__.py': `${CUP}
class Pot(Cup): pass
NODE_CLASS_MAPPINGS = {c.__name__: c for c in [Cup, Pot]} | {"Jar": Cup}
for name in ("X", "Y"): NODE_CLASS_MAPPINGS[name] = Cup`,
      },
      ['Cup', 'Pot', 'Jar', 'X', 'Y'],
    ],
    [
      'modules that the root reaches count wherever they lie',
      {
        '__init__.py': `from .src import cups\n${INIT}`,
        'src/cups.py': mappingOf('Cup'),
        'src/pots.py': mappingOf('Pot'),
      },
      ['Cup'],
    ],
    [
      'tests, examples and documents never do',
      {
        'nodes.py': mappingOf('Cup'),
        'tests/fixtures/__init__.py': mappingOf('Fixture'),
        'examples/other/__init__.py': mappingOf('Other'),
        'nodes/docs/a.py': mappingOf('Doc'),
        'nodes/test_a.py': mappingOf('Test'),
        'example_node.py': mappingOf('Example'),
        'conftest.py': mappingOf('Conftest'),
      },
      ['Cup'],
    ],
    [
      'tables of other things have no nodes',
      {
        'table.py': 'NODE_CLASS_MAPPINGS = {"KSampler": "a sampler", "Other": object}',
        'nodes.py': `${CUP}import helper\nNODE_CLASS_MAPPINGS = helper.make()\ndef f():\n    NODE_CLASS_MAPPINGS = {"Cup": Cup, "One": 1}`,
      },
      ['Cup'],
    ],
    [
      'a module that raises has none',
      { 'nodes.py': mappingOf('Cup'), 'gone.py': `from .missing import x\n${mappingOf('Gone')}` },
      ['Cup'],
    ],
    [
      'classes of the newer form are found by their entrypoint',
      {
        'nodes/__init__.py': `from comfy_api.latest import ComfyExtension, io
class Node(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="New", inputs=[], outputs=[])
class Pack(ComfyExtension):
    async def get_node_list(self): return [Node]
async def comfy_entrypoint(): return Pack()`,
      },
      ['New'],
    ],
  ]
  for (const [title, files, names] of cases)
    test(title, () => {
      const section = extract({ '__init__.py': INIT, ...files })
      assert.deepEqual(namesOf(section), names)
      assert.deepEqual([section.how, section.partial], ['literal_scan', true])
    })

  test('its nodes have their fields and names', () => {
    const section = extract({
      '__init__.py': INIT,
      'nodes.py': `${mappingOf('Cup')}NODE_DISPLAY_NAME_MAPPINGS = {"Cup": "A cup"}`,
    })
    assert.deepEqual(
      section.nodes.map(({ input_types, display_name }) => [input_types, display_name]),
      [['{"required":{"x":["INT",{"default":2}]}}', 'A cup']],
    )
  })

  test('a list has the names, and takes nothing that is known of a node', () => {
    const files = {
      '__init__.py': INIT,
      'nodes.py': `${mappingOf('Cup')}NODE_CLASS_MAPPINGS["Pot"] = Cup`,
    }
    const scanned = extract(files).nodes[0]
    const list = '{"Cup": "Holds it.", " Jar ": 1, "": "none"}'
    const section = extract({ ...files, 'node_list.json': list })
    assert.deepEqual([namesOf(section), section.how], [['Cup', 'Jar'], 'node_list'])
    const [cup, jar] = section.nodes
    assert.deepEqual(cup, { ...scanned, description: 'Holds it.' })
    assert.ok(jar?.dynamic.includes('input_types') && jar.dynamic.includes('description'))
  })

  test('a list that is no object is not read, which a hint says', () => {
    for (const list of ['["Cup"]', '{"Cup": "",}', 'null', '"Cup"', '{']) {
      const section = extract({ '__init__.py': INIT, 'node_list.json': list })
      assert.deepEqual([section.status, section.reason], ['failed', 'mapping_unknown'], list)
      assert.deepEqual(section.hints, [ADVICE.node_list_invalid], list)
    }
    for (const list of ['', '{}', '\uFEFF{"Cup": ""}'])
      assert.equal(extract({ '__init__.py': INIT, 'node_list.json': list }).hints, undefined, list)
  })

  test('a pack of tests alone has failed', () => {
    const section = extract({ '__init__.py': INIT, 'tests/nodes.py': mappingOf('Test') })
    assert.deepEqual([section.status, section.reason], ['failed', 'mapping_unknown'])
  })
})
