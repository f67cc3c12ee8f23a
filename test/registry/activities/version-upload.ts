import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

import { recordArchive, type ArchiveRecorded } from '../../../src/registry/db/archive.ts'
import { signalArchiveUploaded } from '../../../src/registry/temporal/version.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { sha256Of } from '../../support/digest.ts'
import type { Place } from '../../tasks/activities/place.ts'

/** Stores and records bytes as an upload does; `recorded` are those that it says it has stored. */
export const uploadArchive = async (
  { deps }: Pick<Place, 'deps'>,
  { versionId, bytes, recorded = bytes }: { versionId: string; bytes: Buffer; recorded?: Buffer },
): Promise<ArchiveRecorded> => {
  const sha256 = sha256Of(recorded)
  const storageKey = `uploads/${versionId}/${sha256}.${randomUUID()}`
  await deps.storage.putStream(storageKey, Readable.from([bytes]), { maxBytes: 1e6 })
  const signal = signalArchiveUploaded(versionId)
  const archive = { storageKey, sha256, bytes: recorded.length }
  return await unitOfWork(deps, (sql, enqueue) =>
    recordArchive(sql, { versionId, signal, ...archive }, enqueue),
  )
}
