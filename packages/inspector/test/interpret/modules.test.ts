import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import { makeRunner, reprOf } from './support.ts'
import type { Run } from './support.ts'

type Case = [title: string, files: Record<string, string>, expected: Record<string, string>]

const CASES: Case[] = [
  [
    'relative imports work at any level, and the package holds its submodules',
    {
      '__init__.py':
        'from .a.b.c import x, up\nfrom . import a\nfrom .a import b as bb\nz = a.b.c.x + bb.n',
      'a/__init__.py': 'top = 5',
      'a/b/__init__.py': 'n = 1',
      'a/b/c.py':
        'from ... import a as pkg\nfrom .. import top\nfrom . import n\nx = n + top\nup = pkg.top',
    },
    { x: '6', up: '5', z: '7' },
  ],
  [
    'a folder without __init__.py is a package all the same',
    { '__init__.py': 'from .ns.m import x\nfrom .ns import m\ny = m.x', 'ns/m.py': 'x = 1' },
    { x: '1', y: '1' },
  ],
  [
    'modules that import each other see what is there already',
    {
      '__init__.py': 'from .a import A, B',
      'a.py': 'A = 1\nfrom . import b\nB = b.B\nC = b.get()',
      'b.py': 'from . import a\nfrom .a import A\nB = A + 1\ndef get(): return a.B',
    },
    { A: '1', B: '2' },
  ],
  [
    'a star import takes __all__, else public names, submodules as well',
    {
      '__init__.py':
        'from .p import *\nfrom .q import *\na = [n for n in ("x", "_y", "z", "_w", "sub") if n in globals()]\nb = sub.v',
      'p/__init__.py': '__all__ = ["x", "_y"] + ["sub"]\nx = _y = hidden = 1',
      'p/sub.py': 'v = 7',
      'q.py': 'import os as _os\nz = 1\n_w = 2',
    },
    { a: "['x', '_y', 'z', 'sub']", b: '7' },
  ],
  [
    'a name missing in a module that was read whole raises ImportError',
    {
      '__init__.py':
        'try: from .m import nothing\nexcept ImportError: a = 1\ntry: from .m import y; b = 1\nexcept ImportError: b = 2\n' +
        'from . import m\ntry: m.zzz\nexcept AttributeError: c = 1\nd = hasattr(m, "x"), hasattr(m, "q")',
      'm.py': 'x = 1',
    },
    { a: '1', b: '2', c: '1', d: '(True, False)' },
  ],
  [
    'a module with a star import of an unknown may have any name, and one that is no Python none',
    {
      '__init__.py':
        'try: from .broken import ok\nexcept SyntaxError as e: ok = str(e)\nfrom .open import anything\nx = anything',
      'broken.py': 'ok = 1\ndef f(:\n  pass\n',
      'open.py': 'from torch import *\n',
    },
    { ok: "'invalid syntax'", x: '<unknown demopack.open.anything>' },
  ],
  [
    'a raise that may be ours costs one statement of the module, and its names stay possible',
    {
      '__init__.py': 'from .m import a, c\nfrom .m import b',
      'm.py':
        'import torch\nif torch.a: pass\na = 1\ntry: b = int("x")\nexcept ValueError as e: raise RuntimeError("b") from e\nc = 3\n',
    },
    { a: '1', c: '3', b: '<unknown demopack.m.b>' },
  ],
  [
    'a raise ends the module and reaches whoever imports it; another import tries again',
    {
      '__init__.py': `
seen = []
for i in range(2):
    try: from .m import a
    except NameError as e: seen.append(str(e))
try: from . import deep
except ImportError as e: seen.append(type(e).__name__)`,
      'm.py': 'a = 1\nb = undefined_name + 1\n',
      'deep.py': 'from .gone import x',
    },
    {
      seen: `["name 'undefined_name' is not defined", "name 'undefined_name' is not defined", 'ModuleNotFoundError']`,
    },
  ],
  [
    'the own name with and without custom_nodes, in any spelling, is the pack',
    {
      '__init__.py':
        'import demo_pack.m as a\nfrom custom_nodes.DemoPack import m as b\nimport custom_nodes.demopack.m\nfrom . import m as c\n' +
        'd = [a is c, b is c, custom_nodes is None]\ne = __import__("Demo_Pack.m", fromlist=["x"]).x',
      'm.py': 'x = 4',
    },
    { e: '4' },
  ],
  [
    'standard library, host and well-known libraries are never looked up in the pack',
    {
      '__init__.py':
        'import sys, os\nsys.path.insert(0, os.path.dirname(__file__))\nimport nodes, torch, uuid, mine\nfrom nodes import X\na = mine.v; b = nodes.v; c = torch.v; d = uuid.v',
      'nodes.py': 'v = X = 1',
      'torch.py': 'v = 1',
      'uuid.py': 'v = 1',
      'mine.py': 'v = 1',
    },
    { a: '1', b: '<unknown nodes.v>', c: '<unknown torch.v>', d: '<unknown uuid.v>' },
  ],
  [
    'a module is looked for on sys.path in its order, and only in the pack',
    {
      '__init__.py':
        'import sys, os\nhere = os.path.dirname(os.path.realpath(__file__))\nsys.path.append(os.path.join(here, "one"))\nsys.path.insert(0, here + "/two")\n' +
        'import both\nfrom deep.er import v\na = both.v\ntry: import elsewhere\nexcept ImportError: b = 0',
      'one/both.py': 'v = 1',
      'two/both.py': 'v = 2',
      'one/deep/er.py': 'v = 3',
      'elsewhere.py': 'v = 4',
    },
    { a: '2', v: '3', b: '0' },
  ],
  [
    'a package without __init__.py may lie in two folders, the second of which came later',
    {
      '__init__.py':
        'import sys, os\nhere = os.path.dirname(__file__)\nsys.path.append(here + "/one")\nimport parts.early\n' +
        'sys.path.append(here + "/two")\nimport parts.late\nfrom parts.deep.er import v\na = parts.early.v, parts.late.v',
      'one/parts/early.py': 'v = 1',
      'two/parts/late.py': 'v = 2',
      'two/parts/deep/er.py': 'v = 3',
    },
    { a: '(1, 2)', v: '3' },
  ],
  [
    'modules have the names Python gives them',
    {
      '__init__.py': 'from .a.m import info\nx = __name__, __package__, __file__, __path__',
      'a/__init__.py': '',
      'a/m.py':
        '"""Doc."""\ninfo = __name__, __package__, __file__, __doc__, __name__ == "__main__"',
    },
    {
      x: "('demopack', 'demopack', '/host/custom_nodes/demopack/__init__.py', ['/host/custom_nodes/demopack'])",
      info: "('demopack.a.m', 'demopack.a', '/host/custom_nodes/demopack/a/m.py', 'Doc.', False)",
    },
  ],
  [
    'a compiled module is there, but nobody knows what it holds',
    { '__init__.py': 'from .fast import f\nx = f(1)', 'fast.cpython-311-x86_64-linux-gnu.so': '' },
    { x: '<unknown demopack.fast.f()>' },
  ],
  [
    'a module may replace itself, and __getattr__ may supply its names',
    {
      '__init__.py': 'from . import lazy, stand\na = lazy.abc; b = stand.v',
      'lazy.py': 'def __getattr__(name): return name + "!"',
      'stand.py': 'import sys\nclass M: v = 9\nsys.modules[__name__] = M()',
    },
    { a: "'abc!'", b: '9' },
  ],
  [
    'a file with a byte order mark, carriage returns or an old encoding is read',
    { '__init__.py': '\ufeffx = "é"\r\nif x:\r\n    y = 2\r\n' },
    { x: "'é'", y: '2' },
  ],
]

