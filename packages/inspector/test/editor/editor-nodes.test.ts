import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listEditorNodes } from '../../src/editor/editor-nodes.ts'
import { extract } from '../nodes/extract-pack.ts'
import type { Files } from '../entries.ts'

/** Names in scripts, the first of which is `a.js`. */
const namesIn = (...sources: string[]): string[] => {
  const files = sources.map((text, index) => [`${'abc'[index]}.js`, Buffer.from(text)] as const)
  return listEditorNodes({ files: new Map(files) } as never, undefined)
}

const RGTHREE = [
  `export function addName(str) { return str + " (rgthree)"; }
  export const Types = { LABEL: addName("Label"), BOOKMARK: addName("Bookmark"), SEED: addName("Seed") };`,
  `export class VirtualNode extends LGraphNode {
    constructor(title = VirtualNode.title) { super(title); this.isVirtualNode = true; }
    static setUp() { if (!this.type) throw new Error(\`no type: \${this.title}\`); LiteGraph.registerNodeType(this.type, this); }
  }
  VirtualNode.type = "__NEED_CLASS_TYPE__";
  const old = LiteGraph.registerNodeType;
  LiteGraph.registerNodeType = async function (nodeId, baseClass) { return old.call(LiteGraph, nodeId, baseClass) };`,
  `class Label extends VirtualNode {}
  Label.type = Types.LABEL; Label.title = Types.LABEL;
  Bookmark.type = Types.BOOKMARK;
  Seed.type = Types.SEED;
  app.registerExtension({ registerCustomNodes() { Label.setUp(); Bookmark.setUp() },
    beforeRegisterNodeDef(nodeType, nodeData) { Seed.setUp(nodeType, nodeData) } })`,
]

describe('host nodes of the editor alone', () => {
  test('are read from calls as packs write them', () => {
    const cases: [source: string, ...names: string[]][] = [
      ['LiteGraph.registerNodeType("SetNode", SetNode)', 'SetNode'],
      [
        "LiteGraph.registerNodeType(\n 'Note (mtb)',\n Object.assign(Note, { title: 'N' }))",
        'Note (mtb)',
      ],
      ['const SET_TYPE = "GJJ_Set"\nLiteGraph.registerNodeType(SET_TYPE, Set)', 'GJJ_Set'],
      ['const N = { A: `x ${"y"}` }; L.registerNodeType(N.A, A);', 'x y'],
      ['const p = "Kay", f = (name) => p + name; L.registerNodeType(f("Get"), A);', 'KayGet'],
      ['class A extends L { static type = "A one" }; g.registerNodeType(A.type, A)', 'A one'],
      ['B.title = "B one"; L.registerNodeType(B.title, B)', 'B one'],
      ['const NODE = B; B.type = "B two"; L.registerNodeType(NODE.type, NODE)', 'B two'],
      ['L.registerNodeType("\\ud83d\\ude00 \\u{1f516} \\x41", A)', '😀 🔖 A'],
      [
        'class A { constructor() { this.isVirtualNode = true } }\nA.type = "A"; B.type = "B"\nfor (const one of [A, B]) L.registerNodeType(one.type, one)',
        'A',
        'B',
      ],
    ]
    for (const [source, ...names] of cases) assert.deepEqual(namesIn(source), names, source)
  })

  test('of classes that register themselves are those whose method some script calls', () => {
    assert.deepEqual(namesIn(...RGTHREE), ['Bookmark (rgthree)', 'Label (rgthree)'])
  })

  test('are none in comments, texts, templates and names that mean several things', () => {
    const sources = [
      '// L.registerNodeType("a", A)\n/* L.registerNodeType("a", A) */',
      '"L.registerNodeType(\\"a\\", A)"',
      '`L.registerNodeType("a", ${b ? `"c"` : "d"}, A)`',
      'x = /["`]/; // L.registerNodeType("a", A)',
      'class X { static registerNodeType(t, r) {} }; const t = "a"',
      'const t = "a"; { const t = "b"; L.registerNodeType(t, A) }',
      'const t = c ? "a" : "b"; L.registerNodeType(t, A)',
      'L.registerNodeType(prefix + "a", A)',
      'L.registerNodeType(" ", A)',
    ]
    for (const source of sources) assert.deepEqual(namesIn(source), [], source)
    const behind = 'x = a / b; y = `${`${1}`}` / 2; L.registerNodeType("a", A)'
    assert.deepEqual(namesIn(behind), ['a'])
  })

  test('are read in bounds, whatever a script holds', () => {
    const doubled = Array.from({ length: 40 }, (_, at) => `const a${at + 1} = a${at} + a${at};`)
    const many = Array.from({ length: 600 }, (_, at) => `L.registerNodeType("n${at}", A);`)
    assert.deepEqual(namesIn(`const a0 = "";${doubled.join('')}L.registerNodeType(a40, A)`), [])
    assert.deepEqual(namesIn('const a = b, b = a; L.registerNodeType(a, A)'), [])
    assert.deepEqual(namesIn('const f = (x) => f(x); L.registerNodeType(f("a"), A)'), [])
    assert.equal(namesIn(many.join('')).length, 500)
    for (const part of [
      '/*',
      'const a={',
      '`${',
      '(',
      '=/[',
      '"\\',
      'static a.registerNodeType(this.b,',
    ])
      namesIn(`L.registerNodeType("a", A);${part.repeat(20_000)}`)
  })
})

