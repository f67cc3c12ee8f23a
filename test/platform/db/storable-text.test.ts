import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'

import { parseStorable } from '../../../src/platform/db/storable-text.ts'

test('JSON of another service has no NUL and no half of a character, in names and lists neither', () => {
  deepEqual(
    parseStorable(
      '{"a\\u0000":["b\\uD800c",{"d":"\\udc00"}],"e":"\\ud83d\\ude00 \\\\u0000","f":null}',
    ),
    { 'a\u{fffd}': ['b\u{fffd}c', { d: '\u{fffd}' }], e: '😀 \\u0000', f: null },
  )
})

test('JSON of another service that is no object is none', () => {
  for (const text of ['[]', '"a"', '{']) equal(parseStorable(text), undefined)
})
