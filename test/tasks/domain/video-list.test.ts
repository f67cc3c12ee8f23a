import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { parseListTime } from '../../../src/platform/domain/time-bounds.ts'

describe('the time of a list’s filter', () => {
  const TIMES: [string, string][] = [
    ['2026-01-01T12:00:00Z', '2026-01-01T12:00:00.000Z'],
    ['2026-01-01t12:00:00.5+02:00', '2026-01-01T10:00:00.500Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
    ['2016-12-31T23:59:60.25+00:00', '2016-12-31T23:59:59.250Z'],
    ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59-14:00', '9999-01-01T00:00:00.000Z'],
  ]
  for (const [text, instant] of TIMES)
    test(`${text} is ${instant}`, () => assert.equal(parseListTime(text).toISOString(), instant))
})
