import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { CASES } from './code-cases.ts'
import { rulesOf } from './support.ts'

/** Minified sources are thousands of characters. */
const titleOf = (source: string): string => source.slice(0, 120)

for (const { rule, hits, passes } of CASES)
  describe(rule, () => {
    for (const source of hits)
      test(`it is found in ${titleOf(source)}`, () => {
        assert.ok(
          rulesOf(source).includes(rule),
          `found ${rulesOf(source).join(', ') || 'nothing'}`,
        )
      })
    for (const source of passes)
      test(`it is not found in ${titleOf(source)}`, () => {
        assert.ok(!rulesOf(source).includes(rule), 'found')
      })
  })
