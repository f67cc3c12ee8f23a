import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { adviceOf, ADVICE } from '../../src/advice.ts'
import { extract, namesOf } from './extract-pack.ts'

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'
const WRONG = 'comfy_entrypoint gives no ComfyExtension with a list of nodes'
const ENTRYPOINT = 'async def comfy_entrypoint(): return None\n'

describe('hints for the publisher', () => {
  test('an entrypoint beside a mapping with nodes is ignored', () => {
    const section = extract(`${CUP}${ENTRYPOINT}NODE_CLASS_MAPPINGS = {"Cup": Cup}`)
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], false])
    assert.deepEqual(section.hints, [ADVICE.entrypoint_ignored])
  })

  test('names of built-in nodes are dropped', () => {
    const section = extract(
      `${CUP}NODE_CLASS_MAPPINGS = {"KSampler": Cup, "Cup": Cup, "VAEDecode": Cup}`,
    )
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], false])
    assert.deepEqual(section.hints, [`KSampler, VAEDecode: ${ADVICE.built_in_name}`])
    const none = extract(`${CUP}NODE_CLASS_MAPPINGS = {"KSampler": Cup}`)
    assert.deepEqual([none.status, none.hints?.length], ['success', 1])
  })

  test('a pack that is read in part names the modules it lacks and the files that are too deep', () => {
    const section = extract({
      '__init__.py': `from .deep import x
import zipfile
zipfile.ZipFile("a.zip").extractall(__path__[0])
from . import gone
from .lost import NODES
${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}`,
      'deep.py': `if a: x = 1\n${'elif a: x = 1\n'.repeat(300)}`,
    })
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], true])
    assert.deepEqual(section.hints, [
      `gone, lost: ${ADVICE.own_module_missing}`,
      `deep.py: ${ADVICE.unparsable}`,
    ])
  })

  test('a mapping of another name, and an entrypoint that gives something else, are named', () => {
    const wrong: [source: string, about: string][] = [
      [`${CUP}NODE_CLASS_MAPPING = {"Cup": Cup}`, 'NODE_CLASS_MAPPING'],
      [`${CUP}def comfy_entrypoint(): return [Cup]`, WRONG],
      [`${CUP}class E:\n  async def get_node_list(self): return None\ncomfy_entrypoint = E`, WRONG],
    ]
    for (const [source, about] of wrong) {
      const section = extract(source)
      assert.deepEqual([section.status, section.reason], ['failed', 'no_mapping'])
      assert.deepEqual(section.hints, [`${about}: ${ADVICE.no_mapping}`])
    }
    const unknown = extract(
      `import helper\n${CUP}def comfy_entrypoint(): return helper.make([Cup])`,
    )
    assert.equal(unknown.reason, 'mapping_unknown')
  })

  test('there are none without a cause', () => {
    assert.equal('hints' in extract(`${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}`), false)
    assert.equal('hints' in extract(`${ENTRYPOINT}NODE_CLASS_MAPPINGS = {}`), false)
  })

  test('codes of a family share a sentence', () => {
    assert.equal(adviceOf('archive_bad_crc'), ADVICE.archive)
    assert.equal(adviceOf('budget_steps', '__init__.py'), `__init__.py: ${ADVICE.budget}`)
    assert.equal(adviceOf('budget_rounds'), ADVICE.budget_rounds)
    assert.notEqual(ADVICE.budget_rounds, ADVICE.budget)
    assert.equal(adviceOf('something_else'), 'something_else')
  })
})
