/** The snippets of the design's section 3, as packs: files by path, and the names that a reading has to find. */
export interface Snippet {
  id: string
  files: Record<string, string>
  /** Names of `NODE_CLASS_MAPPINGS`, each with its class or other kind of value. */
  expected: Record<string, string>
}

const ORDINARY = `
import os, sys, json, glob, pathlib, importlib, importlib.util, inspect, pkgutil
from enum import Enum
from dataclasses import dataclass
import torch
class Cup:
    CATEGORY = "kiln"; RETURN_TYPES = ("IMAGE",); FUNCTION = "run"
    @classmethod
    def INPUT_TYPES(cls): return {"required": {}}
class Pot(Cup): pass
class Jar(Cup): pass
class Urn(Cup): pass
NODE_CLASS_MAPPINGS = {}
`

const ofNodes = (names: Record<string, string>): string =>
  Object.values(names)
    .map((name) => `class ${name}:\n    RETURN_TYPES = ("IMAGE",)\n    FUNCTION = "run"\n`)
    .join('') +
  `NODE_CLASS_MAPPINGS = {${Object.entries(names)
    .map(([key, name]) => `${JSON.stringify(key)}: ${name}`)
    .join(', ')}}\n`

const snippet = (
  id: string,
  source: string,
  expected: Record<string, string>,
  files: Record<string, string> = {},
): Snippet => ({ id, files: { ...files, '__init__.py': ORDINARY + source }, expected })

