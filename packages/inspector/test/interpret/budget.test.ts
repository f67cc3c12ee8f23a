import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import { makeRunner, reprOf } from './support.ts'
import type { Run } from './support.ts'

/** Code, names with what they have to be, and the limits it has to meet. */
type Case = [
  title: string,
  source: string,
  expected: Record<string, string>,
  limitsMet: readonly string[],
]

const CASES: Case[] = [
  [
    'a long string',
    'a = "x" * 10**12; b = ("y" * 1000000 + "z" * 100000)',
    { a: '<unknown str>', b: '<unknown str>' },
    ['string'],
  ],
  [
    'doubling strings',
    'a = "x"\nfor i in range(64): a += a\nb = 1',
    { a: '<unknown operation()>', b: '1' },
    ['string'],
  ],
  [
    'large powers and shifts',
    'a = 9**9**9; b = 1 << 10**6; c = 2**100',
    { a: '<unknown number>', b: '<unknown number>', c: '1267650600228229401496703205376' },
    ['number'],
  ],
  [
    'long repeated sequences',
    'a = [0] * 10**9; b = (1, 2) * 10**6; c = len([0] * 10000)',
    { a: '<unknown list>', b: '<unknown tuple>', c: '10000' },
    ['items'],
  ],
  ['recursion', 'def f(n): return f(n + 1)\na = f(0)', { a: '<unknown f()>' }, ['recursion']],
  [
    'a deep chain of calls',
    `${Array.from({ length: 80 }, (_, n) => `def f${n}(): return f${n + 1}()`).join('\n')}\ndef f80(): return 1\na = f0(); b = f70()`,
    { a: '<unknown f60()>', b: '1' },
    ['depth'],
  ],
  [
    'a while that never ends',
    'n = 0\nwhile True: n += 1\nm = 1',
    { n: '<unknown loop>', m: '1' },
    ['rounds'],
  ],
  [
    'a long for',
    'n = 0\nfor i in range(10**9): n += 1',
    { n: '<unknown loop>', i: '<unknown i>' },
    ['items'],
  ],
  [
    'a long while',
    `n = 0; d = {"n": 0}; names = {}; seen = []
class Box: n = 0
def note(n): seen.append(n)
while n < 10**9:
  n += 1; d["n"] += 1; Box.n += 1; names[f"a{n}"] = n; note(n)
a = names["a1"]; b = d["n"]; c = Box.n; e = names["a9999"]; f = len(names); g = len(seen)`,
    {
      a: '1',
      b: '<unknown loop>',
      c: '<unknown loop>',
      e: '<unknown dict[]>',
      f: '<unknown len()>',
      g: '<unknown len()>',
    },
    ['rounds'],
  ],
  ['a list that doubles itself', 'a = [1]\nfor i in range(60): a.extend(a)', {}, ['items']],
  [
    'generators without an end',
    'def g():\n  n = 0\n  while True:\n    n += 1\n    yield n\na = next(g()); b = len(list(g()))',
    { a: '1', b: '<unknown len()>' },
    ['rounds'],
  ],
  [
    'comprehensions over large ranges',
    'a = [x for x in range(10**12)]; b = a[5]',
    { b: '5' },
    ['items'],
  ],
  [
    'sums over large ranges',
    'a = sum(range(10**12)); b = 10**11 in range(10**12)',
    { a: '<unknown sum()>' },
    ['items'],
  ],
  [
    'containers that hold themselves',
    'a = []; a.append(a); b = a == [a]; d = {}; d["d"] = d; e = str(d); f = a < a; g = repr(a)',
    { e: '<unknown str.__new__()>', g: '<unknown repr()>' },
    [],
  ],
  [
    'tuples of tuples as keys',
    'a = (1,)\nfor i in range(40): a = (a, a)\nd = {a: 1}\nb = 2',
    { b: '2' },
    [],
  ],
]

