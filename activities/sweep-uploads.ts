import { findArchivePlace } from '../src/db/archive.ts'
import type { CommonDependencies } from './dependencies.ts'

/**
 * Removes what uploads have left beside the archive of a version that takes none any more: only then can no upload be
 * about to record what it has stored.
 */
export const sweepUploads = async (
  { sql, storage, log }: CommonDependencies,
  versionId: string,
): Promise<void> => {
  try {
    const place = await findArchivePlace(sql, versionId)
    const isOpen = place && OPEN.has(place.archiveState)
    if (isOpen && place.status !== 'NodeVersionStatusDeleted') return
    for (const key of await storage.list(`uploads/${versionId}`))
      if (key !== place?.archive?.storageKey) await storage.remove(key)
  } catch (error) {
    log.warn({ version_id: versionId, err: error }, 'what uploads have left was not removed')
  }
}

const OPEN: ReadonlySet<string> = new Set(['awaiting', 'received'])
