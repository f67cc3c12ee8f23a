import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { FindingsSection } from '../../src/inspection.ts'
import { SCAN_LIMITS } from '../../src/scan/scan-sources.ts'
import { CASES } from './code-cases.ts'
import { scanFiles } from './support.ts'

const SOURCES = CASES.flatMap(({ hits, passes }) => [...hits, ...passes]).filter(
  (source) => source.length < 2000,
)

/** Whatever was scanned, the result is whole and can be stored. */
const assertSound = ({ findings, counts }: FindingsSection): void => {
  assert.ok(findings.length <= SCAN_LIMITS.findings, String(findings.length))
  for (const { code_snippet: snippet = '', message, line_number: line = 1 } of findings) {
    assert.ok(!snippet.includes('\0') && !/\p{Surrogate}/u.test(snippet), snippet)
    assert.ok([...snippet].length <= 200 && message.length < 1000 && line >= 1, message)
  }
  assert.ok(
    counts.high + counts.medium + counts.info >= findings.filter(isCounted).length,
    'counts',
  )
}

const isCounted = ({ issue_type: rule }: { issue_type: string }): boolean => rule !== 'overflow'

describe('hostile sources', () => {
  test('random bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.uint8Array({ maxLength: 100 }), (a, b) => {
        assertSound(
          scanFiles({ '__init__.py': a, 'requirements.txt': a, 'pyproject.toml': b, 'x.png': b }),
        )
      }),
      { numRuns: 100, seed: 1 },
    )
  })

  test('cut, joined and mutated sources never throw', () => {
    const piece = fc.tuple(fc.constantFrom(...SOURCES), fc.nat(200), fc.nat(200))
    const text = fc
      .array(piece, { minLength: 1, maxLength: 6 })
      .map((pieces) =>
        pieces
          .map(([source, from, to]) => source.slice(from % source.length, -1 - (to % 20)))
          .join('\n'),
      )
    fc.assert(
      fc.property(text, (source) => assertSound(scanFiles({ '__init__.py': source }))),
      { numRuns: 150, seed: 2 },
    )
  })

  const deep = 5000
  const HOSTILE: [title: string, source: string][] = [
    ['a name bound to itself', 'x = x\nexec(x)\ny = z\nz = y\neval(y)\nx += x\n'],
    ['functions that return each other', 'def f(): return g()\ndef g(): return f()\nexec(f())\n'],
    ['nested calls', `eval(${'f('.repeat(deep)}x${')'.repeat(deep)})\n`],
    ['nested attributes', `eval(a${'.b'.repeat(deep)})\na${'.b'.repeat(deep)}(x)\n`],
    ['nested items', `eval(a${'[0]'.repeat(deep)})\n`],
    ['nested lists', `for p in ${'['.repeat(deep)}${']'.repeat(deep)}: open(p)\n`],
    ['long sums', `open(${'"a" + '.repeat(deep)}"b")\n`],
    [
      'texts that double',
      `a0 = "x"\n${Array.from({ length: 200 }, (_, at) => `a${at + 1} = a${at} + a${at}`).join('\n')}\nopen(a200)\nexec(a200)\n`,
    ],
    [
      'values that multiply',
      `p = a if x else b if y else c\n${Array.from({ length: 60 }, (_, at) => `p = p + ("1" if x${at} else "2")`).join('\n')}\nopen(p + p + p)\n`,
    ],
    [
      'a chain of names',
      `a0 = f\n${Array.from({ length: deep }, (_, at) => `a${at + 1} = a${at}`).join('\n')}\na${deep}(x)\nexec(a${deep})\n`,
    ],
    [
      'names of objects',
      'exec(__proto__)\nconstructor(x)\ntoString.valueOf(hasOwnProperty)\nx = {"__proto__": 1}\n',
    ],
    ['lambdas in lambdas', `${'lambda: '.repeat(1000)}exec(x)\n`],
    ['comprehensions in comprehensions', `${'['.repeat(300)}x${' for x in y]'.repeat(300)}\n`],
    ['many bindings of one name', `${'p = "a"\n'.repeat(deep)}open(p)\nexec(p)\n`],
    ['20,000 calls', 'eval(x);'.repeat(20_000)],
    [
      'many calls of one hostile value',
      `a = "x"\n${Array.from({ length: 30 }, (_, at) => `a = a + str(a) + f"{a}{a}{${at}}"`).join('\n')}\n${'open(a); exec(a); getattr(os, a)(a)\n'.repeat(40)}`,
    ],
  ]
  for (const [title, source] of HOSTILE)
    test(`${title} end with a result`, () => {
      assertSound(scanFiles({ '__init__.py': source }))
    })

  const many = (count: number, source: (at: number) => string): Record<string, string> => {
    const files = Array.from({ length: count }, (_, at): [string, string] => [
      `m${at}.py`,
      source(at),
    ])
    return { ...Object.fromEntries(files), '__init__.py': 'from .m0 import *\nexec(x)\nx(x)(x)\n' }
  }
  const stars = (count: number): string =>
    Array.from({ length: count }, (_, at) => `from .m${at} import *\n`).join('')
  const HOSTILE_PACKS: [title: string, files: Record<string, string>][] = [
    ['a chain of 2,000 files', many(2000, (at) => `from .m${at + 1} import *\nx += 1\n`)],
    ['files that all import all of each other', many(60, () => `${stars(60)}x = x(y, z)\n`)],
    ['names that go round', many(40, (at) => `from .m${(at + 1) % 40} import x, y\nexec(y(x))\n`)],
    [
      'functions that call each other with more each time',
      many(
        20,
        (at) =>
          `${stars(20)}def f${at}(*a, k=x):\n    ${`f${(at + 1) % 20}(f${at}(*a), k(a), a); `.repeat(20)}\nf${at}(f${at}, 1)\n`,
      ),
    ],
    [
      'classes that are their own bases',
      many(
        20,
        (at) =>
          `${stars(20)}class A${at}(A${(at + 1) % 20}, A${at}): pass\nA${at}.x.y(A${at}().z(1))\n`,
      ),
    ],
    [
      'chains of calls',
      many(
        3,
        (at) => `${stars(3)}def f(a, b=x): return f(a).f(b)\nx = f${`.f(x${at})`.repeat(300)}\n`,
      ),
    ],
    [
      'tables of tables',
      many(
        3,
        () =>
          `${stars(3)}t = {"a": [t, u, x], "b": (t, t)}\nx = u = t["a"][0]["b"][x][1]\nx(t)(u)[x](x)\n`,
      ),
    ],
  ]
  for (const [title, files] of HOSTILE_PACKS)
    test(`${title} end with a result`, () => assertSound(scanFiles(files)))

  test('what a rule meets in one file leaves the others scanned', () => {
    const { findings, complete } = scanFiles(
      { '__init__.py': '', 'a.py': 'x = 1', 'b.py': 'eval(t)' },
      {
        modules: (path) => {
          if (path === 'a.py') throw new RangeError('Maximum call stack size exceeded')
          return undefined
        },
      },
    )
    assert.deepEqual(
      findings.map(({ issue_type: rule, file_path: path }) => `${rule} ${path}`),
      ['not-scanned __init__.py', 'not-scanned a.py', 'not-scanned b.py'],
    )
    assert.ok(!complete, 'unseen code must not become active')
  })
})

