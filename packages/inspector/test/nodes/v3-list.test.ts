import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listV3Classes } from '../../src/nodes/v3/list-v3-classes.ts'
import { readEntrypoint, runPack } from './run-pack.ts'

const BEFORE = `
import torch, elsewhere
from comfy_api.latest import io, ComfyExtension
class Cup(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Kiln_Cup")
class Pot(Cup):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Kiln_Pot")
class Net(torch.nn.Module): pass
class Plain: pass
`

/** Ids of the nodes of a pack, and whether these are all. */
const list = (source: string) => {
  const { nodes, complete } = readEntrypoint(runPack(BEFORE + source))
  return { ids: nodes.flatMap(({ ids }) => ids), complete }
}

const extension = (body: string): string => `
class Pack(ComfyExtension):
    async def get_node_list(self): ${body}
async def comfy_entrypoint(): return Pack()
`

describe('the entrypoint of a pack', () => {
  test('gives the subclasses of a class with a base of the host', () => {
    assert.deepEqual(list(extension('return Cup.__subclasses__()')), {
      ids: ['Kiln_Pot'],
      complete: true,
    })
  })

  test('gives the nodes of its extension (S38)', () => {
    const { nodes, complete } = readEntrypoint(
      runPack(`
from comfy_api.latest import io, ComfyExtension
class Spin(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Kiln_Spin", inputs=[io.Image.Input("clay"),
        io.Boolean.Input("wet", default=True, optional=True)], outputs=[io.Image.Output(display_name="pot")])
    @classmethod
    async def execute(cls, clay, wet=True): ...
class Pack(ComfyExtension):
    async def get_node_list(self): return [Spin]
async def comfy_entrypoint(): return Pack()
`),
    )
    assert.equal(complete, true)
    assert.equal(nodes.length, 1)
    const { ids, function: name, return_types, return_names, input_types } = nodes[0] ?? {}
    assert.deepEqual(
      [ids?.[0], name, return_types, return_names],
      ['Kiln_Spin', 'EXECUTE_NORMALIZED_ASYNC', ['IMAGE'], ['pot']],
    )
    assert.deepEqual(input_types, {
      required: { clay: ['IMAGE', {}] },
      optional: { wet: ['BOOLEAN', { default: true }] },
    })
  })

  const sources: [name: string, source: string][] = [
    ['a list', extension('return [Cup, Pot]')],
    [
      'a list from elsewhere in the pack',
      `NODES = [Cup]\nNODES.append(Pot)\n${extension('return NODES')}`,
    ],
    ['a generator', extension('return list(c for c in (Cup, Pot))')],
    ['classes that are named twice', extension('return [Cup, Pot, Cup]')],
    [
      'an entrypoint that is a plain function',
      extension('return [Cup, Pot]').replace('async def comfy', 'def comfy'),
    ],
    [
      'an override with types',
      `from typing_extensions import override
class Pack(ComfyExtension):
    @override
    async def get_node_list(self) -> list[type[io.ComfyNode]]: return [Cup, Pot]
async def comfy_entrypoint() -> ComfyExtension: return Pack()`,
    ],
    [
      'an extension with state',
      `class Pack(ComfyExtension):
    def __init__(self, *nodes): self.nodes = nodes
    async def get_node_list(self): return list(self.nodes)
async def comfy_entrypoint(): return Pack(Cup, Pot)`,
    ],
    [
      'things that are no nodes beside them',
      extension('return [Cup, Net, torch.nn.Module, Pot, Plain, None, io.ComfyNode]'),
    ],
  ]
  for (const [name, source] of sources)
    test(`gives two nodes by ${name}`, () => {
      assert.deepEqual(list(source), { ids: ['Kiln_Cup', 'Kiln_Pot'], complete: true })
    })

  const incomplete: [name: string, source: string, ids: string[]][] = [
    ['a list with unknown further ones', extension('return [Cup, *elsewhere.NODES]'), ['Kiln_Cup']],
    ['a class of an installed package', extension('return [Cup, elsewhere.Node]'), ['Kiln_Cup']],
    [
      'a class with an unknown base',
      `class Far(elsewhere.Node): pass\n${extension('return [Cup, Far]')}`,
      ['Kiln_Cup'],
    ],
    ['an unknown extension', 'comfy_entrypoint = elsewhere.comfy_entrypoint', []],
  ]
  for (const [name, source, ids] of incomplete)
    test(`is not wholly known with ${name}`, () => {
      assert.deepEqual(list(source), { ids, complete: false })
    })

  test('is missing in a pack of the older form', () => {
    const { interpreter, module } = runPack('NODE_CLASS_MAPPINGS = {}')
    assert.equal(listV3Classes(interpreter, module), undefined)
  })
})
