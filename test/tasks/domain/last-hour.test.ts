import assert from 'node:assert/strict'
import { test } from 'node:test'

import { toRate } from '../../../src/tasks/domain/last-hour.ts'

test('a rate is of the whole hour, or of the span of the newest where there were too many', () => {
  assert.equal(toRate(30, { seconds: 120, isAll: true }), 0.5)
  assert.equal(toRate(10_000, { seconds: 600, isAll: false }), 1000)
  assert.equal(toRate(10_000, { seconds: 0.2, isAll: false }), 600_000)
  assert.equal(toRate(0, { seconds: 0, isAll: true }), 0)
})
