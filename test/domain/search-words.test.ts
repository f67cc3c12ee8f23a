import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { indexWords, searchWords } from '../../src/domain/registry/search-words.ts'

describe('the words of a text', () => {
  const CASES: [text: string, words: string[]][] = [
    ['', []],
    ['Image tools', ['image', 'tools']],
    [
      'KSampler-Advanced_v2',
      ['ksampler-advanced_v2', 'ksampler', 'advanced', 'v2', 'k', 'sampler'],
    ],
    ['XMLParser', ['xmlparser', 'xml', 'parser']],
    ['foo.bar/baz', ['foo.bar/baz', 'foo', 'bar', 'baz']],
    ['(beta), 100%', ['(beta),', '100%', 'beta', '100']],
    ['ÄpfelBirne 画像', ['äpfelbirne', '画像', 'äpfel', 'birne']],
    ['a'.repeat(300), ['a'.repeat(200)]],
  ]
  for (const [text, words] of CASES)
    test(`of ${JSON.stringify(text.slice(0, 30))}`, () =>
      assert.deepEqual(indexWords(text).toSorted(), words.toSorted()))
})

describe('the words of a search', () => {
  const CASES: [text: string, words: string[]][] = [
    ['', []],
    ['  Image  TOOLS image', ['image', 'tools']],
    ['KSampler', ['ksampler']],
    ['foo-bar', ['foo', 'bar']],
    ['100%', ['100%']],
    ['_', ['_']],
    ['\\ %', ['\\', '%']],
    ["it's", ["it's"]],
  ]
  for (const [text, words] of CASES)
    test(`of ${JSON.stringify(text)}`, () => assert.deepEqual(searchWords(text), words))

  test('begin a word of the text they were taken from', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const words = indexWords(text)
        for (const wanted of searchWords(text))
          assert.ok(
            words.some((word) => word.startsWith(wanted)),
            wanted,
          )
      }),
      { numRuns: 500 },
    )
  })
})
