import { compareVersionNumbers, isPrerelease } from './version-number.ts'
import type { VersionNumber } from './version-number.ts'
import type { VersionStatus } from './version.ts'

/** What the choice of a node's latest version looks at. */
export interface LatestCandidate extends VersionNumber {
  status: VersionStatus
  deprecated: boolean
}

/**
 * The latest of a node's versions: among the active ones not deprecated before deprecated, then stable before
 * pre-release, then the highest. Undefined when none is active. The database says the same as an `order by`.
 */
export const chooseLatest = <Candidate extends LatestCandidate>(
  candidates: readonly Candidate[],
): Candidate | undefined =>
  candidates
    .filter(({ status }) => status === 'NodeVersionStatusActive')
    .toSorted(
      (a, b) =>
        Number(a.deprecated) - Number(b.deprecated) ||
        Number(isPrerelease(a)) - Number(isPrerelease(b)) ||
        compareVersionNumbers(b, a),
    )[0]
