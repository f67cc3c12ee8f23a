import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readV3, runPack } from './run-pack.ts'

const IMPORTS = 'from comfy_api.latest import io, ComfyExtension\n'

/** Reads `Kiln` of a pack. */
const read = (source: string | Record<string, string>) => {
  const ran = runPack(typeof source === 'string' ? IMPORTS + source : source)
  return readV3(ran, ran.get('Kiln'))
}

/** Reads a node whose schema has these arguments. */
const readSchema = (args: string, before = '') =>
  read(`${before}
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(${args})
    @classmethod
    def execute(cls): ...
`)

describe('a node of the newer form', () => {
  test('has the fields of its schema', () => {
    const node = readSchema(`node_id="Kiln_Fire", display_name="Fire", category="kiln/heat",
        description="Fires\\nit.", is_deprecated=True, is_experimental=True,
        is_output_node=True`)
    assert.deepEqual(node, {
      ids: ['Kiln_Fire'],
      display_name: 'Fire',
      category: 'kiln/heat',
      description: 'Fires\nit.',
      function: 'EXECUTE_NORMALIZED',
      deprecated: true,
      experimental: true,
      output_node: true,
      input_types: {
        required: {},
        hidden: { prompt: ['PROMPT'], extra_pnginfo: ['EXTRA_PNGINFO'] },
      },
      return_types: [],
      return_names: [],
      output_is_list: [],
      dynamic: [],
    })
  })

  test('has the defaults of the schema for what it does not say', () => {
    const { category, description, deprecated } = readSchema('node_id="Kiln_Fire"')
    assert.deepEqual([category, description, deprecated], ['sd', '', false])
  })

  test('may pass the arguments by place', () => {
    const node = readSchema(
      '"Kiln_Fire", "Fire", "kiln", [io.Image.Input("clay")], [io.Mask.Output()]',
    )
    assert.equal(node.ids[0], 'Kiln_Fire')
    assert.equal(node.category, 'kiln')
    assert.deepEqual(node.input_types, { required: { clay: ['IMAGE', {}] } })
    assert.deepEqual(node.return_types, ['MASK'])
  })

  const outputs: [text: string, types: unknown, names: unknown, isList: boolean[]][] = [
    ['io.Image.Output()', ['IMAGE'], ['IMAGE'], [false]],
    ['io.Image.Output("pot")', ['IMAGE'], ['pot'], [false]],
    ['io.Image.Output(display_name="pot")', ['IMAGE'], ['pot'], [false]],
    ['io.Image.Output("id", "pot", "a tip", True)', ['IMAGE'], ['pot'], [true]],
    ['io.Latent().Output()', ['LATENT'], ['LATENT'], [false]],
    ['io.Combo.Output(options=["a"])', ['COMBO'], ['COMBO'], [false]],
    ['io.Custom("GLAZE").Output(is_output_list=True)', ['GLAZE'], ['GLAZE'], [true]],
    ['io.AnyType.Output(display_name=NAME)', ['*'], ['urn'], [false]],
    [
      '*[io.Int.Output(display_name=f"n{i}") for i in range(2)]',
      ['INT', 'INT'],
      ['n0', 'n1'],
      [false, false],
    ],
    ['io.MatchType.Output(template=T)', ['COMFY_MATCHTYPE_V3'], ['MATCHTYPE'], [false]],
  ]
  for (const [text, types, names, isList] of outputs)
    test(`gives ${text}`, () => {
      const before = 'NAME = "urn"\nT = io.MatchType.Template("t")'
      const node = readSchema(`node_id="K", outputs=[${text}]`, before)
      assert.deepEqual([node.return_types, node.return_names], [types, names])
      assert.deepEqual(node.output_is_list, isList)
      assert.deepEqual(node.dynamic, [])
    })

  test('keeps the place of an output that can not be known', () => {
    const node = readSchema(
      'node_id="K", outputs=[elsewhere.make(), io.Int.Output()]',
      'import elsewhere',
    )
    assert.deepEqual(
      [node.return_types, node.output_is_list],
      [
        ['*', 'INT'],
        [false, false],
      ],
    )
    assert.deepEqual(node.dynamic, ['return_types', 'return_names', 'output_is_list'])
  })

  test('has no outputs that are the union of branches', () => {
    const node = readSchema(
      'node_id="K", outputs=[io.Int.Output()] + ([io.Mask.Output()] if elsewhere.A else [])',
      'import elsewhere',
    )
    assert.deepEqual([node.return_types, node.return_names, node.output_is_list], [[], [], []])
    assert.deepEqual(node.dynamic, ['return_types', 'return_names', 'output_is_list'])
  })

  const hidden: [args: string, hidden: unknown][] = [
    ['hidden=[io.Hidden.unique_id]', { unique_id: ['UNIQUE_ID'] }],
    ['is_output_node=True', { prompt: ['PROMPT'], extra_pnginfo: ['EXTRA_PNGINFO'] }],
    [
      'hidden=[io.Hidden.extra_pnginfo], is_output_node=True',
      { extra_pnginfo: ['EXTRA_PNGINFO'], prompt: ['PROMPT'] },
    ],
    [
      'is_api_node=True',
      {
        auth_token_comfy_org: ['AUTH_TOKEN_COMFY_ORG'],
        api_key_comfy_org: ['API_KEY_COMFY_ORG'],
      },
    ],
    ['hidden=None', undefined],
  ]
  for (const [args, expected] of hidden)
    test(`with ${args} has these hidden inputs`, () => {
      assert.deepEqual(readSchema(`node_id="K", ${args}`).input_types['hidden'], expected)
    })

  const functions: [body: string, name: string][] = [
    ['def execute(cls): ...', 'EXECUTE_NORMALIZED'],
    ['async def execute(cls): ...', 'EXECUTE_NORMALIZED_ASYNC'],
    ['def other(cls): ...', 'EXECUTE_NORMALIZED_ASYNC'],
  ]
  for (const [body, name] of functions)
    test(`runs by ${name} with ${body}, its base being async`, () => {
      const node = read(`
class Base(io.ComfyNode):
    @classmethod
    async def execute(cls): ...
class Kiln(Base):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="K")
    @classmethod
    ${body}
`)
      assert.equal(node.function, name)
    })

  test('without a known execute has no function', () => {
    const node = read(`
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="K")
`)
    assert.deepEqual([node.function, node.dynamic], ['', ['function']])
  })
})

