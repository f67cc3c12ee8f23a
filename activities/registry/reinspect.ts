import { findArchivePlace, putFiles, putLicense } from '../../src/registry/db/archive.ts'
import { findReextraction, putReextraction } from '../../src/registry/db/reinspection.ts'
import type { Reextracted } from '../../src/registry/db/reinspection.ts'
import { hasScan, putScan } from '../../src/registry/db/scan.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { FindingCounts } from '../../src/registry/domain/finding.ts'
import type { Inspection } from '../../packages/inspector/src/inspection.ts'
import { inspectStored, runCheck } from './archive-check.ts'
import type { ArchivedPlace } from './archive-check.ts'
import type { InspectDependencies } from './dependencies.ts'

/** Outcome of a new reading; names beyond the first twenty are only counted. */
export interface ReextractedVersion extends Partial<Reextracted> {
  extractorVersion: number
  gainedCount?: number
  lostCount?: number
}

export interface RescannedVersion {
  scannerVersion: number
  status?: string
  counts?: FindingCounts
}

const NAMES_SHOWN = 20

export type ReinspectActivities = ReturnType<typeof makeReinspect>

/**
 * Reads archives again, with a newer extractor or scanner. A reading that is stored is not repeated, and a version that
 * has gone meanwhile is skipped.
 */
export const makeReinspect = (deps: InspectDependencies) => ({
  reextractVersion: async (versionId: string, attempts: number): Promise<ReextractedVersion> =>
    await runCheck(deps, { of: { version_id: versionId }, attempts }, (signal) =>
      reextract(deps, versionId, signal),
    ),

  rescanVersion: async (versionId: string, attempts: number): Promise<RescannedVersion> =>
    await runCheck(deps, { of: { version_id: versionId }, attempts }, (signal) =>
      rescan(deps, versionId, signal),
    ),
})

const reextract = async (
  deps: InspectDependencies,
  versionId: string,
  signal: AbortSignal,
): Promise<ReextractedVersion> => {
  const { extractorVersion } = deps.inspector
  const place = await findAccepted(deps, versionId)
  if (!place) return { extractorVersion }
  const { sha256 } = place.archive
  const done = await findReextraction(deps.sql, { versionId, sha256, extractorVersion })
  if (done) return shorten(done, extractorVersion)
  const { nodes } = await reread(deps, place, signal)
  const put = await unitOfWork(deps, (sql) => putReextraction(sql, { versionId, sha256 }, nodes))
  return shorten(put, extractorVersion)
}

/** A finding of high severity in an active version is logged for a person: nothing is unpublished automatically. */
const rescan = async (
  deps: InspectDependencies,
  versionId: string,
  signal: AbortSignal,
): Promise<RescannedVersion> => {
  const { scanner, scannerVersion } = deps.inspector
  const place = await findAccepted(deps, versionId)
  if (!place) return { scannerVersion }
  const { sha256 } = place.archive
  if (await hasScan(deps.sql, { versionId, sha256, scanner, scannerVersion }))
    return { scannerVersion, status: place.status }
  const { findings } = await reread(deps, place, signal)
  await unitOfWork(deps, (sql) => putScan(sql, { versionId, sha256 }, findings))
  const { counts } = findings
  if (counts.high > 0 && place.status === 'NodeVersionStatusActive')
    deps.log.error(
      { version_id: versionId, counts },
      'an active version has findings of high severity',
    )
  return { scannerVersion, status: place.status, counts }
}

const findAccepted = async (
  { sql }: InspectDependencies,
  versionId: string,
): Promise<ArchivedPlace | undefined> => {
  const place = await findArchivePlace(sql, versionId)
  const isThere = place?.archiveState === 'accepted' && place.status !== 'NodeVersionStatusDeleted'
  return isThere && place.archive ? { ...place, archive: place.archive } : undefined
}

const reread = async (
  deps: InspectDependencies,
  place: ArchivedPlace,
  signal: AbortSignal,
): Promise<Inspection> =>
  await inspectStored(deps, place, signal, async (found) => {
    const { versionId, archive } = place
    const files = found.archive.verdict === 'sound' ? found.archive.files : undefined
    const { sha256 } = archive
    if (files) await unitOfWork(deps, (sql) => putFiles(sql, { versionId, sha256, files }))
    const { licenseId } = found
    await unitOfWork(deps, (sql) => putLicense(sql, { versionId, sha256, licenseId }))
    return found
  })

const shorten = (
  { outcome, gained, lost }: Reextracted,
  extractorVersion: number,
): ReextractedVersion => ({
  extractorVersion,
  outcome,
  gained: gained.slice(0, NAMES_SHOWN),
  lost: lost.slice(0, NAMES_SHOWN),
  gainedCount: gained.length,
  lostCount: lost.length,
})
