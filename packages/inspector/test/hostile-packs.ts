/** A pack that means harm to its reader. Its one host node is named `Kiln Cup`. */
export interface HostilePack {
  title: string
  files: Record<string, string>
  /** True when a budget cuts its reading, so that names may be missing. */
  isCut: boolean
  /** It cannot be loaded, and says so. */
  reason?: string
}

const CUP = 'class Cup:\n    RETURN_TYPES = ("IMAGE",)\n'
const MAPPING = 'NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}\n'

const pack = (title: string, source: string, files: Record<string, string> = {}): HostilePack => ({
  title,
  files: { ...files, '__init__.py': `${CUP}${MAPPING}${source}` },
  isCut: false,
})

const cut = (title: string, source: string): HostilePack => ({
  ...pack(title, source),
  isCut: true,
})

const repeat = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('')

export const HOSTILE_PACKS: readonly HostilePack[] = [
  {
    ...pack(
      'deep nesting',
      `x = ${'['.repeat(20_000)}${']'.repeat(20_000)}\ny = ${'-'.repeat(20_000)}1\n`,
    ),
    reason: 'unparsable',
  },
  pack(
    'nested blocks',
    `from x import x\n${repeat(95, (n) => `${' '.repeat(n)}if x:\n`)}${' '.repeat(95)}pass\n`,
  ),
  cut('huge constants', 'a = "x" * 10**12; b = 9**9**9; c = [0] * 10**9; d = 1 << 10**12\n'),
  cut('endless loops', 'while True:\n    while True:\n        for i in iter(int, 1): x = i\n'),
  cut('a giant literal', `x = [${'1,'.repeat(210_000)}]\n`),
  pack('an import cycle', 'from .a import *\nfrom . import b\n', {
    'a.py': 'from .b import *\nfrom . import *\nx = 1\n',
    'b.py':
      'from .a import *\nfrom . import a, b\nimport importlib\nimportlib.import_module(".a", __package__)\n',
  }),
  cut(
    'recursion',
    'def f(n): return f(n + 1) + f(n + 2)\ndef g(n): return [h(n)]\ndef h(n): return {g(n): h(n)}\nf(0); g(0)\n',
  ),
  cut(
    'an explosion of dicts',
    'd = {1: 0}\nfor i in range(14):\n    d = {**d, **{k + 10 ** i: (d, d) for k in d}}\n    d.update({-k: v for k, v in d.items()})\n',
  ),
  pack(
    'patterns that backtrack without end',
    'import re\nfor n in range(100):\n    re.match(r"(a+)+$", "a" * 40 + "b")\n    re.sub(r"(x+x+)+y", "", "x" * 4000)\n    re.findall(r"(?:(?:a|aa)+)+c", "a" * 4000)\n',
  ),
  cut(
    'generators without an end',
    'def g():\n    while True:\n        yield from g2()\ndef g2():\n    n = 0\n    while True:\n        n += 1\n        yield n\nx = list(g()); y = sum(g()); z = {k: g() for k in g()}\n',
  ),
  pack(
    'metaclasses of metaclasses',
    'class M(type):\n    def __new__(cls, *a): return M(*a)\n    def __call__(cls, *a): return M("x", (cls,), {})()\n    def __getattr__(cls, name): return getattr(cls, name + "x")\nclass A(metaclass=M):\n    def __init_subclass__(cls): type("B", (cls,), {})\nclass C(A): pass\nC.x\n',
  ),
  pack(
    'lists in lists in the inputs of a node',
    'class D:\n    @classmethod\n    def INPUT_TYPES(cls):\n        x = [1]\n        for i in range(40): x = [x, x]\n        d = {"a": (x,)}\n        d["b"] = (d, d)\n        return {"required": d}\n    RETURN_TYPES = ("A",)\nNODE_CLASS_MAPPINGS["Kiln Cup"] = D\n',
  ),
  cut(
    'S39',
    'def f(n): return f(n + 1) + f(n + 2)\nf(0); big = "x" * 10**12; 9**9**9; [0] * 10**9\nwhile True: NODE_CLASS_MAPPINGS.update(NODE_CLASS_MAPPINGS)\n',
  ),
]
