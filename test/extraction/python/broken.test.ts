import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parser } from './parser.ts'
import { printTree } from './print-tree.ts'

interface Case {
  title: string
  source: string
  tree: string[]
  broken: [line: number, endLine: number][]
}

const CASES: Case[] = [
  {
    title: 'one statement of a module',
    source: 'a\nb = = 1\nc\n',
    tree: ['(expr@1 a@1)', '(expr@3 c@3)'],
    broken: [[2, 2]],
  },
  {
    title: 'one statement of a body',
    source: 'class A:\n  x\n  y = = 1\n  z\nb\n',
    tree: ['(class@1 A [] [] [] {(expr@2 x@2) (expr@4 z@4)})', '(expr@5 b@5)'],
    broken: [[3, 3]],
  },
  {
    title: 'one statement of a branch',
    source: 'if a:\n  b = = 1\nelif c:\n  d\nelse:\n  e e\n',
    tree: ['(if@1 a@1 {} {(if@3 c@3 {(expr@4 d@4)} {})})'],
    broken: [
      [2, 2],
      [6, 6],
    ],
  },
  {
    title: 'a statement with a wrong header, and its body',
    source: 'if a b:\n  c\nd\n',
    tree: ['(expr@3 d@3)'],
    broken: [[1, 2]],
  },
  {
    title: 'a method with a wrong header, not its class',
    source: 'class A:\n  x\n  def f(self:\n    y\n  def g(self): z\nb\n',
    tree: [
      '(class@1 A [] [] [] {(expr@2 x@2) (def@5 g args(|(self ~ ~)|~||~) [] False False {(expr@5 z@5)})})',
      '(expr@6 b@6)',
    ],
    broken: [[3, 4]],
  },
  {
    title: 'a match with a wrong pattern',
    source: 'match a:\n  case 1 2: b\n  case 3: c\nd\n',
    tree: ['(expr@4 d@4)'],
    broken: [[1, 3]],
  },
  {
    title: 'an open bracket, not what follows it',
    source: 'a = (1,\nb = 2\ndef f(): pass\nc\n',
    tree: ['(=@2 [b@2] i2@2)', '(def@3 f args(||~||~) [] False False {Pass@3})', '(expr@4 c@4)'],
    broken: [[1, 1]],
  },
  {
    title: 'an open string, not what follows it',
    source: 'a = "b\nc\n',
    tree: ['(expr@2 c@2)'],
    broken: [[1, 1]],
  },
  {
    title: 'what goes on in the line of an error',
    source: 'foo bar baz\nb\n',
    tree: ['(expr@2 b@2)'],
    broken: [[1, 1]],
  },
  {
    title: 'a statement between semicolons',
    source: 'a; b = = 1; c\n',
    tree: ['(expr@1 a@1)', '(expr@1 c@1)'],
    broken: [[1, 1]],
  },
  {
    title: 'parameters of Python 2',
    source: 'def f((a, b)): pass\nc\n',
    tree: ['(expr@2 c@2)'],
    broken: [[1, 1]],
  },
  {
    title: 'a target where there is none',
    source: 'f(a as b)\nc\n',
    tree: ['(expr@2 c@2)'],
    broken: [[1, 1]],
  },
  {
    title: 'bytes joined with a string',
    source: 'a = b"x" "y"\nc\n',
    tree: ['(expr@2 c@2)'],
    broken: [[1, 1]],
  },
  {
    title: 'all of a file that is no Python',
    source: '<html>\n<b>\n',
    tree: [],
    broken: [[1, 2]],
  },
]

describe('a file with errors', () => {
  for (const { title, source, tree, broken } of CASES) {
    test(`loses ${title}`, () => {
      const module = parser.parse(source)
      assert.deepEqual(printTree(module), tree)
      assert.deepEqual(
        module.broken.map(({ line, endLine }) => [line, endLine]),
        broken,
      )
    })
  }
})
