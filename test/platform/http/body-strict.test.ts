import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeOptions, makeScratch, isEmpty, read, rejectedWith } from './body-support.ts'

const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`

const REJECTED: [title: string, body: string | Buffer, code: string, message?: RegExp][] = [
  ['an open object', '{', 'json_invalid', /ends before/],
  ['a string without end', '{"a":{"b":"x', 'json_invalid', /ends before.*\/a\/b/],
  ['a number without end', '{"a":1', 'json_invalid', /ends before/],
  ['a comma before the end', '{"a":1,}', 'json_invalid', / at line 1, column 8:/],
  ['a comma in a further line', '{\n  "a": "é",\n  }', 'json_invalid', / at line 3, column 3:/],
  ['a comma before the end of an array', '{"a":[1,]}', 'json_invalid'],
  ['a missing colon', '{"a" 1}', 'json_invalid', /expected ':'/],
  ['NaN', '{"a":NaN}', 'json_invalid'],
  ['Infinity', '{"a":Infinity}', 'json_invalid'],
  ['a literal in capitals', '{"a":True}', 'json_invalid'],
  ['a leading zero', '{"a":01}', 'json_invalid'],
  ['a plus sign', '{"a":+1}', 'json_invalid'],
  ['a bare fraction', '{"a":.5}', 'json_invalid'],
  ['an empty fraction', '{"a":1.}', 'json_invalid'],
  ['an empty exponent', '{"a":1e}', 'json_invalid'],
  ['a number beyond doubles', '{"a":1e400}', 'json_invalid', /1e400.*\/a/],
  ['a number of 1,001 digits', `{"a":0.${'1'.repeat(999)}}`, 'json_invalid', /1000 characters/],
  ['a raw newline in a string', '{"a":"x\ny"}', 'json_invalid', /control character/],
  [
    'a raw newline late in a string',
    `{"a":"${'x'.repeat(40_000)}\ny"}`,
    'json_invalid',
    /JSON \(after "\/a"\)/,
  ],
  ['a raw NUL in a string', '{"a":"x\0y"}', 'json_invalid'],
  ['an unknown escape', String.raw`{"a":"\x41"}`, 'json_invalid', /escape/],
  ['a cut escape', String.raw`{"a":"\u12"}`, 'json_invalid', /escape/],
  ['single quotes', "{'a':1}", 'json_invalid'],
  ['a comment', '{/* */}', 'json_invalid'],
  ['something behind the object', '{"a":1}x', 'json_invalid', / at line 1, column 8[ :]/],
  ['a second object', '{}{}', 'json_invalid'],
  ['a blank of Unicode', '{\u00a0}', 'json_invalid'],
  ['a byte order mark', '\ufeff{}', 'json_invalid'],
  ['a byte that is not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), 'json_invalid', /UTF-8/],
  ['an overlong sequence', Buffer.from('7b2261223a22c0af227d', 'hex'), 'json_invalid', /UTF-8/],
  ['an encoded surrogate', Buffer.from('7b2261223a22eda080227d', 'hex'), 'json_invalid', /UTF-8/],
  ['a sequence cut by the end', Buffer.from('7b2261223a22e282', 'hex'), 'json_invalid', /UTF-8/],
  ['a lone high surrogate', String.raw`{"a":"\ud800"}`, 'json_invalid', /\\ud800.*\/a/],
  ['a lone low surrogate', String.raw`{"a":"x\udc00x"}`, 'json_invalid'],
  ['a reversed pair', String.raw`{"a":"\udc00\ud800"}`, 'json_invalid'],
  ['a lone surrogate in a key', String.raw`{"\ud800":1}`, 'json_invalid'],
  ['a lone surrogate in an image', String.raw`{"image":"\ud800"}`, 'json_invalid'],
  ['NUL', String.raw`{"a":"\u0000"}`, 'json_invalid', /\\u0000/],
  ['a repeated key', '{"a":1,"a":1}', 'json_invalid', /"a" is repeated/],
  ['a repeated key by escape', String.raw`{"a":1,"\u0061":1}`, 'json_invalid', /repeated/],
  ['a repeated key further in', '{"b":[{"a":1,"a":1}]}', 'json_invalid', /\/b\/0/],
  ['the key __proto__', '{"a":{"__proto__":{}}}', 'json_invalid', /__proto__/],
  ['the key __proto__ by escape', String.raw`{"__pr\u006fto__":{}}`, 'json_invalid'],
  ['a key of 257 characters', `{"${'😀'.repeat(257)}":1}`, 'json_invalid', /256 characters/],
  ['101 members', `{"a":[${'1,'.repeat(99)}1]}`, 'json_invalid', /100 members/],
  ['an array', '[]', 'json_invalid', /not \[\]/],
  ['a string', '"x"', 'json_invalid'],
  ['a number', '5', 'json_invalid', /not 5/],
  ['null', 'null', 'json_invalid', /not null/],
  ['a depth of 65', nested(65), 'json_too_deep'],
  ['a depth of 65 in arrays', `{"a":${'['.repeat(64)}`, 'json_too_deep'],
  ['a million brackets', '['.repeat(1_000_000), 'json_too_deep'],
  ['nothing', '', 'body_required'],
  ['blanks only', ' \n ', 'body_required'],
]

const ACCEPTED: [title: string, body: string][] = [
  ['an empty object', '{}'],
  ['all kinds of values', '{"a":[1,-0.5e+3,"x",true,false,null,{},[]],"":{"b":0}}'],
  ['blanks everywhere', ' \t\r\n{ "a" : [ 1 , 2 ] , "b" : { } } \n'],
  ['all escapes', String.raw`{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`],
  ['text beyond ASCII', '{"é":"€😀\u2028\u007f"}'],
  ['a depth of 64', nested(64)],
  ['a key of 256 characters', `{"${'😀'.repeat(256)}":1}`],
  ['100 members', `{"a":[${'1,'.repeat(98)}1]}`],
  ['keys with a meaning in JavaScript', '{"constructor":1,"toString":2,"hasOwnProperty":3,"7":4}'],
  ['the largest double', '{"a":1.7976931348623157e308,"b":5e-324}'],
  ['an escaped pair that spans two slices', `{"a":"${'x'.repeat(16_376)}\\ud83d\\ude00"}`],
  ['a pair in UTF-8 that spans two slices', `{"a":"${'x'.repeat(16_376)}😀"}`],
]

describe('strict reading', () => {
  for (const [title, body, code, message] of REJECTED) {
    test(`rejects ${title}`, async (t) => {
      const scratch = await makeScratch(t)
      const options = makeOptions(scratch, { maxMembers: 100, maxBytes: 2_000_000 })
      await assert.rejects(read(body, options), rejectedWith(code, message))
      assert.ok(await isEmpty(scratch))
    })
  }

  for (const [title, body] of ACCEPTED) {
    test(`takes ${title}`, async (t) => {
      const options = makeOptions(await makeScratch(t), { maxMembers: 100 })
      assert.deepEqual((await read(body, options)).value, JSON.parse(body))
    })
  }

  test('counts members of the whole body, not of each object', async (t) => {
    const options = makeOptions(await makeScratch(t), { maxMembers: 5 })
    await read('{"a":[1,2],"b":{"c":1}}', options)
    await assert.rejects(
      read('{"a":[1,2],"b":{"c":1},"d":1}', options),
      rejectedWith('json_invalid'),
    )
  })
})
