import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract } from './extract-pack.ts'
import type { Files } from '../entries.ts'

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'
const START = `${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}\n`
const REGISTRY = `${CUP}NODE_CLASS_MAPPINGS = REG = {"Cup": Cup}
def add(name="Pot"): REG[name] = Cup
`
/** A call within so many others that it is not evaluated. */
const nest = (inner: string) => `${'f('.repeat(450)}${inner}${')'.repeat(450)}`

/** Packs of which a host shows more than `Cup`, each by something that is not followed. */
const CASES: [title: string, source: string | Files][] = [
  [
    'heappush',
    `${START}import heapq\nh=[]\nheapq.heappush(h, ("Pot", Cup))\nNODE_CLASS_MAPPINGS.update(h)`,
  ],
  [
    'bisect.insort',
    `${START}import bisect\nh=[]\nbisect.insort(h, ("Pot", Cup))\nNODE_CLASS_MAPPINGS.update(h)`,
  ],
  [
    'operator.setitem',
    `${START}import operator\noperator.setitem(NODE_CLASS_MAPPINGS, "Pot", Cup)`,
  ],
  ['operator.ior', `${START}import operator\noperator.ior(NODE_CLASS_MAPPINGS, {"Pot": Cup})`],
  [
    'operator.methodcaller',
    `${START}import operator\noperator.methodcaller("update", {"Pot": Cup})(NODE_CLASS_MAPPINGS)`,
  ],
  [
    'a flag that is set before break',
    `${START}from elsewhere import test\nfound = False\nfor name in ["a", "b"]:\n  if test(name):\n    found = True\n    break\nif found: NODE_CLASS_MAPPINGS["Pot"] = Cup`,
  ],
  [
    'a flag that is set before continue',
    `${START}from elsewhere import test\nfound = False\nfor name in ["a", "b"]:\n  if test(name):\n    found = True\n    continue\n  name = None\nif found: NODE_CLASS_MAPPINGS["Pot"] = Cup`,
  ],
  ['dict.update unbound', `${START}dict.update(NODE_CLASS_MAPPINGS, {"Pot": Cup})`],
  ['dict.__setitem__ unbound', `${START}dict.__setitem__(NODE_CLASS_MAPPINGS, "Pot", Cup)`],
  [
    'deque of a map',
    `${START}import collections\ncollections.deque(map(NODE_CLASS_MAPPINGS.__setitem__, ["Pot"], [Cup]), maxlen=0)`,
  ],
  [
    'starmap',
    `${START}import itertools\nlist(itertools.starmap(NODE_CLASS_MAPPINGS.__setitem__, [("Pot", Cup)]))`,
  ],
  [
    'ChainMap child',
    `${START}import collections\ncollections.ChainMap(NODE_CLASS_MAPPINGS)["Pot"] = Cup`,
  ],
  [
    'ExitStack callback',
    `${START}import contextlib\nwith contextlib.ExitStack() as s: s.callback(NODE_CLASS_MAPPINGS.__setitem__, "Pot", Cup)`,
  ],
  ['weakref.finalize called', `${REGISTRY}import weakref\nweakref.finalize(Cup, add)()`],
  ['sched', `${REGISTRY}import sched\ns = sched.scheduler(); s.enter(0, 1, add); s.run()`],
  [
    'queue',
    `${START}import queue\nq = queue.Queue(); q.put(("Pot", Cup)); k, v = q.get()\nNODE_CLASS_MAPPINGS[k] = v`,
  ],
  [
    'queue of names',
    `${START}import queue\nq = queue.Queue(); q.put("Pot")\nwhile not q.empty(): NODE_CLASS_MAPPINGS[q.get()] = Cup`,
  ],
  [
    'shelve',
    `${START}import shelve\nd = shelve.open("x"); d["Pot"] = 1\nfor k in d: NODE_CLASS_MAPPINGS[k] = Cup`,
  ],
  [
    'sqlite',
    `${START}import sqlite3\nc = sqlite3.connect(":memory:")\nfor (k,) in c.execute("select 'Pot'"): NODE_CLASS_MAPPINGS[k] = Cup`,
  ],
  [
    'UserDict',
    `${CUP}import collections\nclass M(collections.UserDict): pass\nm = M(); m["Cup"] = Cup; m.update(Pot=Cup)\nNODE_CLASS_MAPPINGS = m.data`,
  ],
  [
    'threading.Timer joined',
    `${REGISTRY}import threading\nt = threading.Timer(0, add); t.start(); t.join()`,
  ],
  [
    'multiprocessing.dummy',
    `${REGISTRY}from multiprocessing.dummy import Pool\nPool(2).map(add, ["Pot"])`,
  ],
  [
    'signal handler',
    `${REGISTRY}import signal, os\nsignal.signal(signal.SIGUSR1, lambda *a: add())\nos.kill(os.getpid(), signal.SIGUSR1)`,
  ],
  [
    'ast exec',
    `${START}import ast\ntree = ast.parse("NODE_CLASS_MAPPINGS['Pot'] = Cup")\nexec(compile(tree, "x", "exec"))`,
  ],
  [
    'code.InteractiveConsole',
    `${START}import code\ncode.InteractiveInterpreter(globals()).runsource("NODE_CLASS_MAPPINGS['Pot'] = Cup")`,
  ],
  ['timeit', `${REGISTRY}import timeit\ntimeit.timeit(add, number=1)`],
  [
    'timeit text',
    `${START}import timeit\ntimeit.timeit("M['Pot'] = C", number=1, globals={"M": NODE_CLASS_MAPPINGS, "C": Cup})`,
  ],
  [
    'frame',
    {
      '__init__.py': `${START}from .reg import add\nadd("Pot", Cup)`,
      'reg.py':
        'import sys\ndef add(n, c): sys._getframe(1).f_globals["NODE_CLASS_MAPPINGS"][n] = c',
    },
  ],
  [
    'frame update',
    {
      '__init__.py': `${START}from .reg import add\nadd("Pot", Cup)`,
      'reg.py':
        'import inspect\ndef add(n, c): inspect.currentframe().f_back.f_globals["NODE_CLASS_MAPPINGS"].update({n: c})',
    },
  ],
  [
    'frame stack',
    {
      '__init__.py': `${START}from .reg import add\nadd(Cup)`,
      'reg.py':
        'import inspect\ndef add(c):\n  g = inspect.stack()[1].frame.f_globals\n  g["NODE_CLASS_MAPPINGS"]["Pot"] = c',
    },
  ],
  [
    'frame sets mapping',
    {
      '__init__.py': `${CUP}NODE_CLASS_MAPPINGS = {"Cup": Cup}\nfrom .reg import add\nadd(Cup)`,
      'reg.py':
        'import sys\ndef add(c): sys._getframe(1).f_globals.update(NODE_CLASS_MAPPINGS={"Cup": c, "Pot": c})',
    },
  ],
  [
    'gc',
    `${START}import gc\nfor o in gc.get_objects():\n  if type(o) is dict and o.get("Cup") is Cup: o["Pot"] = Cup`,
  ],
  [
    'gc subclasses',
    `${START}import gc\nclass Pot(Cup): pass\nNODE_CLASS_MAPPINGS.update({c.__name__: c for c in gc.get_objects() if isinstance(c, type) and issubclass(c, Cup)})`,
  ],
  [
    'ctypes',
    `${START}import ctypes\nctypes.pythonapi.PyDict_SetItemString(ctypes.py_object(NODE_CLASS_MAPPINGS), b"Pot", ctypes.py_object(Cup))`,
  ],
  [
    'warnings hook',
    `${REGISTRY}import warnings\nwarnings.showwarning = lambda *a, **k: add()\nwarnings.warn("x")`,
  ],
  [
    'json hook',
    `${START}import json\njson.loads('{"Pot": 1}', object_pairs_hook=lambda p: [NODE_CLASS_MAPPINGS.update({k: Cup}) for k, v in p])`,
  ],
  ['json default', `${REGISTRY}import json\njson.dumps(Cup, default=lambda o: add() or "x")`],
  ['re.sub callback', `${REGISTRY}import re\nre.sub("P.t", lambda m: add(m.group()), "Pot")`],
  ['re scanner', `${REGISTRY}import re\nre.Scanner([("Pot", lambda s, t: add(t))]).scan("Pot")`],
  [
    'string template',
    `${START}import string\nNODE_CLASS_MAPPINGS[string.Template("$a").substitute(a="Pot")] = Cup`,
  ],
  [
    'HTMLParser',
    `${REGISTRY}from html.parser import HTMLParser\nclass P(HTMLParser):\n  def handle_starttag(self, t, a): add(t)\nP().feed("<pot>")`,
  ],
  [
    'ast visitor',
    `${REGISTRY}import ast\nclass V(ast.NodeVisitor):\n  def visit_Name(self, n): add(n.id)\nV().visit(ast.parse("Pot"))`,
  ],
  [
    'cmd',
    `${REGISTRY}import cmd\nclass C(cmd.Cmd):\n  def do_add(self, a): add(a)\nC().onecmd("add Pot")`,
  ],
  [
    'unittest',
    `${REGISTRY}import unittest\nclass T(unittest.TestCase):\n  def runTest(self): add()\nT().run()`,
  ],
  [
    'unittest.mock patch.dict',
    `${START}from unittest import mock\nmock.patch.dict(NODE_CLASS_MAPPINGS, {"Pot": Cup}).start()`,
  ],
  [
    'xml',
    `${START}import xml.etree.ElementTree as E\nfor e in E.fromstring("<a><Pot/></a>"): NODE_CLASS_MAPPINGS[e.tag] = Cup`,
  ],
  [
    'zipimport',
    {
      '__init__.py': `${START}import sys, os\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "more.zip"))\nimport more_nodes\nNODE_CLASS_MAPPINGS.update(more_nodes.M)`,
    },
  ],
  [
    'site.addsitedir',
    {
      '__init__.py': `${START}import site, os\nsite.addsitedir(os.path.join(os.path.dirname(__file__), "lib"))\nimport clay\nNODE_CLASS_MAPPINGS.update(clay.M)`,
      'lib/clay.py': `${CUP}M = {"Pot": Cup}`,
    },
  ],
  [
    'site.addsitedir, side effect',
    {
      '__init__.py': `${CUP}from . import reg\nimport site, os\nsite.addsitedir(os.path.join(os.path.dirname(__file__), "lib"))\nimport clay\nNODE_CLASS_MAPPINGS = reg.M`,
      'reg.py': 'M = {}',
      'lib/clay.py': `import sys\nreg = sys.modules["demo-pack.reg"]\nclass Pot: RETURN_TYPES = ()\nreg.M["Pot"] = Pot`,
    },
  ],
  [
    'builtins import',
    `${REGISTRY}import builtins\nold = builtins.__import__\ndef imp(*a, **k):\n  add()\n  return old(*a, **k)\nbuiltins.__import__ = imp\nimport json`,
  ],
  [
    'unknown module imported for its effect',
    {
      '__init__.py': `from .reg import REG as NODE_CLASS_MAPPINGS, Cup\nimport importlib, elsewhere\nfor n in elsewhere.names(): importlib.import_module("." + n, __name__)`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'pot.py': 'from .reg import REG, Cup\nREG["Pot"] = Cup',
    },
  ],
  [
    'unknown module by __import__',
    {
      '__init__.py': `from .reg import REG as NODE_CLASS_MAPPINGS, Cup\nimport elsewhere\n__import__(__name__ + "." + elsewhere.NAME)`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'pot.py': 'from .reg import REG, Cup\nREG["Pot"] = Cup',
    },
  ],
  [
    'unknown file by spec',
    {
      '__init__.py': `from .reg import REG as NODE_CLASS_MAPPINGS, Cup\nimport importlib.util as u, elsewhere\ns = u.spec_from_file_location("x", elsewhere.path())\nm = u.module_from_spec(s)\ns.loader.exec_module(m)`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'pot.py': 'import sys\nr = sys.modules["demo-pack.reg"]\nr.REG["Pot"] = r.Cup',
    },
  ],
  [
    'runpy of unknown',
    {
      '__init__.py': `from .reg import REG as NODE_CLASS_MAPPINGS, Cup\nimport runpy, elsewhere\nrunpy.run_path(elsewhere.path())`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'pot.py': 'import sys\nr = sys.modules["demo-pack.reg"]\nr.REG["Pot"] = r.Cup',
    },
  ],
  [
    'star of unknown',
    {
      '__init__.py': `${CUP}NODE_CLASS_MAPPINGS = {}\nNODE_CLASS_MAPPINGS["Cup"] = Cup\nfrom elsewhere.nodes import *`,
    },
  ],
  ['eval of unknown', `${REGISTRY}import elsewhere\neval(elsewhere.TEXT)`],
  ['exec of unknown', `${REGISTRY}import elsewhere\nexec(elsewhere.TEXT)`],
  [
    'exec of unknown in a function',
    `${REGISTRY}import elsewhere\ndef f():\n  exec(elsewhere.TEXT, globals())\nf()`,
  ],
  ['globals by unknown key', `${START}import elsewhere\nglobals()[elsewhere.KEY] = {"Pot": Cup}`],
  [
    'setattr of unknown name',
    `${START}import elsewhere, sys\nsetattr(sys.modules[__name__], elsewhere.KEY, {"Pot": Cup})`,
  ],
  [
    'setattr on class of unknown name',
    `${CUP}import elsewhere\nclass R: M = {"Cup": Cup}\nsetattr(R, elsewhere.KEY, {"Pot": Cup})\nNODE_CLASS_MAPPINGS = R.M`,
  ],
  [
    'sys.modules by unknown name',
    {
      '__init__.py': `import sys, elsewhere\nfrom . import reg\nm = sys.modules[elsewhere.NAME]\nm.REG["Pot"] = reg.Cup\nNODE_CLASS_MAPPINGS = reg.REG`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
    },
  ],
  [
    'getattr of unknown name',
    `${CUP}import elsewhere\nclass R:\n  M = {"Cup": Cup}\n  N = {}\ngetattr(R, elsewhere.KEY)["Pot"] = Cup\nNODE_CLASS_MAPPINGS = R.M`,
  ],
  [
    'method of unknown name',
    `${CUP}import elsewhere\nclass R:\n  def __init__(self): self.m = {"Cup": Cup}\n  def one(self): self.m["Pot"] = Cup\nr = R(); getattr(r, elsewhere.KEY)()\nNODE_CLASS_MAPPINGS = r.m`,
  ],
  ['function of unknown name', `${REGISTRY}import elsewhere\nglobals()[elsewhere.KEY]("Pot")`],
  [
    'function of unknown name in a dict',
    `${REGISTRY}import elsewhere\n{"a": add}[elsewhere.KEY]("Pot")`,
  ],
  [
    'item of unknown key in a nested registry',
    `${CUP}import elsewhere\nR = {"image": {"Cup": Cup}, "mask": {}}\nR[elsewhere.KEY]["Pot"] = Cup\nNODE_CLASS_MAPPINGS = R["image"]`,
  ],
  [
    'item of unknown index',
    `${CUP}import elsewhere\nA, B = {"Cup": Cup}, {}\n[A, B][elsewhere.N].update(Pot=Cup)\nNODE_CLASS_MAPPINGS = A`,
  ],
  [
    'get of unknown key',
    `${CUP}import elsewhere\nR = {"image": {"Cup": Cup}}\nR.get(elsewhere.KEY)["Pot"] = Cup\nNODE_CLASS_MAPPINGS = R["image"]`,
  ],
  [
    'setdefault of unknown key',
    `${CUP}import elsewhere\nR = {"image": {"Cup": Cup}}\nR.setdefault(elsewhere.KEY, {})["Pot"] = Cup\nNODE_CLASS_MAPPINGS = R["image"]`,
  ],
  [
    'counter in an unknown loop',
    `${START}import elsewhere\ni = 0\nfor _ in elsewhere.X:\n  NODE_CLASS_MAPPINGS["n%d" % i] = Cup\n  i += 1`,
  ],
  [
    'counter in an unknown while',
    `${START}import elsewhere\ni = 0\nwhile elsewhere.more():\n  NODE_CLASS_MAPPINGS["n%d" % i] = Cup\n  i += 1`,
  ],
  [
    'pop from a list in an unknown while',
    `${START}import elsewhere\nl = ["Pot", "Jar"]\nwhile elsewhere.more(): NODE_CLASS_MAPPINGS[l.pop()] = Cup`,
  ],
  [
    'iterator in an unknown while',
    `${START}import elsewhere\nl = iter(["Pot", "Jar"])\nwhile elsewhere.more(): NODE_CLASS_MAPPINGS[next(l)] = Cup`,
  ],
  [
    'comprehension over unknown',
    `${REGISTRY}import elsewhere\n[add("n") for x in elsewhere.X]\ni = 0\ndef nx():\n  global i\n  i += 1\n  return str(i)\n[add(nx()) for x in elsewhere.X]`,
  ],
  [
    'foreign base with __init_subclass__',
    `import elsewhere\nclass Base(elsewhere.Base): REG = {}\nclass Cup(Base): RETURN_TYPES = ()\nNODE_CLASS_MAPPINGS = Base.REG\nNODE_CLASS_MAPPINGS["Cup"] = Cup\nclass Pot(Base): RETURN_TYPES = ()`,
  ],
  [
    'foreign metaclass',
    `import elsewhere\nclass Base(metaclass=elsewhere.Meta): REG = {}\nclass Cup(Base): RETURN_TYPES = ()\nNODE_CLASS_MAPPINGS = Base.REG\nNODE_CLASS_MAPPINGS["Cup"] = Cup\nclass Pot(Base): RETURN_TYPES = ()`,
  ],
  [
    'foreign decorator factory with the registry',
    `${CUP}import elsewhere\nREG = {"Cup": Cup}\nnode = elsewhere.registrar(REG)\n@node\nclass Pot: RETURN_TYPES = ()\nNODE_CLASS_MAPPINGS = REG`,
  ],
  [
    'foreign context manager with the registry',
    `${CUP}import elsewhere\nREG = {"Cup": Cup}\nwith elsewhere.filling(REG): pass\nNODE_CLASS_MAPPINGS = REG`,
  ],
  [
    'foreign object compared',
    `${REGISTRY}import elsewhere\nclass K(elsewhere.K): pass\nK(add) == 1`,
  ],
  ['operator on an unknown', `${REGISTRY}import elsewhere\nelsewhere.PIPE | add`],
  [
    'operator on an unknown with the mapping',
    `${START}import elsewhere\nelsewhere.PIPE << NODE_CLASS_MAPPINGS`,
  ],
  [
    'item of an unknown by the mapping',
    `${START}import elsewhere\nelsewhere.FILL[NODE_CLASS_MAPPINGS]`,
  ],
  [
    'attribute of an unknown set to the mapping',
    `${START}import elsewhere\nelsewhere.target = NODE_CLASS_MAPPINGS\nelsewhere.fill()`,
  ],
  [
    'item of an unknown set to the mapping',
    `${START}import elsewhere\nelsewhere.targets["x"] = NODE_CLASS_MAPPINGS\nelsewhere.fill()`,
  ],
  [
    'iteration of the pack by an unknown',
    `${START}import elsewhere\ndef g():\n  NODE_CLASS_MAPPINGS["Pot"] = Cup\n  yield 1\nelsewhere.run(g())`,
  ],
  [
    'yield from',
    `${START}import elsewhere\nclass I:\n  def __iter__(self):\n    NODE_CLASS_MAPPINGS["Pot"] = Cup\n    return iter(())\nelsewhere.run(I())`,
  ],
  [
    'method given away',
    `${CUP}import elsewhere\nclass R:\n  def __init__(self): self.m = {"Cup": Cup}\n  def add(self, n): self.m[n] = Cup\nr = R(); elsewhere.each(r.add)\nNODE_CLASS_MAPPINGS = r.m`,
  ],
  [
    'mapping method given away',
    `${START}import elsewhere\nelsewhere.each(NODE_CLASS_MAPPINGS.update)`,
  ],
  [
    'mapping method given to the library',
    `${START}import elsewhere, sched\ns = sched.scheduler(); s.enter(0, 1, NODE_CLASS_MAPPINGS.update, [{"Pot": Cup}]); s.run()`,
  ],
  ['callback stored', `${REGISTRY}import elsewhere\nelsewhere.hooks.append(add)\nelsewhere.run()`],
  ['callback assigned', `${REGISTRY}import elsewhere\nelsewhere.on_load = add\nelsewhere.run()`],
  ['star args', `${REGISTRY}import elsewhere\nelsewhere.run(*[add])`],
  ['star kwargs', `${REGISTRY}import elsewhere\nelsewhere.run(**{"f": add})`],
  [
    'an instance of a pack class with __call__',
    `${CUP}import elsewhere\nclass R:\n  m = {"Cup": Cup}\n  def __call__(self, n): self.m[n] = Cup\nelsewhere.each(R())\nNODE_CLASS_MAPPINGS = R.m`,
  ],
  [
    'a class of the pack whose method adds',
    `${CUP}import elsewhere\nclass R:\n  m = {"Cup": Cup}\n  @classmethod\n  def load(cls): cls.m["Pot"] = Cup\nelsewhere.each(R)\nNODE_CLASS_MAPPINGS = R.m`,
  ],
  ['nesting', `${REGISTRY}def f(x): return x\n${nest('add("Pot")')}`],
  [
    'nesting of display',
    `${CUP}NODE_CLASS_MAPPINGS = {}\nNODE_CLASS_MAPPINGS["Cup"] = Cup\nx = ${'['.repeat(450)}NODE_CLASS_MAPPINGS.update(Pot=Cup)${']'.repeat(450)}`,
  ],
  [
    'recursion',
    `${START}def f(n):\n  if n == 0: NODE_CLASS_MAPPINGS["Pot"] = Cup\n  else: f(n - 1)\nf(50)`,
  ],
  [
    'recursion in a method',
    `${CUP}class R:\n  m = {"Cup": Cup}\n  def f(self, n):\n    if n == 0: self.m["Pot"] = Cup\n    else: self.f(n - 1)\nR().f(50)\nNODE_CLASS_MAPPINGS = R.m`,
  ],
  [
    'recursion through arguments',
    `${START}def f(m, n):\n  if n == 0: m["Pot"] = Cup\n  else: f(m, n - 1)\nf(NODE_CLASS_MAPPINGS, 50)`,
  ],
  [
    'recursion through another module',
    {
      '__init__.py': 'from .walk import f\nfrom .reg import M as NODE_CLASS_MAPPINGS\nf(50)',
      'reg.py': `${CUP}M = {"Cup": Cup}`,
      'walk.py':
        'from . import reg\ndef put(): reg.M["Pot"] = reg.Cup\ndef f(n):\n  if n == 0: put()\n  else: f(n - 1)',
    },
  ],
  [
    'recursion returning names',
    `${START}def f(n): return ["Pot"] if n == 0 else f(n - 1)\nfor k in f(50): NODE_CLASS_MAPPINGS[k] = Cup`,
  ],
  [
    'long while',
    `${START}i = 0\nwhile i < 3000: i += 1\nif i == 3000: NODE_CLASS_MAPPINGS["Pot"] = Cup`,
  ],
  ['long while with calls', `${REGISTRY}i = 0\nwhile i < 3000:\n  i += 1\n  if i == 2999: add()`],
  [
    'long string',
    `${START}s = "a" * 2000000\nif len(s) == 2000000: NODE_CLASS_MAPPINGS["Pot"] = Cup\nM = {s: 1}\nfor k in M: NODE_CLASS_MAPPINGS[k[:3]] = Cup`,
  ],
  ['big power', `${START}n = 3 ** 1000\nif n % 2: NODE_CLASS_MAPPINGS["Pot"] = Cup`],
  [
    'regex too long',
    `${START}import re\nif re.match("(a|b)" * 100, "ab" * 50): NODE_CLASS_MAPPINGS["Pot"] = Cup`,
  ],
  [
    'doubtful raise in a loop',
    `${START}import elsewhere\nif elsewhere.X: pass\nfor k in ["a", "b"]:\n  if k == "b": NODE_CLASS_MAPPINGS["Pot"] = Cup\n  else:\n    try: {}[k].x\n    except ZeroDivisionError: pass`,
  ],
  [
    'doubtful raise',
    `${REGISTRY}import elsewhere\ndef need(k): raise KeyError(k)\ndef f():\n  if elsewhere.X: need("a")\n  else: need("b")\n  return "Pot"\nadd(f())`,
  ],
  [
    'handler of stdlib call',
    `${REGISTRY}import socket\ntry: socket.create_connection(("x", 1))\nexcept OSError: add()`,
  ],
  ['finally', `${REGISTRY}import elsewhere\ntry: elsewhere.run()\nfinally: add()`],
  [
    'match on unknown',
    `${REGISTRY}import elsewhere\nmatch elsewhere.X:\n  case {"a": n}: add(n)\n  case _: add("Pot")`,
  ],
  [
    'compiled module',
    {
      '__init__.py': `from . import fast\nfrom .reg import REG as NODE_CLASS_MAPPINGS`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'fast.cpython-312-x86_64-linux-gnu.so': 'x',
    },
  ],
  [
    'pyc module',
    {
      '__init__.py': `from . import fast\nfrom .reg import REG as NODE_CLASS_MAPPINGS`,
      'reg.py': `${CUP}REG = {"Cup": Cup}`,
      'fast.pyc': 'x',
    },
  ],
  [
    'written by itself',
    {
      '__init__.py': `${START}import os\np = os.path.join(os.path.dirname(__file__), "n.txt")\nopen(p, "w").write("Pot")\nfor l in open(p): NODE_CLASS_MAPPINGS[l] = Cup`,
    },
  ],
  [
    'written code',
    {
      '__init__.py': `${START}import os\np = os.path.join(os.path.dirname(__file__), "made.py")\nwith open(p, "w") as f: f.write("M = {'Pot': 1}")\ntry:\n  from .made import M\n  NODE_CLASS_MAPPINGS[list(M)[0]] = Cup\nexcept ImportError: pass`,
    },
  ],
  [
    'listing after write',
    {
      '__init__.py': `${START}import os\nd = os.path.join(os.path.dirname(__file__), "made")\nos.makedirs(d)\nopen(os.path.join(d, "Pot"), "w")\nfor n in os.listdir(d): NODE_CLASS_MAPPINGS[n] = Cup`,
    },
  ],
  ['cwd', `${START}import os\nfor f in os.listdir(): NODE_CLASS_MAPPINGS[f] = Cup`],
  [
    'home',
    `${START}import os\nfor f in os.listdir(os.path.expanduser("~")): NODE_CLASS_MAPPINGS[f] = Cup`,
  ],
  [
    'host nodes',
    `${START}import nodes\nfor k, v in nodes.NODE_CLASS_MAPPINGS.items(): NODE_CLASS_MAPPINGS["my " + k] = v`,
  ],
  [
    'installed packages',
    `${START}import pkgutil, elsewhere\nfor m in pkgutil.iter_modules(elsewhere.__path__): NODE_CLASS_MAPPINGS[m.name] = Cup`,
  ],
  [
    'entry points',
    `${START}from importlib.metadata import entry_points\nfor e in entry_points(group="clay"): NODE_CLASS_MAPPINGS[e.name] = e.load()`,
  ],
  [
    'subclasses of foreign',
    `${START}import elsewhere\nfor c in elsewhere.Base.__subclasses__(): NODE_CLASS_MAPPINGS[c.__name__] = c`,
  ],
  [
    'other packs',
    `${START}import sys\nfor n, m in list(sys.modules.items()):\n  for k, v in getattr(m, "MORE", {}).items(): NODE_CLASS_MAPPINGS[k] = v`,
  ],
]

