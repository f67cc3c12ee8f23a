import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, namesOf } from './extract-pack.ts'

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'

describe('what is known of a pack', () => {
  test('a mapping from outside is unknown, unless the pack lists its nodes itself', () => {
    const source =
      'from some_installed_package import loader\nNODE_CLASS_MAPPINGS = loader.NODE_CLASS_MAPPINGS\n'
    const alone = extract(source)
    assert.equal(alone.status, 'failed')
    assert.equal(alone.reason, 'mapping_unknown')
    const listed = extract({ '__init__.py': source, 'node_list.json': '{" Cup ": "Holds it."}' })
    assert.deepEqual([listed.status, listed.how, listed.partial], ['success', 'node_list', true])
    assert.deepEqual(namesOf(listed), ['Cup'])
    assert.equal(listed.nodes[0]?.description, 'Holds it.')
  })

  test('a known part counts, and the unknown rest is said', () => {
    const section = extract(
      `${CUP}from some_installed_package import MORE\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, **MORE}`,
    )
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
    assert.equal(section.partial, true)
  })

  const conditional: [title: string, source: string | Record<string, string>][] = [
    [
      'by the name of another pack',
      `${CUP}import importlib.util, elsewhere
def check_module_exists(name): return importlib.util.find_spec(name) is not None
NODE_CLASS_MAPPINGS = {"Cup": Cup}
if check_module_exists("another_pack"): NODE_CLASS_MAPPINGS["Guest"] = Cup
if elsewhere.A: NODE_CLASS_MAPPINGS["Both"] = Cup; NODE_CLASS_MAPPINGS["Cup"] = Cup
else: NODE_CLASS_MAPPINGS.update({"Both": Cup})`,
    ],
    [
      'in another module, by a function, and copied',
      {
        '__init__.py': `from .guests import MAPPING
from . import cups
NODE_CLASS_MAPPINGS = {**MAPPING, **cups.MAPPING}`,
        'guests.py': `${CUP}import nodes
MAPPING = {}
def add(name): MAPPING[name] = Cup
if "Another Pack's" in nodes.NODE_CLASS_MAPPINGS: add("Guest")
if "Another Pack's" in nodes.NODE_CLASS_MAPPINGS:
    from . import cups`,
        'cups.py': `${CUP}MAPPING = {"Cup": Cup, "Both": Cup}`,
      },
    ],
    [
      'in a mapping of a branch, merged',
      `${CUP}import elsewhere
NODE_CLASS_MAPPINGS = {"Cup": Cup, "Both": Cup}
if elsewhere.A: NODE_CLASS_MAPPINGS = {**NODE_CLASS_MAPPINGS, "Guest": Cup}`,
    ],
    [
      'of the newer form',
      `from comfy_api.latest import io, ComfyExtension
import elsewhere
def make(name):
    class Node(io.ComfyNode):
        @classmethod
        def define_schema(cls): return io.Schema(node_id=name, inputs=[], outputs=[])
        @classmethod
        def execute(cls): pass
    return Node
class Pack(ComfyExtension):
    async def get_node_list(self):
        found = [make("Cup"), make("Both")]
        if elsewhere.A: found.append(make("Guest"))
        return found
async def comfy_entrypoint(): return Pack()`,
    ],
  ]
  for (const [title, source] of conditional)
    test(`a name that is there only under a condition is marked: ${title}`, () => {
      const section = extract(source)
      assert.deepEqual(namesOf(section).toSorted(), ['Both', 'Cup', 'Guest'])
      assert.equal(section.partial, false)
      const marked = section.nodes.filter(({ dynamic }) => dynamic.includes('host_node_name'))
      assert.deepEqual(
        marked.map(({ name }) => name),
        ['Guest'],
      )
    })

  const chosen = [
    'M = {("Cup" if elsewhere.A else "Guest"): Cup}',
    'if elsewhere.A: name = "Cup"\nelse: name = "Guest"\nM = {f"{name}": Cup}',
    'def make():\n  if elsewhere.A: return {"Cup": Cup}\n  return {"Guest": Cup}\nM = make()',
    'M = {}\ntry: elsewhere.load(); M["Cup"] = Cup\nexcept OSError: M["Guest"] = Cup',
    'M = {"Guest": Cup}\nelsewhere.A and M.update({"Cup": Cup})\nif elsewhere.B: del M["Guest"]',
    'M = {name: Cup for name in ("Cup", "Guest") if elsewhere.has(name)}',
    'def cup(): M["Cup"] = Cup\ndef guest(): M["Guest"] = Cup\nM = {}\nadd = cup if elsewhere.A else guest\nadd()',
    'if elsewhere.A:\n  def name(): return "Cup"\nelse:\n  def name(): return "Guest"\nM = {name(): Cup}',
    'if elsewhere.A:\n  class Name: text = "Cup"\nelse:\n  class Name: text = "Guest"\nM = {Name.text: Cup}',
    'N = {"a": "Cup"}\ndef turn(): N["a"] = "Guest"\nif elsewhere.A: turn()\nM = {N["a"]: Cup}',
    'class N: a = ""\nif elsewhere.A: N.a = "Cup"\nelse: setattr(N, "a", "Guest")\nM = {N.a or "Guest": Cup}',
    'N = "Cup"\ndef turn():\n  global N\n  N = "Guest"\nif elsewhere.A: turn()\nM = {N: Cup}',
    'N = ("Cup",)\nif elsewhere.A: N += ("Guest",)\nif elsewhere.B: N = N[1:]\nM = {}\nfor name in N: M[name] = Cup',
    'M = {"Cup": Cup, "Guest": Cup}\ndef drop(name): del M[name]\nif elsewhere.A: drop("Cup")\nelse: drop("Guest")',
    'N = ["Cup", "Guest"]\nif elsewhere.A: N.remove("Cup")\nelse: del N[1]\nM = {name: Cup for name in N}',
    'N = ["Cup", "Guest"]\nif elsewhere.A: N.pop()\nif elsewhere.B: N.pop(0)\nM = {}\nfor name in N: M[name] = Cup',
    'N = ["Cup"]\nif elsewhere.A: N[0] = "Guest"\nM = {name: Cup for name in N}',
  ]
  for (const source of chosen)
    test(`a condition that cannot be known loses no name: ${source}`, () => {
      const section = extract(`${CUP}import elsewhere\n${source}\nNODE_CLASS_MAPPINGS = M`)
      assert.deepEqual(namesOf(section).toSorted(), ['Cup', 'Guest'])
      for (const { dynamic } of section.nodes) assert.deepEqual(dynamic, ['host_node_name'])
    })

  test('a function may call itself forty times, and a call that is cut leaves more to come', () => {
    const fill = (count: number): string =>
      `${CUP}NODE_CLASS_MAPPINGS = {}\ndef fill(n):\n  if n: NODE_CLASS_MAPPINGS[f"Cup {n}"] = Cup; fill(n - 1)\nfill(${count})`
    const whole = extract(fill(30))
    assert.deepEqual([whole.nodes.length, whole.partial], [30, false])
    assert.deepEqual(extract(fill(50)).reasons, ['mapping_rest'])
  })

  test('an extension is loaded before it is asked for its nodes', () => {
    const pack = (body: string): string => `from comfy_api.latest import io, ComfyExtension
class Cup(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Cup")
class Pack(ComfyExtension):
    async def on_load(self): ${body}
    async def get_node_list(self): return self.nodes
async def comfy_entrypoint(): return Pack()`
    assert.deepEqual(namesOf(extract(pack('self.nodes = [Cup]'))), ['Cup'])
    const { status, reason } = extract(pack('raise RuntimeError("no license")'))
    assert.deepEqual([status, reason], ['failed', 'import_raised'])
  })

  test('what such a condition chooses in a node is marked', () => {
    const [node] = extract(`import elsewhere
class Cup:
    CATEGORY = "a" if elsewhere.A else "b"
    RETURN_TYPES = ("IMAGE",) if elsewhere.A else ("MASK", "INT")
    def INPUT_TYPES():
        inputs = {"size": ("INT", {"default": 1 if elsewhere.A else 2})}
        if elsewhere.A: inputs["more"] = ("INT",)
        return {"required": inputs}
NODE_CLASS_MAPPINGS = {"Cup": Cup}`).nodes
    assert.deepEqual(node?.dynamic.toSorted(), [
      'category',
      'input_types.more',
      'input_types.size',
      'output_is_list',
      'return_names',
      'return_types',
    ])
  })

  test('a class that such a condition chooses is read in all ways', () => {
    const { nodes } = extract(`import elsewhere
class Base:
    RETURN_TYPES = ("IMAGE",)
if elsewhere.A:
    class Cup(Base): CATEGORY = "a"
else:
    class Cup(Base): CATEGORY = "b"; FUNCTION = "fill"
class Big(Cup): pass
Cup.DESCRIPTION = "same"
isinstance(Cup(), Cup) or Cup.missing
NODE_CLASS_MAPPINGS = {"Cup": Cup, "Big": Big, "Guest": Cup if elsewhere.B else None}`)
    assert.deepEqual(
      nodes.map(({ name, category, description, dynamic }) => [
        name,
        category,
        description,
        dynamic,
      ]),
      [
        ['Cup', 'a', 'same', ['category', 'function']],
        ['Big', 'a', 'same', []],
        ['Guest', 'a', 'same', ['category', 'function']],
      ],
    )
  })

  test('a V3 node whose name such a condition chooses has both', () => {
    const { nodes, partial } = extract(`from comfy_api.latest import io, ComfyExtension
import elsewhere
class Cup(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Cup" if elsewhere.A else "Guest")
    def execute(): pass
class Pack(ComfyExtension):
    async def get_node_list(self): return [Cup]
async def comfy_entrypoint(): return Pack()`)
    assert.deepEqual(
      nodes.map(({ name, dynamic }) => [name, dynamic]),
      [
        ['Cup', ['host_node_name']],
        ['Guest', ['host_node_name']],
      ],
    )
    assert.equal(partial, false)
  })

  test('tuples within tuples are keys of their own', () => {
    const section = extract(`${CUP}key = ("long" * 40,)
names = {}
for n in range(40):
    key = (key, key)
    names[key] = names.get((key, key), f"Cup {n}")
for n in range(3000): names[key, n] = "Cup 0"
names[frozenset([key, n])] = names[frozenset([n, key])] = "Cup"
NODE_CLASS_MAPPINGS = {name: Cup for name in names.values()}
NODE_CLASS_MAPPINGS[str(len(names))] = Cup`)
    assert.equal(section.nodes.length, 42)
    assert.deepEqual([section.nodes.at(-1)?.name, section.partial], ['3041', false])
  })

  test('interface files only are a success without nodes', () => {
    const section = extract('NODE_CLASS_MAPPINGS = {}\nWEB_DIRECTORY = "./web"')
    assert.deepEqual([section.status, section.partial, section.how], ['success', false, 'none'])
    assert.equal(extract('WEB_DIRECTORY = "./web"').status, 'success')
  })

  test('junk is dropped and counted', () => {
    const section = extract(
      `${CUP}import json\nclass Plain: pass\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "json": json, "helper": lambda: 1, "Plain": Plain}`,
    )
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
    assert.equal(section.dropped, 3)
    assert.equal(section.partial, false)
  })

  test('without an __init__.py no host can load it', () => {
    assert.deepEqual(
      [extract({ 'nodes.py': CUP }).status, extract({ 'nodes.py': CUP }).reason],
      ['failed', 'no_init'],
    )
  })

  test('without mapping, entrypoint and interface files there is nothing to load', () => {
    assert.equal(extract('x = 1').reason, 'no_mapping')
  })

  test('names are scanned for where nothing else is to be had', () => {
    const section = extract({
      '__init__.py': 'from unknown_thing import make\nNODE_CLASS_MAPPINGS = make()',
      'other.py': `${CUP}def f():\n    NODE_CLASS_MAPPINGS = {"Kiln Pot": Cup, "Kiln One": 1, **x}`,
    })
    assert.deepEqual([section.how, section.partial], ['literal_scan', true])
    assert.deepEqual(namesOf(section), ['Kiln Pot'])
  })

  test('names of built-in nodes are ignored', () => {
    const section = extract(`${CUP}NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "KSampler": Cup}`)
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
  })

  test('the same pack gives the same, in every locale and time zone', () => {
    const source = `${CUP}NODE_CLASS_MAPPINGS = {k: Cup for k in ["b", "a", "ä", "Z"]}`
    const { stats: _, ...first } = extract(source)
    const { stats: __, ...second } = extract(source)
    assert.deepEqual(first, second)
    assert.deepEqual(
      first.nodes.map(({ name }) => name),
      ['b', 'a', 'ä', 'Z'],
    )
  })
})