describe('a schema', () => {
  const roots: [name: string, source: string][] = [
    ['from comfy_api.latest import IO', 'from comfy_api.latest import IO as io\n'],
    ['a fixed version', 'from comfy_api.v0_0_2 import io\n'],
    ['another name', 'from comfy_api.latest import io as comfy_io\nio = comfy_io\n'],
    ['the module itself', 'import comfy_api.latest as latest\nio = latest.io\n'],
    ['the private module', 'from comfy_api.latest import _io as io\n'],
  ]
  const kiln = `
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="K", inputs=[io.Custom("GLAZE").Input("glaze"), io.Int.Input("n", min=1)])
`
  for (const [name, imports] of roots)
    test(`may import io by ${name}`, () => {
      assert.deepEqual(read({ '__init__.py': imports + kiln }).input_types, {
        required: { glaze: ['GLAZE', {}], n: ['INT', { min: 1 }] },
      })
    })

  test('may import io through a module of the pack', () => {
    const node = read({
      '__init__.py': `from .compat import io\n${kiln}`,
      'compat.py':
        'try:\n    from comfy_api.latest import io\nexcept ImportError:\n    io = None\n',
    })
    assert.equal(node.ids[0], 'K')
  })

  test('may be imported by its parts', () => {
    const node = read({
      '__init__.py': `
from comfy_api.latest._io import ComfyNode, Schema, Int, Image
class Kiln(ComfyNode):
    @classmethod
    def define_schema(cls): return Schema("K", inputs=[Int.Input("n")], outputs=[Image.Output()])
`,
    })
    assert.deepEqual(node.input_types, { required: { n: ['INT', {}] } })
    assert.deepEqual(node.return_types, ['IMAGE'])
  })

  test('of an installed package is read by the tails of its names', () => {
    const node = read({
      '__init__.py': `
from kiln_compat import things
class Kiln(things.Node):
    @classmethod
    def define_schema(cls): return things.Schema(node_id="K", inputs=[things.Image.Input("clay")])
`,
    })
    assert.deepEqual([node.ids[0], node.input_types], ['K', { required: { clay: ['IMAGE', {}] } }])
  })

  test('may be made by a base and changed by the class', () => {
    const node = read(`
class Base(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="Base", category="kiln", inputs=[io.Image.Input("clay")])
class Kiln(Base):
    @classmethod
    def define_schema(cls):
        schema = super().define_schema()
        schema.node_id = "K"
        schema.inputs.append(io.Mask.Input("mask"))
        schema.inputs[0].optional = True
        schema.outputs = [io.Int.Output()]
        return schema
`)
    assert.equal(node.ids[0], 'K')
    assert.deepEqual(node.input_types, {
      required: { mask: ['MASK', {}] },
      optional: { clay: ['IMAGE', {}] },
    })
    assert.deepEqual(node.return_types, ['INT'])
  })

  test('may be put together by a helper of the base', () => {
    const node = read(`
class Base(io.ComfyNode):
    KEY = None
    @classmethod
    def make(cls, *inputs): return io.Schema(node_id=cls.KEY, category="kiln", inputs=list(inputs))
    @classmethod
    def define_schema(cls): return cls.make(*cls.inputs())
class Kiln(Base):
    KEY = "K"
    @classmethod
    def inputs(cls): return [io.Float.Input("heat", step=1e-05)]
`)
    assert.equal(node.ids[0], 'K')
    assert.deepEqual(node.input_types, { required: { heat: ['FLOAT', { step: 0.00001 }] } })
  })

  test('may get its arguments from a dict', () => {
    const common = 'COMMON = {"category": "kiln", "outputs": [io.Image.Output()]}'
    const node = readSchema('node_id="K", **COMMON', common)
    assert.deepEqual([node.category, node.return_types], ['kiln', ['IMAGE']])
  })

  test('with unknown further arguments keeps those it has, and everything is dynamic', () => {
    const node = readSchema('node_id="K", category="kiln", **elsewhere.MORE', 'import elsewhere')
    assert.deepEqual([node.ids[0], node.category], ['K', 'kiln'])
    assert.ok(node.dynamic.includes('input_types'), `dynamic is ${node.dynamic.join()}`)
  })

  test('of a method that raises is read from its text', () => {
    const node = read(`
class Kiln(io.ComfyNode):
    KEY = "K"
    @classmethod
    def define_schema(cls):
        if not cls.find(): raise RuntimeError("The kiln is cold")
        return io.Schema(node_id=cls.KEY, inputs=[io.Image.Input("clay"), *cls.more()],
                         outputs=[io.Image.Output()])
    @staticmethod
    def find(): return []
    @staticmethod
    def more(): raise RuntimeError("The kiln is still cold")
    @classmethod
    def execute(cls): ...
`)
    assert.deepEqual([node.ids[0], node.return_types], ['K', ['IMAGE']])
    assert.deepEqual(node.dynamic, ['input_types'])
  })

  test('that can not be known leaves everything dynamic', () => {
    const node = read(`
import elsewhere
class Kiln(io.ComfyNode):
    @classmethod
    def define_schema(cls): return elsewhere.make()
    @classmethod
    def execute(cls): ...
`)
    assert.equal(node.ids[0], undefined)
    assert.deepEqual(node.input_types, { required: {} })
    assert.equal(node.dynamic.length, 9)
  })
})