/** Parts of the library that few packs use to find names, each with what a host shows. */
const NAMED: [title: string, source: string | Files, names: string[]][] = [
  [
    'a string within a string of the same quotes',
    `${START}k = "Pot"\nNODE_CLASS_MAPPINGS[f"{"x".join([k, f"{'1'}"])}"] = Cup`,
    ['Potx1'],
  ],
  ['tomllib', readsFile('n.toml', '[Pot]\n', 'tomllib.loads(text)'), ['Pot']],
  [
    'csv',
    readsFile('n.csv', 'Pot,1\nJar,2\n', '(row[0] for row in csv.reader(text.splitlines()))'),
    ['Pot', 'Jar'],
  ],
  ['yaml', readsFile('n.yaml', 'Pot: 1\n', 'yaml.safe_load(text)'), ['Pot']],
  ['a literal in a file', readsFile('n.txt', "['Pot']", 'ast.literal_eval(text)'), ['Pot']],
  [
    'a file read by pkgutil',
    {
      '__init__.py': `${START}import pkgutil\nfor name in pkgutil.get_data(__name__, "n.txt").decode().split():\n  NODE_CLASS_MAPPINGS[name] = Cup`,
      'n.txt': 'Pot Jar',
    },
    ['Pot', 'Jar'],
  ],
  [
    '__prepare__',
    `${CUP}class Names(dict):
  def __setitem__(self, key, value):
    super().__setitem__(key, value)
    if isinstance(value, type): NODE_CLASS_MAPPINGS[key] = value
class Meta(type):
  @classmethod
  def __prepare__(mcs, name, bases): return Names()
NODE_CLASS_MAPPINGS = {"Cup": Cup}
class All(metaclass=Meta):
  class Pot(Cup): pass`,
    ['Pot'],
  ],
  [
    'heapq',
    `${START}import heapq\nheap = ["Pot", "Jar"]\nheapq.heapify(heap)\nNODE_CLASS_MAPPINGS[heapq.heappop(heap)] = Cup`,
    ['Jar'],
  ],
  [
    'inspect.getsource',
    `${START}import inspect, re\nclass Pot(Cup): NAMES = "x Jar y"\nfor name in re.findall("x (\\\\w+)", inspect.getsource(Pot)):\n  NODE_CLASS_MAPPINGS[name] = Cup`,
    ['Jar'],
  ],
]

function readsFile(path: string, text: string, names: string): Files {
  const [module = ''] = /[a-z]+(?=\.(?!splitlines))/.exec(names) ?? []
  const source = `${START}import pathlib, ${module}
text = (pathlib.Path(__file__).parent / "${path}").read_text()
for name in ${names}: NODE_CLASS_MAPPINGS[name] = Cup`
  return { '__init__.py': source, [path]: text }
}

describe('what is not followed', () => {
  for (const [title, source] of CASES)
    test(`is found, or the result is partial: ${title}`, () => {
      const { nodes, partial, status, reasons } = extract(source)
      const names = nodes.map(({ name }) => name)
      const isSaid = partial || status === 'failed' || names.some((name) => name !== 'Cup')
      assert.ok(isSaid, [...names, ...reasons].join())
    })

  for (const [title, source, expected] of NAMED)
    test(`has its names, or the result is partial: ${title}`, () => {
      const { nodes, partial } = extract(source)
      const names = new Set(nodes.map(({ name }) => name))
      const missing = expected.filter((name) => !names.has(name))
      assert.deepEqual(partial ? [] : missing, [])
    })
})
