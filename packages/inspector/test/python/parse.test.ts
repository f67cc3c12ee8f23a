import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ParseCancelled } from '../../src/python/walk.ts'
import { readJsonLines } from '../../../../test/support/json-lines.ts'
import { parser, treeOf } from './parser.ts'

/** A source a line, with the tree that CPython 3.14's `ast` makes of it; of patterns that are not followed, their names. */
const TREES = new URL('trees.jsonl', import.meta.url)

describe('the Python parser', () => {
  test('makes the trees that CPython makes', () => {
    for (const [source, tree] of readJsonLines(TREES) as [source: string, tree: string[]][]) {
      assert.deepEqual(treeOf(source), tree, source)
    }
  })

  test('keeps the text', () => {
    assert.equal(parser.parse('a\n\nb').text, 'a\n\nb')
  })

  test('reads an empty file and one without an end of line', () => {
    assert.deepEqual(parser.parse(''), {
      kind: 'Module',
      body: [],
      text: '',
      broken: [],
      cut: [],
      syntaxError: undefined,
    })
    assert.deepEqual(treeOf('x'), ['(expr@1 x@1)'])
    assert.deepEqual(treeOf('if x:\n  y'), ['(if@1 x@1 {(expr@2 y@2)} {})'])
  })

  test('reads statements of Python 2 as calls', () => {
    assert.deepEqual(treeOf('print "a", b'), ['(expr@1 (call@1 print@1 ["a"@1 b@1] []))'])
    assert.deepEqual(treeOf('print >>f, a'), ['(expr@1 (call@1 print@1 [a@1] [(file f@1)]))'])
    assert.deepEqual(treeOf('exec "a" in b'), ['(expr@1 (call@1 exec@1 ["a"@1 b@1] []))'])
    assert.deepEqual(treeOf('a <> b'), ['(expr@1 (cmp@1 a@1 != b@1))'])
  })

  test('knows no value for numbers that are imaginary, of Python 2 or too long', () => {
    for (const literal of ['1j', '1.5J', '0777', '1L', '9'.repeat(5001), `0x${'f'.repeat(5000)}`]) {
      assert.deepEqual(treeOf(literal), ['(expr@1 undef@1)'], literal.slice(0, 10))
    }
    assert.deepEqual(treeOf('9'.repeat(5000)), [`(expr@1 i${(10n ** 5000n - 1n).toString(16)}@1)`])
  })

  test('leaves the names of characters as they are', () => {
    assert.deepEqual(treeOf('"\\N{DASH}\\x41"'), ['(expr@1 "\\\\N{DASH}A"@1)'])
    assert.deepEqual(treeOf('f"\\N{DASH}{{{a}"'), ['(expr@1 J@1["\\\\N{DASH}{" {a@1 ~ ~}])'])
  })

  test('recognises a generator by a yield of its own', () => {
    const isGenerator = (source: string): boolean => {
      const [first] = parser.parse(source).body
      return first?.kind === 'FunctionDef' && first.isGenerator
    }
    assert.equal(isGenerator('def f():\n  if a:\n    x = [(yield)]'), true)
    assert.equal(isGenerator('def f(): yield from a'), true)
    assert.equal(isGenerator('def f():\n  def g(): yield\n  lambda: (yield)'), false)
    assert.equal(isGenerator('def f():\n  class A:\n    def g(self): yield'), false)
  })

  test('takes a form feed for a new beginning of the line', () => {
    assert.deepEqual(treeOf('\fx\n  \fy\n'), ['(expr@1 x@1)', '(expr@2 y@2)'])
  })

  test('takes a tab to the next multiple of eight', () => {
    const tree = ['(if@1 a@1 {(if@2 b@2 {(expr@3 c@3)} {}) (expr@4 d@4)} {})']
    assert.deepEqual(treeOf('if a:\n    \tif b:\n            c\n\td\n'), tree)
  })

  test('stops when it is cancelled, and reads the next file from its beginning', () => {
    const long = 'x = [1, 2, 3]\n'.repeat(20_000)
    assert.throws(() => parser.parse(long, { isCancelled: () => true }), ParseCancelled)
    assert.deepEqual(treeOf('y'), ['(expr@1 y@1)'])
  })

  test('stops in the middle as well', () => {
    let asked = 0
    const long = 'x = [1, 2, 3]\n'.repeat(20_000)
    parser.parse(long, { isCancelled: () => ++asked < 0 })
    const all = asked
    asked = 0
    assert.throws(() => parser.parse(long, { isCancelled: () => ++asked === all }), ParseCancelled)
  })
})
