import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { decideVersion } from '../../../src/registry/domain/version-verdict.ts'
import type { VersionEvidence } from '../../../src/registry/domain/version-verdict.ts'

const clean = { complete: true, counts: { high: 0, medium: 3, info: 9 }, worst: null }
const bad = {
  complete: true,
  counts: { high: 2, medium: 0, info: 0 },
  worst: { message: 'Decoded bytes are executed (b64decode in a.py). Ship the code.' },
}
const validate = (evidence: Partial<VersionEvidence>) =>
  decideVersion({ archiveState: 'accepted', archiveCode: null, scan: clean, ...evidence })

describe('the verdict on a version', () => {
  test('passes what is sound, however many findings of medium severity there are', () => {
    assert.deepEqual(validate({}), { name: 'pass' })
  })

  test('flags a finding of high severity with how many and the title of the worst', () => {
    assert.deepEqual(validate({ scan: bad }), {
      name: 'flag',
      reason: '2 findings flag this version; the worst: Decoded bytes are executed',
      scanIncomplete: false,
    })
  })

  test('flags what could not be scanned to its end, for an operator to retry', () => {
    const verdict = validate({ scan: { ...clean, complete: false } })
    assert.equal(verdict?.name, 'flag')
    assert.equal(verdict.scanIncomplete, true)
    assert.match(verdict.reason, /scan_incomplete/)
  })

  test('flags a rejected archive, by its code when nothing else is known', () => {
    const rejected = { archiveState: 'rejected', archiveCode: 'symlink', scan: undefined } as const
    const reason =
      'The archive was rejected (symlink); mend it and publish the same version again: its number is free'
    assert.deepEqual(validate(rejected), { name: 'flag', reason, scanIncomplete: false })
  })

  test('decides nothing before archive and scan are there', () => {
    for (const archiveState of ['received', 'awaiting'] as const)
      assert.equal(validate({ archiveState }), undefined)
    assert.equal(validate({ scan: undefined }), undefined)
  })
})