describe('modules and imports', () => {
  let run: Run
  before(async () => {
    run = await makeRunner({ library: LIBRARY })
  })

  for (const [title, files, expected] of CASES) {
    test(title, () => {
      const ran = run(files)
      const found = Object.keys(expected).map((name) => [name, reprOf(ran, name)])
      assert.deepEqual(Object.fromEntries(found), expected)
    })
  }

  test('only files that are reached are parsed, each once', () => {
    const ran = run({
      '__init__.py': 'from . import a\nfrom .a import x\n',
      'a.py': 'x = 1',
      'b.py': 'y = 1',
    })
    assert.deepEqual([...ran.interpreter.parsedFiles().keys()], ['__init__.py', 'a.py'])
    assert.equal(ran.interpreter.stats().files, 2)
  })

  test('a file that is reached and too deep to be read whole is a reason to be partial', () => {
    const deep = `if 0: pass\n${'elif 1: pass\n'.repeat(300)}`
    const ran = run({ '__init__.py': 'from . import a', 'a.py': deep })
    assert.deepEqual(ran.interpreter.reasons(), [{ code: 'unparsable', detail: 'a.py' }])
  })

  test('a raise at module level is noted with its place', () => {
    const ran = run({
      '__init__.py': 'try: from . import m\nexcept ValueError: y = 2',
      'm.py': 'x = 1\nraise ValueError("broken")',
    })
    assert.deepEqual(ran.interpreter.notes(), [
      {
        kind: 'raise',
        file: '/host/custom_nodes/demopack/m.py',
        line: 2,
        message: 'ValueError: broken',
      },
    ])
    assert.equal(reprOf(ran, 'y'), '2')
  })
})
