import { expireVersion, findArchivePlace } from '../../src/registry/db/archive.ts'
import type { ArchivePlace } from '../../src/registry/db/archive.ts'
import type { Transaction } from '../../src/platform/db/client.ts'
import { putContentFindings } from '../../src/registry/db/content.ts'
import { failExtraction, finishExtraction } from '../../src/registry/db/extraction.ts'
import { lockNodeOfVersion } from '../../src/registry/db/registry-lock.ts'
import { findScan } from '../../src/registry/db/scan.ts'
import {
  findVersionState,
  giveUpChecks,
  transitionVersion,
} from '../../src/registry/db/version-transition.ts'
import type { VersionState } from '../../src/registry/db/version-transition.ts'
import { decideVersion } from '../../src/registry/domain/version-verdict.ts'
import { VERSION_TRANSITIONS } from '../../src/registry/domain/version-transition.ts'
import type { ExtractStatus, VersionStatus } from '../../src/registry/domain/version.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'
import type { CoreDependencies } from '../tasks/dependencies.ts'

/** State of a version and its upload. */
export interface ArchiveWait {
  status: VersionStatus
  /** There is an archive to check, or one that has been checked. */
  hasArchive: boolean
  /** Milliseconds until the upload must have ended; 0: nothing is waited for. */
  waitMs: number
  /** Id of the version's newest transition. A late repetition of a step finds another one, and changes nothing. */
  transition?: string | undefined
}

interface DecidedVersion {
  status: VersionStatus
  /** For operators: what has become of the archive. */
  result: string
}

/** State of the extraction of a version. */
interface ExtractionFinished {
  /** `missing`: its archive has to be read. */
  result: 'settled' | 'missing'
  status: ExtractStatus
  /** For operators. */
  detail: string
}

export type VersionTransitions = ReturnType<typeof makeVersionTransitions>

/**
 * The transitions of a version and its extraction around the reading of the archive. Run twice, the second finds the
 * version moved and changes nothing.
 */
export const makeVersionTransitions = (deps: CoreDependencies) => {
  const move = <T>(versionId: string, work: (sql: Transaction) => Promise<T>): Promise<T> =>
    unitOfWork(deps, work, { at: 'move', of: versionId })
  return {
    /** Looks whether the archive has arrived; ends the version when its time is over. */
    async finishUpload(versionId: string): Promise<ArchiveWait> {
      const place = await findArchivePlace(deps.sql, versionId)
      if (!place || !isOverdue(place)) return await toWait(deps, versionId, place)
      await move(versionId, (sql) => expireVersion(sql, versionId))
      // An upload or a move may have come first, and then it was not ended.
      return await toWait(deps, versionId, await findArchivePlace(deps.sql, versionId))
    },

    /** Says that the checks run, if no transition came after the given one. Returns the newest transition. */
    startChecks: (versionId: string, since?: string): Promise<string | undefined> =>
      move(versionId, async (sql) => {
        const version = await lockState(sql, versionId)
        const isCurrent = since === undefined || since === version?.transition
        if (
          isCurrent &&
          isPending(version) &&
          version.reason !== VERSION_TRANSITIONS.start_checks.reason
        )
          await transitionVersion(sql, { id: versionId, name: 'start_checks', actor: 'workflow' })
        return (await findVersionState(sql, versionId))?.transition
      }),

    /** Gives the version the stored reading of its archive. */
    async finishExtraction(versionId: string): Promise<ExtractionFinished> {
      const settled = await move(versionId, (sql) => finishExtraction(sql, versionId))
      if (!settled) return { result: 'settled', status: 'failed', detail: 'the version is gone' }
      const { result, status, nodeCount } = settled
      return { result, status, detail: `${nodeCount} host nodes` }
    },

    /** Ends an extraction that could not be read in time. Returns its status. */
    failExtraction: (versionId: string, reason: string): Promise<ExtractStatus> =>
      move(versionId, (sql) => failExtraction(sql, { versionId, reason })),

    /** Decides by what the checks have left in the rows. A version that somebody else has moved meanwhile stays there. */
    async decideVersion(versionId: string): Promise<DecidedVersion> {
      const decided = await move(versionId, async (sql) => {
        const version = await lockState(sql, versionId)
        if (isPending(version)) await decide(sql, versionId, version)
        return await findVersionState(sql, versionId)
      })
      await cleanUpUploads(deps, versionId)
      if (!decided) return { status: 'NodeVersionStatusDeleted', result: 'the version is gone' }
      const { status, archiveState, archiveCode } = decided
      return { status, result: `archive ${archiveState}${archiveCode ? `: ${archiveCode}` : ''}` }
    },

    /**
     * Says why the checks that began with a transition could not run, by a code. Returns the version's status: Pending,
     * unless it was changed.
     */
    giveUpChecks: (versionId: string, code: string, since?: string): Promise<VersionStatus> =>
      move(versionId, (sql) => giveUpChecks(sql, { id: versionId, code, since })),
  }
}

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
  const { status, archiveState, secondsLeft, transition } = place
  if (archiveState !== 'awaiting') return { status, hasArchive: true, waitMs: 0, transition }
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
  await putContentFindings(sql, id)
  const scan = await findScan(sql, id)
  const verdict = decideVersion({ archiveState, archiveCode, scan })
  if (verdict) await transitionVersion(sql, { id, ...verdict, actor: 'workflow' })
}

/** Removes what uploads have left; the decision does not wait for a failing store, whose files are removed by age. */
const cleanUpUploads = async (deps: CommonDependencies, versionId: string): Promise<void> => {
  await removeLeftUploads(deps, versionId).catch((error: unknown) =>
    deps.log.warn({ version_id: versionId, err: error }, 'what uploads have left was not removed'),
  )
}

/**
 * Removes what uploads and checks have left beside the archive of a version that takes no archive any more. Before
 * that, an upload could be about to record what it has stored, or a check to accept it.
 */
export const removeLeftUploads = async (
  { sql, storage }: Pick<CommonDependencies, 'sql' | 'storage'>,
  versionId: string,
): Promise<void> => {
  const place = await findArchivePlace(sql, versionId)
  const isOpen = place !== undefined && OPEN.has(place.archiveState)
  if (isOpen && place.status !== 'NodeVersionStatusDeleted') return
  // A check that began before the deletion may still accept.
  const folders = isOpen ? ['uploads'] : ['uploads', 'archives']
  for (const folder of folders)
    for (const key of await storage.list(`${folder}/${versionId}`))
      if (key !== place?.archive?.storageKey) await storage.remove(key)
}

const OPEN: ReadonlySet<string> = new Set(['awaiting', 'received'])
