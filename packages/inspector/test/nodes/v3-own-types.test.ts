import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, nodeOf } from './extract-pack.ts'

const packOf = (types: string, { inputs, outputs }: { inputs: string; outputs: string }): string =>
  `from comfy_api.latest import ComfyExtension, io
${types}
class Node(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Node", inputs=[${inputs}], outputs=[${outputs}])
    @classmethod
    def execute(cls): pass
class Pack(ComfyExtension):
    async def get_node_list(self): return [Node]
async def comfy_entrypoint(): return Pack()`

const PARTS = {
  inputs: 'Own.Input("a", tooltip="t"), io.Int.Input("b", default=4)',
  outputs: 'Own.Output("OUT"), io.Int.Output()',
}
const FOUND = {
  inputs: { required: { a: ['OWN', { tooltip: 't' }], b: ['INT', { default: 4 }] } },
  outputs: ['OWN', 'INT'],
}

const CASES: [title: string, types: string, parts?: typeof PARTS, found?: typeof FOUND][] = [
  [
    'sides of their own',
    `@io.comfytype(io_type="OWN")
class Own:
    Type = dict
    class Input(io.Input): pass
    class Output(io.Output): pass`,
  ],
  [
    'sides that are made by their own code',
    `@io.comfytype(io_type="OWN")
class Own:
    Type = dict
    class Input(io.Input):
        def __init__(self, id, **kwargs): super().__init__(id, **kwargs)
    class Output(io.Output):
        def __init__(self, id, **kwargs):
            super().__init__(id, **kwargs)
            self.own = self.id`,
  ],
  [
    'one side, and the other of the host',
    `@io.comfytype("OWN")
class Own(io.ComfyTypeIO):
    class Input(io.WidgetInput):
        def __init__(self, id, tooltip=None): super().__init__(id, tooltip=tooltip)`,
  ],
  [
    'a base that has the sides',
    `class Side(io.Input):
    def __init__(self, id, **kwargs): super().__init__(id, **{"tooltip": "t", **kwargs})
@io.comfytype(io_type="OWN")
class Own:
    Input = Side`,
    { ...PARTS, inputs: 'Own.Input("a"), io.Int.Input("b", default=4)' },
  ],
  [
    'sides of a type that the host has',
    `@io.comfytype(io_type="OWN")
class Own:
    class Input(io.Int.Input): pass
class Whole(io.Int.Input):
    def __init__(self, id): super().__init__(id, default=1, max=9)`,
    { ...PARTS, inputs: 'Own.Input("a", tooltip="t"), Whole("b")' },
    {
      ...FOUND,
      inputs: { required: { a: ['OWN', { tooltip: 't' }], b: ['INT', { default: 1, max: 9 }] } },
    } as unknown as typeof FOUND,
  ],
  [
    'sides of a custom type',
    `Own = io.Custom("OWN")
class Side(Own.Input): pass`,
    { ...PARTS, inputs: 'Side("a", tooltip="t"), io.Int.Input("b", default=4)' },
  ],
]

describe('a socket type of the pack', () => {
  for (const [title, types, parts = PARTS, found = FOUND] of CASES)
    test(`has ${title}`, () => {
      const node = nodeOf(extract(packOf(types, parts)), 'Node')
      assert.deepEqual(JSON.parse(node.input_types), found.inputs)
      assert.deepEqual(JSON.parse(node.return_types), found.outputs)
      assert.deepEqual(node.dynamic, [])
    })
})

describe('the name that the host shows', () => {
  const sourceOf = (schema: string): string => `from comfy_api.latest import io
class New(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="x", ${schema}inputs=[], outputs=[])
    @classmethod
    def execute(cls): pass
class Old: RETURN_TYPES = ()
NODE_CLASS_MAPPINGS = {"New": New, "Old": Old}
NODE_DISPLAY_NAME_MAPPINGS = {"New": "by the mapping", "Old": "An old one"}`

  test('is that of the schema, though a mapping has another', () => {
    const section = extract(sourceOf('display_name="by the schema", '))
    assert.equal(nodeOf(section, 'New').display_name, 'by the schema')
    assert.equal(nodeOf(section, 'Old').display_name, 'An old one')
  })

  test('is the name of the node where the schema has none', () => {
    assert.equal(nodeOf(extract(sourceOf('')), 'New').display_name, undefined)
  })
})
