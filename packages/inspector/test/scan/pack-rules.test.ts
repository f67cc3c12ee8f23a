import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Files } from '../entries.ts'
import { EVASIONS, HARMLESS } from './pack-cases.ts'
import { scanFiles } from './support.ts'

const highRulesOf = (files: Files): string[] =>
  scanFiles(files)
    .findings.filter(({ severity }) => severity === 'high')
    .map(({ issue_type: rule }) => rule)

describe('a disguised pack gets the findings of its plain form', () => {
  for (const { rule, files } of EVASIONS)
    test(`${rule} in ${JSON.stringify(files)}`, () => {
      const rules = highRulesOf(files)
      assert.ok(rules.includes(rule), `found ${rules.join(', ') || 'nothing'}`)
    })
})

describe('a pack gets no high finding for what it merely imports', () => {
  for (const { files } of HARMLESS)
    test(JSON.stringify(files), () => assert.deepEqual(highRulesOf(files), []))
})
