import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { extract, namesOf, nodeOf } from '../nodes/extract-pack.ts'

const CLASSES = `
import glaze_library
class Cup: RETURN_TYPES = ("IMAGE",)
class Pot: RETURN_TYPES = ("MASK",)
class Jar: RETURN_TYPES = ("LATENT",)
`

describe('what an undecided test takes out of a mapping', () => {
  test('stays, where it stood', () => {
    const section = extract(`${CLASSES}
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln Pot": Pot, "Kiln Jar": Jar}
for name in list(NODE_CLASS_MAPPINGS.keys()):
    if getattr(glaze_library, name, None) is None:
        del NODE_CLASS_MAPPINGS[name]
if glaze_library.VERSION < 2: NODE_CLASS_MAPPINGS.pop("Kiln Cup")
if glaze_library.VERSION < 1: NODE_CLASS_MAPPINGS.clear()
`)
    assert.deepEqual(namesOf(section), ['Kiln Cup', 'Kiln Pot', 'Kiln Jar'])
    assert.equal(section.partial, false)
  })

  test('is gone within its own branch', () => {
    const section = extract(`${CLASSES}
NODE_CLASS_MAPPINGS = {}
spare = {"Kiln Cup": Cup, "Kiln Pot": Pot}
if glaze_library.available():
    spare.pop("Kiln Pot")
    NODE_CLASS_MAPPINGS.update(spare)
`)
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
  })

  test('is not meant by what a called function or an imported module takes out', () => {
    const section = extract({
      '__init__.py': `${CLASSES}
def build():
    made = {"Kiln Cup": Cup, "Kiln Pot": Pot}
    made.pop("Kiln Pot")
    return made
if glaze_library.available():
    parts = build()
    from . import more
    late = more.LATE
NODE_CLASS_MAPPINGS = {**parts, **late}
`,
      'more.py': `
class Urn: RETURN_TYPES = ("IMAGE",)
LATE = {"Kiln Urn": Urn, "Kiln Shard": Urn}
del LATE["Kiln Shard"]
`,
    })
    assert.deepEqual(namesOf(section), ['Kiln Cup', 'Kiln Urn'])
  })

  test('is replaced by what the branch sets again', () => {
    const section = extract(`${CLASSES}
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln Pot": Pot}
if glaze_library.available():
    del NODE_CLASS_MAPPINGS["Kiln Cup"]
    NODE_CLASS_MAPPINGS["Kiln Cup"] = Jar
`)
    assert.deepEqual(namesOf(section), ['Kiln Cup', 'Kiln Pot'])
    assert.equal(nodeOf(section, 'Kiln Cup').return_types, '["LATENT"]')
  })
})

describe('a known test', () => {
  test('takes out for good', () => {
    const section = extract(`${CLASSES}
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln Pot": Pot}
if "Kiln Pot" in NODE_CLASS_MAPPINGS: del NODE_CLASS_MAPPINGS["Kiln Pot"]
`)
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
  })
})
