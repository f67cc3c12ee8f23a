import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { makeRunner, mapping, reprOf } from './support.ts'
import type { Run } from './support.ts'

/** Statements, then names with what they have to be: a `repr`, or an unknown in angle brackets. */
type Case = [title: string, source: string, expected: Record<string, string>]

const IMPORTS = 'import torch, folder_paths, numpy as np\nunk = torch.anything\n'

const CASES: Case[] = [
  [
    'names of unknowns grow with attribute, item and call',
    'a = torch.cuda.is_available(); b = np.zeros[0]; c = unk(1)(2)["k"].z',
    {
      a: '<unknown torch.cuda.is_available()>',
      b: '<unknown numpy.zeros[]>',
      c: '<unknown torch.anything()()[].z>',
    },
  ],
  [
    'truth, comparison, membership and type tests of an unknown are undecided',
    'a = bool(unk); b = not unk; c = unk == 1; d = unk in [1]; e = 1 in unk; f = isinstance(unk, int)\n' +
      'g = callable(unk); h = unk < 3; i = hasattr(unk, "shape"); j = issubclass(unk, int); k = unk is None',
    {
      a: '<unknown bool.__new__()>',
      b: '<unknown not>',
      c: '<unknown comparison>',
      d: '<unknown comparison>',
      e: '<unknown comparison>',
      f: '<unknown isinstance()>',
      g: '<unknown callable()>',
      h: '<unknown comparison>',
      i: '<unknown hasattr()>',
      j: '<unknown issubclass()>',
      k: '<unknown comparison>',
    },
  ],
  [
    'an attribute that marks node classes is missing on unknowns from outside the host',
    'import nodes\n' +
      'a = hasattr(unk, "INPUT_TYPES"); b = hasattr(np, "FUNCTION"); c = getattr(unk, "CATEGORY", "none"); ' +
      'd = [1 for _ in [0] if hasattr(nodes.X, "INPUT_TYPES")]; e = [1 for _ in [0] if hasattr(unk, "shape")]',
    { a: 'False', b: 'False', c: "'none'", d: '[1]', e: '[1]' },
  ],
  [
    'both branches of an undecided test run, and a value is one of both',
    'x = None\nif unk: x = 1\nelse: y = 2\nif unk: z = unk\nelse: z = 3\nif unk: w = 4\nelse: w = 5',
    { x: '<unknown choice>', y: '2', z: '<unknown choice>', w: '<unknown choice>' },
  ],
  [
    'a set that something was taken out of may have lost any',
    's = {1, 2}; t = s.pop(); a = 1 in s; b = len(s); s.add(3); c = 3 in s',
    { t: '<unknown set.pop()>', a: '<unknown comparison>', b: '<unknown len()>', c: 'True' },
  ],
  [
    'two dicts or lists of two branches unite',
    'if unk: d = {"a": 1}; l = [1, 2]\nelse: d = {"b": 2, "a": 1}; l = [2, 3]',
    { d: "{'a': 1, 'b': 2}", l: '[1, 2, 3]' },
  ],
  [
    'a result of several returns may have more where one of them may',
    'def load():\n    if unk: return {"none": 0}\n    made = {}\n    made[unk] = 1\n    return made\n' +
      'd = load(); a = "cup" in d; b = "none" in d; c = len(d)',
    { a: '<unknown comparison>', b: 'True', c: '<unknown len()>' },
  ],
  [
    'branches start from the same bindings',
    'n = 1\nif unk: n = n + 1; m = n\nelse: k = n',
    { n: '<unknown choice>', m: '2', k: '1' },
  ],
  [
    'a conditional expression merges its two values',
    'a = 1 if unk else None; b = None if unk else "x"; c = [1] if unk else [2]',
    { a: '<unknown choice>', b: '<unknown choice>', c: '[1, 2]' },
  ],
  [
    'and, or stay unknown, but not what a later operand decides',
    'a = unk and 1; b = 1 if (unk and False) else 2; c = 1 if (unk or True) else 2; d = False and unk; e = "x" or unk',
    { a: '<unknown condition()>', b: '2', c: '1', d: 'False', e: "'x'" },
  ],
  [
    'a return under an undecided test is remembered',
    'def f():\n  if unk: return {}\n  if unk: return {"a": 1, "b": 2}\n  return {"c": 3}\n' +
      'def g():\n  if unk: return None\n  return 7\n' +
      'def h():\n  if unk: return 1\n  else: return 2\n  return 3\n' +
      'a = f(); b = g(); c = h()',
    { a: "{'a': 1, 'b': 2, 'c': 3}", b: '<unknown choice>', c: '<unknown choice>' },
  ],
  [
    'a raise under an undecided test ends its branch only',
    'def f():\n  if unk: raise ValueError("no")\n  return 1\na = f()\n' +
      'try:\n  if unk: raise KeyError\n  b = 2\nexcept KeyError: b = 3',
    { a: '1', b: '<unknown choice>' },
  ],
  [
    'a raise after a return that was remembered is no raise',
    'def f():\n  for x in unk:\n    if x: return 5\n  raise KeyError\na = f()\n' +
      'def g():\n  if unk: return {"a": 1}\n  raise KeyError\nb = g()',
    { a: '5', b: "{'a': 1}" },
  ],
  [
    'what an unknown number of rounds yields or adds is incomplete',
    'def g():\n  yield 1\n  for x in unk: yield x\ndef h():\n  yield from unk\n' +
      'l = []\nfor x in unk: l.append(2)\na = len(list(g())); b = next(g()); c = len(l); d = l[0]; e = 2 in l; f = len(list(h()))',
    { a: '<unknown len()>', b: '1', c: '<unknown len()>', d: '2', e: 'True', f: '<unknown len()>' },
  ],
  [
    'a raise in all branches is a raise',
    'try:\n  if unk: raise KeyError\n  else: raise ValueError\nexcept KeyError: a = 1',
    { a: '1' },
  ],
  [
    'a loop over an unknown runs its body once',
    'seen = {}\nfor x in unk: seen["for"] = 1; last = x\nwhile unk: seen["while"] = 2\nelse: end = 1',
    { seen: "{'for': 1, 'while': 2}", last: '<unknown torch.anything[]>', end: '1' },
  ],
  [
    'a filter that can not be decided keeps the item',
    'a = [x for x in (1, 2) if unk]; b = list(filter(lambda x: unk, [1])); c = {k: 1 for k in "a" if k in unk}',
    { a: '[1, 2]', b: '[1]', c: "{'a': 1}" },
  ],
  [
    'an undecided break ends a while True, and leaves a for loop going',
    'n = 0\nwhile True:\n  n += 1\n  if unk: break\nm = []\nfor i in range(3):\n  if unk: break\n  m.append(i)',
    { n: '1', m: '[0, 1, 2]' },
  ],
  [
    'containers that got something unknown keep what is known',
    'd = {"a": 1}; d.update(unk); a = d["a"]; b = d.get("z", 5); c = "a" in d; n = len(d) if "z" in d else 0\n' +
      'l = [1]; l += unk; e = l[0]; f = [x for x in l]; g = dict(a=2, **unk)["a"]; h = (1,) + unk; i = h[0]',
    { a: '1', b: '<unknown dict.get()>', c: 'True', e: '1', g: '2', i: '1' },
  ],
  [
    'an unknown decorator gives what it decorates, an unknown base is kept by name',
    '@unk\ndef f(): return 1\n@unk.deco(3)\nclass C(unk.Base, torch.nn.Module): v = 2\n' +
      'a = f(); b = C.v; c = C.__name__; d = C.zz; e = hasattr(C, "INPUT_TYPES"); o = C(); g = o.attr; h = isinstance(o, C)',
    {
      a: '1',
      b: '2',
      c: "'C'",
      d: '<unknown torch.anything.Base.zz>',
      e: 'False',
      g: '<unknown torch.anything.Base.attr>',
      h: 'True',
    },
  ],
  [
    'missing keys, items and attributes are unknown once something was guessed',
    'if unk: pass\nd = {}; a = d["x"]; b = [][0]; c = (1).nothing\nclass K: pass\ne = K.nothing; f = K().nothing; g = "ab"[9]',
    {
      a: '<unknown dict[]>',
      b: '<unknown list[]>',
      c: '<unknown int.nothing>',
      e: '<unknown K.nothing>',
      f: '<unknown K().nothing>',
      g: '<unknown str[]>',
    },
  ],
  [
    'a missing key raises then for a handler that waits for just that',
    'if unk: pass\ntry: {}["k"]\nexcept KeyError: a = 1\ntry: {}["k"]; b = 2\nexcept Exception: b = 3',
    { a: '1', b: '2' },
  ],
  [
    'the first handler whose type fits or can not be decided runs',
    'class E(unk.Base): pass\ntry: raise E\nexcept KeyError: a = 1\nexcept E: a = 2\n' +
      'try: raise unk\nexcept KeyError: b = 1\n' +
      'try: raise ValueError\nexcept (KeyError, TypeError): c = 1\nexcept Exception: c = 2',
    { a: '1', b: '1', c: '2' },
  ],
  [
    'unknown parts make text, numbers and sums unknown',
    'a = f"x{unk}"; b = "x%s" % unk; c = "x" + unk; d = 1 + unk; e = "{}".format(unk); f = "-".join([unk, "a"]); g = len(unk); h = int(unk); i = sum([1, unk])',
    {
      a: '<unknown f-string>',
      b: '<unknown operation()>',
      c: '<unknown operation()>',
      d: '<unknown operation()>',
      e: '<unknown str.format()>',
      f: '<unknown str.join()>',
      g: '<unknown len()>',
      h: '<unknown int.__new__()>',
      i: '<unknown operation()>',
    },
  ],
  [
    'cases of a match that can not be decided are branches',
    'm = []\nmatch unk:\n  case 1: m.append(1)\n  case [x, y]: m.append(2)\n  case _: m.append(3)\nmatch 5:\n  case 4: a = 1\n  case 5: a = 2',
    { m: '[1, 2, 3]', a: '2' },
  ],
  [
    'an imported module is something, whatever it is',
    'a = 1 if torch else 2; b = torch is None; c = 1 if torch is not None else 2',
    { a: '1', b: 'False', c: '1' },
  ],
  [
    'unknown managers and awaited values pass through',
    'async def f():\n  async with unk as m: return 1\nasync def g():\n  global a, c\n  a = await f()\n' +
      '  c = await A().m()\nwith torch.no_grad() as z: b = 2\nclass A:\n  async def m(self): return 5\nunk.run(g())',
    { a: '1', b: '2', c: '5' },
  ],
  [
    'assert is skipped then, star arguments of an unknown leave defaults',
    'if unk: pass\nassert unk, "x"\ndef f(a, b=2, *c, **d): return [a, b]\nassert False\ne = f(1, *unk); g = f(a=3, **unk)',
    { e: '[1, 2]', g: '[3, 2]' },
  ],
]

