import type { Finding, FindingCounts } from './finding.ts'
import { flaggedReason, ruleTitle } from './version-transition.ts'
import type { ArchiveState } from './version.ts'

/** Facts about a version's archive, by which its status is decided. */
export interface VersionEvidence {
  archiveState: ArchiveState
  /** Why the archive was rejected. */
  archiveCode: string | null
  /** Undefined: no scan of these bytes has ended. */
  scan:
    | {
        complete: boolean
        counts: FindingCounts
        /** The first of high severity. */
        worst: Pick<Finding, 'message'> | null
      }
    | undefined
}

export type VersionVerdict =
  | { name: 'pass' }
  | { name: 'flag'; reason: string; scanIncomplete: boolean }

const SCAN_INCOMPLETE =
  'The archive could not be scanned to its end (scan_incomplete): make the pack smaller, or ask for a review'

const PUBLISH_AGAIN = 'mend it and publish the same version again: its number is free'

/**
 * Decides a version by its archive and its scan alone. A sound archive without a finding of high severity passes.
 * Undefined when there is nothing to decide on yet.
 */
export const decideVersion = ({
  archiveState,
  archiveCode,
  scan,
}: VersionEvidence): VersionVerdict | undefined => {
  if (archiveState !== 'accepted' && archiveState !== 'rejected') return undefined
  if (archiveState === 'rejected') {
    const why = scan?.worst ? `: ${ruleTitle(scan.worst.message)}` : ''
    return flag(`The archive was rejected (${archiveCode})${why}; ${PUBLISH_AGAIN}`, false)
  }
  if (scan?.worst && scan.counts.high > 0)
    return flag(flaggedReason(scan.counts.high, scan.worst), !scan.complete)
  if (!scan) return undefined
  return scan.complete ? { name: 'pass' } : flag(SCAN_INCOMPLETE, true)
}

const flag = (reason: string, scanIncomplete: boolean): VersionVerdict => ({
  name: 'flag',
  reason,
  scanIncomplete,
})