describe('budgets', () => {
  let run: Run
  before(async () => {
    run = await makeRunner()
  })

  for (const [title, source, expected, limitsMet] of CASES) {
    test(`${title}: the value is unknown and the run goes on`, () => {
      const ran = run(`${source}\nend = "reached"`)
      const found = Object.keys(expected).map((name) => [name, reprOf(ran, name)])
      assert.deepEqual(Object.fromEntries(found), expected)
      assert.equal(reprOf(ran, 'end'), "'reached'")
      const met: readonly string[] = ran.interpreter.stats().limitsMet
      for (const name of limitsMet)
        assert.ok(met.includes(name), `${name} is met, not ${met.join()}`)
      assert.deepEqual(
        ran.interpreter.notes().filter((note) => note.kind === 'error'),
        [],
      )
    })
  }

  test('steps end the run with what there is', () => {
    const ran = run(
      'A = {"a": 1}\nfor i in range(20000):\n  for j in range(20000):\n    A["b"] = j\nC = 1',
    )
    assert.equal(ran.interpreter.stats().steps > 3_000_000, true)
    assert.equal(ran.get('C'), undefined)
    assert.deepEqual(ran.interpreter.reasons(), [{ code: 'budget_steps', detail: '' }])
  })

  test('time ends the run with what there is', () => {
    let now = 0
    const ran = run('A = 1\nfor i in range(20000): B = i\nC = 1', { now: () => (now += 1000) })
    assert.equal(reprOf(ran, 'A'), '1')
    assert.equal(ran.get('C'), undefined)
    assert.deepEqual(ran.interpreter.reasons(), [{ code: 'budget_time', detail: '' }])
  })

  test('one call may have a smaller budget of steps, and the next one has its own', () => {
    const ran = run('def f():\n  for i in range(20000): x = i\ndef g(): return 5')
    const { interpreter } = ran
    const first = interpreter.tryCall(ran.get('f') ?? null, [], { steps: 1000 })
    assert.equal(first.spent, true)
    assert.equal(interpreter.call(ran.get('g') ?? null, [], { steps: 1000 }), 5n)
  })

  test('a raise inside a call is reported', () => {
    const ran = run('def f(): raise KeyError("k")')
    const { failure, spent } = ran.interpreter.tryCall(ran.get('f') ?? null, [])
    assert.deepEqual([failure?.detail, spent], ["KeyError: 'k'", false])
  })

  test('deep nesting of one expression is unknown', () => {
    const depth = 3000
    const ran = run(
      `a = ${'[lambda:'.repeat(150)}${'-'.repeat(depth)}1${']'.repeat(150)}\nb = ${'-'.repeat(depth)}1\nc = 2`,
    )
    assert.equal(reprOf(ran, 'b'), '<unknown operation()>')
    assert.equal(reprOf(ran, 'c'), '2')
  })

  test('parsing stops at its budget', () => {
    const ran = run(
      {
        '__init__.py': 'a = 1\ntry: from .big import x\nexcept ImportError: x = 2',
        'big.py': `x = "${'y'.repeat(500)}"`,
      },
      { limits: { parsedBytes: 300 } },
    )
    assert.equal(reprOf(ran, 'a'), '1')
    assert.equal(reprOf(ran, 'x'), '<unknown demopack.big.x>')
    assert.deepEqual(
      ran.interpreter.reasons().map((reason) => reason.code),
      ['budget_parsed'],
    )
  })

  test('of steps are left to the pack by the library that is written in Python', () => {
    const ran = run(
      `from dataclasses import dataclass, field
@dataclass
class Row:
    a: int = 0; b: int = 0; c: int = 0; d: int = 0; e: list = field(default_factory=list); f: str = ''
rows = [Row(n, f='x') for n in range(2000)]
last = (len(rows), rows[-1].a, rows[-1].e)`,
      { library: LIBRARY, limits: { steps: 30_000 } },
    )
    assert.equal(reprOf(ran, 'last'), '(2000, 1999, [])')
    assert.deepEqual(ran.interpreter.stats().limitsMet, [])
  })
})
