import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeSource, findUnknownEncoding } from '../../src/python/source-text.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const CASES: [title: string, source: Uint8Array, text: string][] = [
  ['UTF-8', bytes('x = "é😀"\n'), 'x = "é😀"\n'],
  ['a byte order mark', bytes('\ufeffx = 1\n'), 'x = 1\n'],
  ['an empty file', bytes(''), ''],
  ['CRLF and CR as LF', bytes('a\r\nb\rc\n\r\n'), 'a\nb\nc\n\n'],
  ['form feeds as they are', bytes('a\n\fb\n'), 'a\n\fb\n'],
  ['wrong bytes as U+FFFD', latin1('x = "é"\n'), 'x = "\ufffd"\n'],
  ['a Latin-1 cookie', latin1('# coding: latin-1\n"é"'), '# coding: latin-1\n"é"'],
  [
    'a cookie in the second line',
    latin1('#!/usr/bin/python\n# -*- coding: ISO_8859_1 -*-\n"é"'),
    '#!/usr/bin/python\n# -*- coding: ISO_8859_1 -*-\n"é"',
  ],
  [
    'no cookie in the third line',
    latin1('#\n#\n# coding: latin-1\n"é"'),
    '#\n#\n# coding: latin-1\n"\ufffd"',
  ],
  [
    'no cookie after code',
    latin1('x = 1\n# coding: latin-1\n"é"'),
    'x = 1\n# coding: latin-1\n"\ufffd"',
  ],
  ['Windows-1252', latin1('# coding=cp1252\n"\x80\x93\x9f\xe9"'), '# coding=cp1252\n"€“Ÿé"'],
  [
    'a cookie of UTF-8',
    bytes('# vim: set fileencoding=utf-8 :\n"é"'),
    '# vim: set fileencoding=utf-8 :\n"é"',
  ],
  ['UTF-8 for an unknown encoding', bytes('# coding: rot13\n"é"'), '# coding: rot13\n"é"'],
  ['other encodings of the platform', latin1('# coding: koi8-r\n"\xc1"'), '# coding: koi8-r\n"а"'],
]

describe('the text of a source file', () => {
  for (const [title, source, text] of CASES) {
    test(`reads ${title}`, () => assert.equal(decodeSource(source), text))
  }

  test('reads a part of a larger buffer', () => {
    const whole = latin1('xx# coding: latin-1\n"é"yy')
    assert.equal(decodeSource(whole.subarray(2, whole.length - 2)), '# coding: latin-1\n"é"')
  })

  test('names the encoding under which Python would run other code', () => {
    assert.equal(findUnknownEncoding(bytes('# coding: utf-7\n')), 'utf-7')
    assert.equal(findUnknownEncoding(bytes('#\n# coding: unicode_escape\n')), 'unicode_escape')
    assert.equal(findUnknownEncoding(bytes('# coding: utf-16\n')), 'utf-16')
    assert.equal(findUnknownEncoding(bytes('# coding: UTF8\n')), undefined)
    assert.equal(findUnknownEncoding(bytes('x = 1\n')), undefined)
  })
})
