import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { chooseLatest } from '../../src/domain/registry/latest-version.ts'
import { parseVersionNumber } from '../../src/domain/registry/version-number.ts'
import type { VersionStatus } from '../../src/domain/registry/version.ts'

/** `1.0.0`, then marks: `d` deprecated, or the first letter of a status that is not Active. */
const candidate = (text: string) => {
  const [version = '', marks = ''] = text.split(' ')
  const number = parseVersionNumber(version)
  assert.ok(number, version)
  return { ...number, deprecated: marks.includes('d'), status: statusOf(marks) }
}

const statusOf = (marks: string): VersionStatus => {
  if (marks.includes('F')) return 'NodeVersionStatusFlagged'
  if (marks.includes('D')) return 'NodeVersionStatusDeleted'
  if (marks.includes('P')) return 'NodeVersionStatusPending'
  return marks.includes('B') ? 'NodeVersionStatusBanned' : 'NodeVersionStatusActive'
}

describe('the latest version', () => {
  const CASES: [what: string, versions: string[], latest: string | undefined][] = [
    ['is none without an active one', ['1.0.0 F', '2.0.0 D', '3.0.0 P', '4.0.0 B'], undefined],
    ['is none of none', [], undefined],
    ['is not the highest as text', ['1.9.0', '1.10.0', '1.2.0'], '1.10.0'],
    ['is not the one that came last', ['2.0.0', '1.9.9'], '2.0.0'],
    ['is not a deprecated one', ['2.0.0 d', '1.0.0'], '1.0.0'],
    ['is not a pre-release beside a release', ['2.0.0-rc.1', '1.0.0'], '1.0.0'],
    ['is a pre-release rather than deprecated', ['1.0.0 d', '0.1.0-a'], '0.1.0-a'],
    ['is the highest of pre-releases', ['1.0.0-beta.2', '1.0.0-beta.11'], '1.0.0-beta.11'],
    ['is a stable one when all are deprecated', ['2.0.0-a d', '1.0.0 d'], '1.0.0'],
    ['is not flagged', ['2.0.0 F', '1.0.0'], '1.0.0'],
    ['is not deleted', ['2.0.0 D', '1.0.0'], '1.0.0'],
  ]
  for (const [what, versions, latest] of CASES)
    test(what, () => assert.equal(chooseLatest(versions.map(candidate))?.canonical, latest))
})
