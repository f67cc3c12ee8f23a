import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import { SNIPPETS } from './snippets.ts'
import { makeRunner, mapping } from './support.ts'
import type { Run } from './support.ts'

describe('the snippets of the design', () => {
  let run: Run
  before(async () => {
    run = await makeRunner({ library: LIBRARY })
  })

  for (const { id, files, expected } of SNIPPETS) {
    test(`${id} gives its names`, () => {
      const ran = run(files)
      assert.deepEqual(mapping(ran), expected)
      assert.deepEqual(
        ran.interpreter.notes().filter((note) => note.kind === 'error'),
        [],
      )
    })
  }

  test('S27 a mapping from outside the archive is unknown', () => {
    const ran = run(`
from some_installed_package import loader
NODE_CLASS_MAPPINGS = loader.NODE_CLASS_MAPPINGS
`)
    const value = ran.get('NODE_CLASS_MAPPINGS')
    assert.ok(typeof value === 'object' && value?.kind === 'unknown', 'it is an unknown')
    assert.equal(value.name, 'some_installed_package.loader.NODE_CLASS_MAPPINGS')
    assert.equal(value.origin, 'third-party')
  })

  test('S28 an unknown part leaves an unknown rest', () => {
    const ran = run(SNIPPETS.find(({ id }) => id === 'S28')?.files ?? {})
    assert.equal(ran.interpreter.asDict(ran.get('NODE_CLASS_MAPPINGS') ?? null)?.rest, true)
  })

  test('S19 leaves out what comes from a library and what is no class', () => {
    const ran = run(SNIPPETS.find(({ id }) => id === 'S19')?.files ?? {})
    assert.ok(ran.get('Tensor') !== undefined, 'Tensor is bound all the same')
  })
})
