import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Module } from '../../src/python/ast.ts'
import { parser } from './parser.ts'
import { printTree } from './print-tree.ts'

/** Levels of nodes in a tree, counted without recursion. */
const levelsOf = (module: Module): number => {
  let highest = 0
  const open: [value: unknown, level: number][] = [[module.body, 0]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, level] = next
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue
    const own = 'kind' in value ? level + 1 : level
    highest = Math.max(highest, own)
    for (const child of Object.values(value)) open.push([child, own])
  }
  return highest
}

/** Nesting that is cut: a statement, 400 levels, some for the left ends of chains. */
const MAX_LEVELS = 410

const NESTED: Record<string, [open: string, middle: string, close: string]> = {
  lists: ['[', '', ']'],
  tuples: ['(a, ', '', ')'],
  dicts: ['{1: ', '2', '}'],
  calls: ['f(', '', ')'],
  comprehensions: ['[a for b in ', 'c', ']'],
  negations: ['not ', 'a', ''],
  signs: ['-', 'a', ''],
  powers: ['a ** ', 'a', ''],
  lambdas: ['lambda: ', 'a', ''],
  conditions: ['a if b else ', 'a', ''],
  attributes: ['', 'a', '.b'],
  subscripts: ['', 'a', '[0]'],
  'calls of results': ['', 'a', '()'],
  awaits: ['await ', 'a', ''],
  assignments: ['(a := ', 'a', ')'],
}

const repeated = ([open, middle, close]: [string, string, string], times: number): string =>
  open.repeat(times) + middle + close.repeat(times)

describe('hostile source', () => {
  for (const [title, parts] of Object.entries(NESTED)) {
    test(`with nested ${title} is unknown below 400 levels`, () => {
      const module = parser.parse(`x = ${repeated(parts, 3000)}\ny\n`)
      assert.equal(module.body.length, 2)
      assert.deepEqual(module.broken, [])
      assert.ok(module.cut.includes(1), 'the cut is noted')
      const levels = levelsOf(module)
      assert.ok(levels <= MAX_LEVELS, `${levels} levels`)
    })
  }

  test('with 100 levels is read whole', () => {
    for (const [title, parts] of Object.entries(NESTED)) {
      const module = parser.parse(`x = ${repeated(parts, 100)}\n`)
      assert.deepEqual(module.cut, [], title)
    }
  })

  test('with 20,000 parentheses around a number is that number', () => {
    const module = parser.parse(`x = ${'('.repeat(20_000)}1${')'.repeat(20_000)}\n`)
    assert.deepEqual(printTree(module), ['(=@1 [x@1] i1@1)'])
  })

  const chains: Record<string, [part: string, end: string]> = {
    'a sum of a megabyte': ['1 + ', '1'],
    'a conjunction': ['a and ', 'a'],
    'a comparison': ['a < ', 'a'],
    'an exclusive disjunction of conjunctions': ['a ^ b & ', 'c'],
    'an assignment to many targets': ['a = ', 'b'],
  }
  for (const [title, [part, end]] of Object.entries(chains)) {
    test(`with ${title} has a flat tree`, () => {
      const size = title.includes('megabyte') ? 1_000_000 : 100_000
      const module = parser.parse(`x = ${part.repeat(size / part.length)}${end}\n`)
      assert.deepEqual([module.body.length, module.broken, module.cut], [1, [], []])
      assert.ok(levelsOf(module) < 8, 'a flat tree')
    })
  }

  test('with blocks deeper than 200 keeps those around', () => {
    const ifs = Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}if a:\n`)
    const module = parser.parse(`${ifs.join('')}${' '.repeat(300)}b\nc\n`)
    assert.deepEqual(module.broken, [{ line: 201, endLine: 301 }])
    assert.equal(module.body.length, 2)
    const levels = levelsOf(module)
    assert.ok(levels > 190 && levels < 210, `${levels} levels`)
  })

  test('with thousands of elif keeps the first branches', () => {
    const module = parser.parse(`if a: b\n${'elif a: b\n'.repeat(5000)}else: c\nd\n`)
    assert.equal(module.body.length, 2)
    assert.deepEqual(module.broken, [{ line: 201, endLine: 5002 }])
    assert.ok(levelsOf(module) < 210, 'no deep tree')
  })

  test('with deep patterns loses the statement', () => {
    const module = parser.parse(`match a:\n  case ${'['.repeat(500)}${']'.repeat(500)}: b\nc\n`)
    assert.deepEqual(printTree(module), ['(expr@3 c@3)'])
  })

  test('with fields in fields of f-strings is bounded', () => {
    const spec = parser.parse(`x = f"${'{a:'.repeat(1000)}${'}'.repeat(1000)}"\ny\n`)
    assert.ok(levelsOf(spec) < MAX_LEVELS, 'specifications')
    const value = parser.parse(`x = ${"f'{".repeat(150)}1${"}'".repeat(150)}\ny\n`)
    assert.ok(levelsOf(value) < MAX_LEVELS, 'values')
  })

  /** Each would take minutes in quadratic time. */
  const QUICK: Record<string, string> = {
    'names of characters without an end': `x = "${'\\N{'.repeat(100_000)}"`,
    'lines of backslashes': `${'\\\n'.repeat(100_000)}x = 1`,
    'comments in a block': `def f():\n  a\n${'  # c\n'.repeat(30_000)}  b`,
    'quotes after backslashes': `\\'''\n`.repeat(30_000),
    'quotes in one line': "\\'".repeat(100_000),
    'blanks before tabs': `${' \t'.repeat(100_000)}x = 1`,
    'open brackets': '('.repeat(100_000),
    'NUL bytes': '\0'.repeat(100_000),
    'a long name': `x${'y'.repeat(300_000)}`,
    'a long string': `x = "${'a\\n'.repeat(100_000)}"`,
  }
  for (const [title, source] of Object.entries(QUICK)) {
    test(`with ${title} is read to its end`, () => {
      const { broken } = parser.parse(source)
      const lines = source.split('\n').length
      assert.ok(
        broken.every(({ endLine }) => endLine <= lines),
        'lines of the file',
      )
    })
  }

  test('with NUL bytes and lone surrogates loses no other statement', () => {
    const module = parser.parse('a = 1\n\0\nb = "\0"\n\udc00\nc = 3\n')
    const tree = printTree(module)
    assert.deepEqual(tree, ['(=@1 [a@1] i1@1)', '(=@5 [c@5] i3@5)'])
    assert.deepEqual(printTree(parser.parse('a = "\ud800"')), ['(=@1 [a@1] "\\ud800"@1)'])
  })

  test('of noise has a tree, whatever it is', () => {
    const words =
      "if |def |x|(|)|:|\n|\n    |[|]|\"|'''|class |lambda |=|+|\\|{|}|f\"|for | in |else|*|,|.".split(
        '|',
      )
    let seed = 1
    const next = (): number => (seed = (seed * 48_271) % 2_147_483_647)
    for (let round = 0; round < 200; round += 1) {
      const source = Array.from({ length: 150 }, () => words[next() % words.length]).join('')
      const module = parser.parse(source)
      const lines = source.split('\n').length
      for (const { line, endLine } of module.broken) {
        assert.ok(line >= 1 && line <= endLine && endLine <= lines, source)
      }
      assert.equal(printTree(module).length, module.body.length)
    }
  })
})
