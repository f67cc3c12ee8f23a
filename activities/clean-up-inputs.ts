import { listUnknownTasks } from '../src/db/shared/purge.ts'
import { isUuid } from '../src/domain/shared/uuid.ts'
import type { CommonDependencies } from './dependencies.ts'

/** A request moves its inputs into the store some milliseconds before its commit; a day leaves time for any mishap. */
const LEFT_MS = 86_400_000
const BATCH = 1000

/**
 * Removes the inputs of tasks that do not exist: the api was killed between store and commit, or the commit failed. No
 * row names them, so this goes by the store. Returns how many tasks' inputs that were.
 */
export const cleanUpInputs = async (
  { sql, storage }: Pick<CommonDependencies, 'sql' | 'storage'>,
  now = Date.now(),
): Promise<number> => {
  let removed = 0
  const cleanUp = async (ids: readonly string[]): Promise<void> => {
    for (const id of await listUnknownTasks(sql, ids)) {
      const files = await storage.list(`inputs/${id}`)
      const stats = await Promise.all(files.map((key) => storage.stat(key)))
      const written = Math.max(...stats.map((stat) => stat?.writtenAt ?? 0))
      // A folder without files may be one that a request has just made.
      if (files.length === 0 || written > now - LEFT_MS) continue
      await storage.removePrefix(`inputs/${id}`)
      removed += 1
    }
  }
  let ids: string[] = []
  for await (const name of storage.listFolders('inputs')) {
    if (isUuid(name)) ids.push(name)
    if (ids.length < BATCH) continue
    await cleanUp(ids)
    ids = []
  }
  await cleanUp(ids)
  return removed
}
