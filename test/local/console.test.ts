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
    'an error of templates',
    '{"level":50,"msg":"templates cannot be used","issues":["upscale.json: node 2: no","relight.json: no"]}',
    'api error: templates cannot be used: upscale.json: node 2: no: relight.json: no',
  ],
  [
    'a file that its issues do not name',
    '{"level":50,"msg":"cannot be used","file":"custom/a.json","issues":["node 3: no"]}',
    'api error: cannot be used: custom/a.json: node 3: no',
  ],
  [
    'a file that its issues name',
    '{"level":50,"msg":"cannot be used","file":"a.json","issues":["a.json: node 3: no"]}',
    'api error: cannot be used: a.json: node 3: no',
  ],
  [
    'an instance without a result',
    '{"level":40,"msg":"no result","instance":"gpu1","template":"upscale","detail":"node 4: no"}',
    'api warning: no result: gpu1, upscale: node 4: no',
  ],
  [
    'an instance that does not respond, by its address',
    '{"level":40,"msg":"it is silent","instance":"gpu1","address":"http://a","detail":"no way"}',
    'api warning: it is silent: gpu1, http://a: no way',
  ],
  [
    'an item of a setting that cannot be used',
    '{"level":50,"msg":"cannot be used","item":"file:/list","issue":"ENOENT"}',
    'api error: cannot be used: file:/list: ENOENT',
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
