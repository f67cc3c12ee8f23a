import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { completeLength, findStringEnd, unescape } from '../../../src/platform/json-body/tokens.ts'

describe('run of a string', () => {
  for (const [piece, end] of [
    ['', 0],
    ['abc', 3],
    ['ab"c"', 2],
    [String.raw`a\"b"`, 4],
    [String.raw`a\\"b`, 3],
    [String.raw`\\\"\\"`, 6],
  ] as const) {
    test(`ends in ${piece} at ${end}`, () => {
      assert.equal(findStringEnd(piece), end)
    })
  }

  for (const [text, held] of [
    ['', ''],
    ['abc', ''],
    ['\\', '\\'],
    ['ab\\', '\\'],
    ['ab\\\\', ''],
    ['ab\\\\\\', '\\'],
    ['ab\\n', ''],
    ['ab\\u', '\\u'],
    ['ab\\u12', '\\u12'],
    ['ab\\u123', '\\u123'],
    ['ab\\u1234', ''],
    ['ab\\\\u123', ''],
    ['\\u12', '\\u12'],
    ['ab\\ud83d', '\\ud83d'],
    ['\\uD83D', '\\uD83D'],
    ['ab\\\\ud83d', ''],
    ['ab\\ud83d\\', '\\ud83d\\'],
    ['ab\\ud83d\\ude0', '\\ud83d\\ude0'],
    ['ab\\ud83d\\ude00', ''],
    ['ab\\ud83dx', ''],
  ] as const) {
    test(`holds back ${JSON.stringify(held)} of ${JSON.stringify(text)}`, () => {
      assert.equal(text.slice(completeLength(text)), held)
    })
  }

  test('is unescaped strictly', () => {
    assert.equal(unescape(String.raw`a\/\u0041\n`), 'a/A\n')
    for (const piece of ['\n', '\0', String.raw`\x`, String.raw`\u12g4`, '\\']) {
      assert.throws(() => unescape(piece), /control character or an unknown escape/)
    }
  })
})
