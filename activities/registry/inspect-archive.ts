import {
  acceptArchive,
  findArchivePlace,
  putLicense,
  rejectArchive,
} from '../../src/registry/db/archive.ts'
import type { ArchivePlace } from '../../src/registry/db/archive.ts'
import { hasExtraction, putExtraction } from '../../src/registry/db/extraction.ts'
import { hasScan, putScan } from '../../src/registry/db/scan.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { ArchiveState } from '../../src/registry/domain/version.ts'
import type { Inspection } from '../../packages/inspector/src/inspection.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { inspectStored, runCheck } from './archive-check.ts'
import type { ArchivedPlace } from './archive-check.ts'
import type { InspectDependencies } from './dependencies.ts'
import type { InspectedWithLicense } from './read-license.ts'

/** Outcome for an archive, for the workflow's history. */
export interface InspectedArchive {
  archiveState: ArchiveState | 'gone'
  /** Findings; absent when all of them were there already. */
  found?: {
    sha256: string
    code?: string
    extraction: string
    reason?: string
    nodes: number
    partial: boolean
    extractorVersion: number
    high: number
    medium: number
    info: number
  }
}

export interface InspectActivities {
  inspectArchive: ReturnType<typeof makeInspectArchive>
}

/**
 * Makes the activity that reads a version's archive, once for everything: is it sound, what is dangerous in it, which
 * host nodes does it provide. The three results are stored apart; a good archive goes to its final key and is accepted,
 * a bad one is rejected. Every other error is one of the service: the workflow tries again, and no version is flagged
 * for it.
 */
export const makeInspectArchive =
  (deps: InspectDependencies) =>
  async (versionId: string, attempts: number): Promise<InspectedArchive> =>
    await runCheck(deps, { of: { version_id: versionId }, attempts }, (signal) =>
      inspectUntilDecided(deps, versionId, signal),
    )

/** An upload may replace the one that is read until one of them has been decided on. */
const inspectUntilDecided = async (
  deps: InspectDependencies,
  versionId: string,
  signal: AbortSignal,
): Promise<InspectedArchive> => {
  for (;;) {
    const place = await findArchivePlace(deps.sql, versionId)
    if (!hasArchive(place) || !(await isIncomplete(deps, place)))
      return { archiveState: place?.archiveState ?? 'gone' }
    const inspected = await inspect(deps, place, signal).catch(async (error: unknown) => {
      if (await wasReplaced(deps, place)) return undefined
      throw error
    })
    if (inspected) return inspected
  }
}

/**
 * Includes a version that an operator has flagged or banned meanwhile: without its archive nobody could activate it.
 */
const hasArchive = (place: ArchivePlace | undefined): place is ArchivedPlace =>
  place?.archive !== undefined &&
  place.archive !== null &&
  place.status !== 'NodeVersionStatusDeleted'

/** True when something that a reading finds is not there yet. */
const isIncomplete = async (
  { sql, inspector }: InspectDependencies,
  { versionId, archiveState, archive: { sha256 } }: ArchivedPlace,
): Promise<boolean> => {
  if (archiveState === 'received') return true
  const { extractorVersion, scanner, scannerVersion } = inspector
  const [isRead, isScanned] = await Promise.all([
    hasExtraction(sql, { versionId, sha256, extractorVersion }),
    hasScan(sql, { versionId, sha256, scanner, scannerVersion }),
  ])
  return !isRead || !isScanned
}

const wasReplaced = async (
  { sql }: InspectDependencies,
  { versionId, archive }: ArchivedPlace,
): Promise<boolean> => {
  const place = await findArchivePlace(sql, versionId)
  return place?.archive?.storageKey !== archive.storageKey
}

/** Undefined when the archive was replaced before its verdict. */
const inspect = async (
  deps: InspectDependencies,
  place: ArchivedPlace,
  signal: AbortSignal,
): Promise<InspectedArchive | undefined> =>
  await inspectStored(deps, place, signal, async (found, path) => {
    failpoint('inspect.before-results')
    await store(deps, place, found)
    failpoint('inspect.after-results')
    const archiveState = await decide(deps, place, { path, found })
    return archiveState === undefined ? undefined : { archiveState, found: summarise(place, found) }
  })

/** The verdict comes last: once the archive is decided on, the rest is there. */
const store = async (
  deps: InspectDependencies,
  { versionId, archive: { sha256 } }: ArchivedPlace,
  { nodes, findings, licenseId }: InspectedWithLicense,
): Promise<void> => {
  await unitOfWork(deps, (sql) => putLicense(sql, { versionId, sha256, licenseId }))
  await unitOfWork(deps, (sql) => putExtraction(sql, { versionId, sha256 }, nodes))
  await unitOfWork(deps, (sql) => putScan(sql, { versionId, sha256 }, findings))
}

/** Undefined when the archive was replaced. */
const decide = async (
  deps: InspectDependencies,
  { versionId, archiveState, archive: { sha256 } }: ArchivedPlace,
  { path, found: { archive } }: { path: string; found: Inspection },
): Promise<ArchiveState | undefined> => {
  if (archiveState !== 'received') return archiveState
  if (archive.verdict === 'rejected') {
    const { code } = archive
    const isDone = await unitOfWork(deps, (sql) => rejectArchive(sql, { versionId, sha256, code }))
    return isDone ? 'rejected' : undefined
  }
  // Named by its content: whoever reads it twice puts the same bytes there.
  const storageKey = `archives/${versionId}/${sha256}.zip`
  failpoint('check.before-store')
  await deps.storage.putFile(storageKey, path)
  failpoint('check.after-store')
  const { entries, files } = archive
  const isDone = await unitOfWork(
    deps,
    (sql) =>
      acceptArchive(sql, { versionId, sha256, storageKey, entries, ...(files && { files }) }),
    { at: 'check', of: versionId },
  )
  return isDone ? 'accepted' : undefined
}

const summarise = (
  { archive: { sha256 } }: ArchivedPlace,
  { archive, nodes, findings }: Inspection,
): NonNullable<InspectedArchive['found']> => ({
  sha256,
  ...(archive.verdict === 'rejected' && { code: archive.code }),
  extraction: nodes.status,
  ...(nodes.reason !== undefined && { reason: nodes.reason }),
  nodes: nodes.nodes.length,
  partial: nodes.partial,
  extractorVersion: nodes.extractorVersion,
  ...findings.counts,
})
