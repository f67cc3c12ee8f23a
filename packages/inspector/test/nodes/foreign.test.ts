import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, namesOf } from './extract-pack.ts'

const OWN = `class Own:
    CATEGORY = "kiln"
    RETURN_TYPES = ("INT",)
    @classmethod
    def INPUT_TYPES(cls): return {"required": {}}
`

const IMPORTS = `import nodes, folder_paths, torch, comfy.samplers
from comfy import model_management, samplers as sampling
from comfy_api import latest
from nodes import SaveImage
from somelib import helper, Kind
from pathlib import Path
from . import other
`

describe('a class of the pack in a loop over a module', () => {
  const tests: [title: string, test: string][] = [
    ['by its module', 'inspect.isclass(obj) and obj.__module__ == mod.__name__'],
    [
      'by the beginning of its module',
      'isinstance(obj, type) and str(obj.__module__).startswith(__package__)',
    ],
    [
      'by attributes that no module has',
      'inspect.isclass(obj) and hasattr(obj, "INPUT_TYPES") and name != "SaveImage"',
    ],
    [
      'by what is left without modules',
      'not inspect.ismodule(obj) and not isinstance(obj, types.ModuleType) and callable(obj)' +
        ' and getattr(obj, "CATEGORY", "") == "kiln"',
    ],
  ]
  for (const [title, condition] of tests)
    test(`is known from foreign ones: ${title}`, () => {
      const section = extract({
        '__init__.py': `import importlib, inspect, types
NODE_CLASS_MAPPINGS = {}
mod = importlib.import_module(".work", package=__name__)
for name, obj in inspect.getmembers(mod):
    if ${condition}: NODE_CLASS_MAPPINGS[name] = obj`,
        'work.py': IMPORTS + OWN,
        'other.py': '',
      })
      assert.deepEqual(namesOf(section), ['Own'])
      assert.deepEqual(section.nodes[0]?.dynamic, [])
    })

  test('a module in the mapping is dropped', () => {
    const section = extract(`${OWN}${IMPORTS.replace('from . import other\n', '')}
NODE_CLASS_MAPPINGS = {"Own": Own, "nodes": nodes, "mm": model_management, "Save": SaveImage}`)
    assert.deepEqual(namesOf(section), ['Own', 'Save'])
    assert.equal(section.dropped, 2)
  })
})
