import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeRunner, mapping } from '../interpret/support.ts'

const run = await makeRunner()

const LOADER = `
NODE_CLASS_MAPPINGS = {}
class Cup: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS["Kiln Cup"] = Cup
n = 0
for a in range(1000):
    for b in range(1000): n += 1
NODE_CLASS_MAPPINGS["Kiln Late"] = Cup
`

describe('a budget that is spent while a module is imported', () => {
  for (const line of ['from .shelf import *', 'from .shelf import NODE_CLASS_MAPPINGS'])
    test(`leaves what the module had made: ${line}`, () => {
      const ran = run({ '__init__.py': line, 'shelf.py': LOADER }, { limits: { steps: 50_000 } })
      assert.deepEqual(mapping(ran), { 'Kiln Cup': 'Cup' })
      assert.deepEqual(
        ran.interpreter.reasons().map(({ code }) => code),
        ['budget_steps'],
      )
    })

  test('leaves it through several modules', () => {
    const files = {
      '__init__.py': 'from .shop import NODE_CLASS_MAPPINGS',
      'shop/__init__.py': 'from .shelf import NODE_CLASS_MAPPINGS',
      'shop/shelf.py': LOADER,
    }
    assert.deepEqual(mapping(run(files, { limits: { steps: 50_000 } })), { 'Kiln Cup': 'Cup' })
  })
})
