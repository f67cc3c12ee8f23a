import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { nested } from './nested.ts'
import { parser } from './parser.ts'

const BROKEN: [source: string, line: number, message: string][] = [
  ['x = (1', 1, 'invalid syntax'],
  ['x = 1\ns = "unterminated', 2, 'invalid syntax'],
  ['if True:\nx = 1', 1, 'expected an indented block'],
  ['def f():\n# nothing\nx = 1', 1, 'expected an indented block'],
  ['if True:\n        x = 1\n\ty = 2', 3, 'inconsistent use of tabs and spaces'],
  ['if 1:\n    if 2:\n\tx = 1', 3, 'inconsistent use of tabs and spaces'],
  ['x = 1\n  y = 2', 2, 'unexpected indent'],
  ['print "hello"', 1, "missing parentheses in call to 'print'"],
  ['exec "x = 1"', 1, "missing parentheses in call to 'exec'"],
  ['raise ValueError, "x"', 1, 'invalid syntax'],
  ['x = 1 <> 2', 1, 'invalid syntax'],
  ['x = 0777', 1, 'invalid decimal literal'],
  ['x = 10L', 1, 'invalid decimal literal'],
  ['if 1:\n  return 5', 2, "'return' outside function"],
  ['class A:\n  return 1', 2, "'return' outside function"],
  ['class A:\n  x = yield', 2, "'yield' outside function"],
  ['await x', 1, "'await' outside async function"],
  ['async def f():\n  def g():\n    await x', 3, "'await' outside async function"],
  ['def f():\n  async with x: pass', 2, "'async with' outside async function"],
  ['async for x in y: pass', 1, "'async for' outside async function"],
  ['break', 1, "'break' outside loop"],
  ['for x in y: pass\nelse: break', 2, "'break' outside loop"],
  ['while 1:\n  def f(): continue', 2, "'continue' not properly in loop"],
  ['nonlocal x', 1, 'no binding for a nonlocal name'],
  ['def f():\n  nonlocal x', 2, 'no binding for a nonlocal name'],
  ['def f(a, *a): pass', 1, "duplicate argument 'a' in function definition"],
  ['lambda a, a: 1', 1, "duplicate argument 'a' in function definition"],
  ['def f(a=1, b): pass', 1, 'parameter without a default follows parameter with a default'],
  ['f(a=1, a=2)', 1, 'keyword argument repeated: a'],
  ['def f():\n  from os import *', 2, 'import * only allowed at module level'],
  [
    'import os\nfrom __future__ import annotations',
    2,
    'from __future__ imports must occur at the beginning of the file',
  ],
  ['x = rb"é"', 1, 'bytes can only contain ASCII literal characters'],
  ['try: x\nfinally_ = 1', 1, "expected 'except' or 'finally' block"],
  ['try: x\nexcept: y\nexcept A: z', 1, "default 'except:' must be last"],
  ['try: x\nexcept A, e: y', 2, 'multiple exception types must be parenthesized'],
  ['x = "C:\\Users"', 1, '(unicode error) truncated escape'],
  ['x = "a\\\\\\x4"', 1, '(unicode error) truncated escape'],
  [nested('if 1:', 101), 102, 'too many levels of indentation'],
  [nested('for _ in x:', 22), 23, 'too many statically nested blocks'],
  [`x = ${'('.repeat(201)}1${')'.repeat(201)}`, 1, 'too many nested parentheses'],
]

const SOUND = [
  'class A:\n  def f(self):\n    nonlocal __class__',
  'def f():\n  x = 1\n  class A:\n    nonlocal x',
  'for x in y:\n  for z in y: pass\n  else: break',
  'while 1:\n  try: continue\n  finally: break',
  'while 1:\n  match x:\n    case 1: break\n    case 2:\n      continue',
  'match x:\n  # first\n  case 1:\n    a\n    b',
  'async def f():\n  return [await x for x in y]',
  'async def f(x=(lambda: (yield))):\n  async with x: pass\n  async for z in x: break',
  'def f():\n  return (await x for x in y)',
  'def f(a, /, b=1, *c, d, e=1, **k): pass',
  'f(*a, b, c=1, *d, **e)',
  '"""d"""\nfrom __future__ import annotations\nfrom __future__ import division',
  'if 1: from os import *',
  'print >>f, x',
  'if 1:\n\tx = (1,\n    2)\n\ty = 1',
  'if x:\n\f  y = 1\n  z = 2',
  'if x: \\\n  y = 1',
  'x = 1; \\\ny = 2',
  'x = "\\\\x4", r"\\x4", b"\\u4", "\\x41", 0, 0_0, 00',
  'if 0: pass\n' + 'elif 1: pass\n'.repeat(300),
  nested('if 1:', 99),
  nested('for _ in x:', 20),
  `x = ${'('.repeat(200)}1${')'.repeat(200)}`,
  `x = ${'-'.repeat(3000)}1`,
  `x = a${'.b'.repeat(3000)}`,
]

describe('a text that CPython does not compile', () => {
  for (const [source, line, message] of BROKEN)
    test(`is ${JSON.stringify(source).slice(0, 60)}`, () => {
      assert.deepEqual(parser.parse(source).syntaxError, { line, message })
    })
  for (const source of SOUND)
    test(`is not ${JSON.stringify(source).slice(0, 60)}`, () => {
      assert.equal(parser.parse(source).syntaxError, undefined)
    })
})
