import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, namesOf } from './extract-pack.ts'

const CUP = `class Cup:
    RETURN_TYPES = ("IMAGE",)
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"size": (SIZES,)}}
SIZES = ["s", "l"]
`

describe('what a call that cannot be followed gets', () => {
  const empty: [title: string, source: string][] = [
    ['the mapping', 'NODE_CLASS_MAPPINGS = {}\nhelper.fill(NODE_CLASS_MAPPINGS)'],
    [
      'the mapping by keyword, in a list',
      'NODE_CLASS_MAPPINGS = {}\nhelper.fill(to=[NODE_CLASS_MAPPINGS])',
    ],
    ['the names of the module', 'NODE_CLASS_MAPPINGS = {}\nhelper.fill(globals())'],
    ['the module', 'import sys\nNODE_CLASS_MAPPINGS = {}\nhelper.fill(sys.modules[__name__])'],
    [
      'an object that holds it',
      `class Registry:
    def __init__(self): self.nodes = {}
registry = Registry()
NODE_CLASS_MAPPINGS = registry.nodes
helper.fill(registry)`,
    ],
    [
      'the constructor of a foreign base',
      'NODE_CLASS_MAPPINGS = {}\nclass Loader(helper.Loader): pass\nLoader(NODE_CLASS_MAPPINGS)',
    ],
    ['a node class to decorate', `NODE_CLASS_MAPPINGS = {}\n@helper.node\n${CUP}`],
    [
      'a function that fills it under names of its own',
      'NODE_CLASS_MAPPINGS = {}\ndef add(name, cls): NODE_CLASS_MAPPINGS[name] = cls\nhelper.each(add)',
    ],
  ]
  for (const [title, source] of empty)
    test(`leaves no mapping that is known to be empty: ${title}`, () => {
      const section = extract(`import helper\n${source}`)
      assert.deepEqual([section.status, section.reason], ['failed', 'mapping_unknown'])
      assert.equal(section.partial, true)
    })

  test('keeps what is known, and there may be more', () => {
    const section = extract(`${CUP}from helper import node
NODE_CLASS_MAPPINGS = {"Cup": Cup}
@node(NODE_CLASS_MAPPINGS)
class Pot(Cup): pass`)
    assert.deepEqual(namesOf(section), ['Cup'])
    assert.deepEqual([section.partial, section.reasons], [true, ['mapping_rest']])
  })

  const run: [title: string, source: string][] = [
    ['called', 'helper.soon(fill)'],
    ['decorated', '@helper.on_load\ndef later(): fill()'],
    [
      'wrapped',
      'import functools\nhelper.soon(functools.partial(fill))\nhelper.soon(lambda: fill())',
    ],
    ['mapped over what is unknown', 'list(map(lambda x: fill(), helper.items()))'],
  ]
  for (const [title, source] of run)
    test(`may run a function, any number of times: ${title}`, () => {
      const section = extract(`${CUP}import helper
NODE_CLASS_MAPPINGS = {}
def fill(): NODE_CLASS_MAPPINGS["Cup"] = Cup
${source}`)
      assert.deepEqual(namesOf(section), ['Cup'])
      assert.equal(section.partial, true)
      assert.ok(section.nodes[0]?.dynamic.includes('host_node_name'))
    })

  const harmless: [title: string, source: string][] = [
    [
      'known libraries',
      'import torch, json, yaml\nyaml.dump(NODE_CLASS_MAPPINGS)\nprint(len(NODE_CLASS_MAPPINGS))',
    ],
    ['the host', 'import server\nserver.PromptServer.instance.add_routes(NODE_CLASS_MAPPINGS)'],
    [
      'a handler of the host',
      `import server
@server.PromptServer.instance.routes.get("/cups")
async def cups(request): NODE_CLASS_MAPPINGS.clear()`,
    ],
    [
      'a decorated method',
      'import helper\nclass Shop:\n    @helper.override\n    def add(self): NODE_CLASS_MAPPINGS["Pot"] = Cup',
    ],
    ['a decorated node', 'import helper\nCup = helper.node(Cup) and Cup'],
  ]
  for (const [title, source] of harmless)
    test(`leaves a node as it is: ${title}`, () => {
      const section = extract(`${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}\n${source}`)
      assert.deepEqual(namesOf(section), ['Cup'])
      assert.deepEqual([section.partial, section.nodes[0]?.dynamic], [false, []])
      assert.equal(section.nodes[0]?.input_types, '{"required":{"size":[["s","l"]]}}')
    })

  test('a list that it got may be another', () => {
    const section = extract(
      `${CUP}import helper\nhelper.add(SIZES)\nNODE_CLASS_MAPPINGS = {"Cup": Cup}`,
    )
    assert.deepEqual(section.nodes[0]?.dynamic, ['input_types.size'])
  })
})
