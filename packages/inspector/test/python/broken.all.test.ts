import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parser } from './parser.ts'
import { printTree } from './print-tree.ts'

/** Cases: what is lost, the source, the statements that are left, and the first and last line of each lost one. */
const CASES: [title: string, source: string, tree: string[], lines: [number, number][]][] = [
  ['one statement of a module', 'a\nb = = 1\nc\n', ['(expr@1 a@1)', '(expr@3 c@3)'], [[2, 2]]],
  [
    'one statement of a body',
    'class A:\n  x\n  y = = 1\n  z\nb\n',
    ['(class@1 A [] [] [] {(expr@2 x@2) (expr@4 z@4)})', '(expr@5 b@5)'],
    [[3, 3]],
  ],
  [
    'one statement of a branch',
    'if a:\n  b = = 1\nelif c:\n  d\nelse:\n  e e\n',
    ['(if@1 a@1 {} {(if@3 c@3 {(expr@4 d@4)} {})})'],
    [
      [2, 2],
      [6, 6],
    ],
  ],
  [
    'a statement with a wrong header, and its body',
    'if a b:\n  c\nd\n',
    ['(expr@3 d@3)'],
    [[1, 2]],
  ],
  [
    'a method with a wrong header, not its class',
    'class A:\n  x\n  def f(self:\n    y\n  def g(self): z\nb\n',
    [
      '(class@1 A [] [] [] {(expr@2 x@2) (def@5 g args(|(self ~ ~)|~||~) [] False False {(expr@5 z@5)})})',
      '(expr@6 b@6)',
    ],
    [[3, 4]],
  ],
  [
    'a match with a wrong pattern',
    'match a:\n  case 1 2: b\n  case 3: c\nd\n',
    ['(expr@4 d@4)'],
    [[1, 3]],
  ],
  [
    'an open bracket, not what follows it',
    'a = (1,\nb = 2\ndef f(): pass\nc\n',
    ['(=@2 [b@2] i2@2)', '(def@3 f args(||~||~) [] False False {Pass@3})', '(expr@4 c@4)'],
    [[1, 1]],
  ],
  ['an open string, not what follows it', 'a = "b\nc\n', ['(expr@2 c@2)'], [[1, 1]]],
  ['what goes on in the line of an error', 'foo bar baz\nb\n', ['(expr@2 b@2)'], [[1, 1]]],
  ['a statement between semicolons', 'a; b = = 1; c\n', ['(expr@1 a@1)', '(expr@1 c@1)'], [[1, 1]]],
  ['parameters of Python 2', 'def f((a, b)): pass\nc\n', ['(expr@2 c@2)'], [[1, 1]]],
  ['a target where there is none', 'f(a as b)\nc\n', ['(expr@2 c@2)'], [[1, 1]]],
  ['bytes joined with a string', 'a = b"x" "y"\nc\n', ['(expr@2 c@2)'], [[1, 1]]],
  ['all of a file that is no Python', '<html>\n<b>\n', [], [[1, 2]]],
]

describe('a file with errors', () => {
  for (const [title, source, tree, lines] of CASES) {
    test(`loses ${title}`, () => {
      const module = parser.parse(source)
      assert.deepEqual(printTree(module), tree)
      assert.deepEqual(
        module.broken.map(({ line, endLine }) => [line, endLine]),
        lines,
      )
    })
  }
})
