import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { ExtractedNode } from '../../src/inspection.ts'
import { extract, nodeOf } from './extract-pack.ts'

const CUP = `
class Cup:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "clay"
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"clay": ("IMAGE",)}}
`

/** Fields of the one class that the source adds as node `X`. */
const read = (source: string, name = 'X', cls = name): ExtractedNode =>
  nodeOf(extract(`${CUP}${source}\nNODE_CLASS_MAPPINGS = {"${name}": ${cls}}\n`), name)

describe('fields of a node', () => {
  test('are those of the class, with the defaults of the host', () => {
    assert.deepEqual(read('X = Cup'), {
      name: 'X',
      category: 'clay',
      description: '',
      function: 'run',
      deprecated: false,
      experimental: false,
      output_node: false,
      input_types: '{"required":{"clay":["IMAGE"]}}',
      return_types: '["IMAGE"]',
      return_names: '["IMAGE"]',
      output_is_list: [false],
      dynamic: [],
    })
  })

  /** Without a word on what is dynamic nothing is. */
  const inputs: [title: string, source: string, inputTypes: string, dynamic?: string[]][] = [
    [
      'have floats as JavaScript writes them, and all digits of whole numbers',
      `
class X(Cup):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"turns": ("INT", {"default": 1.0, "max": 0xffffffffffffffff}),
                             "heat": ("FLOAT", {"step": 1e-05}), "mode": (["a", "b"],)}}
`,
      '{"required":{"turns":["INT",{"default":1,"max":18446744073709551615}],"heat":["FLOAT",{"step":0.00001}],"mode":[["a","b"]]}}',
    ],
    [
      'have empty lists where the machine decides, and say so',
      `
import folder_paths; from nodes import MAX_RESOLUTION
class X(Cup):
    INPUT_TYPES = classmethod(lambda c: {"required": {"name": (folder_paths.get_filename_list("x"),),
                                                      "size": ("INT", {"max": MAX_RESOLUTION})}})
`,
      '{"required":{"name":[[]],"size":["INT",{"max":16384}]}}',
      ['input_types.name'],
    ],
    [
      'name a path of the machine as dynamic, and no other text',
      `
import os
class X(Cup):
    INPUT_TYPES = classmethod(lambda c: {"required": {
        "shelf": ("STRING", {"default": os.path.join(os.path.dirname(os.path.dirname(__file__)), "x")}),
        "site": ("STRING", {"default": "/hosted/x"})}})
`,
      '{"required":{"shelf":["STRING",{"default":"/host/custom_nodes/x"}],"site":["STRING",{"default":"/hosted/x"}]}}',
      ['input_types.shelf'],
    ],
    [
      'keep the known choices beside those of the machine',
      `
import folder_paths
class X(Cup):
    INPUT_TYPES = classmethod(lambda c: {"required": {
        "a": (["None"] + folder_paths.get_filename_list("loras"),),
        "b": (sorted(folder_paths.get_filename_list("vae")), {"default": folder_paths.models_dir, "tooltip": "t"}),
        "c": ([f for f in folder_paths.get_filename_list("x") if f.endswith(".pt")],)}})
`,
      '{"required":{"a":[["None"]],"b":[[],{"tooltip":"t"}],"c":[[]]}}',
      ['input_types.a', 'input_types.b', 'input_types.c'],
    ],
    [
      'keep the node when INPUT_TYPES raises, and mark the field',
      'class X(Cup):\n    @classmethod\n    def INPUT_TYPES(cls): raise ValueError("no")',
      '{"required":{}}',
      ['input_types'],
    ],
    [
      'write keys as JSON does, in the order of the pack, whatever they are called',
      'class X(Cup):\n    INPUT_TYPES = {"required": {"b": ("A", {2: 1, True: 0, None: 3}), "__proto__": ("B",), "1": ("C",)}}',
      '{"required":{"b":["A",{"2":1,"true":0,"null":3}],"__proto__":["B"],"1":["C"]}}',
    ],
    [
      'have the numbers of numpy for limits',
      `
import numpy as np
from numpy import pi
class X(Cup):
    INPUT_TYPES = {"required": {"a": ("FLOAT", {"default": np.pi * 2.0, "max": 5 * pi}), "b": ("INT", {"max": np.iinfo(np.int32).max, "min": np.iinfo("uint8").min})}}
`,
      '{"required":{"a":["FLOAT",{"default":6.283185307179586,"max":15.707963267948966}],"b":["INT",{"max":2147483647,"min":0}]}}',
    ],
    [
      'are those of a host that lists nodes, and not of one that checks a graph',
      `
import inspect
class X(Cup):
    @classmethod
    def INPUT_TYPES(cls):
        more = {"one": ("CLAY",)}
        stack = inspect.stack()
        if stack[1].function == "get_input_info" or len(stack) > 2 and stack[2].function == "get_input_info":
            more = AnyKey(more)
        return {"required": {}, "optional": more}
class AnyKey(dict):
    def __init__(self, known): self["any"] = ("*",)
`,
      '{"required":{},"optional":{"one":["CLAY"]}}',
    ],
    [
      'are made of the signature of a function',
      `
import inspect, typing
def node(func):
    inputs = {}
    for name, given in inspect.signature(func).parameters.items():
        if given.annotation is int: inputs[name] = ("INT", {"default": given.default})
        elif isinstance(given.annotation, str): inputs[name] = (given.annotation,)
        elif typing.get_origin(given.annotation) is typing.Literal: inputs[name] = (typing.get_args(given.annotation),)
        else: raise NotImplementedError(given.annotation)
    class Made(Cup): INPUT_TYPES = lambda: {"required": inputs}
    return Made
@node
def X(turns: int = 3, clay: "CLAY" = None, mode: typing.Literal["a", "b"] = "a") -> tuple[int]: pass
`,
      '{"required":{"turns":["INT",{"default":3}],"clay":["CLAY"],"mode":[["a","b"]]}}',
    ],
    [
      'give enumerations their values, and NaN and infinities null',
      `
from enum import Enum
class Mode(Enum): A = "a"; B = "b"
class X(Cup):
    INPUT_TYPES = {"required": {"m": ([m for m in Mode], {"default": Mode.A}), "f": ("FLOAT", {"max": float("inf"), "min": float("nan")})}}
`,
      '{"required":{"m":[["a","b"],{"default":"a"}],"f":["FLOAT",{"max":null,"min":null}]}}',
      ['input_types.f'],
    ],
    [
      'have both display names where a branch decides',
      `
import elsewhere
class X(Cup): INPUT_TYPES = {}
NODE_DISPLAY_NAME_MAPPINGS = {"X": "Cup" if elsewhere.A else "Mug"}
`,
      '{}',
      ['display_name'],
    ],
  ]
  for (const [title, source, inputTypes, dynamic = []] of inputs)
    test(title, () => {
      const node = read(source)
      assert.deepEqual([node.input_types, node.dynamic], [inputTypes, dynamic])
    })

  const outputs: [title: string, source: string, types: string, names: string, flags: boolean[]][] =
    [
      [
        'are not all that branches of an undecided test give',
        'types = []\nif elsewhere.A: types.append("INT")\nelif elsewhere.B: types.extend(["MASK"])\nelse: types += ["CLAY"]',
        '[]',
        '[]',
        [],
      ],
      [
        'are not all that either side of a conditional gives',
        'types = ["INT"] if elsewhere.A else ["INT", "MASK"]',
        '[]',
        '[]',
        [],
      ],
      [
        'are not what one round of an undecided loop gives in branches',
        'types = []\nfor item in elsewhere.ITEMS:\n    if isinstance(item, str): types.append(item)\n    elif item is int: types.append("INT")',
        '[]',
        '[]',
        [],
      ],
      [
        'are what all branches give alike, each at its place',
        'types = ["INT", "INT"] if elsewhere.A else ["INT", "INT"]',
        '["INT","INT"]',
        '["INT","INT"]',
        [false, false],
      ],
    ]
  for (const [title, source, types, names, flags] of outputs)
    test(`of its outputs ${title}`, () => {
      const node = read(`
import elsewhere
${source}
class X(Cup): RETURN_TYPES = tuple(types)
`)
      const { return_types, return_names, output_is_list, dynamic } = node
      assert.deepEqual([return_types, return_names, output_is_list], [types, names, flags])
      const marked = flags.length > 0 ? [] : ['return_types', 'return_names', 'output_is_list']
      assert.deepEqual(dynamic, marked)
    })

  test('take strings and dicts of own classes as what they hold', () => {
    const node = read(`
class Anything(str):
    def __ne__(self, other): return False
class Open(dict):
    def __contains__(self, key): return True
class X(Cup):
    RETURN_TYPES = (Anything("*"),)
    INPUT_TYPES = classmethod(lambda cls: {"required": {}, "optional": Open()})
`)
    assert.equal(node.return_types, '["*"]')
    assert.equal(node.input_types, '{"required":{},"optional":{}}')
  })

  test('keep a string where a tuple was meant', () => {
    const node = read('class X(Cup):\n    RETURN_TYPES = ("IMAGE"); RETURN_NAMES = ("a")')
    assert.equal(node.return_types, '"IMAGE"')
    assert.equal(node.return_names, '"a"')
    assert.deepEqual(node.output_is_list, [false, false, false, false, false])
  })

  test('have the display name of the other mapping, as far as it can be known', () => {
    const { nodes } = extract(`${CUP}
import elsewhere
NODE_CLASS_MAPPINGS = {"A": Cup, "B": Cup, "C": Cup}
NODE_DISPLAY_NAME_MAPPINGS = {"A": "Cup ☕", "B": elsewhere.NAME, **elsewhere.NAMES}
`)
    assert.deepEqual(
      nodes.map((node) => node.display_name),
      ['Cup ☕', undefined, undefined],
    )
  })

  test('follow super() and what a class adds', () => {
    const node = read(`
class Low:
    CATEGORY = "kiln/base"; RETURN_TYPES = ("IMAGE",)
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"clay": ("IMAGE",)}}
class X(Low):
    CATEGORY = Low.CATEGORY + "/tall"
    @classmethod
    def INPUT_TYPES(cls): d = super().INPUT_TYPES(); d["required"]["size"] = ("INT",); return d
`)
    assert.equal(node.input_types, '{"required":{"clay":["IMAGE"],"size":["INT"]}}')
    assert.equal(node.category, 'kiln/base/tall')
  })

  test('come from the facts about the host where a class of it is the base', () => {
    const node = read('from nodes import SaveImage\nclass X(SaveImage): CATEGORY = "kiln"')
    assert.equal(node.category, 'kiln')
    assert.equal(node.function, 'save_images')
    assert.match(node.input_types, /"images":\["IMAGE"/)
  })

  test('read docstrings and own descriptors', () => {
    const node = read(`
import inspect
class lazy:
    def __init__(self, f): self.f = f
    def __get__(self, obj, cls): return self.f(cls)
class X(Cup):
    """Fires
    it."""
    DESCRIPTION = inspect.cleandoc(__doc__); RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = lazy(lambda cls: tuple(t.lower() for t in cls.RETURN_TYPES))
`)
    assert.equal(node.description, 'Fires\nit.')
    assert.equal(node.return_names, '["image","mask"]')
  })

  test('take INPUT_TYPES in every form that packs give it', () => {
    for (const form of [
      'INPUT_TYPES = {"required": {"a": ("INT",)}}',
      'INPUT_TYPES = lambda: {"required": {"a": ("INT",)}}',
      'def INPUT_TYPES(s): return {"required": {"a": ("INT",)}}',
      '@staticmethod\n    def INPUT_TYPES(): return {"required": {"a": ("INT",)}}',
    ])
      assert.equal(
        read(`class X:\n    RETURN_TYPES = ()\n    ${form}`).input_types,
        '{"required":{"a":["INT"]}}',
        form,
      )
  })

  test('say which types could not be known', () => {
    const node = read('from somewhere import KIND\nclass X(Cup): RETURN_TYPES = ("IMAGE", KIND)')
    assert.equal(node.return_types, '["IMAGE","*"]')
    assert.ok(node.dynamic.includes('return_types'), node.dynamic.join())
  })

  test('read flags by their truth', () => {
    const node = read('class X(Cup): DEPRECATED = 1; EXPERIMENTAL = True; OUTPUT_IS_LIST = (True,)')
    assert.equal(node.deprecated, true)
    assert.equal(node.experimental, true)
    assert.deepEqual(node.output_is_list, [true])
  })

  const flags: [text: string, isOutput: boolean, dynamic: string[]][] = [
    ['OUTPUT_NODE = True', true, []],
    ['OUTPUT_NODE = False', false, []],
    ['OUTPUT_NODE = "yes"', false, []],
    ['OUTPUT_NODE = machine.FLAG', false, ['output_node']],
  ]
  for (const [text, isOutput, dynamic] of flags)
    test(`say whether it is an output node, by True alone: ${text}`, () => {
      const node = read(`import machine\nclass X(Cup): ${text}`)
      assert.deepEqual([node.output_node, node.dynamic], [isOutput, dynamic])
    })

  test('have the output node of a base class of the host', () =>
    assert.equal(read('from nodes import SaveImage\nclass X(SaveImage): ...').output_node, true))
})

describe('a node whose class comes from elsewhere', () => {
  const FIELDS = ['category', 'function', 'input_types', 'return_types'] as const
  /** Those of the four that are unknown are left out. */
  const cases: [title: string, source: string, known: Partial<ExtractedNode>][] = [
    ['has no known field where an installed package has it', 'from elsewhere import X', {}],
    [
      'has the fields that it adds to a base of an installed package',
      'from elsewhere import Base\nclass X(Base): FUNCTION = "turn"',
      { function: 'turn' },
    ],
    [
      'has the defaults beside a base of a well-known library, which has no nodes',
      'import torch\nclass X(torch.nn.Module): RETURN_TYPES = ("IMAGE",)',
      { category: 'sd', function: '', input_types: '{"required":{}}', return_types: '["IMAGE"]' },
    ],
    [
      'is kept where it is made under a name that is unknown',
      'import elsewhere\nX = type(elsewhere.NAME, (Cup,), {})',
      {},
    ],
    [
      'is made under a name put together from that of a class of the host',
      'from nodes import VAEDecode\n' +
        'class X(type(VAEDecode.__name__ + "Mix", (VAEDecode,), {})):\n' +
        '    CATEGORY = VAEDecode.__name__; INPUT_TYPES = {}',
      { category: 'VAEDecode', function: 'decode', input_types: '{}', return_types: '["IMAGE"]' },
    ],
  ]
  for (const [title, source, known] of cases)
    test(title, () => {
      const node = read(source)
      const decided = FIELDS.filter((field) => !node.dynamic.includes(field))
      assert.deepEqual(Object.fromEntries(decided.map((field) => [field, node[field]])), known)
    })
})
