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
      'extern.lib.core (__init__.py, line 1)',
    ],
    [
      'a folder of another name',
      { '__init__.py': 'from .py.cup import NODE_CLASS_MAPPINGS', 'nodes/cup.py': MAPPING },
      'own_module_missing',
      'py.cup (__init__.py, line 1)',
    ],
    [
      'a file whose name differs in case',
      { '__init__.py': 'from .Cups import NODE_CLASS_MAPPINGS', 'cups.py': MAPPING },
      'own_module_missing',
      'Cups (__init__.py, line 1)',
    ],
    [
      'a name that the module lacks',
      {
        '__init__.py': `from .a import Gone\n${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup, "G": Gone}`,
        'a.py': 'class Other: pass',
      },
      'own_module_missing',
      'a.Gone (__init__.py, line 1)',
    ],
    [
      'a module of the package that is being imported',
      { '__init__.py': `${MAPPING}from . import a`, 'a.py': 'from . import helpers' },
      'own_module_missing',
      'helpers (a.py, line 1)',
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
      'gone.py (__init__.py, line 6)',
    ],
    [
      'what is raised in place of the import',
      {
        '__init__.py': `${MAPPING}
try: from .extern import core
except ImportError as e: raise RuntimeError("run git submodule update") from e`,
      },
      'own_module_missing',
      'extern (__init__.py, line 4)',
    ],
    [
      'any other exception',
      { '__init__.py': `${MAPPING}raise RuntimeError("not on this host")` },
      'import_raised',
      '__init__.py, line 3: RuntimeError: not on this host',
    ],
    [
      'a file of its own that is no Python',
      { '__init__.py': `${MAPPING}from .a import b`, 'a.py': 'class A:\n  def f(self\n    x = 1' },
      'unparsable',
      'a.py, line 2: invalid syntax',
    ],
    [
      'the root, which is no Python',
      { '__init__.py': `${MAPPING}print "hello"` },
      'unparsable',
      "__init__.py, line 3: missing parentheses in call to 'print'",
    ],
    [
      'a file in no encoding that it names',
      {
        '__init__.py': `${MAPPING}from . import a`,
        'a.py': Buffer.from('# \xe9\nx = 1\ny = """\n\xe9"""', 'latin1'),
      },
      'unparsable',
      'a.py, line 3: not UTF-8, and no other encoding is declared',
    ],
    [
      'a file in another encoding than it names',
      {
        '__init__.py': `${MAPPING}from . import a`,
        'a.py': Buffer.from('# coding: gbk\n# \x81 ', 'latin1'),
      },
      'unparsable',
      'a.py, line 2: not gbk, the encoding it declares',
    ],
    [
      'two modules that import from each other',
      {
        '__init__.py': `${MAPPING}from .a import X`,
        'a.py': 'from .b import Y\nX = 1',
        'b.py': 'from .a import X\nY = 2',
      },
      'import_raised',
      "b.py, line 1: ImportError: cannot import name 'X' from 'demo-pack.a', a circular import",
    ],
    [
      'a file beside it by its bare name',
      { '__init__.py': `${MAPPING}import cups`, 'cups.py': MAPPING },
      'import_raised',
      "__init__.py, line 3: ModuleNotFoundError: No module named 'cups' (write from . import cups)",
    ],
  ]
  const known: [source: string, exception: string][] = [
    ['NODE_CLASS_MAPPINGS["Pot"]', "KeyError: 'Pot'"],
    ['del NODE_CLASS_MAPPINGS["Pot"]', "KeyError: 'Pot'"],
    ['NODE_CLASS_MAPPINGS.pop("Pot")', "KeyError: 'Pot'"],
    ['Cup.nope', "AttributeError: 'Cup' has no attribute 'nope'"],
    ['Cup().nope', "AttributeError: 'Cup()' has no attribute 'nope'"],
    ['"a".nope', "AttributeError: 'str' has no attribute 'nope'"],
    ['[1][3]', 'IndexError: list index out of range'],
    ['{}.iteritems()', "AttributeError: 'dict' has no attribute 'iteritems'"],
    ['[].push(1)', "AttributeError: 'list' has no attribute 'push'"],
    ['map(str, "ab")[0]', 'TypeError: object is not subscriptable'],
    ['{}.keys()[0]', 'TypeError: object is not subscriptable'],
    ['"a" + 1', 'TypeError: unsupported operand type(s) for +'],
    ['None[0]', 'TypeError: object is not subscriptable'],
    ['None["a"] = 1', 'TypeError: object does not support item assignment'],
    ['None()', 'TypeError: object is not callable'],
    ['for x in 5: pass', 'TypeError: object is not iterable'],
    ['(lambda a: a)()', 'TypeError: <lambda>() takes other arguments'],
    ['assert "Pot" in NODE_CLASS_MAPPINGS, "no pot"', 'AssertionError: no pot'],
    ['1 // 0', 'ZeroDivisionError: division by zero'],
    ['int("x")', 'ValueError: invalid literal for int()'],
    ['a, b = (1, 2, 3)', 'ValueError: expected 2 values to unpack'],
    ['print(later)\nlater = 1', "NameError: name 'later' is not defined"],
  ]
  for (const [source, exception] of known) {
    test(`has failed where all is known: ${source}`, () => {
      const section = extract(`${MAPPING}${source}`)
      assert.deepEqual([section.status, section.reason], ['failed', 'import_raised'])
      assert.ok(section.hints?.[0]?.startsWith(`__init__.py, line 3: ${exception}: `))
    })
    test(`has not where something was guessed: ${source}`, () => {
      const section = extract(`import torch\nif torch.a: pass\n${MAPPING}${source}`)
      assert.deepEqual([section.status, namesOf(section)], ['success', ['Cup']])
    })
  }

  const gone: [source: string, exception: string][] = [
    ['import imp', "ModuleNotFoundError: No module named 'imp' (removed in Python 3.12)"],
    ['import urllib2', "ModuleNotFoundError: No module named 'urllib2' (removed in Python 3.0)"],
    [
      'from collections import Mapping',
      "ImportError: cannot import name 'Mapping' from 'collections' (removed in Python 3.10)",
    ],
    [
      'import time; time.clock()',
      "AttributeError: module 'time' has no attribute 'clock' (removed in Python 3.8)",
    ],
    ['import sys; sys.maxint', "AttributeError: module 'sys' has no attribute 'maxint'"],
    ['from sys import maxint', "ImportError: cannot import name 'maxint' from 'sys'"],
  ]
  for (const [source, exception] of gone)
    test(`has failed over what the standard library lacks: ${source}`, () => {
      const section = extract(`import torch\nif torch.a: pass\n${MAPPING}${source}`)
      assert.equal(section.reason, 'import_raised')
      assert.ok(section.hints?.[0]?.startsWith(`__init__.py, line 5: ${exception}: `))
      const guarded = `try: ${source}\nexcept Exception: NODE_CLASS_MAPPINGS["Pot"] = Cup`
      assert.deepEqual(namesOf(extract(`${MAPPING}${guarded}`)), ['Cup', 'Pot'])
    })

  test('has not failed over what a requirement brings, and distutils, which setuptools has', () => {
    const source = `${MAPPING}import urllib2, distutils.version`
    const section = extract({ '__init__.py': source, 'requirements.txt': 'urllib2' })
    assert.deepEqual(namesOf(section), ['Cup'])
  })

  const unsure = [
    '"a".isprintable()\n(5).bit_count()\n(1.5).hex()',
    'import os\nos.environ["HOME"]',
    'import helper\n@helper.extend\nclass A: pass\nA.nope',
    'import helper\nclass A(helper.Base): pass\nA().nope',
    'import threading\nthreading.Thread().native_id + 1',
    'import helper\nassert helper.ok()\nassert Cup',
    'import helper\nd = {}\nhelper.fill(d)\nd["a"]',
    'import sys\nsys.modules["torch"]',
    'import sys\nsys.argv[5]',
    'import helper\n{(helper.x, 1): 2}[("a", 1)]',
    'import helper\n{helper.x}.remove("a")\n{"a"}.remove(helper.x)\n[helper.x].remove(1)',
  ]
  for (const source of unsure)
    test(`has not where it cannot be known: ${source}`, () => {
      const section = extract(`${MAPPING}${source}`)
      assert.deepEqual([section.status, namesOf(section)], ['success', ['Cup']])
    })

  for (const [title, files, code, detail] of failing)
    test(`has failed: ${title}`, () => {
      const section = extract({ ...files, 'node_list.json': '{"Cup": ""}' })
      assert.deepEqual([section.status, section.reason, section.partial], ['failed', code, true])
      assert.deepEqual(namesOf(section), [])
      assert.ok(section.hints?.[0]?.startsWith(`${detail}: `), String(section.hints))
    })

  const loading: [title: string, files: Files, names: string[]][] = [
    [
      'a comment alone is in another encoding',
      { '__init__.py': Buffer.from(`# \xe9\n${MAPPING}# \xe9t\xe9`, 'latin1') },
      ['Cup'],
    ],
    [
      'the text is in the encoding that it names',
      { '__init__.py': Buffer.from(`# coding: cp1252\n${MAPPING}# \xe9\nx = "\x80"`, 'latin1') },
      ['Cup'],
    ],
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