describe('what can not be known', () => {
  let run: Run
  before(async () => {
    run = await makeRunner()
  })

  for (const [title, source, expected] of CASES) {
    test(title, () => {
      const ran = run(IMPORTS + source)
      const found = Object.keys(expected).map((name) => [name, reprOf(ran, name)])
      assert.deepEqual(Object.fromEntries(found), expected)
      assert.deepEqual(ran.interpreter.notes(), [])
    })
  }

  test('a call of an unknown carries what it was called with', () => {
    const { get } = run('from comfy_api.latest import io\ns = io.Schema("id", inputs=[1], x=io.Y)')
    const value = get('s')
    assert.ok(typeof value === 'object' && value?.kind === 'unknown', 'it is an unknown')
    assert.equal(value.name, 'comfy_api.latest.io.Schema()')
    assert.equal(value.origin, 'host')
    assert.deepEqual(value.call?.args, ['id'])
    assert.deepEqual([...(value.call?.kwargs.keys() ?? [])], ['inputs', 'x'])
  })

  test('blocks whose way is not followed may all have run', () => {
    const ran = run(`
class Cup: pass
NODE_CLASS_MAPPINGS = {}
match ('a', 1):
    case {'key': name}: NODE_CLASS_MAPPINGS['mapping'] = Cup
    case (name, 1): NODE_CLASS_MAPPINGS['sequence'] = Cup
match 'a':
    case 'b': NODE_CLASS_MAPPINGS['b'] = Cup
    case 'a' as name: NODE_CLASS_MAPPINGS[name] = Cup
try: raise ExceptionGroup('g', [ValueError(1)])
except* ValueError: NODE_CLASS_MAPPINGS['group'] = Cup`)
    assert.deepEqual(Object.keys(mapping(ran)), ['mapping', 'sequence', 'a', 'group'])
  })

  test('facts about the host stand for its names, also through a base class', () => {
    const facts = new Map<string, bigint | string>([
      ['nodes.MAX_RESOLUTION', 16384n],
      ['nodes.SaveImage.CATEGORY', 'image'],
    ])
    const ran = run(
      'from nodes import MAX_RESOLUTION as m, SaveImage\nimport nodes\nn = nodes.MAX_RESOLUTION\n' +
        'class K(SaveImage): pass\nc = K.CATEGORY; d = K.FUNCTION; e = hasattr(K, "CATEGORY")',
      { facts: { find: (name) => facts.get(name) } },
    )
    assert.deepEqual(
      ['m', 'n', 'c', 'd', 'e'].map((name) => reprOf(ran, name)),
      ['16384', '16384', "'image'", '<unknown nodes.SaveImage.FUNCTION>', 'True'],
    )
  })
})
