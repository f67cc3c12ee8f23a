import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeLogLine } from '../../src/local/console.ts'

const cases: [string, string, string | undefined][] = [
  ['an everyday line', '{"level":30,"msg":"api ready"}', undefined],
  ['a warning', '{"level":40,"msg":"slow"}', 'api warning: slow'],
  [
    'an error with a cause',
    '{"level":50,"msg":"pass failed","err":{"message":"connect ECONNREFUSED"}}',
    'api error: pass failed: connect ECONNREFUSED',
  ],
  [
    'an error that repeats its cause',
    '{"level":60,"msg":"gone","err":{"message":"gone"}}',
    'api fatal: gone',
  ],
  ['what is no JSON', 'kiln: PORT is wrong', 'api: kiln: PORT is wrong'],
  ['half a line of JSON', '{"level":50', 'api: {"level":50'],
  ['an empty line', ' ', undefined],
]

for (const [what, line, shown] of cases)
  test(`the terminal shows of ${what} ${shown === undefined ? 'nothing' : JSON.stringify(shown)}`, () => {
    assert.equal(describeLogLine('api', line), shown)
  })
