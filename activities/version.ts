import { expireVersion, findArchivePlace } from '../src/db/registry/archive.ts'
import type { ArchivePlace } from '../src/db/registry/archive.ts'
import type { Transaction } from '../src/db/client.ts'
import { findVersionState } from '../src/db/registry/open-version.ts'
import type { VersionState } from '../src/db/registry/open-version.ts'
import { lockNodeOfVersion } from '../src/db/registry/registry-lock.ts'
import { findScan } from '../src/db/registry/scan.ts'
import { giveUpChecks } from '../src/db/registry/version-checks.ts'
import { transitionVersion } from '../src/db/registry/version-transition.ts'
import { decideVersion } from '../src/domain/registry/version-verdict.ts'
import { VERSION_TRANSITIONS } from '../src/domain/registry/version-transition.ts'
import type { VersionStatus } from '../src/domain/registry/version.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { CoreDependencies } from './dependencies.ts'
import { cleanUpUploads } from './clean-up-uploads.ts'

/** State of a version and its upload. */
export interface ArchiveWait {
  status: VersionStatus
  /** There is an archive to check, or one that has been checked. */
  hasArchive: boolean
  /** Milliseconds until the upload must have ended; 0: nothing is waited for. */
  waitMs: number
}

interface DecidedVersion {
  status: VersionStatus
  /** For operators: what has become of the archive. */
  result: string
}

/** The transitions of a version around its checks. Run twice, the second finds the version moved and changes nothing. */
export const makeVersionTransitions = (deps: CoreDependencies) => ({
  /** Looks whether the archive has arrived; ends the version when its time is over. */
  async finishUpload(versionId: string): Promise<ArchiveWait> {
    const place = await findArchivePlace(deps.sql, versionId)
    if (!place || !isOverdue(place)) return await toWait(deps, versionId, place)
    await unitOfWork(deps, (sql) => expireVersion(sql, versionId), { at: 'move', of: versionId })
    // An upload or a move may have come first, and then it was not ended.
    return await toWait(deps, versionId, await findArchivePlace(deps.sql, versionId))
  },

  /** Says that the checks run. */
  async startChecks(versionId: string): Promise<void> {
    await unitOfWork(
      deps,
      async (sql) => {
        const version = await lockState(sql, versionId)
        if (!isPending(version) || version.reason === VERSION_TRANSITIONS.start_checks.reason)
          return
        await transitionVersion(sql, { id: versionId, name: 'start_checks', actor: 'workflow' })
      },
      { at: 'move', of: versionId },
    )
  },

  /** Decides by what the checks have left in the rows. A version that somebody else has moved meanwhile stays there. */
  async decideVersion(versionId: string): Promise<DecidedVersion> {
    const decided = await unitOfWork(
      deps,
      async (sql) => {
        const version = await lockState(sql, versionId)
        if (isPending(version)) await decide(sql, versionId, version)
        return await findVersionState(sql, versionId)
      },
      { at: 'move', of: versionId },
    )
    await cleanUpUploads(deps, versionId)
    if (!decided) return { status: 'NodeVersionStatusDeleted', result: 'the version is gone' }
    const { status, archiveState, archiveCode } = decided
    return { status, result: `archive ${archiveState}${archiveCode ? `: ${archiveCode}` : ''}` }
  },

  /** Says why the checks could not run, by a code. Returns the version's status: Pending, unless it was changed. */
  async giveUpChecks(versionId: string, code: string): Promise<VersionStatus> {
    return await unitOfWork(deps, (sql) => giveUpChecks(sql, { id: versionId, code }), {
      at: 'move',
      of: versionId,
    })
  },
})

const isOverdue = ({ archiveState, secondsLeft }: ArchivePlace): boolean =>
  archiveState === 'awaiting' && secondsLeft <= 0

const toWait = async (
  deps: CoreDependencies,
  versionId: string,
  place: ArchivePlace | undefined,
): Promise<ArchiveWait> => {
  if (!place || place.status === 'NodeVersionStatusDeleted') {
    await cleanUpUploads(deps, versionId)
    return { status: 'NodeVersionStatusDeleted', hasArchive: false, waitMs: 0 }
  }
  const { status, archiveState, secondsLeft } = place
  if (archiveState !== 'awaiting') return { status, hasArchive: true, waitMs: 0 }
  return { status, hasArchive: false, waitMs: Math.max(0, Math.ceil(secondsLeft * 1000)) }
}

const isPending = (version: VersionState | undefined): version is VersionState =>
  version?.status === 'NodeVersionStatusPending'

/** The node's row is the lock of its versions' moves. */
const lockState = async (
  sql: Transaction,
  versionId: string,
): Promise<VersionState | undefined> => {
  await lockNodeOfVersion(sql, versionId)
  return await findVersionState(sql, versionId)
}

const decide = async (
  sql: Transaction,
  id: string,
  { archiveState, archiveCode }: VersionState,
): Promise<void> => {
  const scan = await findScan(sql, id)
  const verdict = decideVersion({ archiveState, archiveCode, scan })
  if (verdict) await transitionVersion(sql, { id, ...verdict, actor: 'workflow' })
}
