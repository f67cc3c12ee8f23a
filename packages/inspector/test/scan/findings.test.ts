import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { scanFiles, secret } from './support.ts'

const HIGH = 'import base64\nexec(base64.b64decode(B))\n'
const MEDIUM = 'eval(text)\n'

const severitiesOf = (
  files: Record<string, string>,
  reached: string[] = [],
): (string | undefined)[][] =>
  scanFiles(files, { reached: new Set(reached) }).findings.map(({ file_path: path, severity }) => [
    path,
    severity,
  ])

describe('findings', () => {
  test('a finding names rule, file, line and source, what was found and what to do', () => {
    const [finding] = scanFiles({ '__init__.py': '', 'nodes/a.py': `# x\n${HIGH}` }).findings
    assert.deepEqual(finding, {
      issue_type: 'exec-decoded',
      severity: 'high',
      file_path: 'nodes/a.py',
      line_number: 3,
      code_snippet: 'exec(base64.b64decode(B))',
      message: 'Code that an encoding hides is run (exec). Ship the code as readable Python.',
    })
  })

  test('the path is that in the archive, the wrapping folder included', () => {
    assert.deepEqual(severitiesOf({ 'w/__init__.py': '', 'w/a.py': HIGH }), [['w/a.py', 'high']])
  })

  test('the snippet is one line of at most 200 characters without secrets', () => {
    const token = secret('hf', '_QzWxEcRvTbYnUmIkOlPaSdFgHjKlZxCvBn')
    const source = `    eval("${token}" + x + "${'y'.repeat(400)}")\n`
    const { findings } = scanFiles({ '__init__.py': `if x:\n${source}` })
    assert.ok(findings.length === 2, 'dynamic-code and live-secret')
    for (const { code_snippet: snippet = '', message } of findings) {
      assert.ok(snippet.startsWith('eval("hf_Q…" + x'), snippet)
      assert.equal([...snippet].length, 200)
      assert.ok(!snippet.includes(token.slice(4)) && !message.includes(token), 'the token is cut')
    }
  })

  test('NUL and lone surrogates do not reach a finding', () => {
    const { findings } = scanFiles({ '__init__.py': 'eval("\u0000\u0007 \ud800 x")\n' })
    const text = JSON.stringify(findings)
    // oxlint-disable-next-line no-control-regex
    assert.ok(!/\\u0000|\\u0007|\\ud800/.test(text), text)
  })

  test('the gravest come first, then by rule, path and line, in any order of the archive', () => {
    const files = {
      'b.py': `${MEDIUM}${HIGH}`,
      '__init__.py': MEDIUM,
      'a.py': `${HIGH}import torch\ntorch.load(p)\n`,
    }
    const order = scanFiles(files).findings.map(
      ({ issue_type: rule, file_path: path }) => `${rule} ${path}`,
    )
    assert.deepEqual(order, [
      'exec-decoded a.py',
      'exec-decoded b.py',
      'dynamic-code __init__.py',
      'dynamic-code b.py',
      'unsafe-load a.py',
    ])
    assert.deepEqual(
      scanFiles(Object.fromEntries(Object.entries(files).toReversed())),
      scanFiles(files),
    )
  })

  test('at most 20 of one rule are listed for one file; all are counted', () => {
    const { findings, counts } = scanFiles({ '__init__.py': MEDIUM.repeat(25) })
    assert.equal(findings.length, 21)
    assert.deepEqual(counts, { high: 0, medium: 25, info: 0 })
    assert.deepEqual(findings.at(-1), {
      issue_type: 'overflow',
      severity: 'info',
      message: '5 more findings are not listed. Mend those listed and publish again.',
    })
  })

  test('at most 500 are listed in all, the gravest of them', () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`m${at}.py`, MEDIUM.repeat(18)]),
    )
    const { findings, counts } = scanFiles({ '__init__.py': '', 'z.py': HIGH, ...files })
    assert.equal(findings.length, 500)
    assert.equal(findings[0]?.issue_type, 'exec-decoded')
    assert.match(findings.at(-1)?.message ?? '', /^222 more/)
    assert.deepEqual(counts, { high: 1, medium: 720, info: 0 })
  })

  test('tags name the rules of medium severity, each once', () => {
    const { tags } = scanFiles({
      '__init__.py': `${HIGH}${MEDIUM}${MEDIUM}import os\nos.system(c)\n`,
    })
    assert.deepEqual(tags, ['security:dynamic-code', 'security:shell'])
  })
})

describe('tiers', () => {
  test('tests, documentation and examples are one tier lower, and medium is not listed there', () => {
    const places = [
      'tests/a.py',
      'test/a.py',
      'x/Docs/a.py',
      'example/a.py',
      'x/test_a.py',
      'conftest.py',
    ]
    for (const path of places) {
      assert.deepEqual(severitiesOf({ '__init__.py': '', [path]: HIGH }), [[path, 'medium']])
      assert.deepEqual(severitiesOf({ '__init__.py': '', [path]: MEDIUM }), [])
    }
  })

  test('other places are not', () => {
    for (const path of ['testing/a.py', 'a_test.py', 'latest/a.py', 'examples.py', 'contest.py'])
      assert.deepEqual(severitiesOf({ '__init__.py': '', [path]: HIGH }), [[path, 'high']])
  })

  test('a wrapping folder of that name lowers nothing', () => {
    assert.deepEqual(severitiesOf({ 'tests/__init__.py': '', 'tests/a.py': HIGH }), [
      ['tests/a.py', 'high'],
    ])
  })

  test('files that __init__.py reaches keep their tier', () => {
    assert.deepEqual(severitiesOf({ '__init__.py': '', 'tests/a.py': HIGH }, ['tests/a.py']), [
      ['tests/a.py', 'high'],
    ])
  })

  test('files that install.py or prestartup_script.py reaches keep their tier', () => {
    const files = {
      'w/__init__.py': '',
      'w/install.py': 'from tests import a\nimport docs.b\n',
      'w/prestartup_script.py': 'from .examples.c import x\n',
      'w/tests/a.py': 'from .deep import y\n',
      'w/tests/deep.py': HIGH,
      'w/docs/b.py': HIGH,
      'w/examples/c.py': HIGH,
      'w/examples/d.py': HIGH,
    }
    assert.deepEqual(severitiesOf(files), [
      ['w/docs/b.py', 'high'],
      ['w/examples/c.py', 'high'],
      ['w/tests/deep.py', 'high'],
      ['w/examples/d.py', 'medium'],
    ])
  })
})
