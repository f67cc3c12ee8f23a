import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { join, replace } from '../../../src/interpret/text/string/build.ts'
import * as cases from '../../../src/interpret/text/string/case.ts'
import * as classes from '../../../src/interpret/text/string/classes.ts'
import { decode } from '../../../src/interpret/text/string/codec.ts'
import { compareText, MAX_TEXT } from '../../../src/interpret/text/string/code-points.ts'
import * as finds from '../../../src/interpret/text/string/find.ts'
import { itemOfText, sliceText } from '../../../src/interpret/text/string/slice.ts'
import * as splits from '../../../src/interpret/text/string/split.ts'
import * as strips from '../../../src/interpret/text/string/strip.ts'
import { checkTable } from './table.ts'

type Optional<T> = T | null

const CASES = new Map<string, (text: string) => unknown>([
  ['upper', cases.upper],
  ['lower', cases.lower],
  ['title', cases.title],
  ['capitalize', cases.capitalize],
])
const CLASSES = new Map<string, (text: string) => unknown>([
  ['isdigit', classes.isDigit],
  ['isalpha', classes.isAlpha],
  ['isalnum', classes.isAlnum],
  ['isidentifier', classes.isIdentifier],
  ['isupper', cases.isUpper],
  ['islower', cases.isLower],
  ['isspace', classes.isSpace],
  ['isascii', classes.isAscii],
])

describe('strings as CPython has them', () => {
  test('change case', () => {
    checkTable('case', (name: string, text: string) => CASES.get(name)?.(text))
  })

  test('are classified', () => {
    checkTable('classes', (name: string, text: string) => CLASSES.get(name)?.(text))
  })

  test('are stripped', () => {
    const methods = new Map([
      ['strip', strips.strip],
      ['lstrip', strips.stripStart],
      ['rstrip', strips.stripEnd],
      ['removeprefix', (text: string, part = '') => strips.removePrefix(text, part)],
      ['removesuffix', (text: string, part = '') => strips.removeSuffix(text, part)],
    ])
    checkTable('strip', (name: string, text: string, chars: Optional<string>) =>
      methods.get(name)?.(text, chars ?? undefined),
    )
  })

  test('are split', () => {
    checkTable('split', (name: string, text: string, part: Optional<string>, limit: bigint) => {
      const split = name === 'split' ? splits.split : splits.splitFromEnd
      return split(text, part ?? undefined, limit)
    })
    checkTable('lines', splits.splitLines)
  })

  test('are searched by code points', () => {
    const methods = new Map<string, (text: string, part: string) => unknown>([
      ['find', (...args) => BigInt(finds.find(...args))],
      ['count', (...args) => BigInt(finds.countOf(...args))],
      ['startswith', (text, part) => finds.startsWith(text, [part])],
      ['endswith', (text, part) => finds.endsWith(text, [part])],
    ])
    checkTable('find', (name: string, text: string, part: string) =>
      methods.get(name)?.(text, part),
    )
    assert.equal(finds.startsWith('abc', ['x', 'ab']), true)
  })

  test('are rebuilt', () => {
    checkTable('replace', replace)
  })

  test('are sliced and compared by code points', () => {
    type Row = [string, Optional<bigint>, Optional<bigint>, Optional<bigint>]
    checkTable('slice', (...[text, start, stop, step]: Row) =>
      sliceText(text, {
        start: start ?? undefined,
        stop: stop ?? undefined,
        step: step ?? undefined,
      }),
    )
    checkTable('item', itemOfText)
    checkTable('compare', (a: string, b: string) => BigInt(Math.sign(compareText(a, b))))
  })

  test('are decoded', () => {
    checkTable('decode', decode)
  })
})

describe('laws of strings', () => {
  const text = fc.string({ unit: 'grapheme' })

  test('a slice with no parts is the text, and with step -1 twice again', () => {
    const all = { start: undefined, stop: undefined, step: undefined }
    fc.assert(
      fc.property(text, (value) => {
        assert.equal(sliceText(value, all), value)
        const back = sliceText(value, { ...all, step: -1n }) ?? ''
        assert.equal(sliceText(back, { ...all, step: -1n }), value)
      }),
    )
  })

  test('splitting by a separator and joining gives the text again', () => {
    fc.assert(
      fc.property(
        text,
        fc.string({ minLength: 1 }),
        fc.bigInt(-1n, 4n),
        (value, separator, limit) => {
          assert.equal(join(separator, splits.split(value, separator, limit) ?? []), value)
          assert.equal(join(separator, splits.splitFromEnd(value, separator, limit) ?? []), value)
        },
      ),
    )
  })

  test('lines with their ends join to the text', () => {
    const lineUnit = fc.constantFrom('a', '🏺', '\n', '\r', '\f', '\x1c', '\u2028')
    fc.assert(
      fc.property(fc.string({ unit: lineUnit }), (value) => {
        assert.equal(splits.splitLines(value, true).join(''), value)
      }),
    )
  })
})

describe('the cap of a string', () => {
  test('is one mebibyte for everything that builds', () => {
    const long = 'x'.repeat(MAX_TEXT)
    assert.equal(join(long, ['a', 'b']), undefined)
    assert.equal(replace(long, 'x', 'xy'), undefined)
  })
})
