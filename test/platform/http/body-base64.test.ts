import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import * as fc from 'fast-check'

import { makeBase64Decoder } from '../../../src/platform/json-body/base64.ts'

/** The decoded bytes, or the reason of the rejection. */
const decode = (pieces: readonly string[]): Buffer | string => {
  const decoder = makeBase64Decoder()
  const target = Buffer.alloc(pieces.join('').length + 8)
  let filled = 0
  for (const piece of pieces) {
    const result = decoder.write(piece, target, filled)
    if (typeof result !== 'number') return `${result.at}: ${result.reason}`
    filled += result
  }
  const result = decoder.end(target, filled)
  if (typeof result !== 'number') return `${result.at}: ${result.reason}`
  return target.subarray(0, filled + result)
}

const cutText = (text: string, places: readonly number[]): string[] => {
  const ends = places
    .map((place) => place % (text.length + 1))
    .toSorted((left, right) => left - right)
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

describe('Base64 decoder', () => {
  for (const [text, bytes] of [
    ['', ''],
    ['QQ==', 'A'],
    ['QQ', 'A'],
    ['QUI=', 'AB'],
    ['QUI', 'AB'],
    ['QUJD', 'ABC'],
    [' Q U\r\nJD\t', 'ABC'],
    ['QQ\n=\n=\n', 'A'],
    ['Pz8/', '???'],
    ['Pz8_', '???'],
    ['Pj4-Pj4+', '>>>>>>'],
  ] as const) {
    test(`reads ${JSON.stringify(text)}`, () => {
      assert.equal(String(decode([text])), bytes)
    })
  }

  for (const [text, reason] of [
    ['Q', /^1: the length/],
    ['QUJDR', /^5: the length/],
    ['QQ=', /padding/],
    ['QQ===', /padding/],
    ['QUI==', /padding/],
    ['QUJD=', /padding/],
    ['QUJD====', /padding/],
    ['====', /padding/],
    ['QQ==QQ==', /^4: "Q" may not/],
    ['QU!D', /^2: "!"/],
    ['QUJD QU JDQ!JD', /^11: "!"/],
    ['Q\u0141JD', /^1: "Ł"/],
    ['QUJDQ\u0141', /^5: "Ł"/],
    ['QUJD\u{1f600}', /^4: "😀"/],
    ['QU%2B', /^2: "%"/],
  ] as const) {
    test(`rejects ${JSON.stringify(text)}`, () => {
      assert.match(String(decode([text])), reason)
    })
  }

  test('gives the bytes that were encoded, in any spelling and cut anywhere', () => {
    const spelling = fc.record({
      bytes: fc.uint8Array({ maxLength: 200 }),
      urlSafe: fc.boolean(),
      lineLength: fc.integer({ min: 1, max: 80 }),
      places: fc.array(fc.nat(400), { maxLength: 8 }),
    })
    fc.assert(
      fc.property(spelling, ({ bytes, urlSafe, lineLength, places }) => {
        const plain = Buffer.from(bytes).toString(urlSafe ? 'base64url' : 'base64')
        const text = plain.replaceAll(new RegExp(`.{${lineLength}}`, 'g'), '$&\r\n')
        assert.deepEqual(decode(cutText(text, places)), Buffer.from(bytes))
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test('has one verdict about a text, however it is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'Ab+/-_= \n!Ł'), maxLength: 40 })
    fc.assert(
      fc.property(letters, fc.array(fc.nat(40), { maxLength: 6 }), (text, places) => {
        const valid = /^([\w+/-]{4})*([\w+/-]{2}(==)?|[\w+/-]{3}=?)?$/.test(
          text.replaceAll(/\s/g, ''),
        )
        const whole = decode([text])
        assert.equal(typeof whole !== 'string', valid, text)
        assert.deepEqual(decode(cutText(text, places)), whole)
      }),
      { seed: 2, numRuns: 2000 },
    )
  })
})
