import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { cleanReason } from '../../../src/engines/domain/engine-reason.ts'

const PROMPT = 'A quiet harbour at dawn,\n seen from the old lighthouse'
const GIVEN = { prompt: PROMPT, scale_factor: '2x', more: [{ negative: 'fog' }] }
const STACK = '\nTraceback (most recent call last):\n  File "/app/x.py", line 3'

const CLEANED: [what: string, text: string, cleaned: string][] = [
  [
    'a sentence',
    'node 7 KSampler: RuntimeError: no kernel',
    'node 7 KSampler: RuntimeError: no kernel',
  ],
  ['a shape', 'expected shape (1, 3, 512, 512)', 'expected shape (1, 3, 512, 512)'],
  ['a pointer of one step', '/scale_factor must be a number', '/scale_factor must be a number'],
  ['a prompt', `cannot encode ${PROMPT}.`, 'cannot encode (text).'],
  ['a part of a prompt', 'near "SEEN FROM THE OLD…"', 'near "(text)…"'],
  ['a short text', 'no fog here', 'no (text) here'],
  ['a stack of Python', `broken${STACK}`, 'broken'],
  ['a stack of Node', 'broken\n    at run (file:///app/x.js:3:1)', 'broken'],
  ['lines', 'one\n\ttwo\u0000', 'one two'],
  ['a picture', 'bad data:image/png;base64,AAAA in body', 'bad (data) in body'],
  ['long Base64', `bad ${'iVBORw0KGgo'.repeat(8)}==`, 'bad (data)'],
  ['pixels', `tensor([0.1, 0.25, ${'0.5, '.repeat(8)}0.7])`, 'tensor([(numbers)])'],
  ['an address', 'no https://user:pw@models.internal/x?key=1 here', 'no (address) here'],
  ['an address by number', 'connect ECONNREFUSED 10.0.0.5:8188', 'connect ECONNREFUSED (address)'],
  ['a bearer token', 'sent Bearer abc.def', 'sent (secret)'],
  ['a key', 'HF_TOKEN=hf_abc api_key: "x"', 'HF_TOKEN=(secret) api_key: (secret)'],
  ['a folder', 'cannot write /home/alice/out', 'cannot write (path)'],
  ['a file', 'no /srv/models/a-b.safetensors', 'no (path)/a-b.safetensors'],
  [
    'a quoted file',
    "[Errno 2] No such file: '/home/Jane Doe/a.bin'",
    '[Errno 2] No such file: (path)/a.bin',
  ],
  ['a file of Windows', 'no C:\\Users\\jane\\a.bin', 'no (path)/a.bin'],
]

describe('the error of an engine', () => {
  for (const [what, text, cleaned] of CLEANED)
    test(`keeps what helps of ${what}`, () => assert.equal(cleanReason(text, GIVEN), cleaned))

  test('has 300 characters at most, and no half of one', () => {
    const text = 'no '.repeat(100).slice(0, 299)
    assert.equal(cleanReason(`${text}😀`, {}), text)
  })

  test('is cleaned at once whatever was written', () => {
    const given = { prompt: 'ab'.repeat(5000), other: ' '.repeat(10_000) }
    assert.equal(cleanReason(`${'ab'.repeat(500)}/${' '.repeat(1000)}`, given), '(text)/')
  })
})