export const SNIPPETS: Snippet[] = [
  snippet(
    'S01',
    `
class Mug: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Kiln Mug": Mug, "Kiln Big Mug": Mug}
`,
    { 'Kiln Mug': 'Mug', 'Kiln Big Mug': 'Mug' },
  ),
  snippet(
    'S02',
    `
from .bowls import NODE_CLASS_MAPPINGS as A
from .vases import NODE_CLASS_MAPPINGS as B
NODE_CLASS_MAPPINGS = {**A, **B}
`,
    { 'Kiln Bowl': 'OtherBowl', 'Kiln Vase': 'Vase' },
    {
      'bowls.py': ofNodes({ 'Kiln Bowl': 'Bowl' }),
      'vases.py': ofNodes({ 'Kiln Vase': 'Vase', 'Kiln Bowl': 'OtherBowl' }),
    },
  ),
  snippet(
    'S03',
    `
from .shelf import *
NODE_CLASS_MAPPINGS.update(_more)
`,
    { 'Kiln Shelf': 'Shelf', 'Kiln Hook': 'Hook' },
    {
      'shelf.py': `${ofNodes({ 'Kiln Shelf': 'Shelf' })}
__all__ = ["NODE_CLASS_MAPPINGS", "_more"]
class Hook: RETURN_TYPES = ("IMAGE",)
_more = {"Kiln Hook": Hook}
`,
    },
  ),
  snippet(
    'S04',
    `
from .parts import *
NODE_CLASS_MAPPINGS = {**cups.NODE_CLASS_MAPPINGS, **pots.NODE_CLASS_MAPPINGS}
`,
    { 'A Cup': 'ACup', 'A Pot': 'APot' },
    {
      'parts/__init__.py': '__all__ = ["cups", "pots"]\n',
      'parts/cups.py': ofNodes({ 'A Cup': 'ACup' }),
      'parts/pots.py': ofNodes({ 'A Pot': 'APot' }),
    },
  ),
  snippet(
    'S05',
    `
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "src"))
from clay_shapes import NODE_CLASS_MAPPINGS
`,
    { 'Clay Disc': 'Disc' },
    { 'src/clay_shapes.py': ofNodes({ 'Clay Disc': 'Disc' }) },
  ),
  snippet(
    'S06',
    `
import custom_nodes.demo_pack.shapes as shapes
NODE_CLASS_MAPPINGS = shapes.NODE_CLASS_MAPPINGS
`,
    { 'Own Ring': 'Ring' },
    { 'shapes.py': ofNodes({ 'Own Ring': 'Ring' }) },
  ),
  snippet(
    'S06 without the prefix',
    `
from Demo_Pack.shapes import NODE_CLASS_MAPPINGS
`,
    { 'Own Ring': 'Ring' },
    { 'shapes.py': ofNodes({ 'Own Ring': 'Ring' }) },
  ),
  snippet(
    'S07',
    `
M = {}
M.update({"Kiln Cup": Cup}, Spare=Pot); M["Kiln Pot"] = Pot; M.setdefault("Kiln Pot", Cup)
M |= {"Kiln Jar": Jar}; M.pop("Kiln Cup"); del M["Spare"]
NODE_CLASS_MAPPINGS = M | dict([("Kiln Urn", Urn)])
`,
    { 'Kiln Pot': 'Pot', 'Kiln Jar': 'Jar', 'Kiln Urn': 'Urn' },
  ),
  snippet(
    'S08',
    `
MARK = "Kiln"
class Jug: NAME = f"{MARK} Jug"; RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {Jug.NAME: Jug, "%s Lid" % MARK: Cup, MARK + " " + "rim".upper(): Pot,
                       " ".join([MARK, f"{2:02d}", "Base"]): Jar, "Kiln 🏺 ": Urn}
`,
    {
      'Kiln Jug': 'Jug',
      'Kiln Lid': 'Cup',
      'Kiln RIM': 'Pot',
      'Kiln 02 Base': 'Jar',
      'Kiln 🏺 ': 'Urn',
    },
  ),
  snippet(
    'S09',
    `
for f in os.listdir(os.path.join(os.path.dirname(__file__), "nodes")):
    if f.endswith(".py") and not f.startswith("_"):
        m = importlib.import_module(f".nodes.{f[:-3]}", package=__name__)
        NODE_CLASS_MAPPINGS.update(getattr(m, "NODE_CLASS_MAPPINGS", {}))
`,
    { 'N Cup': 'NCup', 'N Pot': 'NPot' },
    {
      'nodes/cups.py': ofNodes({ 'N Cup': 'NCup' }),
      'nodes/pots.py': ofNodes({ 'N Pot': 'NPot' }),
      'nodes/_old.py': ofNodes({ 'N Old': 'NOld' }),
    },
  ),
  snippet(
    'S10',
    `
for p in sorted(pathlib.Path(__file__).parent.rglob("*_node.py")):
    spec = importlib.util.spec_from_file_location(p.stem, p)
    mod = importlib.util.module_from_spec(spec); spec.loader.exec_module(mod)
    NODE_CLASS_MAPPINGS[mod.NAME] = mod.Node
`,
    { Deep: 'Node', Top: 'Node' },
    {
      'top_node.py': 'NAME = "Top"\nclass Node: RETURN_TYPES = ("IMAGE",)\n',
      'a/b/deep_node.py': 'NAME = "Deep"\nclass Node: RETURN_TYPES = ("IMAGE",)\n',
      'a/other.py': 'NAME = "Other"\nclass Node: RETURN_TYPES = ("IMAGE",)\n',
    },
  ),
  snippet(
    'S11',
    `
for info in pkgutil.iter_modules(__path__):
    mod = importlib.import_module("." + info.name, __name__)
    for name, cls in inspect.getmembers(mod, inspect.isclass):
        if cls.__module__ == mod.__name__ and hasattr(cls, "FUNCTION"): NODE_CLASS_MAPPINGS[name] = cls
`,
    { CupNode: 'CupNode', PotNode: 'PotNode' },
    {
      'cups.py': 'class CupNode: FUNCTION = "run"\nclass Helper: pass\n',
      'pots.py': `
from torch import Tensor
from .cups import CupNode
class PotNode: FUNCTION = "run"
`,
    },
  ),
  snippet(
    'S12',
    `
TABLE = json.loads((pathlib.Path(__file__).parent / "table.json").read_text())
NODE_CLASS_MAPPINGS = {k: type("Made", (Cup,), {"RETURN_TYPES": ("IMAGE",) * n}) for k, n in TABLE.items()}
`,
    { 'Kiln Spoon': 'Made' },
    { 'table.json': '{"Kiln Spoon": 2}' },
  ),
  snippet(
    'S13',
    `
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
if torch.cuda.is_available(): NODE_CLASS_MAPPINGS["Kiln Flame"] = Pot
else: NODE_CLASS_MAPPINGS["Kiln Candle"] = Jar
`,
    { 'Kiln Cup': 'Cup', 'Kiln Flame': 'Pot', 'Kiln Candle': 'Jar' },
  ),
  snippet(
    'S14',
    `
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
if os.environ.get("KILN_DEV", "0") == "1": NODE_CLASS_MAPPINGS["Kiln Probe"] = Pot
`,
    { 'Kiln Cup': 'Cup' },
  ),
  snippet(
    'S15',
    `
try:
    import some_mesh_library
    from .mesh import NODE_CLASS_MAPPINGS
except ImportError: NODE_CLASS_MAPPINGS = {}
`,
    { 'Kiln Mesh': 'Mesh' },
    { 'mesh.py': ofNodes({ 'Kiln Mesh': 'Mesh' }) },
  ),
  snippet(
    'S16',
    `
try: from .local_only import NODE_CLASS_MAPPINGS
except ImportError: NODE_CLASS_MAPPINGS = {"Kiln Spare": Cup}
`,
    { 'Kiln Spare': 'Cup' },
  ),
  snippet(
    'S17',
    `
if torch.__version__ < "2": raise RuntimeError("too old")
try: from .not_there import helper
except ImportError: helper = None
NODE_CLASS_MAPPINGS = {"Kiln Pot": Pot}
`,
    { 'Kiln Pot': 'Pot' },
  ),
  snippet(
    'S18',
    `
def mapping():
    if not torch.cuda.is_available(): return {}
    return {"Kiln Pot": Pot}
NODE_CLASS_MAPPINGS = mapping()
`,
    { 'Kiln Pot': 'Pot' },
  ),
  {
    id: 'S19',
    files: {
      '__init__.py': `
from torch import Tensor
from .shapes import *
NODE_CLASS_MAPPINGS = {k: v for k, v in globals().items() if hasattr(v, "INPUT_TYPES")}
`,
      'shapes.py': `
import torch
def helper(): pass
class Disc:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {}}
class Ring(Disc): pass
`,
    },
    expected: { Disc: 'Disc', Ring: 'Ring' },
  },
  snippet(
    'S20',
    `
def collect(*mods, prefix="", **options):
    out = {}
    for m in mods: out.update({prefix + k: v for k, v in m.items() if k not in options.get("skip", ())})
    return out
NODE_CLASS_MAPPINGS = collect({"Kiln Cup": Cup}, {"Kiln Pot": Pot, "Kiln Jar": Jar}, prefix="k.", skip=["Kiln Jar"])
`,
    { 'k.Kiln Cup': 'Cup', 'k.Kiln Pot': 'Pot' },
  ),
  snippet(
    'S21',
    `
def numbered(word, make=lambda base: base):
    for n in (1, 2): yield f"{word} {n}", make(Cup)
NODE_CLASS_MAPPINGS = dict(numbered("Kiln"))
`,
    { 'Kiln 1': 'Cup', 'Kiln 2': 'Cup' },
  ),
  snippet(
    'S22',
    `
REG = {}
def node(name):
    def wrap(cls): REG[name] = cls; return cls
    return wrap
@node("Kiln Plate")
class Plate: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = REG
`,
    { 'Kiln Plate': 'Plate' },
  ),
  snippet(
    'S23',
    `
class Base:
    found = {}
    def __init_subclass__(cls, title=None, **kw): super().__init_subclass__(**kw); Base.found[title] = cls
class Tray(Base, title="Kiln Tray"): RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = Base.found
`,
    { 'Kiln Tray': 'Tray' },
  ),
  snippet(
    'S24',
    `
class Meta(type):
    def __init__(cls, name, bases, ns): super().__init__(name, bases, ns); NODE_CLASS_MAPPINGS[ns["TITLE"]] = cls
class Dish(metaclass=Meta): TITLE = "Kiln Dish"; RETURN_TYPES = ("IMAGE",)
`,
    { 'Kiln Dish': 'Dish' },
  ),
  {
    id: 'S25',
    files: {
      '__init__.py': `
class Cup: RETURN_TYPES = ("IMAGE",)
class Registry:
    def __init__(self): self.items = {}
    def __call__(self, cls, name): self.items[name] = cls
class Sub(Cup): pass
reg = Registry(); reg(Cup, "Kiln Cup"); [reg(c, c.__name__) for c in Cup.__subclasses__()]
NODE_CLASS_MAPPINGS = reg.items
`,
    },
    expected: { 'Kiln Cup': 'Cup', Sub: 'Sub' },
  },
  snippet(
    'S26',
    `
class Id(str, Enum): CUP = "Kiln Cup"; POT = "Kiln Pot"
@dataclass
class Row: title: str; cls: type = Cup
setattr(sys.modules[__name__], "NODE_CLASS_MAPPINGS", {r.title: r.cls for r in [Row("Kiln Jar", cls=Jar)]})
NODE_CLASS_MAPPINGS.update({Id.CUP.value: Cup, Id["POT"].value: Pot})
`,
    { 'Kiln Jar': 'Jar', 'Kiln Cup': 'Cup', 'Kiln Pot': 'Pot' },
  ),
  snippet(
    'S28',
    `
from some_installed_package import MORE
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, **MORE}
`,
    { 'Kiln Cup': 'Cup' },
  ),
  snippet(
    'S29',
    `
NODE_CLASS_MAPPINGS = {}
WEB_DIRECTORY = "./web"
`,
    {},
  ),
  snippet(
    'S30',
    `
class Plain: pass
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "json": json, "helper": lambda: 1, "Plain": Plain}
`,
    { 'Kiln Cup': 'Cup', json: 'module', helper: 'function', Plain: 'Plain' },
  ),
  snippet(
    'S39',
    `
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}
def f(n): return f(n + 1) + f(n + 2)
f(0); big = "x" * 10**12; 9**9**9; [0] * 10**9
while True: NODE_CLASS_MAPPINGS.update(NODE_CLASS_MAPPINGS)
`,
    { 'Kiln Cup': 'Cup' },
  ),
]
