import { findArchivePlace } from '../src/db/registry/archive.ts'
import type { CommonDependencies } from './dependencies.ts'

/**
 * Does what `removeLeftUploads` does, for a workflow that does not depend on it. Files that a failing store keeps are
 * removed by age.
 */
export const cleanUpUploads = async (
  deps: CommonDependencies,
  versionId: string,
): Promise<void> => {
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