const namesOf = (files: Files) => extract(files).workflow_names?.map(({ name }) => name) ?? []

describe('names in workflows of a pack', () => {
  const web = {
    'web/a.js': 'L.registerNodeType("In", A)',
    'web2/a.mjs': 'L.registerNodeType("Out", A)',
  }

  test('are those of scripts below WEB_DIRECTORY, or of all where none is named', () => {
    const mapping = 'NODE_CLASS_MAPPINGS = {}'
    const init = `${mapping}\nWEB_DIRECTORY = "./web"`
    assert.deepEqual(namesOf({ ...web, '__init__.py': init }), ['In'])
    assert.deepEqual(namesOf({ ...web, '__init__.py': mapping }), ['In', 'Out'])
    const made = `${mapping}\nimport os\nWEB_DIRECTORY = os.environ["X"]`
    assert.deepEqual(namesOf({ ...web, '__init__.py': made }), ['In', 'Out'])
  })

  test('are none that the pack has as host nodes', () => {
    const node = `class In:
    RETURN_TYPES = ()
    FUNCTION = "run"
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {}}
NODE_CLASS_MAPPINGS = {"In": In}`
    assert.deepEqual(namesOf({ ...web, '__init__.py': node }), ['Out'])
  })

  test('are those that it replaces, with inputs that have other names', () => {
    const source = `from comfy_api.latest import ComfyAPI, ComfyExtension, io
api = ComfyAPI()
PAIRS = [("old_a", "NewA"), ("old_b", "NewB")]

class Extension(ComfyExtension):
    async def on_load(self):
        for old, new in PAIRS:
            await api.node_replacement.register(io.NodeReplace(new_node_id=new, old_node_id=old))
        await register()
    async def get_node_list(self):
        return []

async def register():
    await api.node_replacement.register(io.NodeReplace(
        new_node_id="Sampler", old_node_id="OldSampler", old_widget_ids=["steps"],
        input_mapping=[
            {"new_id": "model", "old_id": "model"},
            {"new_id": "num_steps", "old_id": "steps"},
            {"new_id": "scheduler", "set_value": "normal"},
            {"new_id": "count", "set_value": 3},
        ]))
    await api.node_replacement.register(io.NodeReplace("Late", "OldSampler"))
    await api.node_replacement.register(io.NodeReplace(new_node_id=unknown(), old_node_id="x"))
    await api.node_replacement.register(unknown())

async def comfy_entrypoint():
    return Extension()`
    assert.deepEqual(extract(source).workflow_names, [
      { name: 'old_a', replaced_by: { host_node: 'NewA', inputs: [] } },
      { name: 'old_b', replaced_by: { host_node: 'NewB', inputs: [] } },
      {
        name: 'OldSampler',
        replaced_by: {
          host_node: 'Sampler',
          inputs: [
            { input: 'num_steps', from: 'steps' },
            { input: 'scheduler', value: 'normal' },
            { input: 'count', value: '3' },
          ],
        },
      },
    ])
  })
})
