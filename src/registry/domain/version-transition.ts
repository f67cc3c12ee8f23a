import type { Finding } from './finding.ts'
import { REASON_MAX } from '../../platform/domain/schema-fields.ts'
import { isLonger } from '../../platform/domain/text-length.ts'
import type { ArchiveState, VersionStatus } from './version.ts'

interface Transition {
  /** Legal predecessors; none for the first status. */
  from: readonly VersionStatus[]
  to: VersionStatus
  /** The `status_reason` that it leaves unless the mover gives one. */
  reason: string
}

const ACTIVE = 'NodeVersionStatusActive'
const DELETED = 'NodeVersionStatusDeleted'
const BANNED = 'NodeVersionStatusBanned'
const PENDING = 'NodeVersionStatusPending'
const FLAGGED = 'NodeVersionStatusFlagged'

const CHECKS_RUNNING = 'archive received, checks are running'

/**
 * Every transition of a version; no other exists. A comment names what must hold beside the status; the statement that makes
 * the move checks it.
 */
export const VERSION_TRANSITIONS = {
  publish: { from: [], to: PENDING, reason: 'waiting for the archive' },
  // The archive is received.
  start_checks: { from: [PENDING], to: PENDING, reason: CHECKS_RUNNING },
  // After the last attempt; `checksFailedReason` says why.
  give_up_checks: {
    from: [PENDING],
    to: PENDING,
    reason: 'checks could not run; an operator can retry',
  },
  // The archive is accepted and nothing found is high.
  pass: { from: [PENDING], to: ACTIVE, reason: 'Passed automated checks' },
  // The archive is rejected, something found is high, or the scan is incomplete; the sentence is `flaggedReason`'s.
  flag: { from: [PENDING], to: FLAGGED, reason: 'Failed automated checks' },
  // The archive is still awaited.
  expire: { from: [PENDING], to: DELETED, reason: 'archive was not uploaded in time' },
  // Flagged only for an incomplete scan; Pending only after `give_up_checks`.
  retry: { from: [PENDING, FLAGGED], to: PENDING, reason: CHECKS_RUNNING },
  // Its number is published again: its archive is rejected, or awaited from somebody who may not publish any more.
  replace: {
    from: [PENDING, FLAGGED],
    to: DELETED,
    reason: 'replaced: its number was published again',
  },
  delete: { from: [PENDING, ACTIVE, FLAGGED], to: DELETED, reason: 'deleted by its publisher' },
  // Only with an accepted archive.
  admin_activate: {
    from: [PENDING, FLAGGED, BANNED],
    to: ACTIVE,
    reason: 'activated by an operator',
  },
  admin_flag: { from: [PENDING, ACTIVE, BANNED], to: FLAGGED, reason: 'flagged by an operator' },
  // What was withdrawn, too, so that its content does not go on under the next number: with an accepted archive.
  admin_ban: {
    from: [PENDING, ACTIVE, FLAGGED, DELETED],
    to: BANNED,
    reason: 'banned by an operator',
  },
  admin_delete: {
    from: [PENDING, ACTIVE, FLAGGED, BANNED],
    to: DELETED,
    reason: 'deleted by an operator',
  },
} as const satisfies Record<string, Transition>

export type VersionTransitionName = keyof typeof VERSION_TRANSITIONS

/** The move by which a platform admin sets a status; Pending is set by a retry only. */
export const ADMIN_VERSION_TRANSITIONS: Readonly<
  Partial<Record<VersionStatus, VersionTransitionName>>
> = {
  [ACTIVE]: 'admin_activate',
  [FLAGGED]: 'admin_flag',
  [BANNED]: 'admin_ban',
  [DELETED]: 'admin_delete',
}

/** The statuses that a platform admin can set in place of one; Active, or after Deleted, only with an accepted archive. */
export const listPossibleStatuses = (
  status: VersionStatus,
  archiveState: ArchiveState,
): VersionStatus[] =>
  Object.values(ADMIN_VERSION_TRANSITIONS)
    .map((name): Transition => VERSION_TRANSITIONS[name])
    .filter(
      ({ from, to }) =>
        from.includes(status) &&
        ((to !== ACTIVE && status !== DELETED) || archiveState === 'accepted'),
    )
    .map(({ to }) => to)

/** The reason of `give_up_checks`. */
export const checksFailedReason = (cause: string): string =>
  `checks could not run (${cause}); an operator can retry`

/**
 * The reason of `flag` when something found is high: how many, and the title of the worst. Everybody reads it; detail,
 * file and line are in the findings, for members.
 * @param worst the first of them by the order of the rules
 */
export const flaggedReason = (high: number, worst: Pick<Finding, 'message'>): string => {
  const many = high === 1 ? '1 finding flags' : `${high} findings flag`
  return cutTo(REASON_MAX, `${many} this version; the worst: ${ruleTitle(worst.message)}`)
}

/** The title of a rule, with which a finding's message begins: `Title (detail). Advice.` */
export const ruleTitle = (message: string): string => message.split(/ \(|\. |\.$/, 1)[0] ?? message

const cutTo = (max: number, text: string): string =>
  isLonger(text, max)
    ? `${Array.from(text)
        .slice(0, max - 1)
        .join('')}…`
    : text
