import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Files } from '../entries.ts'
import { extract, namesOf } from './extract-pack.ts'

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'
const MAPPING = `${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}\n`

describe('a pack that certainly raises at its import', () => {
  const failing: [title: string, files: Files, code: string, detail: string][] = [
    [
      'a module that the archive lacks, such as one of an empty submodule',
      {
        '__init__.py': `from .extern.lib.core import Base\n${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}`,
        'extern/': '',
      },
      'own_module_missing',
      'extern.lib.core',
    ],
    [
      'a folder of another name',
      { '__init__.py': 'from .py.cup import NODE_CLASS_MAPPINGS', 'nodes/cup.py': MAPPING },
      'own_module_missing',
      'py.cup',
    ],
    [
      'a file whose name differs in case',
      { '__init__.py': 'from .Cups import NODE_CLASS_MAPPINGS', 'cups.py': MAPPING },
      'own_module_missing',
      'Cups',
    ],
    [
      'a name that the module lacks',
      {
        '__init__.py': `from .a import Gone\n${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup, "G": Gone}`,
        'a.py': 'class Other: pass',
      },
      'own_module_missing',
      'a.Gone',
    ],
    [
      'a module of the package that is being imported',
      { '__init__.py': `${MAPPING}from . import a`, 'a.py': 'from . import helpers' },
      'own_module_missing',
      'helpers',
    ],
    [
      'by importlib, and by the path of a file',
      {
        '__init__.py': `${MAPPING}import importlib.util, os
path = os.path.join(os.path.dirname(__file__), "gone.py")
spec = importlib.util.spec_from_file_location("gone", path)
spec.loader.exec_module(importlib.util.module_from_spec(spec))`,
      },
      'own_module_missing',
      'gone.py',
    ],
    [
      'what is raised in place of the import',
      {
        '__init__.py': `${MAPPING}
try: from .extern import core
except ImportError as e: raise RuntimeError("run git submodule update") from e`,
      },
      'own_module_missing',
      'extern',
    ],
    [
      'any other exception',
      { '__init__.py': `${MAPPING}raise RuntimeError("not on this host")` },
      'import_raised',
      'RuntimeError: not on this host',
    ],
  ]
  for (const [title, files, code, detail] of failing)
    test(`has failed: ${title}`, () => {
      const section = extract({ ...files, 'node_list.json': '{"Cup": ""}' })
      assert.deepEqual([section.status, section.reason, section.partial], ['failed', code, true])
      assert.deepEqual(namesOf(section), [])
      assert.ok(section.hints?.[0]?.startsWith(`${detail}: `), String(section.hints))
    })

  const loading: [title: string, files: Files, names: string[]][] = [
    [
      'the importer handles it',
      {
        '__init__.py': `${MAPPING}
try:
    from .nodes import NODE_CLASS_MAPPINGS as more
    NODE_CLASS_MAPPINGS.update(more)
except Exception as e: print(e)`,
        'nodes.py': `from .extern.lib import Base\n${CUP}NODE_CLASS_MAPPINGS = {"Pot": Cup}`,
      },
      ['Cup'],
    ],
    [
      'a loader takes the modules that load',
      {
        '__init__.py': `import importlib, pkgutil
NODE_CLASS_MAPPINGS = {}
for info in pkgutil.iter_modules(__path__):
    try: m = importlib.import_module("." + info.name, __name__)
    except Exception: continue
    NODE_CLASS_MAPPINGS.update(m.NODE_CLASS_MAPPINGS)`,
        'a.py': MAPPING,
        'b.py': `${CUP}NODE_CLASS_MAPPINGS = {"Pot": Cup}\nfrom .a import gone`,
      },
      ['Cup'],
    ],
    [
      'it is raised in one branch of an undecided test',
      {
        '__init__.py': `${MAPPING}import torch\nif torch.cuda.is_available(): from .fast import x`,
      },
      ['Cup'],
    ],
    [
      'a name may be bound in a branch that was not followed',
      {
        '__init__.py': `${MAPPING}import os
while True:
    if os.path.exists("/models"):
        found = 1
        break
    raise FileNotFoundError()
print(found)`,
      },
      ['Cup'],
    ],
    [
      'a loop may have found what it looks for',
      {
        '__init__.py': `${MAPPING}import os
def find():
    for path in ("/a", "/b"):
        if not os.path.exists(path): continue
        return path
    else: raise FileNotFoundError()
for path in ("/a", "/b"):
    if os.path.exists(path): break
else: raise FileNotFoundError(find())`,
      },
      ['Cup'],
    ],
  ]
  for (const [title, files, names] of loading)
    test(`is no such pack where ${title}`, () => {
      const section = extract(files)
      assert.deepEqual([section.status, section.partial], ['success', false])
      assert.deepEqual(namesOf(section), names)
    })

  const built: [title: string, files: Files][] = [
    ['beside files that are no Python', { 'nodes/readme.txt': 'built by CI' }],
    ['of which the source is there', { 'nodes/__init__.py': '', 'nodes/fast.pyx': '' }],
    ['of a project that is built', { 'nodes/__init__.py': '', 'Cargo.toml': '' }],
  ]
  for (const [title, files] of built)
    test(`a compiled module may hold the mapping: ${title}`, () => {
      const source = 'from .nodes.fast import *\n__doc__ = fast.__doc__'
      const section = extract({ '__init__.py': source, ...files })
      assert.deepEqual([section.status, section.reason], ['failed', 'mapping_unknown'])
      assert.deepEqual(section.reasons, ['own_module_missing', 'mapping_unknown'])
    })

  const fetched: [title: string, fetch: string][] = [
    ['by a program', 'import os\nos.system("git clone https://example.org/gone")'],
    ['by an installer', 'import subprocess, sys\nsubprocess.run([sys.executable, "-m", "pip"])'],
    ['from another folder', 'import shutil\nshutil.move("/tmp/gone", __path__[0])'],
    ['from a server', 'from urllib.request import urlretrieve\nurlretrieve("https://example.org")'],
    ['from an archive', 'import zipfile\nzipfile.ZipFile("a.zip").extractall(__path__[0])'],
    ['line by line', 'with open(__path__[0] + "/gone.py", "w") as file: file.write("")'],
  ]
  for (const [title, fetch] of fetched)
    test(`may have a module that it fetches itself: ${title}`, () => {
      const section = extract({
        '__init__.py': `${fetch}\nfrom . import gone\nfrom .gone import helper\n${MAPPING}
NODE_CLASS_MAPPINGS.update(gone.NODES)`,
      })
      assert.deepEqual(namesOf(section), ['Cup'])
      assert.deepEqual([section.status, section.partial], ['success', true])
      assert.equal(section.reasons[0], 'own_module_missing')
    })

  test('may have a module that it fetches itself, and is ready for none', () => {
    const source = `import os\nos.system("make")\ntry: from .gone import NODE_CLASS_MAPPINGS
except ImportError:\n  ${MAPPING.trim().replaceAll('\n', '\n  ')}`
    const section = extract({ '__init__.py': source })
    assert.deepEqual([namesOf(section), section.partial], [['Cup'], true])
  })

  test('has none after calls that write nothing', () => {
    const source = `import os, shutil\nshutil.which("git")\nos.getpid()\n${MAPPING}from . import gone`
    assert.equal(extract({ '__init__.py': source }).reason, 'own_module_missing')
  })
})