describe('budgets', () => {
  const files = { '__init__.py': 'x = 1\n', 'a.py': 'eval(t)\n', 'b.py': 'eval(t)\n' }

  test('nothing beyond the byte limit is scanned, and this is reported', () => {
    const limits = { ...SCAN_LIMITS, sourceBytes: 16 }
    const { complete, findings } = scanFiles(files, { limits, reached: new Set(['__init__.py']) })
    assert.equal(complete, false)
    assert.deepEqual(
      findings.map(({ issue_type: rule, file_path: path, message }) => [rule, path, message]),
      [
        [
          'dynamic-code',
          'a.py',
          'Text is run as code (eval). Parse data with ast.literal_eval or json, and look functions up by name.',
        ],
        [
          'not-scanned',
          undefined,
          'Code could not be scanned (1 of the files, because the budget was spent). Make it valid Python in UTF-8 of ordinary size.',
        ],
      ],
    )
  })

  test('beyond the time nothing is scanned; files that run by themselves come first', () => {
    let clock = 0
    const asked: string[] = []
    const { complete } = scanFiles(
      { ...files, 'install.py': '', 'z.py': '' },
      {
        reached: new Set(['z.py']),
        now: () => (clock += 25_000),
        modules: (path) => {
          asked.push(path)
          return undefined
        },
      },
    )
    assert.equal(complete, false)
    assert.deepEqual(asked, ['z.py', 'install.py'])
  })

  test('without a clock there is no limit of time', () => {
    assert.equal(scanFiles(files).complete, true)
  })
})
