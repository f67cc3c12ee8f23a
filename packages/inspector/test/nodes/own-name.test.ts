import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Files } from '../entries.ts'
import { extractAs, namesOf } from './extract-pack.ts'

const NODES = 'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"Cup": Cup}\n'
const ADD = 'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "."))\n'
const SRC = ADD.replace('"."', '"src"')

describe('a package on sys.path that has the name of its pack', () => {
  const forms: [pack: string, files: Files][] = [
    [
      'tripleks',
      {
        '__init__.py': `${ADD}from triple_ks.nodes import NODE_CLASS_MAPPINGS`,
        'triple_ks/__init__.py': '',
        'triple_ks/nodes.py': NODES,
      },
    ],
    [
      'triple-ks',
      {
        '__init__.py': `${ADD}import triple_ks.nodes as n\nNODE_CLASS_MAPPINGS = n.NODE_CLASS_MAPPINGS`,
        'triple_ks/nodes.py': NODES,
      },
    ],
    [
      'my-pack',
      {
        '__init__.py': `${SRC}from my_pack import NODE_CLASS_MAPPINGS`,
        'src/my_pack/__init__.py': 'from .nodes import *',
        'src/my_pack/nodes.py': NODES,
      },
    ],
    [
      'my-pack',
      { '__init__.py': `${ADD}from my_pack import NODE_CLASS_MAPPINGS`, 'my_pack.py': NODES },
    ],
    [
      'MyPack',
      {
        '__init__.py': `${SRC}import importlib
NODE_CLASS_MAPPINGS = importlib.import_module("my_pack.nodes").NODE_CLASS_MAPPINGS`,
        'src/my_pack/nodes.py': NODES,
      },
    ],
  ]
  for (const [pack, files] of forms)
    test(`is imported, not the pack: ${Object.keys(files).at(-1)} in ${pack}`, () => {
      const section = extractAs(pack, files)
      assert.deepEqual([namesOf(section), section.reasons], [['Cup'], []])
    })
})
